//! Properties of any run, on random machines with random tasks under random kernels, with settings that
//! change in the middle: rt-class 12 and fair-class 14 by the checking mode, and what only the end of a run
//! shows.
//!
//! The cases are the same in each run of the tests. For other ones and more: `PROPTEST_RNG_SEED=7
//! PROPTEST_CASES=10000`.

mod determinism;
mod invariants;
mod lab;
mod scenario;
mod script;
mod settings;
mod stages;
mod switches;

use proptest::test_runner::{Config, RngSeed};

/// The configuration of a property: `cases` of them, the same ones each time, unless the environment says
/// otherwise.
pub fn config(cases: u32) -> Config {
    let given = |name| std::env::var_os(name).is_some();
    let from_environment = Config { failure_persistence: None, max_shrink_iters: 3_000, ..Config::default() };
    Config {
        cases: if given("PROPTEST_CASES") { from_environment.cases } else { cases },
        rng_seed: if given("PROPTEST_RNG_SEED") { from_environment.rng_seed } else { RngSeed::Fixed(1) },
        ..from_environment
    }
}
