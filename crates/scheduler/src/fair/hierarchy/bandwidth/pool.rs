//! What a group may still use in this period.

use crate::fair::hierarchy::table::GroupQueue;
use crate::registry::BwThrottle;
use crate::shared::Kept;
use crate::{CpuId, Nanos};
use alloc::collections::VecDeque;
use core::cell::RefCell;

/// How much a group may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuotaParams {
    /// CPU time in each period, on all CPUs together.
    pub quota: Nanos,
    /// How often the pool is filled; above zero.
    pub period: Nanos,
    /// How much more of what was not used the pool may hold.
    pub burst: Nanos,
    /// When the first period begins: below the period.
    pub offset: Nanos,
}

/// The longest period.
const LONGEST_PERIOD: Nanos = Nanos::from_secs(1);

/// What became of the limit, with the names of `cpu.stat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BandwidthCounts {
    /// Periods while somebody ran or waited.
    pub nr_periods: u64,
    /// Periods at whose end a queue was throttled.
    pub nr_throttled: u64,
    /// How long queues were throttled, summed over CPUs.
    pub throttled_time: Nanos,
    /// Periods in which more than the quota was used.
    pub nr_bursts: u64,
    /// Time above the quota in those.
    pub burst_time: Nanos,
}

/// See the module's head.
#[derive(Debug)]
pub struct Pool {
    /// How much there is to be.
    pub params: Kept<QuotaParams>,
    /// What is counted.
    pub counts: Kept<BandwidthCounts>,
    /// What is left.
    pub runtime: Kept<Nanos>,
    /// What was there when the period began.
    at_refill: Kept<Nanos>,
    /// Nobody has drawn anything, and nobody was throttled, since the last period began.
    pub(super) idle: Kept<bool>,
    /// When the period ends, while the timer runs.
    pub(super) period_ends: Kept<Option<Nanos>>,
    /// The slack timer runs.
    pub(super) slack_runs: Kept<bool>,
    /// How many periods have begun.
    pub(crate) period: Kept<u64>,
    /// CPUs on which the group's queue is throttled, oldest first.
    pub(super) throttled: RefCell<VecDeque<CpuId>>,
}

impl Pool {
    pub(crate) fn new(params: QuotaParams) -> Pool {
        Pool {
            params: Kept::new(params),
            counts: Kept::default(),
            runtime: Kept::new(params.quota),
            at_refill: Kept::new(params.quota),
            idle: Kept::default(),
            period_ends: Kept::default(),
            slack_runs: Kept::default(),
            period: Kept::default(),
            throttled: RefCell::default(),
        }
    }

    /// CPUs on which the group's queue is throttled, oldest first.
    pub fn throttled_on(&self) -> impl Iterator<Item = CpuId> + use<> {
        self.throttled.borrow().clone().into_iter()
    }

    /// How often it has been filled; it was full at the start.
    pub(crate) fn refills(&self) -> u64 {
        self.period.get()
    }

    /// Adds the time of a queue that is throttled still.
    pub(crate) fn counts_with<'q>(
        &self,
        now: Nanos,
        queues: impl Iterator<Item = &'q GroupQueue>,
    ) -> BandwidthCounts {
        let mut counts = self.counts.get();
        for since in queues.filter_map(|queue| queue.bandwidth.stops_since.get()) {
            counts.throttled_time += now.saturating_sub(since);
        }
        counts
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut BandwidthCounts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// Takes so much, or what there is.
    fn take(&self, wanted: Nanos) -> Nanos {
        let given = self.runtime.get().min(wanted);
        self.runtime.set(self.runtime.get() - given);
        given
    }

    /// Gives a queue so much, or what there is, to be used in this period.
    pub(super) fn give(&self, to: &QueueBandwidth, wanted: i64) {
        let given = self.take(Nanos(wanted.max(0) as u64));
        to.drawn_in.set(self.period.get());
        to.remaining.set(to.remaining.get() + given.0 as i64);
    }

    /// A period begins: the pool gets the quota, and keeps of what was left as much as the burst allows.
    pub(super) fn refill(&self) {
        let QuotaParams { quota, burst, .. } = self.params.get();
        let filled = self.runtime.get() + quota;
        let above = self.at_refill.get().saturating_sub(filled);
        if above > Nanos::ZERO {
            self.count(|counts| {
                counts.nr_bursts += 1;
                counts.burst_time += above;
            });
        }
        let filled = filled.min(quota + burst);
        self.runtime.set(filled);
        self.at_refill.set(filled);
        self.period.set(self.period.get() + 1);
    }
}

impl Pool {
    /// There is to be so much in each period, and is now: it counts as filled.
    pub(super) fn change(&self, quota: Nanos, burst: Nanos) {
        self.params.set(QuotaParams { quota, burst, ..self.params.get() });
        self.runtime.set(quota);
        self.at_refill.set(quota);
        self.period.set(self.period.get() + 1);
    }

