//! The log of a run: one typed record of all that happened, in the order of time. Every export of a run is
//! made from it.
//!
//! As a file it is JSON lines: the first line is the [`LogHead`], each further one a [`LogRecord`].

mod event;
mod head;
mod interrupt;
mod lock;
mod step;

pub use event::{LogArrival, LogBudget, LogEvent, LogPrevState, LogTaskRef};
pub use head::{LogGroup, LogHead, LogTask};
pub use interrupt::{LogHeldOff, LogInterrupt, LogIpi};
pub use lock::LogLock;
pub use step::LogStep;

use crate::{CpuId, Nanos, Pid};
use serde::Serialize;
use std::io;

/// The log of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Log {
    /// What ran.
    pub head: LogHead,
    /// What happened, in the order of time; what happened at one time, in the order in which it was told.
    pub records: Vec<LogRecord>,
}

/// Something that happened in a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogRecord {
    /// When, nanoseconds since the start of the run.
    #[serde(rename = "time_ns")]
    pub time: Nanos,
    /// On which CPU.
    pub cpu: CpuId,
    /// Which task ran there; 0: the idle task.
    pub pid: Pid,
    /// Whether an interrupt on top of that task did it.
    pub in_interrupt: bool,
    /// What.
    pub event: LogEvent,
}

// Runs have millions of them.
const _: () = assert!(size_of::<LogRecord>() <= 40);

impl Log {
    /// Writes a head and records as JSON lines.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_lines<'r>(
        head: &LogHead,
        records: impl IntoIterator<Item = &'r LogRecord>,
        mut out: impl io::Write,
    ) -> io::Result<()> {
        write_line(head, &mut out)?;
        records.into_iter().try_for_each(|record| write_line(record, &mut out))
    }
}

fn write_line(line: &impl Serialize, out: &mut impl io::Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
