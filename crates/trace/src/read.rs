//! The one way in: tells formats apart by their content.

use std::path::Path;

use crate::dat;
use crate::error::ReadError;
use crate::input::Source;
use crate::model::{EventKind, Trace};
use crate::notes::NoteKind;
use crate::perf;
use crate::perfetto;
use crate::text;

/// Reads a trace from a file, which is fetched a piece at a time and never in memory as a whole. See [`read`].
pub fn read_file(path: impl AsRef<Path>) -> Result<Trace, ReadError> {
    read_source(&Source::open(path.as_ref())?)
}

/// Reads a trace: trace.dat of version 6 or 7, perf.data, a Perfetto trace, or ftrace text (the kernel's `trace` file, `trace-cmd report`, `trace-cmd
/// report -R`).
///
/// Whatever is wrong with single events, lines or pages is counted in [`Trace::notes`]. An error means that there is
/// nothing to return: some other format, a file cut before its first events, no `sched_switch` in it.
///
/// Memory stays below ten times the input; for compressed input, below ten times what it decompresses to, which is
/// limited to a hundred times the file plus 64 MiB; for Perfetto's compact encoding, in which an event can have five bytes,
/// below the 64 bytes that an event takes here and ten times the rest.
pub fn read(bytes: &[u8]) -> Result<Trace, ReadError> {
    read_source(&Source::memory(bytes))
}

fn read_source(source: &Source<'_>) -> Result<Trace, ReadError> {
    let head = source.load(0, 4096)?;
    if head.is_empty() {
        return Err(ReadError::Empty);
    }
    if head.starts_with(dat::MAGIC) {
        return dat::read(source);
    }
    if head.starts_with(perf::MAGIC) {
        return perf::read(source);
    }
    if head.starts_with(perf::MAGIC_BIG_ENDIAN) {
        let advice = "only recordings of little-endian machines can be read";
        return Err(ReadError::Unsupported { what: "big-endian data".into(), at: 0, advice });
    }
    match OTHERS.iter().find(|other| head.starts_with(other.magic)) {
        Some(other) => Err(ReadError::NotATrace { found: other.found, advice: other.advice }),
        None if perfetto::is_perfetto(&head, source.len()) => perfetto::read(source),
        None if head.contains(&0) => Err(ReadError::NotATrace {
            found: "binary data of an unknown kind",
            advice: "give a trace.dat, a perf.data, a Perfetto trace, or text from trace-cmd report or tracefs",
        }),
        None => text::read(source),
    }
}

const CHROME: &str = "a trace of Chrome's JSON";
const CHROME_ADVICE: &str =
    "that is for viewers and lacks what a replay needs; write it as .dat, .pftrace or .txt instead";

/// Formats that users have at hand and that we can name.
struct Other {
    magic: &'static [u8],
    found: &'static str,
    advice: &'static str,
}

/// Of several that fit the first counts.
const OTHERS: [Other; 7] = [
    Other { magic: b"\x1f\x8b", found: "a gzip file", advice: "unpack it with gunzip first" },
    Other { magic: b"\x28\xb5\x2f\xfd", found: "a zstd file", advice: "unpack it with unzstd first" },
    Other { magic: b"\xfd7zXZ", found: "an xz file", advice: "unpack it with unxz first" },
    Other {
        magic: b"\x7fELF",
        found: "a program",
        advice: "give a trace.dat, a perf.data, a Perfetto trace or ftrace text",
    },
    Other { magic: b"{\"displayTimeUnit\"", found: CHROME, advice: CHROME_ADVICE },
    Other { magic: b"{\"traceEvents\"", found: CHROME, advice: CHROME_ADVICE },
    Other {
        magic: b"{",
        found: "JSON",
        advice: "give a trace.dat, a perf.data, a Perfetto trace or ftrace text",
    },
];

/// A trace without `sched_switch` is of no use to anyone here. `events` counts also those that were left out.
pub(crate) fn check_switches(trace: Trace, events: u64) -> Result<Trace, ReadError> {
    if trace.events.iter().any(|event| matches!(event.kind, EventKind::SchedSwitch(_))) {
        return Ok(trace);
    }
    let mut seen: Vec<String> = Vec::new();
    for event in &trace.events {
        if seen.len() < 5 && seen.iter().all(|name| name != event.kind.name()) {
            seen.push(event.kind.name().to_owned());
        }
    }
    let left_out = trace.notes.other_events().keys().take(5 - seen.len().min(5)).cloned();
    seen.extend(left_out);
    let mut notes = trace.notes;
    notes.remove(NoteKind::NoWakeups);
    Err(ReadError::NoSchedSwitch { events, seen, notes: Box::new(notes) })
}
