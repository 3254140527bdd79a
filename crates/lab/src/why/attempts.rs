//! What is worth a try against a latency, by its causes: settings, priorities, affinities, limits of groups.

use super::placement::Placement;
use super::remedies::{BEFORE, Late};
use crate::experiment::Experiment;
use crate::groups::FIRST_BURSTS;
use machine::{OutsideChange, policy_text};
use scheduler::rt::RtLimit;
use scheduler::{CpuMask, GroupId, Nanos, Pid, Policy, RtPriority};
use schema::why::{Budget, Cause, IrqsOffPath, Precedence, WhyStretch, WhyTask};
use schema::{GroupLimit, LogBudget, LogEvent, LogInterrupt, LogIpi, LogRecord, RtGroupLimit, RunResult};

/// Something that is changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Attempt {
    Setting(String),
    /// By somebody outside.
    Outside {
        change: OutsideChange,
        /// When, if not just before the moment.
        at: Option<Nanos>,
        /// The task that is changed, if it is one.
        whose: Option<WhyTask>,
        /// What becomes of it, in words.
        words: String,
    },
}

impl Attempt {
    fn policy(whose: &WhyTask, policy: Policy) -> Attempt {
        let change = OutsideChange::Policy { pid: Pid(whose.pid.0), policy };
        Attempt::Outside { change, at: None, whose: Some(whose.clone()), words: policy_text(policy) }
    }

    pub fn cpus(whose: &WhyTask, cpus: CpuMask) -> Attempt {
        let change = OutsideChange::Cpus { pid: Pid(whose.pid.0), cpus };
        let words = format!("{} {cpus}", if cpus.weight() == 1 { "on CPU" } else { "on CPUs" });
        Attempt::Outside { change, at: None, whose: Some(whose.clone()), words }
    }

    /// What is changed: a setting as `--set` takes it, or a step in words. A task has the pid that `shown`
    /// gives for its own.
    pub fn text(&self, shown: impl Fn(Pid) -> u32) -> String {
        match self {
            Attempt::Setting(setting) => setting.clone(),
            Attempt::Outside { whose: None, words, .. } => words.clone(),
            Attempt::Outside { whose: Some(task), words, .. } => {
                format!("{} ({}) {words}", task.comm, shown(Pid(task.pid.0)))
            }
        }
    }
}

