//! How long a run lasts when nobody says.
//!
//! A run ends when all its loads that come to an end by themselves have done so; loads without an end are
//! background then and stop with it. Where every load is endless, the run lasts [`ENDLESS`].

use scheduler::Nanos;
use workload::load::Length;

/// Length of a run in which every load is endless.
pub const ENDLESS: Nanos = Nanos::from_secs(10);

/// A run is cut off this long after the longest time that a load states (a load of work states none).
pub const GRACE: Nanos = Nanos::from_secs(60);

/// When to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limit {
    /// At the latest.
    pub duration: Nanos,
    /// Earlier, as soon as the loads that come to an end have.
    pub stop_when_done: bool,
}

impl Limit {
    /// `asked` is what the user wants, which holds exactly.
    pub fn new(asked: Option<Nanos>, lengths: &[Length]) -> Limit {
        if let Some(duration) = asked {
            return Limit { duration, stop_when_done: false };
        }
        if lengths.iter().all(|l| *l == Length::Endless) {
            return Limit { duration: ENDLESS, stop_when_done: false };
        }
        let stated = lengths.iter().map(|l| match l {
            Length::Time(time) => *time,
            Length::Endless | Length::Work => Nanos::ZERO,
        });
        let longest = stated.max().unwrap_or(Nanos::ZERO);
        Limit { duration: longest.saturating_add(GRACE), stop_when_done: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Nanos = Nanos::from_secs(2);

    #[test]
    fn what_was_asked_for_holds_exactly() {
        let limit = Limit::new(Some(TWO), &[Length::Work]);
        assert_eq!(limit, Limit { duration: TWO, stop_when_done: false });
    }

    #[test]
    fn endless_loads_alone_run_for_the_default() {
        let limit = Limit::new(None, &[Length::Endless, Length::Endless]);
        assert_eq!(limit, Limit { duration: ENDLESS, stop_when_done: false });
    }

    #[test]
    fn loads_that_end_decide_and_have_some_grace() {
        let limit = Limit::new(None, &[Length::Endless, Length::Time(TWO), Length::Work]);
        assert_eq!(limit, Limit { duration: TWO + GRACE, stop_when_done: true });
    }
}
