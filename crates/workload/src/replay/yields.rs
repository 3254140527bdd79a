//! Tells why a task that could go on left its CPU. Traces give no event for `sched_yield`, and `R` in
//! `sched_switch` also stands for preemption on the way back to user mode, so the circumstances decide.

use super::recording::FIRST_FAIR_PRIO;

/// A real-time task that makes way for an equal after so long does so at a tick (4 ms at HZ=250): its
/// SCHED_RR slice is over. The slice itself (sched_rr_timeslice_ms, 100 ms) does not show: it goes on across
/// sleeps and is counted in ticks.
const ROUND_ROBIN_NS: u64 = 3_000_000;
/// A fair task that leaves so soon after it came can hardly have used up a slice.
const SOON_NS: u64 = 100_000;

/// A departure in state `R`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    /// `R` and not `R+`: it called the scheduler itself or was on its way back to user mode.
    pub by_call: bool,
    /// Its effective priority.
    pub prio: i32,
    /// That of the next task; `None`: idle.
    pub next_prio: Option<i32>,
    /// Whether a task was queued on this CPU since it came.
    pub disturbed: bool,
    /// Time since it came.
    pub stayed_ns: u64,
}

/// Why it left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Departure {
    /// The scheduler's doing.
    Preempted,
    /// The end of a SCHED_RR slice.
    SliceEnd,
    /// Its own doing.
    Yield,
}

impl Left {
    /// Nothing preempts a task on whose CPU nobody was queued meanwhile, except the tick. For a real-time
    /// task that makes way for an equal one, the tick means the end of a SCHED_RR slice; for a fair one, that
    /// it has run for a while.
    pub fn departure(&self) -> Departure {
        let Some(next_prio) = self.next_prio.filter(|_| self.by_call && !self.disturbed) else {
            return Departure::Preempted;
        };
        if self.prio < FIRST_FAIR_PRIO {
            return match next_prio == self.prio {
                false => Departure::Preempted,
                true if self.stayed_ns >= ROUND_ROBIN_NS => Departure::SliceEnd,
                true => Departure::Yield,
            };
        }
        if next_prio >= FIRST_FAIR_PRIO && self.stayed_ns < SOON_NS {
            Departure::Yield
        } else {
            Departure::Preempted
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAIR: Left =
        Left { by_call: true, prio: 120, next_prio: Some(125), disturbed: false, stayed_ns: 3_000 };
    const RT: Left = Left { prio: 89, next_prio: Some(89), ..FAIR };

    #[test]
    fn who_leaves_soon_and_undisturbed_has_yielded() {
        assert_eq!(FAIR.departure(), Departure::Yield);
        assert_eq!(Left { stayed_ns: SOON_NS, ..FAIR }.departure(), Departure::Preempted);
        assert_eq!(Left { disturbed: true, ..FAIR }.departure(), Departure::Preempted);
        assert_eq!(Left { by_call: false, ..FAIR }.departure(), Departure::Preempted);
        assert_eq!(Left { next_prio: Some(10), ..FAIR }.departure(), Departure::Preempted);
        assert_eq!(Left { next_prio: None, ..FAIR }.departure(), Departure::Preempted);
    }

    #[test]
    fn a_real_time_task_makes_way_for_an_equal_by_a_yield_or_at_the_end_of_its_slice() {
        assert_eq!(RT.departure(), Departure::Yield);
        assert_eq!(Left { stayed_ns: 40_000_000, ..RT }.departure(), Departure::SliceEnd);
        assert_eq!(Left { next_prio: Some(93), ..RT }.departure(), Departure::Preempted);
    }
}
