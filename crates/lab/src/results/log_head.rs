//! The first line of a log: what ran.

use super::tasks;
use crate::experiment::Experiment;
use machine::{GroupOutcome, Outcome, TaskStart};
use schema::{CpuId, LogGroup, LogHead, LogSchema, LogTask, Nanos, Pid, RunResult};
use workload::told_objects;

/// Of a run with this result.
pub(crate) fn log_head(experiment: &Experiment, result: &RunResult, outcome: &Outcome) -> LogHead {
    LogHead {
        schema: LogSchema,
        version: result.engine.version.clone(),
        seed: result.engine.seed,
        simulated_ns: result.engine.simulated_ns,
        machine: result.machine.clone(),
        kernel: result.kernel.clone(),
        loads: experiment.loads.iter().map(|load| load.text().to_owned()).collect(),
        objects: told_objects(&outcome.objects),
        tasks: outcome.starts.iter().map(task).collect(),
        idle_states: idle_states(result),
        groups: (1..).zip(&outcome.groups).map(|(number, group)| of_group(number, group, outcome)).collect(),
    }
}

/// All CPUs have the same.
fn idle_states(result: &RunResult) -> Vec<String> {
    let first = result.idle.as_ref().and_then(|idle| idle.cpus.first());
    first.map_or_else(Vec::new, |cpu| cpu.states.iter().map(|used| used.state.clone()).collect())
}

/// The root is the kernel's first group.
fn of_group(number: u32, group: &GroupOutcome, outcome: &Outcome) -> LogGroup {
    let own = outcome.tasks.iter().filter(|task| task.group.0 == number);
    LogGroup { path: group.spec.name.clone(), tasks: own.map(|task| Pid(task.pid.0)).collect() }
}

fn task(start: &TaskStart) -> LogTask {
    LogTask {
        pid: Pid(start.pid.0),
        start: start.at.map(|at| Nanos(at.0)),
        cpu: start.cpu.map(|cpu| CpuId(cpu.0)),
        comm: start.comm.to_string(),
        policy: tasks::policy(start.policy),
        rt_priority: start.policy.rt_priority().map_or(0, |priority| u32::from(priority.get())),
        nice: i32::from(start.nice.get()),
        cpus: start.cpus.map(|cpus| cpus.to_string()),
        working_set_bytes: start.working_set_bytes,
        reads_bytes_per_us: Some(start.reads_bytes_per_us).filter(|reads| *reads > 0),
        timer_slack_ns: start.timer_slack.0,
    }
}
