//! The one way in: tells formats apart by their content.

use std::cell::RefCell;
use std::io::{Read, Seek, SeekFrom};

use crate::dat;
use crate::error::ReadError;
use crate::input::{Cut, Failure, GZIP_MAGIC, Gzip, Source, Stream};
use crate::model::{EventKind, Trace};
use crate::notes::{NoteKind, Position};
use crate::perf;
use crate::perfetto;
use crate::text;

/// How much of a file tells its format.
const HEAD: usize = 64 << 10;

/// No text has a zero in as many of its first bytes.
const TEXT_HEAD: usize = 4096;

/// Reads a trace from something that can be read at any place, as a file: from its beginning on, wherever it
/// stands, a piece at a time, so that it is never in memory as a whole. See [`read`].
///
/// # Errors
/// As [`read`], and [`ReadError::Io`] if reading fails.
pub fn read_seekable(mut input: impl Read + Seek) -> Result<Trace, ReadError> {
    let len = input.seek(SeekFrom::End(0))?;
    read_source(&Source::elsewhere(&RefCell::new(input), len))
}

/// Reads a trace from something that can be read once, as a pipe. The first 64 KiB must look like a trace:
/// what goes on for ever and is none (`/dev/zero`) is refused at once. The rest is read into memory. See
/// [`read`].
///
/// # Errors
/// As [`read`], and [`ReadError::Io`] if reading fails.
pub fn read_stream(mut input: impl Read) -> Result<Trace, ReadError> {
    let mut bytes = Vec::new();
    (&mut input).take(HEAD as u64).read_to_end(&mut bytes)?;
    if bytes.len() == HEAD {
        if kind(&bytes, u64::MAX)? == Kind::Text {
            text::check_head(&bytes)?;
        }
        input.read_to_end(&mut bytes)?;
    }
    read_source(&Source::owned(bytes))
}

/// Reads a trace: trace.dat of version 6 or 7, perf.data, a Perfetto trace, or ftrace text (the kernel's
/// `trace` file, `trace-cmd report`, `trace-cmd report -R`, `perf script`), any of them also packed with
/// gzip.
///
/// Whatever is wrong with single events, lines or pages is counted in [`Trace::notes`]. An error means that
/// there is nothing to return: some other format, a file cut before its first events, no `sched_switch` in
/// it.
///
/// Memory stays below ten times the input; for compressed input, below ten times what it decompresses to,
/// which is limited to a hundred times the file plus 64 MiB; for Perfetto's compact encoding, in which an
/// event can have five bytes, below the 64 bytes that an event takes here and ten times the rest.
///
/// # Errors
/// A [`ReadError`] says what is wrong, where, and what to do.
pub fn read(bytes: &[u8]) -> Result<Trace, ReadError> {
    read_source(&Source::memory(bytes))
}

/// A format, by the file's beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    TraceDat,
    PerfData,
    Perfetto,
    Gzip,
    /// Anything that may be text.
    Text,
}

fn read_source(source: &Source<'_>) -> Result<Trace, ReadError> {
    let head = source.load(0, HEAD as u64)?;
    match kind(&head, source.len())? {
        Kind::Gzip => read_packed(source),
        kind => read_unpacked(source, kind),
    }
}

fn read_unpacked(source: &Source<'_>, kind: Kind) -> Result<Trace, ReadError> {
    match kind {
        Kind::TraceDat => dat::read(source),
        Kind::PerfData => perf::read(source),
        Kind::Perfetto => perfetto::read(source),
        Kind::Text => text::read(source),
        Kind::Gzip => Err(ReadError::NotATrace {
            found: "a gzip file in a gzip file",
            advice: "unpack it with gunzip first",
        }),
    }
}

/// Reads a trace that gzip packed. What it holds is looked at before it is unpacked as a whole.
fn read_packed(source: &Source<'_>) -> Result<Trace, ReadError> {
    let mut gzip = Gzip::new(Stream::new(source, 0, u64::MAX), source.len());
    gzip.unpack(HEAD as u64)?;
    let head = gzip.bytes();
    if head.is_empty() && gzip.is_cut() {
        let found = "a gzip file that is cut or damaged at its beginning";
        return Err(ReadError::NotATrace { found, advice: "copy or record it again" });
    }
    let whole = head.len() < HEAD;
    let kind = kind(head, if whole { head.len() as u64 } else { u64::MAX })?;
    let unpacked = gzip.unpack_all()?;
    let mut trace = read_unpacked(&Source::owned(unpacked.bytes), kind)?;
    if let Some(cut) = unpacked.cut {
        let kind = match cut {
            Cut::Early => NoteKind::Truncated,
            Cut::Failed(Failure::Damaged) => NoteKind::Decompression,
            Cut::Failed(Failure::TooLarge) => NoteKind::DecompressionLimit,
        };
        trace.notes.add(kind, Position::Whole);
    }
    Ok(trace)
}

/// The format of a file of `len` bytes that begins with `head`.
fn kind(head: &[u8], len: u64) -> Result<Kind, ReadError> {
    if head.is_empty() {
        return Err(ReadError::Empty);
    }
    if head.starts_with(dat::MAGIC) {
        return Ok(Kind::TraceDat);
    }
    if head.starts_with(perf::MAGIC) {
        return Ok(Kind::PerfData);
    }
    if head.starts_with(GZIP_MAGIC) {
        return Ok(Kind::Gzip);
    }
    if head.starts_with(perf::MAGIC_BIG_ENDIAN) {
        let advice = "only recordings of little-endian machines can be read";
        return Err(ReadError::Unsupported { what: "big-endian data".into(), at: 0, advice });
    }
    match OTHERS.iter().find(|other| head.starts_with(other.magic)) {
        Some(other) => Err(ReadError::NotATrace { found: other.found, advice: other.advice }),
        None if perfetto::is_perfetto(head, len) => Ok(Kind::Perfetto),
        None if head.iter().take(TEXT_HEAD).any(|byte| *byte == 0) => Err(ReadError::NotATrace {
            found: "binary data of an unknown kind",
            advice: "give a trace.dat, a perf.data, a Perfetto trace, or text from trace-cmd report, tracefs \
                     or perf script",
        }),
        None => Ok(Kind::Text),
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
        magic: b"{\"schema\":\"schedlab-log/",
        found: "the log of a run",
        advice: "that is for programs and explanations; write a .dat, .pftrace or .txt as well",
    },
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
