//! Counters of the tasks that the loads created.

use super::latency;
use machine::{TaskOrigin, TaskOutcome};
use report::schema::{Policy, TaskResult};
use scheduler::Pid;
use std::collections::BTreeMap;

/// All but the machine's own: idle tasks and the kernel threads of its background noise. `recorded` holds the pids of
/// replayed tasks by those of the run.
pub fn results(tasks: &[TaskOutcome], recorded: &BTreeMap<Pid, u32>) -> Vec<TaskResult> {
    let own = tasks.iter().filter(|task| task.origin != TaskOrigin::Machine);
    let mut results: Vec<TaskResult> =
        own.map(|task| result(task, recorded.get(&task.pid).copied().unwrap_or(pid(task.pid)))).collect();
    results.sort_by_key(|task| task.pid);
    results
}

/// Pids of tasks count up from 1000.
pub fn pid(pid: Pid) -> u32 {
    pid.0.unsigned_abs()
}

fn result(task: &TaskOutcome, pid: u32) -> TaskResult {
    TaskResult {
        pid,
        comm: task.comm.to_string(),
        policy: policy(task.policy),
        rt_priority: task.policy.rt_priority().map_or(0, |p| u32::from(p.get())),
        nice: i32::from(task.nice.get()),
        nr_voluntary_switches: task.counters.nr_voluntary_switches,
        nr_involuntary_switches: task.counters.nr_involuntary_switches,
        nr_migrations: task.counters.nr_migrations,
        iterations: task.iterations,
        sum_exec_runtime_ns: task.counters.sum_exec_runtime.0,
        wait_sum_ns: task.wait_sum.0,
        wakeup_latency_ns: latency::of_machine(task.wakeup_latency.as_deref()),
    }
}

fn policy(policy: scheduler::Policy) -> Policy {
    match policy {
        scheduler::Policy::Normal => Policy::Other,
        scheduler::Policy::Batch => Policy::Batch,
        scheduler::Policy::Idle => Policy::Idle,
        scheduler::Policy::Fifo(_) => Policy::Fifo,
        scheduler::Policy::Rr(_) => Policy::Rr,
    }
}
