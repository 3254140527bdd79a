//! The trace of a run, in formats that other people's tools open.

mod decisions;
mod locks;

use crate::error::Error;
use crate::experiment::Run;
use std::io;
use std::path::Path;
use trace::{
    Annotations, TextOptions, Trace, write_chrome_json, write_ftrace_text, write_perfetto, write_trace_dat,
};
use workload::run_trace;

/// A format, known by the ending of a file name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// Perfetto's protobuf: events, the decisions with their reasons as instants of the tasks, the waits for run-queue
    /// locks, and how many tasks are runnable on each CPU and how many CPUs wait for its lock.
    Perfetto,
    /// Chrome's JSON, with the same.
    ChromeJson,
    /// trace-cmd's trace.dat, for `trace-cmd report` and KernelShark: events only.
    TraceDat,
    /// The kernel's own text, as in tracefs `trace`: events only.
    FtraceText,
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
        let ending = path.extension().unwrap_or_default();
        match ENDINGS.iter().find(|known| ending == known.ending) {
            Some(known) => Ok(known.format),
            None => Err(Error::TraceEnding { path: path.display().to_string() }),
        }
    }
}

impl Run {
    /// Writes the recorded events (see [`crate::Experiment::record`]).
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_trace(&self, out: impl io::Write, format: TraceFormat) -> io::Result<()> {
        let mut trace = run_trace(&self.records, &self.comms, self.result.machine.cpus as usize);
        trace.meta.kernel = Some(format!("Linux {}", self.result.kernel.profile));
        trace.meta.clock = Some("mono".to_owned());
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
        let mut annotations = decisions::annotations(self);
        locks::annotate(&mut annotations, &self.lock_waits, trace.cpus);
        annotations.run_queue_depth(trace, None);
        annotations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, LoadSpec};
    use scheduler::Nanos;
    use trace::{EventKind, NoteKind, summarise};

    #[test]
    fn the_ending_tells_the_format() {
        let format = |name: &str| TraceFormat::of(Path::new(name));
        assert_eq!(format("a.b.pftrace").ok(), Some(TraceFormat::Perfetto));
        assert_eq!(format("x.perfetto-trace").ok(), Some(TraceFormat::Perfetto));
        assert_eq!(format("dir.txt/run.ftrace").ok(), Some(TraceFormat::FtraceText));
        let message = format("run.csv").map_err(|e| e.to_string()).expect_err("unknown");
        for known in ENDINGS {
            assert!(message.contains(&format!(".{}", known.ending)), "{message}");
        }
    }

    fn recorded() -> Run {
        let machine = crate::machine("laptop", Some(2)).expect("a machine");
        let mut experiment = Experiment::new(machine);
        let load = LoadSpec::open("cyclictest -t3 -p90 -i1000 -n").expect("a load");
        experiment.loads.push(load);
        experiment.duration = Some(Nanos::from_millis(20));
        experiment.record = true;
        experiment.run().expect("it runs")
    }

    #[test]
    fn an_exported_trace_reads_back_with_the_figures_of_the_run() {
        let run = recorded();
        let mut text = Vec::new();
        run.write_trace(&mut text, TraceFormat::FtraceText).expect("memory takes everything");
        let trace = trace::read(&text).expect("our own text");
        assert_eq!((trace.cpus, trace.notes.count(NoteKind::BrokenSwitchChain)), (2, 0));
        let switches = trace.events.iter().filter(|e| matches!(e.kind, EventKind::SchedSwitch(_))).count();
        assert_eq!(switches as u64, run.result.totals.context_switches);
        let summary = summarise(&trace);
        for task in &run.result.tasks {
            let read = summary.tasks.iter().find(|t| t.pid.0.unsigned_abs() == task.pid).expect("every task");
            assert_eq!(read.voluntary_switches, task.nr_voluntary_switches, "{}", task.comm);
        }
    }

