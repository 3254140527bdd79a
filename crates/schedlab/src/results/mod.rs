//! From what the machine and the loads counted to a result of schema `schedlab/1`.

mod fair_loads;
mod latency;
mod loads;
mod notes;
mod replay;
mod tasks;

use crate::experiment::Experiment;
use machine::{
    CommOf, CountedFrom, CpuOutcome, DecisionCount, Outcome, Record, Situation, TaskOutcome, TotalsOutcome,
    WakePaths,
};
use scheduler::{Nanos, Pid};
use schema::{
    CpuResult, Dump, Engine, Kernel, Machine, RecordedPath, RqLockStats, RunResult, RunSchema, Totals, Window,
};
use std::collections::BTreeMap;
use workload::load::{BuiltLoad, LoadResult};

/// What a result is made of.
pub(crate) struct Parts<'a> {
    pub experiment: &'a Experiment,
    /// The kernel as it was before the run.
    pub kernel: Kernel,
    /// In the order of the experiment's loads.
    pub loads: &'a [BuiltLoad],
    pub outcome: &'a Outcome,
    /// Every event, where they were recorded.
    pub records: &'a [Record],
    pub comms: &'a [CommOf],
    pub wall_ns: u64,
    pub dumps: Vec<Dump>,
}

/// Recorded pids of replayed tasks, by those of the run.
pub(crate) fn recorded_pids(loads: &[BuiltLoad]) -> BTreeMap<Pid, u32> {
    replay::replayed(loads).into_iter().map(|(pid, replayed)| (pid, replayed.pid)).collect()
}

/// When what is replayed begins in the run: the recording's first event; without a recording, the start.
pub(crate) fn start(loads: &[BuiltLoad]) -> Nanos {
    let lead_in = |load: &BuiltLoad| match load.result() {
        LoadResult::Replay(replay) => replay.lead_in,
        _ => Nanos::ZERO,
    };
    loads.iter().map(lead_in).max().unwrap_or_default()
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
        tasks: tasks::results(figures.tasks, &replay::replayed(parts.loads), figures.end),
        cpus: figures.cpus.iter().map(cpu).collect(),
        totals: totals(&figures),
        loads: loads::results(&experiment.loads, parts.loads, &outcome.tasks),
        replay,
        decisions: decisions.collect(),
        dumps: parts.dumps.clone(),
        warnings: notes::warnings(parts),
        notes: notes::of(parts),
    }
}

fn machine(experiment: &Experiment) -> Machine {
    let spec = &experiment.machine;
    Machine {
        name: spec.name.clone(),
        cpus: u32::try_from(spec.cpus()).unwrap_or(u32::MAX),
        recorded_paths: experiment.recorded_paths().map(recorded_paths).unwrap_or_default(),
    }
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
    cpus: &'a [CpuOutcome],
    totals: &'a TotalsOutcome,
    decisions: &'a [DecisionCount],
    spinlock_sleeps: u64,
    lock_holder_preemptions: u64,
    cache_refill: Nanos,
}

impl<'a> Figures<'a> {
    fn of(outcome: &'a Outcome) -> Figures<'a> {
        match &outcome.window {
            Some(measured) => Figures {
                end: measured.window.to,
                tasks: &measured.tasks,
                cpus: &measured.cpus,
                totals: &measured.totals,
                decisions: &measured.decisions,
                spinlock_sleeps: measured.spinlock_sleeps,
                lock_holder_preemptions: measured.lock_holder_preemptions,
                cache_refill: measured.cache_refill,
            },
            None => Figures {
                end: outcome.simulated,
                tasks: &outcome.tasks,
                cpus: &outcome.cpus,
                totals: &outcome.totals,
                decisions: &outcome.decisions,
                spinlock_sleeps: outcome.spinlock_sleeps,
                lock_holder_preemptions: outcome.lock_holder_preemptions,
                cache_refill: outcome.cache_refill,
            },
        }
    }
}

/// A stretch of the run, since `start`.
fn window(measured: machine::Window, start: Nanos) -> Window {
    Window { from_ns: measured.from.saturating_sub(start).0, to_ns: measured.to.saturating_sub(start).0 }
}

fn cpu(cpu: &CpuOutcome) -> CpuResult {
    let lock = &cpu.rq_lock;
    CpuResult {
        cpu: u32::from(cpu.cpu.0),
        nr_switches: cpu.nr_switches,
        idle_ns: cpu.idle.0,
        rq_lock: RqLockStats {
            acquisitions: lock.acquisitions,
            contended: lock.contended,
            wait_max_ns: lock.wait_max.0,
            wait_sum_ns: lock.wait_sum.0,
            waiters_max: lock.waiters_max,
            waiters_holding_own_max: lock.waiters_holding_own_max,
        },
        ipis_sent: cpu.ipis_sent,
        ipis_received: cpu.ipis_received,
    }
}

fn totals(figures: &Figures<'_>) -> Totals {
    let totals = figures.totals;
    Totals {
        context_switches: totals.context_switches,
        wakeups: totals.wakeups,
        migrations: totals.migrations,
        pushes: totals.pushes,
        pulls: totals.pulls,
        push_ipis: totals.push_ipis,
        rt_searches: totals.rt_searches,
        rt_search_ns: totals.rt_search_time.0,
        push_ipis_in_flight_max: totals.push_ipis_in_flight_max,
        push_ipis_in_flight_by_source_max: totals.push_ipis_in_flight_by_source_max,
        wakeup_preemptions: totals.wakeup_preemptions,
        spinlock_sleeps: figures.spinlock_sleeps,
        lock_holder_preemptions: figures.lock_holder_preemptions,
        cache_refill_ns: figures.cache_refill.0,
    }
}
