//! Why tasks of a recording were late, without any simulation.

use super::replayed::try_in;
use crate::asked_tasks::{all_are_there, is_meant};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::inspect::{self, Inspection, OpenedTrace};
use crate::loads::is_recording;
use crate::sources::Sources;
use machine::Window;
use report::numbers::{duration_ns, many};
use report::why::Blamed;
use scheduler::Nanos;
use schema::WhySchema;
use schema::why::WhyResult;
use trace::{Pid, RecordedLacks, RecordedWaits, Severity, Trace, WaitsMeant};
use workload::replay::TaskSelector;

/// What is asked of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedQuestion {
    /// Whose waits; empty: all tasks'.
    pub tasks: Vec<TaskSelector>,
    /// Which of them.
    pub waits: WaitsMeant,
    /// So many are explained, those that took longest.
    pub worst: usize,
    /// Those only that last at this time: on the recording's own clock, or, if it lies before that begins,
    /// since its first event.
    pub at: Option<Nanos>,
    /// The stretch to look at, since the first event; `None`: all of it.
    pub window: Option<Window>,
    /// Whether to sum up what all of them are due to.
    pub blame: bool,
}

/// Explains the waits for a CPU in a recording; `-` is standard input.
///
/// # Errors
/// A file that cannot be read, is no trace, or holds no `sched_switch`; a time without events, a task that is
/// not there, a time at which none of them waits, no waits at all.
pub fn why_recorded(
    path: &str,
    question: &RecordedQuestion,
    files: &dyn Sources,
) -> Result<WhyResult, Error> {
    Ok(AskedRecording::open(path, question, files)?.why)
}

/// A recording, and why tasks were late in it.
#[derive(Debug)]
pub struct AskedRecording {
    /// What was found.
    pub why: WhyResult,
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "what pages show besides"))]
    pub(crate) path: String,
    pub(crate) opened: OpenedTrace,
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "what pages show besides"))]
    pub(crate) question: RecordedQuestion,
}

impl AskedRecording {
    /// As [`why_recorded`] does.
    ///
    /// # Errors
    /// Those of `why_recorded`.
    pub fn open(path: &str, question: &RecordedQuestion, files: &dyn Sources) -> Result<Self, Error> {
        let opened = inspect::open(path, &question.looks_at(), files)?;
        let why = explain(path, &opened, question)?;
        Ok(AskedRecording { why, path: path.to_owned(), opened, question: question.clone() })
    }

    /// How many events the recording has.
    #[must_use]
    pub fn events(&self) -> usize {
        self.opened.events
    }

    /// Tries in a replay of the recording what would have helped against the first of the explained waits:
    /// there it is simulated, so that it can be changed. `None` tries one, unless the replay is too far from
    /// the recording in latencies to say. What came of it stands in [`why`](Self::why).
    ///
    /// # Errors
    /// Those of a run.
    pub fn try_in(&mut self, replay: &Experiment, tries: Option<usize>) -> Result<(), Error> {
        try_in(&mut self.why, Nanos(self.opened.zero_ns), replay, tries)
    }
}

impl RecordedQuestion {
    /// The part of the recording that is looked at.
    pub(crate) fn looks_at(&self) -> Inspection {
        Inspection { window: self.window, ..Inspection::default() }
    }
}

/// Explains the waits in a recording that is open.
fn explain(path: &str, opened: &OpenedTrace, question: &RecordedQuestion) -> Result<WhyResult, Error> {
    let OpenedTrace { trace, zero_ns, behind_end, .. } = opened;
    let length_ns = trace.end_ns().saturating_sub(*zero_ns);
    let at = question.at.map(|at| Moment::of(*zero_ns, length_ns, at));
    let waits = RecordedWaits::of(trace);
    let tasks = waits.tasks();
    let named = tasks.iter().flat_map(|(pid, comms)| comms.iter().map(|comm| (pid.0.unsigned_abs(), *comm)));
    all_are_there(&question.tasks, named)?;
    let meant = |pid: Pid, comm: &str| is_meant(&question.tasks, pid.0.unsigned_abs(), comm);
    let mut numbers = waits.numbers(question.waits, meant);
    if numbers.is_empty() {
        return Err(Error::NoRecordedWakeups);
    }
    let count = numbers.len() as u64;
    let mut blamed = Blamed::default();
    if question.blame {
        numbers.iter().for_each(|number| blamed.add(&waits.explain(*number)));
    }
    if let Some(at) = at {
        let nearest = numbers.iter().map(|number| waits.due_ns(*number));
        let nearest = nearest.min_by_key(|due| due.abs_diff(at.on_the_clock)).unwrap_or_default();
        let lasts =
            |number: &usize| (waits.due_ns(*number)..=waits.first_ns(*number)).contains(&at.on_the_clock);
        numbers.retain(lasts);
        if numbers.is_empty() {
            return Err(Error::NobodyOnTheWay { at: at.asked, nearest: at.as_asked(nearest) });
        }
    }
    // Stable: of equal ones the earlier.
    numbers.sort_by_key(|number| std::cmp::Reverse(waits.latency_ns(*number)));
    numbers.truncate(question.worst);
    Ok(WhyResult {
        schema: WhySchema,
        command: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        experiment: None,
        recording: Some(path.to_owned()),
        wakeups: count,
        explanations: numbers.into_iter().map(|number| waits.explain(number)).collect(),
        blame: blamed.finish(),
        notes: behind_end
            .iter()
            .cloned()
            .chain(notes(trace, waits.lacks()))
            .chain(limits(&waits, meant))
            .collect(),
    })
}

