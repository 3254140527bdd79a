//! Replays of traces: recorded pids, and how close the run came to the recording.

use super::Parts;
use report::schema::{Fidelity, ReplayFidelity, ReplayTask};
use scheduler::Pid;
use std::collections::BTreeMap;
use workload::load::{BuiltLoad, LoadResult};
use workload::replay::{Pair, TaskFidelity};

/// Recorded pids by those that the tasks have in the run.
pub fn pids(loads: &[BuiltLoad]) -> BTreeMap<Pid, u32> {
    let mut pids = BTreeMap::new();
    for load in loads {
        if let LoadResult::Replay(result) = load.result() {
            pids.extend(result.tasks.iter().filter_map(|t| Some((t.pid?, t.recorded.0.unsigned_abs()))));
        }
    }
    pids
}

/// The comparison with the recording, if the experiment repeats one.
pub fn fidelity(parts: &Parts<'_>) -> Vec<ReplayFidelity> {
    let experiment = parts.experiment;
    let mut all = Vec::new();
    if experiment.repeats_a_recording() {
        for (spec, built) in experiment.loads.iter().zip(parts.loads) {
            let (Some(recorded), LoadResult::Replay(result)) = (spec.recorded(), built.result()) else {
                continue;
            };
            let cpus = experiment.machine.cpus();
            let Some(found) = recorded.replay.fidelity(&result, parts.records, parts.comms, cpus) else {
                continue;
            };
            let tasks = found.tasks.iter().map(task).collect();
            all.push(ReplayFidelity::new(spec.text().to_owned(), tasks, pair(found.latency_p99_ns)));
        }
    }
    all
}

fn task(task: &TaskFidelity) -> ReplayTask {
    ReplayTask {
        pid: task.pid.0.unsigned_abs(),
        comm: task.comm.to_string(),
        cpu_time_ns: pair(task.cpu_time_ns),
        nr_switches: pair(task.switches()),
        wakeups: pair(task.wakeups),
        wakeup_latency_mean_ns: pair(task.latency_mean_ns),
        wakeup_latency_p99_ns: pair(task.latency_p99_ns),
    }
}

fn pair(pair: Pair) -> Fidelity {
    Fidelity { recorded: pair.recorded, simulated: pair.simulated }
}
