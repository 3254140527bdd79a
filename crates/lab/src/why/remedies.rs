//! What would have helped: the same run again, with one thing changed from just before the moment on. Up to
//! there it is the same, since a run is deterministic.

use super::attempts::{Attempt, attempts};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::kernel::Change;
use crate::parallel;
use machine::TimedChange;
use report::why::{Waits, Wakeups};
use scheduler::{Nanos, Pid};
use schema::why::{Due, Explanation, Remedies, Remedy, RemedyCost};
use schema::{Log, RunResult};
use std::collections::BTreeMap;

/// So long before the moment something is changed.
pub(super) const BEFORE: Nanos = Nanos::from_micros(10);

/// One of the wakeups of a run.
pub(super) struct Late<'r> {
    pub run: &'r RunResult,
    pub one: &'r Explanation,
    /// Which wakeup of its task.
    pub nth: usize,
    /// Which waits are meant.
    pub waits: Waits,
    /// Those of all tasks with its name.
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
    let left_ns = run.engine.simulated_ns.saturating_sub(from.0);
    let tried = parallel::map(&attempts, |(attempt, because)| {
        // A kernel may not have it, or not let it be changed.
        let again = again(experiment, attempt, from, late).ok().flatten()?;
        let elsewhere = elsewhere(run, &again.result, one);
        Some(Remedy {
            change: attempt.text(shown),
            because: (*because).to_owned(),
            latency: again.latency,
            worst_later: again.worst_later,
            helps: is_shorter(again.latency, one.latency) && is_shorter(again.worst_later, worst_later),
            costs_others: elsewhere.iter().any(|cost| is_dear(cost, left_ns)),
            elsewhere,
        })
    });
    let mut tried: Vec<Remedy> = tried.into_iter().flatten().collect();
    tried.sort_by_key(|remedy| {
        (!remedy.helps, remedy.helps && remedy.costs_others, remedy.latency, remedy.worst_later)
    });
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
        Attempt::Outside { change, at, .. } => {
            changed.changes.push(TimedChange { at: at.unwrap_or(from), change: *change });
        }
    }
    let run = changed.run()?;
    let Some(logged) = run.logged else { return Ok(None) };
    let victim = &late.one.task;
    let alike = Wakeups::of_waits(&logged.log, late.waits, |_, comm| comm == &*victim.comm);
    let latency = match &late.one.due {
        // Another run has other preemptions: none is the same one.
        Due::Preempted { .. } | Due::Throttled { .. } => {
            Some(alike.longest_between(victim.pid, late.one.due_at, late.one.first))
        }
        _ => alike.nth_of(victim.pid, late.nth).map(|number| alike.latency(number)),
    };
    let worst_later = alike.worst_from(schema::Nanos(from.0));
    Ok(latency.map(|latency| Again { result: run.result, latency, worst_later }))
}

/// Whether others wait longer by a tenth at least, and in all by a hundredth of the time that was left.
fn is_dear(cost: &RemedyCost, left_ns: u64) -> bool {
    let more = cost.after.saturating_sub(cost.before);
    let least = match cost.what.as_str() {
        WORST_OF_OTHERS => 1,
        WAITING_OF_OTHERS => left_ns / 100,
        _ => return false,
    };
    more >= (cost.before / 10).max(least)
}

const WORST_OF_OTHERS: &str = "worst_latency_of_others_ns";
const WAITING_OF_OTHERS: &str = "waiting_time_of_others_ns";

/// What becomes of the others, where that changes.
fn elsewhere(before: &RunResult, after: &RunResult, one: &Explanation) -> Vec<RemedyCost> {
    let figures = |run: &RunResult| {
        let others = || run.tasks.iter().filter(|task| task.pid != one.task.pid.0.unsigned_abs());
        let worst = others().map(|task| task.wakeup_latency_ns.max).max().unwrap_or(0);
        let waiting = others().map(|task| task.wait_sum_ns).sum();
        [worst, waiting, run.totals.context_switches]
    };
    let names = [WORST_OF_OTHERS, WAITING_OF_OTHERS, "context_switches"];
    let each = names.into_iter().zip(figures(before)).zip(figures(after));
    each.filter(|((_, before), after)| before != after)
        .map(|((what, before), after)| RemedyCost { what: what.to_owned(), before, after })
        .collect()
}
