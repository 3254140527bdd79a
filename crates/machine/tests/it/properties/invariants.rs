//! Every invariant, during the run and at its end.

use super::lab::{DURATION, run};
use super::scenario::any_scenario;
use super::settings::later_setting;
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(super::config(40))]

    /// The same while something is switched every millisecond or two, anything at all.
    #[test]
    fn invariants_hold_while_everything_is_switched(
        scenario in any_scenario(),
        later in vec((0u32..60_000, later_setting()), 30..60),
    ) {
        let scenario = super::scenario::Scenario { later, ..scenario };
        let scenario = scenario.with_room_for_deadlines().with_clamps();
        match run(&scenario, false) {
            Ok(outcome) => prop_assert!(outcome.simulated < DURATION, "some task never ended"),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

proptest! {
    #![proptest_config(super::config(150))]

    /// P1 to P16, P18, I1 to I12, E1 to E17, DA2 to DA8 hold at every event; and because no wakeup is lost
    /// and no CPU idles while there is work, every bounded program comes to its end.
    #[test]
    fn invariants_hold_and_every_program_ends(scenario in any_scenario()) {
        match run(&scenario, false) {
            Ok(outcome) => prop_assert!(outcome.simulated < DURATION, "some task never ended"),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
