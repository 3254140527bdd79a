//! The one way in: tells formats apart by their content.

use std::fs;
use std::path::Path;

use crate::dat;
use crate::error::ReadError;
use crate::model::{EventKind, Trace};
use crate::notes::NoteKind;
use crate::text;

/// Reads a trace from a file. See [`read`].
pub fn read_file(path: impl AsRef<Path>) -> Result<Trace, ReadError> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    read(&bytes)
}

/// Reads a trace: trace.dat of version 6 or 7, or ftrace text (the kernel's `trace` file, `trace-cmd report`, `trace-cmd
/// report -R`).
///
/// Whatever is wrong with single events, lines or pages is counted in [`Trace::notes`]. An error means that there is
/// nothing to return: some other format, a file cut before its first events, no `sched_switch` in it.
///
/// Memory stays below ten times the input; for compressed input, below ten times what it decompresses to, which is
/// limited to a hundred times the file plus 64 MiB.
pub fn read(bytes: &[u8]) -> Result<Trace, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Empty);
    }
    if bytes.starts_with(dat::MAGIC) {
        return dat::read(bytes);
    }
    let head = &bytes[..bytes.len().min(4096)];
    match OTHERS.iter().find(|other| bytes.starts_with(other.magic)) {
        Some(other) => Err(ReadError::NotATrace { found: other.found, advice: other.advice }),
        None if head.contains(&0) => Err(ReadError::NotATrace {
            found: "binary data of an unknown kind",
            advice: "give a trace.dat, or text from trace-cmd report or tracefs",
        }),
        None => text::read(bytes),
    }
}

/// Formats that users have at hand and that we can name.
struct Other {
    magic: &'static [u8],
    found: &'static str,
    advice: &'static str,
}

const OTHERS: [Other; 6] = [
    Other { magic: b"\x1f\x8b", found: "a gzip file", advice: "unpack it with gunzip first" },
    Other { magic: b"\x28\xb5\x2f\xfd", found: "a zstd file", advice: "unpack it with unzstd first" },
    Other { magic: b"\xfd7zXZ", found: "an xz file", advice: "unpack it with unxz first" },
    Other {
        magic: b"PERFILE2",
        found: "a perf.data file",
        advice: "record with trace-cmd record -e sched instead",
    },
    Other { magic: b"\x7fELF", found: "a program", advice: "give a trace.dat or ftrace text" },
    Other { magic: b"{", found: "JSON", advice: "give a trace.dat or ftrace text" },
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
