//! Why tasks were late: an experiment is run with its log, and its wakeups are explained.

mod attempts;
mod placement;
mod recorded;
mod remedies;

#[cfg(feature = "page")]
pub(crate) use recorded::explain as explain_recorded;
pub use recorded::{RecordedQuestion, is_recorded, why_recorded};

use crate::error::Error;
use crate::experiment::{Experiment, Run};
use remedies::{Late, remedies};
use report::why::{Blamed, Wakeups};
use scheduler::{Nanos, Reason};
use schema::why::{Blame, Explanation, LateBy, WhyResult};
use schema::{Grade, ReplayFidelity, WhySchema};
use std::collections::BTreeSet;
use suggest::suggest;
use workload::replay::TaskSelector;

/// What is asked of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// So many wakeups are explained, those with the longest latencies.
    pub worst: usize,
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
        Question { worst: 5, at: None, tries: Some(0), blame: false }
    }
}

/// Runs an experiment and explains the wakeups of its tasks ([`Experiment::tasks`]; all, if it names none).
///
/// # Errors
/// Those of a run; a task that there is not, a time at which none of them is on its way, no wakeups at all.
pub fn why(experiment: &Experiment, question: Question) -> Result<WhyResult, Error> {
    Ok(answer(experiment, question)?.why)
}

/// What was asked, and the run of which it was.
pub(crate) struct Answer {
    pub why: WhyResult,
    pub run: Run,
}

/// The run is kept beside what [`why`] says of it.
pub(crate) fn answer(experiment: &Experiment, question: Question) -> Result<Answer, Error> {
    let judged = Experiment { record: true, why: false, tasks: Vec::new(), ..experiment.clone() };
    let run = judged.run()?;
    let recorded = Experiment { fidelity: false, ..judged };
    let why = explain(&recorded, &run, &experiment.tasks, question)?;
    Ok(Answer { why: WhyResult { experiment: experiment.text(), ..why }, run })
}

/// Explains the wakeups of these tasks, or of all, in a run with its log; `experiment` makes it once more.
pub(crate) fn explain(
    experiment: &Experiment,
    run: &Run,
    tasks: &[TaskSelector],
    question: Question,
) -> Result<WhyResult, Error> {
    let verdicts = run.result.replay.iter().map(verdict);
    let is_told = |replay: &ReplayFidelity| replay.verdict.latency.grade <= Grade::Fair;
    let tries = question.tries.unwrap_or(usize::from(run.result.replay.iter().all(is_told)));
    let log = &run.logged.as_ref().ok_or(Error::NoWakeups)?.log;
    let named = names(log);
    if let Some(whom) = tasks.iter().find(|whom| !named.iter().any(|(pid, comm)| whom.matches(*pid, comm))) {
        let comms = named.iter().map(|(_, comm)| comm.as_str());
        let nearest = suggest(&whom.word(), comms).map(str::to_owned);
        return Err(Error::NotInRun { whom: whom.clone(), nearest });
    }
    let wakeups = Wakeups::of(log, |pid, comm| is_meant(tasks, pid.0.unsigned_abs(), comm));
    if wakeups.is_empty() {
        return Err(Error::NoWakeups);
    }
    let numbers = match question.at {
        None => wakeups.worst(question.worst),
        Some(at) => on_their_way(&wakeups, at, question.worst)?,
    };
    let explain = |number: &usize| wakeups.explain(*number, meaning);
    let mut explanations: Vec<Explanation> = numbers.iter().map(explain).collect();
    for (one, number) in explanations.iter_mut().zip(&numbers).take(tries) {
        let alike = Wakeups::of(log, |_, comm| comm == &*one.task.comm);
        let late = Late { run: &run.result, one, nth: wakeups.nth_of_its_task(*number), alike: &alike, log };
        one.remedies = Some(remedies(experiment, &late));
    }
    let mut blamed = Blamed::default();
    if question.blame {
        (0..wakeups.len()).for_each(|number| blamed.add(&wakeups.account(number, meaning)));
    }
    Ok(WhyResult {
        schema: WhySchema,
        command: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        experiment: None,
        recording: None,
        wakeups: wakeups.len() as u64,
        explanations,
        blame: blamed.finish(),
        notes: run.result.notes.iter().cloned().chain(verdicts).collect(),
    })
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

/// What the latencies of these tasks, or of all, are due to in a run.
pub(crate) fn late_by(log: &schema::Log, tasks: &[TaskSelector]) -> Vec<LateBy> {
    let wakeups = Wakeups::of(log, |pid, comm| is_meant(tasks, pid.0.unsigned_abs(), comm));
    let mut blamed = Blamed::default();
    (0..wakeups.len()).for_each(|number| blamed.add(&wakeups.account(number, meaning)));
    let of = |Blame { victim, rows, .. }: Blame| {
        rows.into_iter().map(move |row| LateBy {
            victim: victim.to_string(),
            due_to: row.due_to,
            times: row.times,
            total_ns: row.all.0,
        })
    };
    blamed.finish().into_iter().flat_map(of).collect()
}

/// The worst of those that are on their way at a time.
fn on_their_way(wakeups: &Wakeups, at: Nanos, worst: usize) -> Result<Vec<usize>, Error> {
    let there: BTreeSet<usize> = wakeups.at(schema::Nanos(at.0)).into_iter().collect();
    if there.is_empty() {
        let nearest = wakeups.nearest(schema::Nanos(at.0)).map(|nearest| Nanos(nearest.0));
        return Err(Error::NobodyOnTheWay { at, nearest: nearest.unwrap_or_default() });
    }
    Ok(wakeups.worst(wakeups.len()).into_iter().filter(|number| there.contains(number)).take(worst).collect())
}

fn is_meant(tasks: &[TaskSelector], pid: u32, comm: &str) -> bool {
    tasks.is_empty() || tasks.iter().any(|whom| whom.matches(pid, comm))
}

/// Every task of a log with its names.
fn names(log: &schema::Log) -> BTreeSet<(u32, String)> {
    let named = log.records.iter().filter_map(|record| match &record.event {
        schema::LogEvent::Comm { of, comm } => Some((of.0.unsigned_abs(), comm.to_string())),
        _ => None,
    });
    named.collect()
}

/// What a decision means, by its name.
fn meaning(name: &str) -> &'static str {
    Reason::ALL.iter().find(|reason| reason.name() == name).map_or("", |reason| reason.meaning())
}
