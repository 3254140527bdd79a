//! The trace of a run, in formats that other people's tools open.

mod decisions;
mod facts;
mod locks;

use crate::error::Error;
use crate::experiment::Logged;
pub(crate) use facts::Facts;
use schema::Log;
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

const ENDINGS: [Ending; 7] = [
    Ending { ending: "pftrace", format: TraceFormat::Perfetto },
    Ending { ending: "perfetto-trace", format: TraceFormat::Perfetto },
    Ending { ending: "json", format: TraceFormat::ChromeJson },
    Ending { ending: "dat", format: TraceFormat::TraceDat },
    Ending { ending: "txt", format: TraceFormat::FtraceText },
    Ending { ending: "trace", format: TraceFormat::FtraceText },
    Ending { ending: "ftrace", format: TraceFormat::FtraceText },
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
        self != TraceFormat::ChromeJson
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
        let Log { head, records } = &self.log;
        // A viewer of JSON has no use for the steps of programs and for notes, and nobody reads it back.
        let tells = format.can_be_read() && programs == Programs::Told;
        let records = records.iter().filter(|record| tells || !record.event.is_of_program());
        let mut trace = run_trace(records, head.machine.cpus as usize);
        trace.meta.kernel = Some(format!("Linux {}", head.kernel.profile));
        trace.meta.clock = Some("mono".to_owned());
        if format.can_be_read() {
            self.facts.put_before(&mut trace, programs);
        }
        match format {
            // Programs write no marker that fills a page, so none can have been cut.
            TraceFormat::TraceDat => write_trace_dat(&trace, out).map(drop),
            TraceFormat::FtraceText => write_ftrace_text(&trace, TextOptions::default(), out),
            // A CPU waits for one lock at a time, so no slice can have been cut.
            TraceFormat::Perfetto => write_perfetto(&trace, &self.annotations(&trace), out).map(drop),
            TraceFormat::ChromeJson => write_chrome_json(&trace, &self.annotations(&trace), out),
        }
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
