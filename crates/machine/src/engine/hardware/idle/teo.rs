//! The governor teo, for timer events oriented (machine.md 5.4): mostly it is timers that wake idle CPUs, and
//! how often something else came before them is counted for each state.

use super::terms::{Choice, Idled, Prospect};
use crate::spec::IdleState;
use scheduler::Nanos;

/// What one wakeup counts.
const PULSE: u64 = 1024;
/// One in so many parts of what was counted is forgotten at each wakeup.
const DECAY: u64 = 8;

/// What it knows of a CPU.
#[derive(Clone, Debug)]
pub(super) struct Teo {
    /// By state: the idle times for which it is the deepest that is worth it.
    bins: Vec<Bin>,
    /// The next timer when the CPU began to idle last.
    timer: Nanos,
}

/// Wakeups after idle times of some lengths.
#[derive(Clone, Copy, Default, Debug)]
struct Bin {
    /// The timer was in the bin, and the wakeup, too.
    hits: u64,
    /// The wakeup was, and the timer in a deeper one.
    intercepts: u64,
}

impl Teo {
    /// Of a CPU that has not idled yet, with so many states.
    pub fn new(states: usize) -> Teo {
        Teo { bins: vec![Bin::default(); states], timer: Nanos::NEVER }
    }

    /// The CPU is about to idle.
    pub fn select(&mut self, states: &[IdleState], ahead: &Prospect) -> Choice {
        self.timer = ahead.timer;
        let candidate = deepest(states, |state| state.target_residency <= ahead.timer);
        let allowed = deepest(states, |state| state.exit_latency <= ahead.latency_limit);
        let shallower = self.wakes_before(candidate).filter(|shallower| {
            // Without a tick nothing but the timer would end a sleep in a state that is too shallow.
            !ahead.tick_is_stopped || middle(states, *shallower) >= ahead.period
        });
        let (state, idles_for) = match shallower {
            Some(shallower) => (shallower, middle(states, shallower)),
            None => (candidate, ahead.timer),
        };
        let state = state.min(allowed);
        if ahead.tick_is_stopped || !states[state].polls() && idles_for >= ahead.period {
            return Choice { state, stops_tick: true };
        }
        let fits = |state: &usize| states[*state].target_residency <= ahead.with_tick;
        Choice { state: (0..=state).rev().find(fits).unwrap_or(0), stops_tick: false }
    }

    /// The CPU has idled.
    pub fn update(&mut self, states: &[IdleState], idled: &Idled, period: Nanos) {
        // It would have idled on, if nothing but its own tick or the end of its polling woke it.
        let for_nothing = idled.polled_in_vain || idled.by_tick && self.timer > period;
        let latency = states[idled.state].exit_latency;
        let length = match idled.length {
            length if for_nothing || length >= self.timer => self.timer,
            length if length > latency => length - Nanos(latency.0 / 2),
            length => Nanos(length.0 / 2),
        };
        let bin = |length: Nanos| deepest(states, |state| state.target_residency <= length);
        for bin in &mut self.bins {
            bin.hits -= bin.hits / DECAY;
            bin.intercepts -= bin.intercepts / DECAY;
        }
        let was = &mut self.bins[bin(length)];
        let counted = if bin(length) == bin(self.timer) { &mut was.hits } else { &mut was.intercepts };
        *counted += PULSE;
    }

    /// The state in whose bins most of the wakeups fell that came before the candidate's, if these were more
    /// than half. What timers ended before it says nothing about it, and is left out.
    fn wakes_before(&self, candidate: usize) -> Option<usize> {
        let below = &self.bins[..candidate];
        let early: u64 = below.iter().map(|bin| bin.intercepts).sum();
        let timely: u64 = below.iter().map(|bin| bin.hits).sum();
        let all: u64 = self.bins.iter().map(|bin| bin.hits + bin.intercepts).sum();
        if 2 * early <= all - timely {
            return None;
        }
        let mut sum = 0;
        (0..candidate).rev().find(|state| {
            sum += self.bins[*state].intercepts;
            2 * sum > early
        })
    }
}

/// The deepest state for which this holds, as it does for all before it; else the first one.
fn deepest(states: &[IdleState], holds: impl Fn(&IdleState) -> bool) -> usize {
    states.iter().skip(1).take_while(|state| holds(state)).count()
}

