//! The same load under several configurations, over the same seeds: what changed, and how sure we are.
//!
//! [`compare()`] takes the runs of a base and of one or more variants, takes the same list of figures from
//! each run ([`measure`]), pairs them by seed and judges each difference as described in `stats`. Every
//! variant is compared with the base on its own, so that adding a variant does not alter what is said about
//! another.

mod extract;
mod input;
mod judge;
mod trust;

use crate::stats::{CONFIDENCE, FALSE_DISCOVERY_RATE, method_for_seeds};
pub use extract::measure;
pub use input::{Arm, CompareError};
use schema::comparison::{Comparison, Configuration, Method};
use schema::{CompareSchema, RunResult};

/// Compares each variant with the base.
///
/// # Errors
/// When the runs cannot be paired: an arm without runs, a seed that occurs twice in one arm or is missing in
/// another, no variant.
pub fn compare(base: &Arm<'_>, variants: &[Arm<'_>]) -> Result<Comparison, CompareError> {
    let seeds = input::common_seeds(base, variants)?;
    let base_runs = input::by_seed(base, &seeds);
    let first = base_runs[0];
    let trust = trust::Trust::of(&base_runs);
    Ok(Comparison {
        schema: CompareSchema,
        command: None,
        version: first.engine.version.clone(),
        loads: loads(first),
        simulated_ns: first.engine.simulated_ns,
        window: first.window,
        method: Method {
            interval: method_for_seeds(seeds.len()),
            confidence: CONFIDENCE,
            false_discovery_rate: FALSE_DISCOVERY_RATE,
        },
        base: configuration(base, first),
        variants: variants
            .iter()
            .map(|variant| {
                let runs = input::by_seed(variant, &seeds);
                let mut compared = judge::variant(configuration(variant, runs[0]), &base_runs, &runs);
                compared.metrics.iter_mut().for_each(|metric| trust.note(metric));
                compared
            })
            .collect(),
        replay: first.replay.clone(),
        warnings: sentences(first, variants, &seeds, |run| &run.warnings),
        notes: sentences(first, variants, &seeds, |run| &run.notes),
        seeds,
    })
}

/// What the first runs say. Most of it is about the loads and the same everywhere.
fn sentences(
    base: &RunResult,
    variants: &[Arm<'_>],
    seeds: &[u64],
    of: fn(&RunResult) -> &Vec<String>,
) -> Vec<String> {
    let of_base = of(base);
    let mut all = of_base.clone();
    for variant in variants {
        let own = of(input::by_seed(variant, seeds)[0]).iter().filter(|sentence| !of_base.contains(sentence));
        all.extend(own.map(|sentence| format!("{}: {sentence}", variant.name)));
    }
    all
}

fn configuration(arm: &Arm<'_>, run: &RunResult) -> Configuration {
    Configuration {
        name: arm.name.clone(),
        experiment: run.experiment.clone(),
        loads: loads(run),
        machine: run.machine.clone(),
        kernel: run.kernel.clone(),
    }
}

fn loads(run: &RunResult) -> Vec<String> {
    run.loads.iter().map(|load| load.load().to_owned()).collect()
}

#[cfg(test)]
mod tests;