    /// Periods are so short that their timer does not come to its end: period, quota and burst double, as
    /// long as the period stays below [`LONGEST_PERIOD`].
    pub(super) fn double(&self) {
        let QuotaParams { quota, period, burst, offset } = self.params.get();
        if period * 2 < LONGEST_PERIOD {
            self.params.set(QuotaParams { quota: quota * 2, period: period * 2, burst: burst * 2, offset });
        }
    }
}

/// What a group's queue on a CPU has of the pool; the run-queue lock protects it.
#[derive(Debug, Default)]
pub struct QueueBandwidth {
    /// What it may use before it asks again, in ns; negative: its debt.
    pub remaining: Kept<i64>,
    /// In which period it was drawn.
    pub(super) drawn_in: Kept<u64>,
    /// What stops, while it is throttled.
    pub(super) unit: Kept<Option<BwThrottle>>,
    /// Since when something has stood still for it, while it is throttled.
    pub(super) stops_since: Kept<Option<Nanos>>,
    /// Its CPU has been called to let it go on.
    pub(super) is_called: Kept<bool>,
    /// How many queues from here to the root's are throttled.
    pub(super) above: Kept<u32>,
    /// Of these, those that are frozen.
    pub(super) frozen: Kept<u32>,
    /// When the clock of its averages stopped, while it stands still, and how long it has done so before.
    pub(super) clock_stopped_at: Kept<Option<Nanos>>,
    pub(super) stood_still: Kept<Nanos>,
}

impl QueueBandwidth {
    /// Whether it is throttled.
    #[inline]
    pub fn is_throttled(&self) -> bool {
        self.unit.get().is_some()
    }

    /// Whether it is throttled as a whole: its entity competes no longer.
    #[inline]
    pub fn is_frozen(&self) -> bool {
        self.unit.get() == Some(BwThrottle::Entity)
    }

    /// The same, since this moment.
    pub fn is_frozen_since(&self, at: Nanos) -> bool {
        self.is_frozen() && self.stops_since.get() == Some(at)
    }

    /// What its averages take for the time at `now`.
    pub(super) fn clock_at(&self, now: Nanos) -> Nanos {
        self.clock_stopped_at.get().unwrap_or(now).saturating_sub(self.stood_still.get())
    }

    /// The clock of its averages stands still from now on.
    pub(super) fn stop_clock(&self, now: Nanos) {
        if self.clock_stopped_at.get().is_none() {
            self.clock_stopped_at.set(Some(now));
        }
    }

    /// It goes on.
    pub(super) fn start_clock(&self, now: Nanos) {
        if let Some(since) = self.clock_stopped_at.take() {
            self.stood_still.set(self.stood_still.get() + now.saturating_sub(since));
        }
    }

    /// How many queues from here to the root's are throttled (throttle_count).
    pub fn above(&self) -> u32 {
        self.above.get()
    }

    /// Whether it, or one above it, is throttled.
    #[inline]
    pub fn is_below_throttled(&self) -> bool {
        self.above.get() > 0
    }

    /// Whether it, or one above it, is frozen: what is below counts nowhere.
    #[inline]
    pub fn is_hidden(&self) -> bool {
        self.frozen.get() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(quota: u64, burst: u64) -> Pool {
        let ms = Nanos::from_millis;
        let period = ms(100);
        Pool::new(QuotaParams { quota: ms(quota), period, burst: ms(burst), offset: Nanos::ZERO })
    }

    /// deadline-groups B7, worked example 3: quota 30, burst 30, demand 10 10 50 10 10 50.
    #[test]
    fn what_is_saved_pays_for_a_burst() {
        let pool = pool(30, 30);
        let mut left = [0; 6];
        for (n, demand) in [10, 10, 50, 10, 10, 50].into_iter().enumerate() {
            assert_eq!(pool.take(Nanos::from_millis(demand)), Nanos::from_millis(demand), "never throttled");
            left[n] = pool.runtime.get().0 / 1_000_000;
            pool.refill();
        }
        assert_eq!(left, [20, 40, 10, 30, 50, 10]);
        let counts = pool.counts.get();
        assert_eq!((counts.nr_bursts, counts.burst_time), (2, Nanos::from_millis(40)));
    }

    /// Rule 2: a queue stands still as a whole since the moment at which it was throttled, and only in entity
    /// mode.
    #[test]
    fn a_queue_is_frozen_since_it_was_throttled() {
        let (then, later) = (Nanos::from_millis(3), Nanos::from_millis(4));
        let since = |unit| {
            let queue = QueueBandwidth::default();
            queue.unit.set(unit);
            queue.stops_since.set(Some(then));
            [then, later].map(|at| queue.is_frozen_since(at))
        };
        assert_eq!(since(Some(BwThrottle::Entity)), [true, false]);
        assert_eq!(since(Some(BwThrottle::Task)), [false; 2]);
        assert_eq!(since(None), [false; 2]);
    }

    #[test]
    fn without_burst_nothing_is_saved() {
        let pool = pool(30, 0);
        pool.take(Nanos::from_millis(10));
        pool.refill();
        assert_eq!(pool.runtime.get(), Nanos::from_millis(30));
        assert_eq!(pool.take(Nanos::from_millis(50)), Nanos::from_millis(30));
        assert_eq!(pool.counts.get(), BandwidthCounts::default());
    }
}
