//! Replays of a recording on what recorded it, beside what the field's own tools read from the recording.

use super::experiment::experiment;
use super::figure::beside;
use super::file::ReplayFile;
use super::recorded::{Counted, tasks};
use super::{Host, Reference, durations};
use crate::error::Error;
use crate::experiment::{Experiment, Logged, Run};
use crate::inspect::{Inspection, inspect};
use machine::Window;
use scheduler::Nanos;
use schema::validation::{Claim, ValidatedFigure, ValidatedRun, ValidationMode};
use schema::{LogEvent, Policy, RunResult, TaskResult};
use std::collections::{BTreeMap, BTreeSet};

/// A count below this says little.
pub(super) const LEAST_COUNT: f64 = 20.0;
/// A CPU time below this, microseconds, likewise.
const LEAST_CPU_US: f64 = 500.0;
/// Tasks with less than these shares of CPU time and switches are not judged.
const LEAST_SHARE_OF_CPU: f64 = 0.01;
const LEAST_SHARE_OF_SWITCHES: f64 = 0.02;

/// The replay, and each task's figures.
pub(super) fn run(reference: &Reference, replay: &ReplayFile, host: Host<'_>) -> Result<ValidatedRun, Error> {
    let recording = reference.beside(&replay.recording);
    let inspected = inspect(&recording, &Inspection::default(), host.files)?;
    let plain = experiment(std::slice::from_ref(&recording), &[&replay.settings], None, host.files)?;
    let Run { result, logged } = Experiment { record: true, ..plain }.run()?;
    (host.finished)();
    let counted =
        tasks(&recording, &inspected, reference.file.class == "guest", &reference.listing, host.files)?;
    let judged = judged(&counted);
    let whom: BTreeSet<u32> = judged.keys().copied().collect();
    let accounted = logged.as_ref().map(accounted_ns).unwrap_or_default();
    let distributions = logged.map(|log| durations::of_tasks(&recording, &log, &whom, host.files));
    Ok(ValidatedRun {
        name: replay.recording.clone(),
        mode: ValidationMode::Replay,
        inferred: None,
        class: reference.file.class.clone(),
        cpus: inspected.cpus.len() as u64,
        loads: vec![replay.recording.clone()],
        settings: replay.settings.clone(),
        seeds: vec![1],
        events: result.engine.events,
        figures: figures(&judged, &result, &accounted),
        distributions: distributions.transpose()?.unwrap_or_default(),
    })
}

/// The result of a replay with these settings; with a length, its beginning only is told.
pub(super) fn replayed(
    recording: &str,
    settings: &[&str],
    length: Option<Nanos>,
    host: Host<'_>,
) -> Result<RunResult, Error> {
    let plain = experiment(&[recording.to_owned()], settings, None, host.files)?;
    let window = length.map(|to| Window { from: Nanos::ZERO, to });
    Ok(Experiment { window, ..plain }.run()?.result)
}

/// The tasks that make up what was recorded.
fn judged(counted: &BTreeMap<u32, Counted>) -> BTreeMap<u32, &Counted> {
    let cpu: f64 = counted.values().filter_map(|task| task.cpu_us).sum();
    let switches: u64 = counted.values().map(|task| task.switches).sum();
    let counts = |task: &Counted| {
        task.cpu_us.unwrap_or(0.0) >= LEAST_SHARE_OF_CPU * cpu
            || task.switches as f64 >= LEAST_SHARE_OF_SWITCHES * switches as f64
    };
    counted.iter().filter(|(_, task)| counts(task)).map(|(pid, task)| (*pid, task)).collect()
}

/// The CPU time of each recorded task up to the end of the log, nanoseconds. The run, and its result, end
/// when the last task calls exit; the log goes on until that has left its CPU, when what it did since the
/// last tick is accounted.
fn accounted_ns(logged: &Logged) -> BTreeMap<u32, u64> {
    let mut accounted = BTreeMap::new();
    for record in &logged.log.records {
        let LogEvent::SchedStatRuntime { of, runtime, .. } = &record.event else { continue };
        let Some(pid) = logged.recorded_pids.get(&scheduler::Pid(of.0)) else { continue };
        *accounted.entry(*pid).or_insert(0) += runtime.0;
    }
    accounted
}

fn figures(
    judged: &BTreeMap<u32, &Counted>,
    result: &RunResult,
    accounted_ns: &BTreeMap<u32, u64>,
) -> Vec<ValidatedFigure> {
    let replayed: BTreeMap<u32, &TaskResult> = result.tasks.iter().map(|task| (task.pid, task)).collect();
    let of = |pid: &u32, counted: &&Counted| {
        let task = replayed.get(pid)?;
        let cpu_ns = accounted_ns.get(pid).copied().unwrap_or_default().max(task.sum_exec_runtime_ns);
        Some(of_task(*pid, counted, task, cpu_ns))
    };
    judged.iter().filter_map(|(pid, counted)| of(pid, counted)).flatten().collect()
}

fn of_task(pid: u32, counted: &Counted, replayed: &TaskResult, cpu_ns: u64) -> Vec<ValidatedFigure> {
    let latency = &replayed.wakeup_latency_ns;
    let latencies = counted.latencies as f64 >= LEAST_COUNT && latency.count > 0;
    let us = |ns: u64| ns as f64 / 1e3;
    let count = |count: u64| Some(count as f64);
    let cpu_us = us(cpu_ns);
    // Name, unit, claim, what was recorded, from which value on it is judged, what came out.
    let rows = [
        ("CPU time", "us", Claim::Input, counted.cpu_us, LEAST_CPU_US, cpu_us),
        (
            "CPU time read",
            "us",
            Claim::Reading,
            counted.cpu_us.filter(|_| counted.read_cpu_us.is_some() && counted.by != "schedlab inspect"),
            LEAST_CPU_US,
            counted.read_cpu_us.unwrap_or(0.0),
        ),
        (
            "switches",
            "",
            Claim::Inference,
            count(counted.switches),
            LEAST_COUNT,
            replayed.nr_switches() as f64,
        ),
        (
            "migrations",
            "",
            Claim::Inference,
            counted.migrations.and_then(count),
            LEAST_COUNT,
            replayed.nr_migrations as f64,
        ),
        (
            "latency mean",
            "us",
            Claim::Inference,
            counted.mean_us.filter(|_| latencies),
            0.0,
            us(latency.mean),
        ),
        ("latency p50", "us", Claim::Inference, counted.p50_us.filter(|_| latencies), 0.0, us(latency.p50)),
    ];
    let figures = rows.into_iter().filter_map(|(what, unit, claim, recorded, least, simulated)| {
        let recorded = recorded.filter(|recorded| *recorded > 0.0 && *recorded >= least)?;
        Some(ValidatedFigure {
            what: what.to_owned(),
            task: Some(format!("{}:{pid}", counted.comm)),
            realtime: matches!(replayed.policy, Policy::Fifo | Policy::Rr),
            claim,
            unit: unit.to_owned(),
            source: Some(counted.by.to_owned()),
            ..beside(recorded, simulated)
        })
    });
    figures.collect()
}
