//! What would have helped: the same run again, with one thing changed from just before the moment on. Up to
//! there it is the same, since a run is deterministic.

use super::attempts::{Attempt, attempts};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::kernel::Change;
use crate::parallel;
use machine::TimedChange;
use report::why::Wakeups;
use scheduler::{Nanos, Pid};
use schema::why::{Explanation, Remedies, Remedy, RemedyCost};
use schema::{Log, RunResult};
use std::collections::BTreeMap;

/// So long before the moment something is changed.
const BEFORE: Nanos = Nanos::from_micros(10);

/// One of the wakeups of a run.
pub(super) struct Late<'r> {
    pub run: &'r RunResult,
    pub one: &'r Explanation,
    /// Which of its task.
    pub nth: usize,
    /// The wakeups of all tasks with its name.
    pub alike: &'r Wakeups,
    pub log: &'r Log,
    /// What tasks are called in place of their pids in the run.
    pub recorded_pids: &'r BTreeMap<Pid, u32>,
}

/// What comes of an attempt.
struct Again {
    result: RunResult,
    latency: schema::Nanos,
    worst_later: schema::Nanos,
}

/// Tries what might have helped against one of the wakeups of `run`, the `nth` of its task.
pub(super) fn remedies(experiment: &Experiment, late: &Late<'_>) -> Remedies {
    let Late { run, one, alike, .. } = late;
    let from = Nanos(one.due_at.0.saturating_sub(BEFORE.0).max(1));
    let worst_later = alike.worst_from(schema::Nanos(from.0));
    let is_shorter = |after: schema::Nanos, before: schema::Nanos| after.0 <= before.0 - before.0 / 10;
    let attempts = attempts(experiment, late);
    let shown = |pid: Pid| late.recorded_pids.get(&pid).copied().unwrap_or(pid.0.unsigned_abs());
    let tried = parallel::map(&attempts, |(attempt, because)| {
        // A kernel may not have it, or not let it be changed.
        let again = again(experiment, attempt, from, late).ok().flatten()?;
        Some(Remedy {
            change: attempt.text(shown),
            because: (*because).to_owned(),
            latency: again.latency,
            worst_later: again.worst_later,
            helps: is_shorter(again.latency, one.latency) && is_shorter(again.worst_later, worst_later),
            elsewhere: elsewhere(run, &again.result, one),
        })
    });
    let mut tried: Vec<Remedy> = tried.into_iter().flatten().collect();
    tried.sort_by_key(|remedy| (!remedy.helps, remedy.latency, remedy.worst_later));
    let any_helps = tried.iter().any(|remedy| remedy.helps);
    Remedies { from: schema::Nanos(from.0), worst_later, replayed: None, any_helps, tried }
}

/// The run with the attempt in it; `None` if that does not come to the wakeup.
fn again(
    experiment: &Experiment,
    attempt: &Attempt,
    from: Nanos,
    late: &Late<'_>,
) -> Result<Option<Again>, Error> {
    let mut changed = experiment.clone();
    match attempt {
        Attempt::Setting(setting) => changed.kernel.set(Change { at: from, setting: setting.clone() })?,
        Attempt::Outside { change, .. } => changed.changes.push(TimedChange { at: from, change: *change }),
    }
    let run = changed.run()?;
    let Some(logged) = run.logged else { return Ok(None) };
    let victim = &late.one.task;
    let alike = Wakeups::of(&logged.log, |_, comm| comm == &*victim.comm);
    let latency = alike.nth_of(victim.pid, late.nth).map(|number| alike.latency(number));
    let worst_later = alike.worst_from(schema::Nanos(from.0));
    Ok(latency.map(|latency| Again { result: run.result, latency, worst_later }))
}

/// What becomes of the others, where that changes.
fn elsewhere(before: &RunResult, after: &RunResult, one: &Explanation) -> Vec<RemedyCost> {
    let figures = |run: &RunResult| {
        let others = || run.tasks.iter().filter(|task| task.pid != one.task.pid.0.unsigned_abs());
        BTreeMap::from([
            (
                "1 worst_latency_of_others_ns",
                others().map(|task| task.wakeup_latency_ns.max).max().unwrap_or(0),
            ),
            ("2 waiting_time_of_others_ns", others().map(|task| task.wait_sum_ns).sum()),
            ("3 context_switches", run.totals.context_switches),
        ])
    };
    let (before, after) = (figures(before), figures(after));
    let both = before.into_iter().zip(after.into_values());
    both.filter(|((_, before), after)| before != after)
        .map(|((what, before), after)| RemedyCost { what: what[2..].to_owned(), before, after })
        .collect()
}
