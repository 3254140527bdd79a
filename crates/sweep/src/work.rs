//! Running a chunk, wherever that is.

use crate::archive;
use crate::error::Error;
use crate::row::{Outcome, Row};
use lab::{Experiment, ExperimentText, Sources};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run to be made, as it travels to a worker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Hash of all that decides it.
    pub run: String,
    /// What is to run.
    pub experiment: ExperimentText,
}

/// Runs these one after the other. What fails is a row that says why. Fewer rows than work: `stop` was set.
#[must_use]
pub fn run_work(work: &[Work], files: &dyn Sources, stop: &Arc<AtomicBool>) -> Vec<Row> {
    let mut rows = Vec::with_capacity(work.len());
    let mut last: Option<(&ExperimentText, Experiment)> = None;
    for Work { run, experiment: text } in work {
        // Mostly just the seed is another one: then loads and machine are not read again.
        let opened = match last.take().filter(|(last, _)| is_same_but_for_seed(last, text)) {
            Some((_, last)) => Ok(Experiment { seed: text.seed, ..last }),
            None => Experiment::open(text, files),
        };
        let ran = opened.and_then(|mut experiment| {
            experiment.stop = Some(stop.clone());
            let result = experiment.run();
            last = Some((text, experiment));
            result
        });
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let outcome = match ran {
            Ok(ran) => Outcome::Ran {
                events: ran.result.engine.events,
                simulated_ns: ran.result.engine.simulated_ns,
                figures: report::compare::measure(&ran.result),
            },
            Err(error) => Outcome::Failed(error.to_string()),
        };
        let experiment = serde_json::to_string(text).unwrap_or_default();
        rows.push(Row { run: run.clone(), experiment, outcome });
    }
    rows
}

fn is_same_but_for_seed(one: &ExperimentText, other: &ExperimentText) -> bool {
    let of_other = ExperimentText { seed: one.seed, ..other.clone() };
    *one == of_other
}

/// Rows as the bytes of a Parquet file, as they come back from a worker elsewhere.
///
/// # Errors
/// None that we know of: a fault of the library.
pub fn to_parquet(rows: &[Row]) -> Result<Vec<u8>, Error> {
    archive::bytes_of(rows)
}