/// Whether a word is that of a recording: a file that is no description of a load and no result. Standard
/// input, which can be read only once, is taken for one.
///
/// # Errors
/// It cannot be read.
pub fn is_recorded(word: &str, files: &dyn Sources) -> Result<bool, Error> {
    is_recording(word, files)
}

/// A time that was asked for.
#[derive(Clone, Copy)]
struct Moment {
    asked: Nanos,
    /// The same on the recording's clock, ns.
    on_the_clock: u64,
}

impl Moment {
    /// A time is on the recording's clock unless it is before all that was recorded and can be a span since.
    fn of(zero_ns: u64, length_ns: u64, asked: Nanos) -> Moment {
        let is_span = asked.0 < zero_ns && asked.0 <= length_ns;
        let on_the_clock = if is_span { zero_ns.saturating_add(asked.0) } else { asked.0 };
        Moment { asked, on_the_clock }
    }

    /// A time on the clock, counted as the one that was asked for.
    fn as_asked(self, time_ns: u64) -> Nanos {
        Nanos(time_ns.saturating_sub(self.on_the_clock - self.asked.0))
    }
}

/// Who behaves as under a limit that the recording does not name.
fn limits(waits: &RecordedWaits<'_>, meant: impl Fn(Pid, &str) -> bool) -> Vec<String> {
    let tasks = waits.tasks();
    let comm = |pid: &Pid| tasks.get(pid).and_then(|comms| comms.iter().next_back()).copied();
    let told = waits.suspected_limits().into_iter().filter_map(|limit| {
        let comm = comm(&limit.pid).filter(|comm| meant(limit.pid, comm))?;
        Some(format!(
            "{comm} ({}) seems to be throttled by a limit of its group (cpu.max) that the recording does not \
             name: {} waits end {} after each other, each after about {} of CPU time, whoever else runs",
            limit.pid,
            limit.waits,
            duration_ns(limit.period_ns),
            duration_ns(limit.quota_ns),
        ))
    });
    told.collect()
}

/// What is damaged in the recording or lost, what it does not tell, and which events would.
fn notes(trace: &Trace, lacks: RecordedLacks) -> Vec<String> {
    let serious = trace.notes.iter().filter(|note| note.kind.severity() != Severity::Info);
    let mut notes: Vec<String> = serious.map(ToString::to_string).collect();
    if lacks.interrupts {
        notes.push(
            "no interrupts were recorded: what they take is part of the time of whoever ran (events irq and \
             irq_vectors tell)"
                .to_owned(),
        );
    }
    if lacks.queued {
        notes.push(
            "no sched_wakeup was recorded: a task counts as queued as soon as its wakeup begins".to_owned(),
        );
    }
    if lacks.moves {
        notes.push(
            "no sched_migrate_task was recorded: where a task waits is not known if it moves".to_owned(),
        );
    }
    if lacks.ends > 0 {
        let ends = many(lacks.ends, "wait");
        notes.push(format!("left out: {ends} of which no event shows where the task began to execute"));
    }
    if lacks.wakeups > 0 {
        let wakeups = many(lacks.wakeups, "switch");
        notes.push(format!("left out: {wakeups} to a task whose wakeup was not recorded"));
    }
    if !trace.meta.gaps.is_empty() {
        notes.push(format!(
            "{} of lost events: what happened there is `not recorded`, and a wait that spans it may have been \
             several",
            many(trace.meta.gaps.len() as u64, "gap")
        ));
    }
    notes
}