/// What is worth a try, by the causes that take longest; each with why.
pub(super) fn attempts(experiment: &Experiment, late: &Late<'_>) -> Vec<(Attempt, &'static str)> {
    let Late { run, one, .. } = late;
    let placement = Placement { late, cpus: experiment.machine.spec().cpus() };
    let mut found: Vec<(Attempt, &'static str)> = Vec::new();
    let mut stretches: Vec<_> = one.stretches.iter().collect();
    stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.length()));
    for stretch in stretches.iter().filter(|stretch| stretch.length().0 * 50 >= one.latency.0) {
        let (settings, because) = against(run, &one.task, &stretch.cause);
        let settings = settings.into_iter().map(|attempt| (attempt, because));
        let shares = stretch.shares.iter().map(|share| &share.cause);
        let causes = std::iter::once(&stretch.cause).chain(shares);
        let places = causes.flat_map(|cause| placement.against(cause, stretch.cpu));
        let limits = limits(experiment, late, &stretch.cause);
        let limits = limits.into_iter().chain(rt_limits(late, stretch));
        let limits = limits.chain(super::idle::against(experiment, late, stretch));
        for (attempt, because) in limits.chain(settings).chain(places) {
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
        policy.map(|policy| Attempt::policy(victim, policy))
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
        Cause::Running { precedence: Precedence::AskedLazily, .. } => {
            (valued(run, "preempt_model", &["full"]), "The running task was asked lazily to make room.")
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
            let attempt = owner.zip(policy).map(|(whose, policy)| Attempt::policy(&whose, policy));
            (attempt.into_iter().collect(), "The owner of the mutex cannot run.")
        }
        Cause::Throttled { budget: Budget::RealTime {} | Budget::RtGroup { .. }, .. } => {
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

/// The limit of the group that has used it up: twice as much, a burst, none.
fn limits(experiment: &Experiment, late: &Late<'_>, cause: &Cause) -> Vec<(Attempt, &'static str)> {
    let Cause::Throttled { budget: Budget::Group { group: Some(path) }, .. } = cause else {
        return Vec::new();
    };
    let groups = &late.log.head.groups;
    let place = groups.iter().position(|group| group.path == **path);
    let limit = late.run.groups.iter().find(|group| group.name == **path).and_then(|group| group.max);
    let Some((place, limit)) = place.zip(limit) else { return Vec::new() };
    let GroupLimit { quota_ns, period_ns, burst_ns } = limit;
    let change = |quota, burst| OutsideChange::Limit {
        group: GroupId(place as u32 + 1),
        quota: Nanos(quota),
        burst: Nanos(burst),
    };
    let us = |ns: u64| ns / 1_000;
    let attempt = |quota, burst, words: String| {
        let words = format!("group {path} {words}");
        (
            Attempt::Outside { change: change(quota, burst), at: None, whose: None, words },
            "The group's limit is used up.",
        )
    };
    let doubled = format!("cpu.max:{}/{}", us(2 * quota_ns), us(period_ns));
    let mut all = vec![attempt(2 * quota_ns, burst_ns, doubled)];
    // A pool takes over no more than what it is filled with.
    if burst_ns < quota_ns && experiment.kernel.named().nearest_release() >= FIRST_BURSTS {
        all.push(attempt(quota_ns, quota_ns, format!("cpu.max.burst:{}", us(quota_ns))));
    }
    let cpus = experiment.machine.spec().cpus() as u64;
    // With the time of all CPUs nobody in it is throttled.
    all.push(attempt(quota_ns.max(2 * cpus * period_ns), 0, "cpu.max:max".to_owned()));
    all
}

/// The limit of the group of real-time tasks that has used it up: twice as much, and all that the group above
/// has left for it. More is refused (deadline-groups B9). Whoever is throttled gets it with the next period
/// only, so it is written just before the throttling begins.
fn rt_limits(late: &Late<'_>, stretch: &WhyStretch) -> Vec<(Attempt, &'static str)> {
    let Cause::Throttled { budget: Budget::RtGroup { group: path }, .. } = &stretch.cause else {
        return Vec::new();
    };
    let groups = &late.run.groups;
    let place = late.log.head.groups.iter().position(|group| group.path == **path);
    let limit = groups.iter().find(|group| group.name == **path).and_then(|group| group.rt);
    let Some((place, limit)) = place.zip(limit) else { return Vec::new() };
    let Some(runtime_ns) = limit.runtime_ns else { return Vec::new() };
    let above = |path: &str| path.rsplit_once('/').map(|(above, _)| above.to_owned());
    let own_above = above(path);
    let siblings = groups.iter().filter(|group| group.name != **path && above(&group.name) == own_above);
    let taken: u64 = siblings.filter_map(|group| group.rt).map(part_of).sum();
    let all = match &own_above {
        Some(above) => {
            groups.iter().find(|group| group.name == *above).and_then(|group| group.rt).map(part_of)
        }
        None => Some(part_of_root(late.run)),
    };
    let left = all.unwrap_or_default().saturating_sub(taken);
    let most_us = (u128::from(left) * u128::from(limit.period_ns) / WHOLE / 1_000) as u64;
    let mut tried: Vec<u64> = vec![(2 * runtime_ns / 1_000).min(most_us), most_us];
    tried.dedup();
    tried.retain(|us| *us > runtime_ns / 1_000);
    let begins = |record: &&LogRecord| match record.event {
        LogEvent::ThrottleBegins { of_cpu, budget: LogBudget::RtGroup { group } } => {
            group as usize == place && Some(of_cpu) == stretch.cpu && record.time <= stretch.from
        }
        _ => false,
    };
    let began = late.log.records.iter().rev().find(begins).map(|record| Nanos(record.time.0));
    let at = began.map(|began| Nanos(began.0.saturating_sub(BEFORE.0).max(1)));
    let attempt = |us: u64| {
        let (group, runtime) = (GroupId(place as u32 + 1), Some(Nanos::from_micros(us)));
        let words = format!("group {path} cpu.rt_runtime_us:{us}, before it was used up");
        let change = OutsideChange::RtRuntime { group, runtime };
        (
            Attempt::Outside { change, at, whose: None, words },
            "The real-time tasks of the group have used up their time.",
        )
    };
    tried.into_iter().map(attempt).collect()
}

/// All of a CPU.
const WHOLE: u128 = 1 << 20;

/// What of a CPU these may use, in so many parts.
fn part_of(limit: RtGroupLimit) -> u64 {
    RtLimit { runtime: limit.runtime_ns.map(Nanos), period: Nanos(limit.period_ns) }.part()
}

/// What all may.
fn part_of_root(run: &RunResult) -> u64 {
    let us = |name: &str| run.kernel.tunables.get(name).and_then(|value| u64::try_from(*value).ok());
    let period = us("sched_rt_period_us").map_or(Nanos::from_secs(1), Nanos::from_micros);
    RtLimit { runtime: us("sched_rt_runtime_us").map(Nanos::from_micros), period }.part()
}
