//! The governor haltpoll (machine.md 5.4), that of virtual machines: a CPU polls for a while before it halts,
//! as a halt costs exits to the host. For how long it polls follows from how long it halts.

use super::terms::{Choice, Idled, Prospect};
use scheduler::Nanos;

/// The longest that it polls (guest_halt_poll_ns).
const LONGEST: Nanos = Nanos(200_000);
/// Where it begins to poll (guest_halt_poll_grow_start).
const FIRST: Nanos = Nanos(50_000);

const POLL: usize = 0;
const HALT: usize = 1;

/// What it knows of a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Haltpoll {
    limit: Nanos,
    /// It has polled up to the limit, and goes on to halt.
    in_vain: bool,
}

impl Haltpoll {
    /// The CPU is about to idle.
    pub fn select(&self, ahead: &Prospect) -> Choice {
        let polls = Choice { state: POLL, stops_tick: false };
        match self.limit {
            _ if ahead.latency_limit == Nanos::ZERO => polls,
            Nanos::ZERO => Choice { state: HALT, stops_tick: true },
            _ if self.in_vain => Choice { state: HALT, stops_tick: true },
            _ => polls,
        }
    }

    /// For how long it polls.
    pub fn limit(&self) -> Nanos {
        self.limit
    }

    /// The CPU has idled: after a halt that a longer poll would have spared it polls for longer, after a long
    /// one for less.
    pub fn update(&mut self, idled: &Idled) {
        self.in_vain = idled.polled_in_vain;
        if idled.state == POLL {
            return;
        }
        if idled.length > LONGEST {
            self.limit = Nanos(self.limit.0 / 2);
        } else if idled.length > self.limit {
            self.limit = (self.limit * 2).clamp(FIRST, LONGEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halted(us: u64) -> Idled {
        Idled { state: HALT, length: Nanos(1_000 * us), by_tick: false, polled_in_vain: false }
    }

    /// 5.4: from 50 us on twice as long after each halt between the limit and 200 us, half after longer ones.
    #[test]
    fn the_limit_grows_and_shrinks() {
        let mut governor = Haltpoll::default();
        let limits = [40, 60, 120, 200, 201, 90, 1_000, 1_000, 1_000].map(|us| {
            governor.update(&halted(us));
            governor.limit.0 / 1_000
        });
        assert_eq!(limits, [50, 100, 200, 200, 100, 100, 50, 25, 12]);
    }

    #[test]
    fn it_polls_before_it_halts() {
        let with = |latency_limit| {
            let (timer, with_tick, period) = (Nanos::NEVER, Nanos(1), Nanos(1));
            Prospect { timer, with_tick, period, tick_is_stopped: false, latency_limit }
        };
        let (polls, halts) =
            (Choice { state: POLL, stops_tick: false }, Choice { state: HALT, stops_tick: true });
        let free = with(Nanos::NEVER);
        let mut governor = Haltpoll::default();
        assert_eq!(governor.select(&free), halts, "at first it does not poll");
        assert_eq!(governor.select(&with(Nanos::ZERO)), polls);
        governor.update(&halted(60));
        assert_eq!(governor.select(&free), polls);
        let polled = Idled { state: POLL, length: Nanos(50_000), by_tick: false, polled_in_vain: true };
        governor.update(&polled);
        assert_eq!(governor.select(&free), halts);
        governor.update(&halted(300));
        assert_eq!(governor.select(&free), polls, "for 25 us");
        governor.update(&Idled { polled_in_vain: false, ..polled });
        assert_eq!(governor.select(&free), polls, "something came before");
    }
}
