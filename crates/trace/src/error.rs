//! Why a file could not be read at all. Smaller trouble is counted in [`ImportNotes`](crate::ImportNotes).

use thiserror::Error;

use crate::notes::ImportNotes;

/// There is no trace to return. Offsets are bytes from the start of the file.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The bytes cannot be had.
    #[error("reading fails: {source}")]
    Io {
        /// Why.
        #[from]
        source: std::io::Error,
    },

    /// No bytes at all.
    #[error("the file is empty")]
    Empty,

    /// Some other format.
    #[error("this is not a trace that can be read: {found}; {advice}")]
    NotATrace {
        /// What it looks like.
        found: &'static str,
        /// What to do.
        advice: &'static str,
    },

    /// A variant of `trace.dat` that this version does not read.
    #[error("byte {at}: {what} is not supported; {advice}")]
    Unsupported {
        /// The variant.
        what: String,
        /// Where the file says so.
        at: u64,
        /// What to do.
        advice: &'static str,
    },

    /// The file ends inside something without which nothing can be read.
    #[error(
        "byte {at}: the file ends inside {what}: at least {missing} bytes are missing; copy or record it \
         again"
    )]
    Truncated {
        /// What is incomplete.
        what: &'static str,
        /// Where that begins.
        at: u64,
        /// How much is missing.
        missing: u64,
    },

    /// Something without which nothing can be read contradicts the format.
    #[error("byte {at}: {what}; the file is damaged, copy or record it again")]
    Corrupt {
        /// What is wrong.
        what: String,
        /// Where.
        at: u64,
    },

    /// The description of a needed event is missing or incomplete.
    #[error(
        "the file does not describe {event} as needed: {why}; record with trace-cmd record -e sched or perf \
         sched record"
    )]
    Format {
        /// The event.
        event: String,
        /// What is missing.
        why: String,
    },

    /// The file was read, but holds no `sched_switch`.
    #[error(
        "no sched_switch event among {events} events{}; record with trace-cmd record -e sched or perf sched \
         record{}",
        list_seen(seen),
        list_notes(notes)
    )]
    NoSchedSwitch {
        /// How many events there are, other kinds included.
        events: u64,
        /// Names of some of them.
        seen: Vec<String>,
        /// What else was found: often the reason.
        notes: Box<ImportNotes>,
    },
}

fn list_seen(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

fn list_notes(notes: &ImportNotes) -> String {
    if notes.is_empty() { String::new() } else { format!("\n{notes}") }
}