/// The middle of the bin of a state that has a deeper one.
fn middle(states: &[IdleState], state: usize) -> Nanos {
    Nanos(u64::midpoint(states[state].target_residency.0, states[state + 1].target_residency.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::IdleMonitor;

    const US: u64 = 1_000;
    const MS: u64 = 1_000_000;
    const TICK: Nanos = Nanos(4 * MS);

    /// C1 2/2, C1E 10/20, C6 133/600, as on Skylake-X, and a deep one.
    fn states() -> Vec<IdleState> {
        let poll = IdleState::new("POLL", IdleMonitor::Poll, Nanos::ZERO, Nanos::ZERO);
        let deeper = [("C1", 2, 2), ("C1E", 10, 20), ("C6", 133, 600), ("C10", 890, 5_000)];
        let deeper = deeper.map(|(name, latency, residency)| {
            IdleState::new(name, IdleMonitor::Mwait, Nanos(US * latency), Nanos(US * residency))
        });
        [vec![poll], deeper.into()].concat()
    }

    fn ahead(timer: Nanos) -> Prospect {
        let (tick_is_stopped, latency_limit) = (false, Nanos::NEVER);
        Prospect { timer, with_tick: timer.min(TICK), period: TICK, tick_is_stopped, latency_limit }
    }

    /// So many idle times of this length, each with a timer so far away; it costs nothing to leave them.
    fn idles(teo: &mut Teo, times: usize, length: Nanos, timer: Nanos) {
        for _ in 0..times {
            teo.timer = timer;
            let idled = Idled { state: 0, length, by_tick: false, polled_in_vain: false };
            teo.update(&states(), &idled, TICK);
        }
    }

    fn chosen(teo: &mut Teo, ahead: &Prospect) -> (String, bool) {
        let choice = teo.select(&states(), ahead);
        (states()[choice.state].name.clone(), choice.stops_tick)
    }

    /// 5.4: the deepest state with residency <= d; the tick stops where d is a tick at least.
    #[test]
    fn without_a_history_the_timer_decides() {
        let mut teo = Teo::new(5);
        assert_eq!(chosen(&mut teo, &ahead(Nanos(20 * MS))), ("C10".into(), true));
        assert_eq!(chosen(&mut teo, &ahead(Nanos(3 * MS))), ("C6".into(), false));
        assert_eq!(chosen(&mut teo, &ahead(Nanos(100 * US))), ("C1E".into(), false));
        assert_eq!(chosen(&mut teo, &ahead(Nanos(US))), ("POLL".into(), false));
        // If the tick is kept, no deeper than what is left up to it.
        let soon = Prospect { with_tick: Nanos(500 * US), ..ahead(Nanos(3 * MS)) };
        assert_eq!(chosen(&mut teo, &soon), ("C1E".into(), false));
    }

    /// 5.4: with a decay of an eighth, more than half are early from the sixth early wakeup on, whatever was
    /// before: (7/8)^5 is more than a half, (7/8)^6 less.
    #[test]
    fn early_wakeups_make_it_take_a_shallower_state() {
        let mut teo = Teo::new(5);
        let timer = Nanos(20 * MS);
        idles(&mut teo, 100, timer, timer);
        idles(&mut teo, 5, Nanos(100 * US), timer);
        assert_eq!(chosen(&mut teo, &ahead(timer)), ("C10".into(), true));
        idles(&mut teo, 1, Nanos(100 * US), timer);
        assert_eq!(chosen(&mut teo, &ahead(timer)), ("C1E".into(), false), "310 us are less than a tick");
        // And back, as timers are in time.
        idles(&mut teo, 6, timer, timer);
        assert_eq!(chosen(&mut teo, &ahead(timer)), ("C10".into(), true));
    }

    /// The bins that hold most of the early ones, from the deepest: three of four in C1E's.
    #[test]
    fn the_majority_of_the_early_ones_says_which() {
        let mut teo = Teo::new(5);
        for _ in 0..40 {
            idles(&mut teo, 1, Nanos(3 * US), Nanos(20 * MS));
            idles(&mut teo, 3, Nanos(100 * US), Nanos(20 * MS));
        }
        assert_eq!(chosen(&mut teo, &ahead(Nanos(20 * MS))).0, "C1E");
        for _ in 0..40 {
            idles(&mut teo, 1, Nanos(100 * US), Nanos(20 * MS));
            idles(&mut teo, 3, Nanos(3 * US), Nanos(20 * MS));
        }
        assert_eq!(chosen(&mut teo, &ahead(Nanos(20 * MS))).0, "C1");
    }

    /// What near timers ended says nothing about far ones.
    #[test]
    fn timers_in_time_are_no_early_wakeups() {
        let mut teo = Teo::new(5);
        for _ in 0..40 {
            idles(&mut teo, 3, Nanos(100 * US), Nanos(100 * US));
            idles(&mut teo, 1, Nanos(20 * MS), Nanos(20 * MS));
        }
        assert_eq!(chosen(&mut teo, &ahead(Nanos(20 * MS))), ("C10".into(), true));
        assert_eq!(chosen(&mut teo, &ahead(Nanos(100 * US))), ("C1E".into(), false));
    }

    /// PM QoS: no state that takes longer to leave, and at 0 it polls, and ticks.
    #[test]
    fn a_latency_limit_bounds_it() {
        let mut teo = Teo::new(5);
        let limited = |latency_limit| Prospect { latency_limit, ..ahead(Nanos(20 * MS)) };
        assert_eq!(chosen(&mut teo, &limited(Nanos(20 * US))), ("C1E".into(), true));
        assert_eq!(chosen(&mut teo, &limited(Nanos::ZERO)), ("POLL".into(), false));
    }

    /// A tick that woke a CPU for nothing is no early wakeup, nor is the end of its polling.
    #[test]
    fn its_own_tick_is_no_early_wakeup() {
        let early = |by_tick, polled_in_vain| {
            let mut teo = Teo::new(5);
            teo.timer = Nanos(20 * MS);
            let idled = Idled { state: 0, length: Nanos(3 * MS), by_tick, polled_in_vain };
            teo.update(&states(), &idled, TICK);
            teo.bins.iter().map(|bin| bin.intercepts).sum::<u64>() > 0
        };
        assert_eq!([early(true, false), early(false, true), early(false, false)], [false, false, true]);
    }

    /// Without a tick a guess is not enough.
    #[test]
    fn without_a_tick_it_is_the_timer_that_counts() {
        let mut teo = Teo::new(5);
        idles(&mut teo, 20, Nanos(100 * US), Nanos(20 * MS));
        let stopped = Prospect { tick_is_stopped: true, with_tick: Nanos(20 * MS), ..ahead(Nanos(20 * MS)) };
        assert_eq!(chosen(&mut teo, &stopped), ("C10".into(), true));
        idles(&mut teo, 20, Nanos(4_500 * US), Nanos(20 * MS));
        assert_eq!(chosen(&mut teo, &stopped), ("C10".into(), true), "C6 is meant for 2.8 ms");
    }
}
