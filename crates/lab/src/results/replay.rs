//! Replays of traces: recorded pids, and how close the run came to the recording.

use super::Parts;
use machine::TaskOutcome;
use scheduler::{Nanos, Pid};
use schema::{Fidelity, Reference, ReplayFidelity, ReplayFinish, ReplayOrder, ReplayTask, Seconds};
use std::collections::BTreeMap;
use workload::load::BuiltLoad;
use workload::replay::{Ending, Order, Pair, Replayed, ReplayedTask, Role, TaskFidelity};

/// The replayed tasks, by the pids that they have in the run.
pub fn tasks(loads: &[BuiltLoad]) -> BTreeMap<Pid, ReplayedTask> {
    let tasks = loads.iter().filter_map(BuiltLoad::replayed).flat_map(|replayed| replayed.tasks);
    tasks.filter_map(|task| Some((task.pid?, task))).collect()
}

fn exits(tasks: &[TaskOutcome]) -> BTreeMap<Pid, Nanos> {
    tasks.iter().filter_map(|task| Some((task.pid, task.exited?))).collect()
}

/// When what was recorded was done; `tasks` are those of the run.
pub fn finish(result: &Replayed, tasks: &[TaskOutcome]) -> Option<ReplayFinish> {
    let exits = exits(tasks);
    let counts = |task: &&ReplayedTask| match result.command {
        Some(_) => task.role == Role::Command,
        None => task.role != Role::Kernel,
    };
    let exiting: Vec<&ReplayedTask> = result.tasks.iter().filter(|task| task.exits).filter(counts).collect();
    let recorded = exiting.iter().filter_map(|task| task.recorded_exit).max();
    let exit = |task: &&ReplayedTask| exits.get(&task.pid?).copied();
    let simulated: Option<Vec<Nanos>> = exiting.iter().map(exit).collect();
    let last = simulated.and_then(|exits| exits.into_iter().max());
    // Of what was not done, the last child that happened to end says nothing.
    let done = result.ending != Ending::Open;
    (done && !exiting.is_empty()).then(|| ReplayFinish {
        by_clock: result.ending == Ending::Clock,
        perhaps_by_clock: result.ending == Ending::ClockOrWork,
        of_some_cpus: result.of_some_cpus,
        comm: result.command.as_ref().map(|command| command.comm.to_string()),
        tasks: u32::try_from(exiting.len()).unwrap_or(u32::MAX),
        recorded_s: recorded.map(|at| Seconds::from_ns(at.0)),
        seconds: last.map(|at| Seconds::from_ns(at.saturating_sub(result.lead_in).0)),
    })
}

/// The comparison with the recording, if the experiment repeats one.
pub fn fidelity(parts: &Parts<'_>) -> Vec<ReplayFidelity> {
    let experiment = parts.experiment;
    let mut all = Vec::new();
    if experiment.repeats_a_recording() {
        for (spec, built) in experiment.loads.iter().zip(parts.loads) {
            let (Some(recorded), Some(result)) = (spec.recorded(), built.replayed()) else {
                continue;
            };
            let cpus = experiment.machine.spec().cpus();
            let Some(found) = recorded.replay.fidelity(&result, parts.log, cpus) else {
                continue;
            };
            let reference = Reference {
                machine: super::machine(experiment),
                profile: experiment.kernel.profile().to_owned(),
            };
            let exits = exits(&parts.outcome.tasks);
            let tasks = found.tasks.iter().zip(&result.tasks).map(|(found, task)| {
                let here = task.pid.and_then(|pid| exits.get(&pid)).copied();
                let exit = task.recorded_exit.zip(here).map(|(recorded, here)| Fidelity {
                    recorded: recorded.0,
                    simulated: here.saturating_sub(result.lead_in).0,
                });
                compared(found, task.role, exit)
            });
            // Of a stretch, those who did nothing in it on either side are nobody.
            let tasks = tasks.filter(|task| experiment.window.is_none() || did_something(task));
            // A stretch does not tell when all was done.
            let finish = finish(&result, &parts.outcome.tasks).filter(|_| experiment.window.is_none());
            let Order { recorded, simulated, common } = found.order;
            all.push(report::replay::fidelity(
                spec.text().to_owned(),
                reference,
                tasks.collect(),
                found.cpu_time_uncertain_ns,
                pair(found.latency_p99_ns),
                ReplayOrder { recorded, simulated, common },
                finish.as_ref(),
            ));
        }
    }
    all
}

fn compared(task: &TaskFidelity, role: Role, exited_ns: Option<Fidelity>) -> ReplayTask {
    ReplayTask {
        pid: task.pid.0.unsigned_abs(),
        comm: task.comm.to_string(),
        of_command: role == Role::Command,
        cpu_time_ns: pair(task.cpu_time_ns),
        nr_switches: pair(task.switches()),
        nr_voluntary_switches: pair(task.voluntary_switches),
        nr_involuntary_switches: pair(task.involuntary_switches),
        nr_migrations: pair(task.migrations),
        wakeups: pair(task.wakeups),
        wakeup_latencies: pair(task.latencies),
        wakeup_latency_mean_ns: pair(task.latency_mean_ns),
        wakeup_latency_p99_ns: pair(task.latency_p99_ns),
        wakeup_latency_max_ns: pair(task.latency_max_ns),
        exited_ns,
        // The schema's own business.
        poor: Vec::new(),
    }
}

fn did_something(task: &ReplayTask) -> bool {
    let figures = [task.cpu_time_ns, task.nr_switches, task.nr_migrations, task.wakeups];
    figures.iter().any(|figure| *figure != Fidelity::default())
}

fn pair(pair: Pair) -> Fidelity {
    Fidelity { recorded: pair.recorded, simulated: pair.simulated }
}