    #[test]
    fn perfetto_gets_the_decisions_and_the_depth_of_run_queues_too() {
        let run = recorded();
        let mut bytes = Vec::new();
        run.write_trace(&mut bytes, TraceFormat::Perfetto).expect("memory takes everything");
        let holds = |text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
        let reason = run.result.decisions.keys().next().expect("a decision");
        assert!(
            holds(reason)
                && holds("cyclictest")
                && holds("nr_running CPU 1")
                && holds("rq lock waiters CPU 1")
        );
    }

    /// Figures of each task that must survive the way out and in.
    fn figures(trace: &Trace) -> Vec<String> {
        let line = |t: &trace::TaskSummary| {
            let (vol, nonvol) = (t.voluntary_switches, t.involuntary_switches);
            format!("{} {}ns {vol} {nonvol} {}", t.pid, t.cpu_time_ns, t.migrations)
        };
        summarise(trace).tasks.iter().map(line).collect()
    }

    #[test]
    fn a_trace_goes_out_and_comes_back_with_the_same_figures_of_every_task() {
        let run = recorded();
        let mut made = Vec::new();
        for format in [TraceFormat::TraceDat, TraceFormat::FtraceText] {
            let mut bytes = Vec::new();
            run.write_trace(&mut bytes, format).expect("memory takes everything");
            let back = trace::read(&bytes).expect("our own file");
            assert_eq!(back.notes.worst(), None, "{format:?}: {}", back.notes);
            assert_eq!(back.meta.kernel.is_some(), format == TraceFormat::TraceDat);
            made.push(figures(&back));
        }
        assert_eq!(made[0], made[1]);
        assert!(made[0].len() > 3, "{made:?}");
    }

    #[test]
    fn what_comes_back_replays_with_the_same_cpu_time_and_switches() {
        let machine = crate::machine("laptop", Some(2)).expect("a machine");
        let load = LoadSpec::open("periodic -p 10ms,7ms -u 30% -P 50 -R").expect("a load");
        let mut experiment = Experiment::new(machine.clone());
        experiment.loads.push(load);
        experiment.duration = Some(Nanos::from_millis(500));
        experiment.record = true;
        let run = experiment.run().expect("it runs");
        for (ending, format) in [("dat", TraceFormat::TraceDat), ("txt", TraceFormat::FtraceText)] {
            let path = std::env::temp_dir().join(format!("schedlab-round-{}.{ending}", std::process::id()));
            let file = std::fs::File::create(&path).expect("a temporary file");
            run.write_trace(io::BufWriter::new(file), format).expect("a disk");
            let back = LoadSpec::open(&path.to_string_lossy()).expect("our own file").recorded_on(&machine);
            std::fs::remove_file(path).expect("our own file");
            let mut again = Experiment::new(machine.clone());
            again.loads.push(back);
            let again = again.run().expect("it runs");
            for task in run.result.tasks.iter().filter(|task| task.comm.starts_with("periodic")) {
                let same = |other: &&report::schema::TaskResult| other.pid == task.pid;
                let replayed = again.result.tasks.iter().find(same).expect("every task");
                let of = |task: &report::schema::TaskResult| {
                    (task.nr_voluntary_switches, task.nr_involuntary_switches)
                };
                assert_eq!(of(replayed), of(task), "{format:?} {}", task.comm);
                let off = replayed.sum_exec_runtime_ns.abs_diff(task.sum_exec_runtime_ns);
                assert!(off * 100 < task.sum_exec_runtime_ns, "{format:?} {}: {off} ns off", task.comm);
            }
        }
    }

    #[test]
    fn chrome_gets_the_same_as_perfetto() {
        let mut bytes = Vec::new();
        recorded().write_trace(&mut bytes, TraceFormat::ChromeJson).expect("memory takes everything");
        let text = String::from_utf8(bytes).expect("JSON is text");
        for part in ["cyclictest 10", "\"Running\"", "nr_running CPU 1", "wake_", "rq lock waiters CPU 0"] {
            assert!(text.contains(part), "{part}");
        }
    }
}
