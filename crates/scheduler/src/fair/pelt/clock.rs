//! The time of averages on a machine whose CPUs are not worth the same, or change their frequency
//! (deadline-groups C3). The kernel looks at the frequency when it counts, so what passed before a change
//! counts at the new one.
//!
//! While a CPU is busy its averages' time goes as fast as it works, in 1024ths of the best CPU, so that a
//! task that needs 2 ms of that one counts as using as much wherever it runs. Once the CPU idles, the time
//! that was lost is made up for: a task that could run no longer than it did has slept that much less. Only
//! where nothing was idle for as long as averages remember is it lost for good.
//!
//! Kernels before 5.0 scaled what was counted instead: their averages of a busy small CPU end at what it is
//! worth, while these go on (limit `asymmetric`).

use super::average::{FULL, MIN_DIVIDER};
use super::decay::MAX_SUM;
use crate::Nanos;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::shared::Kept;

/// A CPU's.
#[derive(Debug, Default)]
pub struct PeltClock {
    /// The task clock when this was computed last.
    at: Kept<Nanos>,
    /// How far it got by then, with what was lost for good.
    reached: Kept<Nanos>,
    /// What was lost for good.
    lost: Kept<Nanos>,
}

impl PeltClock {
    /// As of the queue's last update.
    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.reached.get().saturating_sub(self.lost.get())
    }

    /// At a time of the task clock, of a CPU that idles: as it will be once that is made up for.
    pub(in crate::fair) fn of_idle(&self, clock_task: Nanos) -> Nanos {
        clock_task.saturating_sub(self.lost.get())
    }

    /// The task clock is at `now`, and the CPU has worked as fast as `capacity` says; `None`: it idled. It is
    /// `saturated` if it had not idled for long before.
    fn advance(&self, now: Nanos, capacity: Option<u64>, saturated: bool) {
        let reached = match capacity {
            Some(capacity) => {
                let passed = now.saturating_sub(self.at.get());
                self.reached.get() + Nanos(passed.0 * capacity / FULL)
            }
            None => {
                if saturated {
                    let behind = self.at.get().saturating_sub(self.reached.get());
                    self.lost.set(self.lost.get() + behind);
                }
                now
            }
        };
        self.reached.set(reached);
        self.at.set(now);
    }
}

/// The queue's clock has just been updated.
#[cold]
pub(crate) fn pelt_clock_advances<P: Platform>(rq: &RqGuard<'_, P>) {
    let pelt = &rq.published.pelt;
    let idles = rq.curr == rq.me.k.idle_task(rq.cpu);
    let capacity = (!idles).then_some(pelt.capacity.speed.get());
    let util_sum = pelt.average.util_sum.get() + pelt.capacity.util_sum_of_tasks();
    pelt.clock.advance(rq.clock_task(), capacity, util_sum >= SATURATED);
}

/// Sum of a CPU that has been busy for as long as averages remember.
const SATURATED: u64 = MIN_DIVIDER * FULL - MAX_SUM;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = Nanos::from_millis(1);

    /// C3: 4 ms of work on half a CPU are 2 ms, and idling makes up for the other 2.
    #[test]
    fn time_goes_as_fast_as_the_cpu_works() {
        let clock = PeltClock::default();
        clock.advance(MS * 4, Some(512), false);
        assert_eq!(clock.now(), MS * 2);
        clock.advance(MS * 5, Some(1024), false);
        assert_eq!(clock.now(), MS * 3);
        clock.advance(MS * 6, None, false);
        assert_eq!(clock.now(), MS * 6);
    }

    /// A CPU that never idled has lost its time: what comes after it idled is that much younger.
    #[test]
    fn without_idle_time_before_it_is_lost() {
        let clock = PeltClock::default();
        clock.advance(MS * 400, Some(512), true);
        assert_eq!(clock.now(), MS * 200);
        clock.advance(MS * 401, None, true);
        assert_eq!((clock.now(), clock.of_idle(MS * 402)), (MS * 201, MS * 202));
        clock.advance(MS * 500, None, true);
        assert_eq!(clock.now(), MS * 300, "once");
    }
}
