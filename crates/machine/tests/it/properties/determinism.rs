//! P17: the same inputs give the same bytes.

use super::lab::{DURATION, run, run_unchecked};
use super::scenario::{Scenario, any_scenario};
use machine::{Outcome, RunError};
use proptest::prelude::*;

/// Everything that a run leaves behind, its trace included, as text.
fn text(outcome: &Result<Outcome, RunError>) -> String {
    format!("{outcome:?}")
}

fn traced(scenario: &Scenario) -> String {
    text(&run(scenario, true))
}

proptest! {
    #![proptest_config(super::config(40))]

    #[test]
    fn two_runs_are_equal_and_checking_changes_nothing(scenario in any_scenario()) {
        let first = traced(&scenario);
        prop_assert!(first == traced(&scenario), "two runs differ");
        prop_assert!(first == text(&run_unchecked(&scenario, DURATION)), "checking changes the run");
    }
}
