//! What would have helped: the same run again, with one thing changed from just before the moment on. Up to
//! there it is the same, since a run is deterministic.

use crate::error::Error;
use crate::experiment::Experiment;
use crate::kernel::Change;
use crate::parallel;
use machine::{TimedPolicy, policy_text};
use report::why::Wakeups;
use scheduler::{Nanos, Pid, Policy, RtPriority};
use schema::why::{
    Budget, Cause, Explanation, IrqsOffPath, Precedence, Remedies, Remedy, RemedyCost, WhyTask,
};
use schema::{LogInterrupt, LogIpi, RunResult};
use std::collections::BTreeMap;

/// So long before the moment something is changed.
const BEFORE: Nanos = Nanos::from_micros(10);

/// Something that is changed.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Attempt {
    Setting(String),
    Policy { whose: WhyTask, policy: Policy },
}

/// One of the wakeups of a run.
pub(super) struct Late<'r> {
    pub run: &'r RunResult,
    pub one: &'r Explanation,
    /// Which of its task.
    pub nth: usize,
    /// The wakeups of all tasks with its name.
    pub alike: &'r Wakeups,
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
    let attempts = attempts(run, one);
    let tried = parallel::map(&attempts, |(attempt, because)| {
        // A kernel may not have it, or not let it be changed.
        let again = again(experiment, attempt, from, late).ok().flatten()?;
        Some(Remedy {
            change: change(attempt),
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
    Remedies { from: schema::Nanos(from.0), worst_later, any_helps, tried }
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
        Attempt::Policy { whose, policy } => {
            changed.policies.push(TimedPolicy { at: from, pid: Pid(whose.pid.0), policy: *policy });
        }
    }
    let run = changed.run()?;
    let Some(logged) = run.logged else { return Ok(None) };
    let victim = &late.one.task;
    let alike = Wakeups::of(&logged.log, |_, comm| comm == &*victim.comm);
    let latency = alike.nth_of(victim.pid, late.nth).map(|number| alike.latency(number));
    let worst_later = alike.worst_from(schema::Nanos(from.0));
    Ok(latency.map(|latency| Again { result: run.result, latency, worst_later }))
}

fn change(attempt: &Attempt) -> String {
    match attempt {
        Attempt::Setting(setting) => setting.clone(),
        Attempt::Policy { whose, policy } => {
            format!("{} ({}) {}", whose.comm, whose.pid, policy_text(*policy))
        }
    }
}

/// What is worth a try, by the causes that take longest; each with why.
fn attempts(run: &RunResult, one: &Explanation) -> Vec<(Attempt, &'static str)> {
    let mut found: Vec<(Attempt, &'static str)> = Vec::new();
    let mut stretches: Vec<_> = one.stretches.iter().collect();
    stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.length()));
    for stretch in stretches.iter().filter(|stretch| stretch.length().0 * 50 >= one.latency.0) {
        let (attempts, because) = against(run, &one.task, &stretch.cause);
        for attempt in attempts {
            if !found.iter().any(|(known, _)| *known == attempt) {
                found.push((attempt, because));
            }
        }
    }
    found
}

fn against(run: &RunResult, victim: &WhyTask, cause: &Cause) -> (Vec<Attempt>, &'static str) {
    let toggled = |names: &[&str]| names.iter().filter_map(|name| toggled(run, name)).collect::<Vec<_>>();
    let raised = |above: Option<&WhyTask>| {
        let priority = above.map_or(1, |above| (99 - above.prio.0).clamp(0, 98) + 1);
        let policy = RtPriority::new(priority.unsigned_abs() as u8).map(Policy::Fifo);
        policy.map(|policy| Attempt::Policy { whose: victim.clone(), policy })
    };
    match cause {
        Cause::LockWait { .. } | Cause::InterruptsOff { path: IrqsOffPath::Schedule, .. } => (
            toggled(&["RT_PUSH_IPI", "TTWU_QUEUE", "RT_RUNTIME_SHARE"]),
            "CPUs wait for each other's run queues.",
        ),
        Cause::Interrupt { irq: Some(LogInterrupt::Ipi { ipi: LogIpi::Push { .. } }) } => {
            (toggled(&["RT_PUSH_IPI"]), "CPUs are asked to push tasks away.")
        }
        Cause::Running { precedence: Precedence::Fair, .. } => {
            let mut attempts = toggled(&[
                "WAKEUP_PREEMPT",
                "RUN_TO_PARITY",
                "PREEMPT_SHORT",
                "NEXT_BUDDY",
                "PLACE_LAG",
                "GENTLE_FAIR_SLEEPERS",
            ]);
            attempts.extend(halved(
                run,
                &["sched_base_slice_ns", "sched_min_granularity_ns", "sched_wakeup_granularity_ns"],
            ));
            attempts.extend(raised(None));
            (attempts, "Another fair task runs first.")
        }
        Cause::Running { precedence: Precedence::NotPreempted, .. } => {
            (valued(run, "preempt_model", &["full", "lazy"]), "The kernel cannot be preempted there.")
        }
        Cause::Running { task, precedence, .. } => {
            let mut attempts: Vec<Attempt> = Vec::new();
            if matches!(precedence, Precedence::HigherPriority | Precedence::SamePriority)
                || *precedence == Precedence::Class && task.prio.0 >= 0
            {
                attempts.extend(raised(Some(task)));
            }
            attempts.extend(toggled(&["RT_PUSH_IPI"]));
            attempts.extend(valued(run, "search", &["cpupri"]));
            (attempts, "A task that goes before it runs there.")
        }
        Cause::Mutex { behind: Some(behind), chain } => {
            let owner = chain.last().and_then(|held| held.owner.clone());
            let priority = (99 - behind.prio.0).clamp(0, 98) + 1;
            let policy = RtPriority::new(priority.unsigned_abs() as u8).map(Policy::Fifo);
            let attempt = owner.zip(policy).map(|(whose, policy)| Attempt::Policy { whose, policy });
            (attempt.into_iter().collect(), "The owner of the mutex cannot run.")
        }
        Cause::Throttled { budget: Budget::RealTime {}, .. } => {
            let mut attempts = vec![Attempt::Setting("sched_rt_runtime_us=-1".to_owned())];
            attempts.extend(toggled(&["RT_RUNTIME_SHARE"]));
            (attempts, "Real-time tasks have a budget.")
        }
        Cause::InFlight { .. } | Cause::Idle {} => (toggled(&["TTWU_QUEUE"]), "A CPU has to be asked."),
        Cause::HandOver { .. } => {
            (toggled(&["RT_PUSH_IPI", "TTWU_QUEUE"]), "The task is moved to another CPU.")
        }
        _ => (Vec::new(), ""),
    }
}

/// A feature that this kernel has, the other way round.
fn toggled(run: &RunResult, name: &str) -> Option<Attempt> {
    let is_on = *run.kernel.features.get(name)?;
    Some(Attempt::Setting(if is_on { format!("NO_{name}") } else { name.to_owned() }))
}

/// A rule that this kernel has, with the other values.
fn valued(run: &RunResult, name: &str, values: &[&str]) -> Vec<Attempt> {
    let Some(now) = run.kernel.rules.get(name) else { return Vec::new() };
    let others = values.iter().filter(|value| **value != now.as_str());
    others.map(|value| Attempt::Setting(format!("{name}={value}"))).collect()
}

/// Times that this kernel knows, half as long.
fn halved(run: &RunResult, names: &[&str]) -> Vec<Attempt> {
    let known = names.iter().filter_map(|name| Some((name, *run.kernel.tunables.get(*name)?)));
    known
        .filter(|(_, now)| *now > 1)
        .map(|(name, now)| Attempt::Setting(format!("{name}={}", now / 2)))
        .collect()
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
