//! From what the machine and the loads counted to a result of schema `schedlab/1`.

mod idle;
mod log_head;
mod notes;
mod replay;
mod tasks;

use crate::LoadSpec;
use crate::experiment::Experiment;
use crate::groups;
pub(crate) use log_head::log_head;
use machine::{CountedFrom, DecisionCount, Origin, Outcome, Situation, TaskOutcome, WakePaths};
use scheduler::{Nanos, Pid};
use schema::{
    CpuFrequency, CpuIdle, CpuResult, Dump, Engine, FrequencyResult, IdleResult, Kernel, LoadResult,
    LogRecord, Machine, RecordedPath, RunResult, RunSchema, Totals, Window,
};
use std::collections::BTreeMap;
use workload::load::BuiltLoad;

/// What a result is made of.
pub(crate) struct Parts<'a> {
    pub experiment: &'a Experiment,
    /// The kernel as it was before the run.
    pub kernel: Kernel,
    /// In the order of the experiment's loads.
    pub loads: &'a [BuiltLoad],
    pub outcome: &'a Outcome,
    /// What happened, where that was recorded.
    pub log: &'a [LogRecord],
    /// What the kernel has not got of what the loads had, a sentence each.
    pub left_out: Vec<String>,
    /// What recordings say of the CPUs of groups, and this machine cannot keep.
    pub undivided: Vec<String>,
    pub wall_ns: Option<u64>,
    pub dumps: Vec<Dump>,
}

/// Recorded pids of replayed tasks, by those of the run.
pub(crate) fn recorded_pids(loads: &[BuiltLoad]) -> BTreeMap<Pid, u32> {
    replay::tasks(loads).into_iter().map(|(pid, task)| (pid, task.recorded.0.unsigned_abs())).collect()
}

/// When what is replayed begins in the run: the recording's first event; without a recording, the start.
pub(crate) fn start(loads: &[BuiltLoad]) -> Nanos {
    loads.iter().filter_map(|load| Some(load.replayed()?.lead_in)).max().unwrap_or_default()
}

pub(crate) fn assemble(parts: &Parts<'_>) -> RunResult {
    let Parts { experiment, outcome, .. } = parts;
    // Before the rest is there: it takes the most memory.
    let replay = replay::fidelity(parts);
    let figures = Figures::of(outcome);
    let decisions = figures.decisions.iter().map(|d| (d.reason.name().to_owned(), d.count));
    let start = start(parts.loads);
    RunResult {
        schema: RunSchema,
        command: None,
        experiment: experiment.text(),
        engine: Engine {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: experiment.seed,
            events: outcome.events,
            simulated_ns: outcome.simulated.0,
            wall_ns: parts.wall_ns,
        },
        machine: machine(experiment),
        kernel: parts.kernel.clone(),
        window: outcome.window.as_ref().map(|measured| window(measured.window, start)),
        tasks: tasks::results(figures.tasks, &replay::tasks(parts.loads), figures.end),
        cpus: figures.cpus.to_vec(),
        groups: groups::results(&outcome.groups, &outcome.tasks),
        partitions: groups::partitions(&outcome.partitions, &outcome.groups),
        frequency: frequency(experiment, &outcome.frequencies),
        idle: idle(experiment, figures.idle_states),
        totals: *figures.totals,
        loads: loads(parts),
        replay,
        decisions: decisions.collect(),
        late_by: Vec::new(),
        dumps: parts.dumps.clone(),
        warnings: notes::warnings(parts),
        notes: notes::of(parts),
    }
}

/// What the loads themselves say, in their order.
fn loads(parts: &Parts<'_>) -> Vec<LoadResult> {
    let result = |(spec, built): (&LoadSpec, &BuiltLoad)| {
        let mut result = built.result(spec.text());
        if let LoadResult::Replay(replay) = &mut result {
            replay.finish = built.replayed().and_then(|tasks| replay::finish(&tasks, &parts.outcome.tasks));
        }
        result
    };
    parts.experiment.loads.iter().zip(parts.loads).map(result).collect()
}

fn machine(experiment: &Experiment) -> Machine {
    let spec = experiment.machine.spec();
    Machine {
        name: spec.name.clone(),
        cpus: u32::try_from(spec.cpus()).unwrap_or(u32::MAX),
        recorded_paths: experiment.recorded_paths().map(recorded_paths).unwrap_or_default(),
    }
}

/// How fast CPUs ran, with the origins of their frequencies; `None` where all have a fixed one.
fn frequency(experiment: &Experiment, cpus: &[CpuFrequency]) -> Option<FrequencyResult> {
    if cpus.is_empty() {
        return None;
    }
    let origins = origins(experiment, "frequency.");
    let energy_uj = cpus.iter().map(|cpu| cpu.energy_uj).sum();
    Some(FrequencyResult { cpus: cpus.to_vec(), energy_uj, origins })
}

/// How CPUs used their idle states, with the origins of these; `None` where the machine has one.
fn idle(experiment: &Experiment, cpus: &[CpuIdle]) -> Option<IdleResult> {
    let states = experiment.machine.spec().idle.as_ref()?;
    let governor = states.governor.name().to_owned();
    Some(IdleResult { governor, cpus: cpus.to_vec(), origins: origins(experiment, "idle.") })
}

/// Where the entries of a table of the machine file come from, each place once.
fn origins(experiment: &Experiment, table: &str) -> Vec<String> {
    let mut origins = Vec::new();
    let of_table = |origin: &&Origin| origin.field.starts_with(table);
    for origin in experiment.machine.spec().origins.iter().filter(of_table) {
        let text = format!("{}: {}", origin.kind.name(), origin.text);
        if !origins.contains(&text) {
            origins.push(text);
        }
    }
    origins
}

fn recorded_paths(paths: &WakePaths) -> Vec<RecordedPath> {
    let from = match paths.counted_from {
        CountedFrom::Wakeup => "sched_wakeup",
        CountedFrom::Waking => "sched_waking",
    };
    let path = |kind: Situation| {
        let times = paths.of(kind)?;
        Some(RecordedPath {
            kind: kind.name().to_owned(),
            from: from.to_owned(),
            count: times.measured(),
            p50_ns: times.percentile(500).0,
            p99_ns: times.percentile(990).0,
        })
    };
    Situation::ALL.into_iter().filter_map(path).collect()
}

/// What the result tells of the scheduler: that of the whole run, or of a stretch of it.
struct Figures<'a> {
    /// Until when.
    end: Nanos,
    tasks: &'a [TaskOutcome],
    cpus: &'a [CpuResult],
    idle_states: &'a [CpuIdle],
    totals: &'a Totals,
    decisions: &'a [DecisionCount],
}

impl<'a> Figures<'a> {
    fn of(outcome: &'a Outcome) -> Figures<'a> {
        match &outcome.window {
            Some(measured) => Figures {
                end: measured.window.to,
                tasks: &measured.tasks,
                cpus: &measured.cpus,
                idle_states: &measured.idle_states,
                totals: &measured.totals,
                decisions: &measured.decisions,
            },
            None => Figures {
                end: outcome.simulated,
                tasks: &outcome.tasks,
                cpus: &outcome.cpus,
                idle_states: &outcome.idle_states,
                totals: &outcome.totals,
                decisions: &outcome.decisions,
            },
        }
    }
}

/// A stretch of the run, since `start`.
fn window(measured: machine::Window, start: Nanos) -> Window {
    Window { from_ns: measured.from.saturating_sub(start).0, to_ns: measured.to.saturating_sub(start).0 }
}
