//! Why tasks were late: an experiment is run with its log, and its wakeups are explained.

mod attempts;
mod idle;
mod placement;
mod recorded;
mod remedies;
mod replayed;

pub use recorded::{AskedRecording, RecordedQuestion, is_recorded, why_recorded};

use crate::asked_tasks::{all_are_there, is_meant};
use crate::error::Error;
use crate::experiment::{Experiment, Run};
use machine::Window;
use remedies::{Late, remedies};
use report::why::{Blamed, Waits, Wakeups};
use scheduler::{Nanos, Pid, Reason};
use schema::why::{Blame, Explanation, LateBy, WhyResult, WhyTask};
use schema::{Grade, ReplayFidelity, WhySchema};
use std::collections::{BTreeMap, BTreeSet};
use workload::replay::TaskSelector;

/// What is asked of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// So many wakeups are explained, those with the longest latencies.
    pub worst: usize,
    /// Which waits.
    pub waits: Waits,
    /// Those only that are on their way at this time of the run.
    pub at: Option<Nanos>,
    /// Of so many of them it is tried what would have helped: each try is a run. `None`: of one, but not in
    /// the replay of a recording from which it is too far in latencies to say.
    pub tries: Option<usize>,
    /// Whether to sum up what all wakeups are due to.
    pub blame: bool,
}

impl Default for Question {
    fn default() -> Question {
        Question { worst: 5, waits: Waits::Wakeups, at: None, tries: Some(0), blame: false }
    }
}

/// Runs an experiment and explains the wakeups of its tasks ([`Experiment::tasks`]; all, if it names none).
///
/// # Errors
/// Those of a run; a task that there is not, a time at which none of them is on its way, no wakeups at all.
pub fn why(experiment: &Experiment, question: Question) -> Result<WhyResult, Error> {
    let Answer { mut why, run } = answer(experiment, question)?;
    // A replayed task is known by its recorded pid; a page shows the run, with the run's.
    let recorded = run.logged.map(|logged| logged.recorded_pids).unwrap_or_default();
    let name = &mut |task: &mut WhyTask| {
        if let Some(pid) = recorded.get(&Pid(task.pid.0)) {
            task.pid = schema::Pid(pid.cast_signed());
        }
    };
    why.explanations.iter_mut().for_each(|one| one.each_task(name));
    Ok(why)
}

/// What was asked, and the run of which it was.
pub(crate) struct Answer {
    pub why: WhyResult,
    pub run: Run,
}

/// The run is kept beside what [`why`] says of it.
pub(crate) fn answer(experiment: &Experiment, question: Question) -> Result<Answer, Error> {
    let (run, recorded) = run_recorded(experiment)?;
    let why = explain(&recorded, &run, &experiment.tasks, question)?;
    Ok(Answer { why: WhyResult { experiment: experiment.text(), ..why }, run })
}

/// The run of an experiment with its log, of all tasks, and the experiment that makes it once more for what
/// is tried.
fn run_recorded(experiment: &Experiment) -> Result<(Run, Experiment), Error> {
    let judged = Experiment { record: true, why: false, tasks: Vec::new(), ..experiment.clone() };
    Ok((judged.run()?, Experiment { fidelity: false, ..judged }))
}

/// Explains the wakeups of these tasks, or of all, in a run with its log; `experiment` makes it once more.
pub(crate) fn explain(
    experiment: &Experiment,
    run: &Run,
    tasks: &[TaskSelector],
    question: Question,
) -> Result<WhyResult, Error> {
    let verdicts = run.result.replay.iter().map(verdict);
    let tries = question.tries.unwrap_or(usize::from(is_near(run)));
    let logged = run.logged.as_ref().ok_or(Error::NoWakeups)?;
    let log = &logged.log;
    let named = names(log);
    let recorded = |pid: u32| logged.recorded_pids.get(&Pid(pid.cast_signed())).copied();
    let by_run = named.iter().map(|(pid, comm)| (*pid, comm.as_str()));
    let by_recording = named.iter().filter_map(|(pid, comm)| Some((recorded(*pid)?, comm.as_str())));
    all_are_there(tasks, by_recording.chain(by_run))?;
    let tasks = &of_run(tasks, &logged.recorded_pids);
    let is_asked = |pid: schema::Pid, comm: &str| is_meant(tasks, pid.0.unsigned_abs(), comm);
    let wakeups = Wakeups::of_waits(log, question.waits, is_asked);
    let window = experiment.window.map(|window| window.after(logged.start));
    let inside = told(&wakeups, window);
    if inside.is_empty() {
        return Err(match question.waits {
            _ if !wakeups.is_empty() => Error::NoWakeupsThere,
            Waits::Wakeups => Error::NoWakeups,
            Waits::Runnable => Error::NoWaits,
        });
    }
    let mut numbers = wakeups.worst_of(match question.at {
        None => inside.clone(),
        Some(at) => on_their_way(&wakeups, &inside, at)?,
    });
    numbers.truncate(question.worst);
    let explain = |number: &usize| wakeups.explain(*number, meaning);
    let mut explanations: Vec<Explanation> = numbers.iter().map(explain).collect();
    for (one, number) in explanations.iter_mut().zip(&numbers).take(tries) {
        let alike = Wakeups::of_waits(log, question.waits, |_, comm| comm == &*one.task.comm);
        let nth = wakeups.nth_of_its_task(*number);
        let recorded_pids = &logged.recorded_pids;
        let waits = question.waits;
        let late = Late { run: &run.result, one, nth, waits, alike: &alike, log, recorded_pids };
        one.remedies = Some(remedies(experiment, &late));
    }
    let mut blamed = Blamed::default();
    if question.blame {
        inside.iter().for_each(|number| blamed.add(&wakeups.account(*number, meaning)));
    }
    Ok(WhyResult {
        schema: WhySchema,
        command: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        experiment: None,
        recording: None,
        wakeups: inside.len() as u64,
        explanations,
        blame: blamed.finish(),
        notes: run.result.notes.iter().cloned().chain(verdicts).collect(),
    })
}

