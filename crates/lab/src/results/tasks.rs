//! Counters of the tasks that the loads created.

use machine::{LatencyTally, TaskOrigin, TaskOutcome};
use scheduler::dl::DlCounts;
use scheduler::{Nanos, Pid};
use schema::{
    ClassLatency, DeadlineResult, DeadlineStat, Histogram, LatencyByClass, Policy, TaskResult, TimeUnder,
};
use std::collections::BTreeMap;
use workload::replay::{ReplayedTask, Role};

/// All but the machine's own: idle tasks and the kernel threads of its background noise. `replayed` holds
/// what is known of replayed tasks by their pids in the run. What happened after `end` is not told.
pub fn results(tasks: &[TaskOutcome], replayed: &BTreeMap<Pid, ReplayedTask>, end: Nanos) -> Vec<TaskResult> {
    let own = tasks.iter().filter(|task| task.origin != TaskOrigin::Machine);
    let mut own: Vec<(u32, &TaskOutcome)> = own.map(|task| (shown_pid(task, replayed), task)).collect();
    own.sort_by_key(|(pid, _)| *pid);
    own.into_iter().map(|(pid, task)| result(pid, task, replayed.get(&task.pid), end)).collect()
}

fn shown_pid(task: &TaskOutcome, replayed: &BTreeMap<Pid, ReplayedTask>) -> u32 {
    replayed.get(&task.pid).map_or(pid(task.pid), |replayed| replayed.recorded.0.unsigned_abs())
}

/// Pids of tasks count up from 1000.
pub fn pid(pid: Pid) -> u32 {
    pid.0.unsigned_abs()
}

fn result(pid: u32, task: &TaskOutcome, replayed: Option<&ReplayedTask>, end: Nanos) -> TaskResult {
    let main = main_policy(task);
    let start = replayed.map_or(Nanos::ZERO, |replayed| replayed.lead_in);
    TaskResult {
        pid,
        comm: task.comm.to_string(),
        policy: main.policy,
        rt_priority: main.rt_priority,
        nice: main.nice,
        time_under: task.time_under.iter().map(time_under).collect(),
        of_command: replayed.is_some_and(|replayed| replayed.role == Role::Command),
        exited_ns: task.exited.filter(|at| *at <= end).map(|at| at.saturating_sub(start).0),
        nr_voluntary_switches: task.counters.nr_voluntary_switches,
        nr_involuntary_switches: task.counters.nr_involuntary_switches,
        nr_migrations: task.counters.nr_migrations,
        iterations: task.iterations,
        sum_exec_runtime_ns: task.counters.sum_exec_runtime.0,
        wait_sum_ns: task.wait_sum.0,
        wakeup_latency_ns: task.wakeup_latency.as_deref().map(Histogram::summary).unwrap_or_default(),
        latency_by_class: task.latency_by_class.and_then(|both| by_class(both, main.policy)),
        deadline: task.deadline.and_then(deadline),
    }
}

/// Nothing where all wakeups were of the class that the task's policy tells.
fn by_class(both: machine::LatencyByClass, main: Policy) -> Option<LatencyByClass> {
    let of_class =
        |tally: LatencyTally| ClassLatency { count: tally.count, sum_ns: tally.sum.0, max_ns: tally.max.0 };
    let other = if main.is_realtime() { both.fair } else { both.realtime };
    (other.count > 0).then(|| LatencyByClass { realtime: of_class(both.realtime), fair: of_class(both.fair) })
}

fn deadline(counts: DlCounts) -> Option<DeadlineResult> {
    let params = counts.params?;
    Some(DeadlineResult {
        runtime_ns: params.runtime().0,
        deadline_ns: params.deadline().0,
        period_ns: params.period().0,
        reclaims: params.reclaims(),
        stat: DeadlineStat {
            jobs: counts.jobs,
            missed: counts.missed,
            longest_response_ns: counts.longest_response.0,
            throttles: counts.throttles,
            throttled_ns: counts.throttled.0,
            replenishments: counts.replenishments,
        },
    })
}

/// Under which it ran longest, the later one of two that are equal; the only one if it never changed.
fn main_policy(task: &TaskOutcome) -> TimeUnder {
    let last = machine::TimeUnder { policy: task.policy, nice: task.nice, cpu_time: Nanos::ZERO };
    let longest = task.time_under.iter().filter(|under| under.cpu_time > Nanos::ZERO);
    time_under(longest.max_by_key(|under| under.cpu_time).unwrap_or(&last))
}

fn time_under(under: &machine::TimeUnder) -> TimeUnder {
    TimeUnder {
        policy: policy(under.policy),
        rt_priority: under.policy.rt_priority().map_or(0, |p| u32::from(p.get())),
        nice: i32::from(under.nice.get()),
        cpu_time_ns: under.cpu_time.0,
    }
}

/// As results have it.
pub fn policy(policy: scheduler::Policy) -> Policy {
    match policy {
        scheduler::Policy::Normal => Policy::Other,
        scheduler::Policy::Batch => Policy::Batch,
        scheduler::Policy::Idle => Policy::Idle,
        scheduler::Policy::Fifo(_) => Policy::Fifo,
        scheduler::Policy::Rr(_) => Policy::Rr,
        scheduler::Policy::Deadline(_) => Policy::Deadline,
    }
}
