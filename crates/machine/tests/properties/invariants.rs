//! Every invariant, during the run and at its end.

use crate::lab::{DURATION, run};
use crate::scenario::any_scenario;
use proptest::prelude::*;

proptest! {
    #![proptest_config(crate::config(150))]

    /// P1 to P16, P18, I1 to I12 hold at every event; and because no wakeup is lost and no CPU idles while there is
    /// work, every bounded program comes to its end.
    #[test]
    fn invariants_hold_and_every_program_ends(scenario in any_scenario()) {
        match run(&scenario, false) {
            Ok(outcome) => prop_assert!(outcome.simulated < DURATION, "some task never ended"),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
