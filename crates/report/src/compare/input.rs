//! The runs that go into a comparison, paired by seed.

use std::collections::BTreeSet;

use schema::RunResult;

/// The runs of one configuration.
#[derive(Debug, Clone)]
pub struct Arm<'a> {
    /// What to call it: the settings as the user gave them.
    pub name: String,
    /// One run for each seed, in any order.
    pub runs: &'a [RunResult],
}

/// Why runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// Nothing to compare the base with.
    #[error("there is no configuration to compare {base:?} with; give at least one")]
    NoVariant {
        /// Name of the base.
        base: String,
    },
    /// An arm is empty.
    #[error("{arm:?} has no runs; every configuration needs one for each seed")]
    NoRuns {
        /// Name of the arm.
        arm: String,
    },
    /// Two runs of an arm have the same seed.
    #[error("{arm:?} has two runs with seed {seed}; give each seed once")]
    SeedTwice {
        /// Name of the arm.
        arm: String,
        /// The seed.
        seed: u64,
    },
    /// The arms were not run with the same seeds.
    #[error(
        "{arm:?} has no run with seed {seed}, {other:?} has one; run every configuration with the same seeds"
    )]
    SeedMissing {
        /// Name of the arm that lacks it.
        arm: String,
        /// Name of an arm that has it.
        other: String,
        /// The seed.
        seed: u64,
    },
}

/// The seeds that all arms have, in ascending order.
pub fn common_seeds(base: &Arm<'_>, variants: &[Arm<'_>]) -> Result<Vec<u64>, CompareError> {
    let expected = seeds(base)?;
    if variants.is_empty() {
        return Err(CompareError::NoVariant { base: base.name.clone() });
    }
    for variant in variants {
        let found = seeds(variant)?;
        if let Some(&seed) = expected.difference(&found).next() {
            return Err(missing(variant, base, seed));
        }
        if let Some(&seed) = found.difference(&expected).next() {
            return Err(missing(base, variant, seed));
        }
    }
    Ok(expected.into_iter().collect())
}

fn missing(arm: &Arm<'_>, other: &Arm<'_>, seed: u64) -> CompareError {
    CompareError::SeedMissing { arm: arm.name.clone(), other: other.name.clone(), seed }
}

fn seeds(arm: &Arm<'_>) -> Result<BTreeSet<u64>, CompareError> {
    let mut seeds = BTreeSet::new();
    for run in arm.runs {
        if !seeds.insert(run.engine.seed) {
            return Err(CompareError::SeedTwice { arm: arm.name.clone(), seed: run.engine.seed });
        }
    }
    if seeds.is_empty() { Err(CompareError::NoRuns { arm: arm.name.clone() }) } else { Ok(seeds) }
}

/// The runs of an arm in the order of `seeds`, all of which it has.
pub fn by_seed<'a>(arm: &Arm<'a>, seeds: &[u64]) -> Vec<&'a RunResult> {
    let mut runs: Vec<&RunResult> = arm.runs.iter().collect();
    runs.sort_by_key(|run| run.engine.seed);
    debug_assert!(runs.iter().map(|run| &run.engine.seed).eq(seeds), "seeds were checked");
    runs
}
