//! The trace of a run, in formats that other people's tools open.

mod decisions;
mod facts;
mod locks;

use crate::error::Error;
use crate::experiment::Logged;
pub(crate) use facts::Facts;
use schema::{Log, LogRecord};
use std::io;
use std::path::Path;
use trace::{
    Annotations, TextOptions, Trace, write_chrome_json, write_ftrace_text, write_perfetto, write_trace_dat,
};
use workload::run_trace;

/// A format, known by the ending of a file name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// Perfetto's protobuf: events, the decisions with their reasons as instants of the tasks, the waits for
    /// run-queue locks, and how many tasks are runnable on each CPU and how many CPUs wait for its lock.
    Perfetto,
    /// Chrome's JSON, with the same.
    ChromeJson,
    /// trace-cmd's trace.dat, for `trace-cmd report` and KernelShark: events only.
    TraceDat,
    /// The kernel's own text, as in tracefs `trace`: events only.
    FtraceText,
    /// The log itself, as JSON lines: everything.
    Log,
}

/// Whether a trace tells what the programs of its run do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Programs {
    /// In events of our own, so that a replay repeats the programs and infers nothing.
    Told,
    /// The trace has the events of Linux only, as if it had been recorded.
    LeftOut,
}

/// Whether a name says that what goes by it is packed with gzip.
#[must_use]
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

struct Ending {
    ending: &'static str,
    format: TraceFormat,
}

const ENDINGS: [Ending; 8] = [
    Ending { ending: "pftrace", format: TraceFormat::Perfetto },
    Ending { ending: "perfetto-trace", format: TraceFormat::Perfetto },
    Ending { ending: "json", format: TraceFormat::ChromeJson },
    Ending { ending: "dat", format: TraceFormat::TraceDat },
    Ending { ending: "txt", format: TraceFormat::FtraceText },
    Ending { ending: "trace", format: TraceFormat::FtraceText },
    Ending { ending: "ftrace", format: TraceFormat::FtraceText },
    Ending { ending: "jsonl", format: TraceFormat::Log },
];

impl TraceFormat {
    /// The format of a file of this name.
    ///
    /// # Errors
    /// An ending that is not known; the message lists those that are.
    pub fn of(path: &Path) -> Result<TraceFormat, Error> {
        // What is packed has the ending of its content before that.
        let name = if is_packed(path) { Path::new(path.file_stem().unwrap_or_default()) } else { path };
        let ending = name.extension().unwrap_or_default();
        match ENDINGS.iter().find(|known| ending == known.ending) {
            Some(known) => Ok(known.format),
            None => Err(Error::TraceEnding { path: path.display().to_string() }),
        }
    }
}

impl TraceFormat {
    /// Whether a trace in it can be replayed.
    #[must_use]
    pub fn can_be_read(self) -> bool {
        !matches!(self, TraceFormat::ChromeJson | TraceFormat::Log)
    }
}

impl Logged {
    /// Writes the run.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_trace(
        &self,
        out: impl io::Write,
        format: TraceFormat,
        programs: Programs,
    ) -> io::Result<()> {
        match format {
            TraceFormat::Log => Log::write_lines(&self.log.head, self.records(programs), out),
            // Programs write no marker that fills a page, so none can have been cut.
            TraceFormat::TraceDat => write_trace_dat(&self.recording(programs), out).map(drop),
            TraceFormat::FtraceText => {
                write_ftrace_text(&self.recording(programs), TextOptions::default(), out)
            }
            TraceFormat::Perfetto => {
                let trace = self.recording(programs);
                // A CPU waits for one lock at a time, so no slice can have been cut.
                write_perfetto(&trace, &self.annotations(&trace), out).map(drop)
            }
            TraceFormat::ChromeJson => {
                // A viewer has no use for the steps of programs and for notes, and nobody reads it back.
                let trace = self.trace(Programs::LeftOut);
                write_chrome_json(&trace, &self.annotations(&trace), out)
            }
        }
    }

    fn records(&self, programs: Programs) -> impl Iterator<Item = &LogRecord> {
        let is_kept = move |record: &&LogRecord| programs == Programs::Told || !record.event.is_of_program();
        self.log.records.iter().filter(is_kept)
    }

    fn trace(&self, programs: Programs) -> Trace {
        let head = &self.log.head;
        let mut trace = run_trace(self.records(programs), head.machine.cpus as usize);
        trace.meta.kernel = Some(format!("Linux {}", head.kernel.profile));
        trace.meta.clock = Some("mono".to_owned());
        trace
    }

    /// A trace that can be read back.
    fn recording(&self, programs: Programs) -> Trace {
        let mut trace = self.trace(programs);
        self.facts.put_before(&mut trace, programs);
        trace
    }

    fn annotations(&self, trace: &Trace) -> Annotations {
        let mut annotations = decisions::annotations(&self.log.records);
        locks::annotate(&mut annotations, &self.log.records, trace.cpus);
        annotations.run_queue_depth(trace, None);
        annotations
    }
}

#[cfg(test)]
mod tests;