/// Whether all that is replayed is near enough to its recording in latencies to say what would help there.
fn is_near(run: &Run) -> bool {
    run.result.replay.iter().all(|replay| replay.verdict.latency.grade <= Grade::Fair)
}

/// How far explanations of a replay hold for its recording.
fn verdict(replay: &ReplayFidelity) -> String {
    let far = match replay.verdict.latency.grade {
        Grade::Good | Grade::Fair => "",
        Grade::Poor | Grade::Unknown => {
            "; what made a task late there, and what would help, may not be so in the recording, and is not \
             tried unless it is asked for"
        }
    };
    format!("the replay of {} is {}{far}", replay.trace, replay.verdict.sentence)
}

/// What the latencies of these tasks, or of all, are due to in a stretch of a run, on the log's clock;
/// without one, in all of it.
pub(crate) fn late_by(log: &schema::Log, tasks: &[TaskSelector], window: Option<Window>) -> Vec<LateBy> {
    let wakeups = Wakeups::of(log, |pid, comm| is_meant(tasks, pid.0.unsigned_abs(), comm));
    let mut blamed = Blamed::default();
    told(&wakeups, window).into_iter().for_each(|number| blamed.add(&wakeups.account(number, meaning)));
    let of = |Blame { victim, wakeups, rows, .. }: Blame| {
        rows.into_iter().map(move |row| LateBy {
            victim: victim.to_string(),
            due_to: row.due_to,
            times: row.times,
            total_ns: row.all.0,
            wakeups,
        })
    };
    blamed.finish().into_iter().flat_map(of).collect()
}

/// Those that end in a stretch, on the log's clock: there a latency counts, as in all tables.
fn told(wakeups: &Wakeups, window: Option<Window>) -> Vec<usize> {
    let Window { from, to } = window.unwrap_or(Window::ALL);
    wakeups.ending(schema::Nanos(from.0), schema::Nanos(to.0))
}

/// Those that are on their way at a time.
fn on_their_way(wakeups: &Wakeups, of: &[usize], at: Nanos) -> Result<Vec<usize>, Error> {
    let time = schema::Nanos(at.0);
    let there: Vec<usize> =
        of.iter().copied().filter(|number| wakeups.is_on_its_way(*number, time)).collect();
    if there.is_empty() {
        let due = of.iter().map(|number| wakeups.due_at(*number).0);
        let nearest = due.min_by_key(|due| due.abs_diff(at.0)).unwrap_or_default();
        return Err(Error::NobodyOnTheWay { at, nearest: Nanos(nearest) });
    }
    Ok(there)
}

/// Every task of a log with its names.
fn names(log: &schema::Log) -> BTreeSet<(u32, String)> {
    let named = log.records.iter().filter_map(|record| match &record.event {
        schema::LogEvent::Comm { of, comm } => Some((of.0.unsigned_abs(), comm.to_string())),
        _ => None,
    });
    named.collect()
}

/// These tasks by their pids in the run: a pid is that of a recorded task, if one had it there.
fn of_run(tasks: &[TaskSelector], recorded: &BTreeMap<Pid, u32>) -> Vec<TaskSelector> {
    let in_run = |whom: &TaskSelector| {
        let TaskSelector::Pid(asked) = whom else { return vec![whom.clone()] };
        let had_it = recorded.iter().filter(|(_, pid)| **pid == asked.unsigned_abs());
        let pids: Vec<TaskSelector> = had_it.map(|(pid, _)| TaskSelector::Pid(pid.0)).collect();
        if pids.is_empty() { vec![whom.clone()] } else { pids }
    };
    tasks.iter().flat_map(in_run).collect()
}

/// What a decision means, by its name.
fn meaning(name: &str) -> &'static str {
    Reason::ALL.iter().find(|reason| reason.name() == name).map_or("", |reason| reason.meaning())
}
