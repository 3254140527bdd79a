//! Replays of a recording on something else, beside figures of that: another recording, or what somebody
//! measured or calculated.

use super::figure::beside;
use super::file::{ReplayFile, TransferFile};
use super::forward::within;
use super::measure::Measured;
use super::replay::{LEAST_COUNT, replayed};
use super::{Host, Reference};
use crate::error::Error;
use crate::experiment::Run;
use crate::inspect::{Inspection, inspect};
use scheduler::Nanos;
use schema::validation::{Claim, ValidatedFigure, ValidatedRun, ValidationMode};
use schema::{InspectResult, RunResult};
use workload::replay::TaskSelector;

/// The replay on something else.
pub(super) fn run(
    reference: &Reference,
    replay: &ReplayFile,
    transfer: &TransferFile,
    host: Host<'_>,
) -> Result<ValidatedRun, Error> {
    let recording = reference.beside(&replay.recording);
    let of_transfer = |error: Error| within(&reference.path, &transfer.name, error);
    let inspected = inspect(&recording, &Inspection::default(), host.files)?;
    // A recorded program that runs for a time has more work where it gets more of a CPU, and its replay
    // has as much as it had: what can be compared is the time in which all of it was there.
    let length = transfer.to.as_ref().map(|_| Nanos(inspected.duration_ns));
    let replayed = |settings: &[&str]| replayed(&recording, settings, length, host).map_err(of_transfer);
    let result = replayed(&[&transfer.settings])?;
    (host.finished)();
    let mut figures = Vec::new();
    if let Some(to) = &transfer.to {
        let there = inspect(&reference.beside(to), &Inspection::default(), host.files)?;
        let base = replayed(&[&replay.settings, &transfer.from])?;
        for whom in &transfer.tasks {
            let recorded = [Sums::recorded(&inspected, whom), Sums::recorded(&there, whom)];
            let simulated = [Sums::simulated(&base, whom), Sums::simulated(&result, whom)];
            figures.extend(changes(whom, &recorded, &simulated, transfer));
        }
    }
    let events = result.engine.events;
    let run = Run { result, logged: None };
    let measured = Measured::of(&run);
    for figure in &transfer.figure {
        let recorded = figure.recorded.as_ref().map(|file| file.values(&reference.folder, host.files));
        let simulated = figure.measure.of(&measured, &reference.path, &figure.what)?;
        let recorded = recorded.transpose()?.unwrap_or_default();
        figures.push(figure.judged(&recorded, &[simulated], Claim::Prediction, None));
    }
    Ok(ValidatedRun {
        name: format!("{}: {}", replay.recording, transfer.name),
        mode: ValidationMode::Transfer,
        inferred: None,
        class: reference.file.class.clone(),
        cpus: inspected.cpus.len() as u64,
        loads: vec![replay.recording.clone()],
        settings: transfer.settings.clone(),
        seeds: vec![1],
        events,
        figures,
        distributions: Vec::new(),
    })
}

/// What the tasks of a name come to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    seconds: f64,
    switches: f64,
    cpu_ms: f64,
    /// How long they were runnable and did not run.
    wait_ms: f64,
}

impl Sums {
    /// A delay of `perf sched latency` is each wait for a CPU, after a wakeup or a preemption.
    fn recorded(inspected: &InspectResult, whom: &str) -> Sums {
        let whom = selector(whom);
        let rows = inspected.latency.rows.iter().filter(|row| whom.matches(row.pid, &row.comm));
        let counts = rows.map(|row| (row.switches, row.runtime_ns, row.delay_mean_ns * row.switches));
        Sums::of(inspected.duration_ns, counts)
    }

    fn simulated(result: &RunResult, whom: &str) -> Sums {
        let whom = selector(whom);
        let tasks = result.tasks.iter().filter(|task| whom.matches(task.pid, &task.comm));
        let counts = tasks.map(|task| (task.nr_switches(), task.sum_exec_runtime_ns, task.wait_sum_ns));
        Sums::of(result.window.map_or(result.engine.simulated_ns, |window| window.length_ns()), counts)
    }

    /// From switches, CPU time and waiting time of each task.
    fn of(length_ns: u64, tasks: impl Iterator<Item = (u64, u64, u64)>) -> Sums {
        let mut sums = Sums { seconds: length_ns as f64 / 1e9, ..Sums::default() };
        for (switches, cpu_ns, wait_ns) in tasks {
            sums.switches += switches as f64;
            sums.cpu_ms += cpu_ns as f64 / 1e6;
            sums.wait_ms += wait_ns as f64 / 1e6;
        }
        sums
    }
}

fn selector(text: &str) -> TaskSelector {
    text.parse().unwrap_or_else(|_| TaskSelector::Comm(text.to_owned()))
}

/// By what each figure is multiplied, in the recordings and in the replays. Few switches say nothing.
fn changes(
    whom: &str,
    recorded: &[Sums; 2],
    simulated: &[Sums; 2],
    transfer: &TransferFile,
) -> Vec<ValidatedFigure> {
    type Figure = fn(&Sums) -> f64;
    let rows: [(&str, Figure); 3] = [
        ("change of switches", |sums| sums.switches / sums.seconds),
        ("change of CPU time", |sums| sums.cpu_ms / sums.seconds),
        ("change of the mean wait", |sums| sums.wait_ms / sums.switches.max(1.0)),
    ];
    let figures = rows.into_iter().filter_map(|(what, value)| {
        let change = |[from, to]: &[Sums; 2]| (value(from) > 0.0).then(|| value(to) / value(from));
        let enough = recorded.iter().all(|sums| sums.switches >= LEAST_COUNT);
        let (recorded, simulated) = (change(recorded)?, change(simulated)?);
        (enough && recorded > 0.0).then(|| ValidatedFigure {
            what: what.to_owned(),
            task: Some(whom.to_owned()),
            claim: Claim::Prediction,
            unit: "times".to_owned(),
            family: Some(transfer.family.clone().unwrap_or_else(|| "change".to_owned())),
            source: transfer.to.clone(),
            ..beside(recorded, simulated)
        })
    });
    figures.collect()
}
