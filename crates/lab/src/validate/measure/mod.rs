//! How a figure of a simulated run is measured: in its result, or in its log.

mod balancing;
mod first_runs;
mod lengths;
mod moves;
pub(super) mod pointer;
mod sequence;
mod stints;
mod tasks;
mod waits;
mod wakeups;

use super::distribution::Place;
use crate::error::Error;
use crate::experiment::Run;
use schema::validation::Durations;
use schema::{Log, RunResult};
use serde::Deserialize;
use serde_json::Value;

/// What is measured.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Measure {
    /// A place in the JSON of the result (docs/schema.md).
    Result(pointer::Value),
    /// Counters of tasks.
    Tasks(tasks::OfTasks),
    /// A share of decisions.
    Decisions(Decisions),
    /// What /proc/schedstat counts of balancing.
    Balancing(balancing::Passes),
    /// How tasks change CPUs.
    Moves(moves::Moves),
    /// How long tasks run until they have to make room.
    Stints(stints::Stints),
    /// When a task runs, stint by stint.
    Sequence(sequence::Sequence),
    /// How long new tasks wait before they first run.
    FirstRuns(first_runs::FirstRuns),
    /// Where tasks are woken while all CPUs are busy.
    Wakeups(wakeups::Wakeups),
    /// How long woken tasks wait until they run.
    Waits(waits::Waits),
}

/// How many per cent of some decisions are these.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Decisions {
    these: Vec<String>,
    among: Vec<String>,
}

/// A run, as figures are taken from it.
pub(super) struct Measured<'a> {
    pub result: &'a RunResult,
    json: Value,
    log: Option<&'a Log>,
}

impl<'a> Measured<'a> {
    pub fn of(run: &'a Run) -> Measured<'a> {
        let json = serde_json::to_value(&run.result).unwrap_or_default();
        Measured { result: &run.result, json, log: run.logged.as_ref().map(|logged| &logged.log) }
    }

    /// The log; `Measure::needs_log` has asked for it.
    fn log(&self) -> Result<&'a Log, String> {
        self.log.ok_or_else(|| "it is read in the log, which was not kept".to_owned())
    }

    /// Where a distribution stands, in the JSON of the result.
    pub fn durations(&self, place: &Place) -> Result<Durations, String> {
        place.of(&self.json)
    }

    /// Simulated seconds.
    fn seconds(&self) -> f64 {
        self.result.engine.simulated_ns as f64 / 1e9
    }
}

impl Measure {
    /// Whether it needs every event of the run.
    pub fn needs_log(&self) -> bool {
        use Measure::{FirstRuns, Moves, Sequence, Stints, Waits, Wakeups};
        matches!(self, Moves(_) | Stints(_) | Sequence(_) | FirstRuns(_) | Wakeups(_) | Waits(_))
    }

    /// Whether its words go together.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Measure::Sequence(sequence) => sequence.check(),
            _ => Ok(()),
        }
    }

    /// Whether it needs the dump of /proc/schedstat at the end of the run.
    pub fn needs_schedstat(&self) -> bool {
        matches!(self, Measure::Balancing(_))
    }

    /// The figure; `what` is for errors.
    pub fn of(&self, run: &Measured<'_>, path: &str, what: &str) -> Result<f64, Error> {
        let found = match self {
            Measure::Result(place) => place.of(&run.json),
            Measure::Tasks(tasks) => tasks.of(run),
            Measure::Decisions(decisions) => Ok(decisions.of(run.result)),
            Measure::Balancing(passes) => passes.of(run),
            Measure::Moves(moves) => run.log().map(|log| moves.of(log)),
            Measure::Stints(stints) => run.log().map(|log| stints.of(log)),
            Measure::Sequence(sequence) => run.log().map(|log| sequence.of(log)),
            Measure::FirstRuns(first) => run.log().map(|log| first.of(log)),
            Measure::Wakeups(wakeups) => run.log().map(|log| wakeups.of(log)),
            Measure::Waits(waits) => run.log().map(|log| waits.of(log)),
        };
        found.map_err(|problem| Error::ReferenceFault {
            path: path.to_owned(),
            problem: format!("figure `{what}`: {problem}"),
        })
    }
}

impl Decisions {
    fn of(&self, result: &RunResult) -> f64 {
        let count =
            |names: &[String]| -> u64 { names.iter().filter_map(|name| result.decisions.get(name)).sum() };
        100.0 * count(&self.these) as f64 / count(&self.among).max(1) as f64
    }
}

/// The value that this share of them does not exceed; 0 of none.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (share * values.len().saturating_sub(1) as f64) as usize;
    values.get(index).copied().unwrap_or(0.0)
}
