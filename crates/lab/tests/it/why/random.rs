//! Any wakeup of any run: random loads on random machines under all kernels.

// The machine's own properties use more of these.
#[allow(dead_code)]
#[path = "../../../../machine/tests/it/properties/lab.rs"]
mod lab;
#[allow(dead_code)]
#[path = "../../../../machine/tests/it/properties/scenario.rs"]
mod scenario;
#[path = "../../../../machine/tests/it/properties/script.rs"]
mod script;
#[path = "../../../../machine/tests/it/properties/settings.rs"]
mod settings;

use super::scene::adds_up;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use report::why::Wakeups;
use schema::{LogEvent, LogRecord};

/// The same cases in each run of the tests.
fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(100)
    }
}

proptest! {
    #![proptest_config(config())]

    /// Each latency is cut without a gap, and every wakeup whose task comes to execute is there.
    #[test]
    fn every_latency_adds_up(scenario in scenario::any_scenario()) {
        let outcome = lab::run_unchecked(&scenario, scheduler::Nanos::from_secs(1)).expect("it runs");
        let log = super::log(outcome);
        let wakeups = Wakeups::of(&log, |_, _| true);
        (0..wakeups.len()).for_each(|number| adds_up(&wakeups.explain(number, |_| "")));
        let begins = |record: &&LogRecord| matches!(record.event, LogEvent::SchedWaking { .. });
        let began = log.records.iter().filter(begins).count();
        let by_parents = |record: &&LogRecord| {
            matches!(record.event, LogEvent::SchedWakeupNew { .. }) && !record.in_interrupt
        };
        let forked = log.records.iter().filter(by_parents).count();
        // Some are still on their way at the end: each task at most once.
        let tasks = log.records.iter().filter(|record| matches!(record.event, LogEvent::Comm { .. })).count();
        let told = wakeups.len();
        let all = began + forked;
        prop_assert!(told <= all && told + tasks >= all, "{told} of {all}");
    }
}
