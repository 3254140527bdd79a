//! What of each period the class may use on a CPU, or a group of its tasks, and what has been used.

use crate::dl::ratio;
use crate::platform::{Access, Line, Platform};
use crate::registry::{Config, Feature, RtThrottle, Tunables};
use crate::{CpuId, Nanos, ThisCpu};
use alloc::boxed::Box;
use core::cell::Cell;

/// How much of each CPU the real-time tasks of a group may use (`cpu.rt_runtime_us`, `cpu.rt_period_us`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtLimit {
    /// In each period; `None`: all of it (-1). Zero: no task of the group may become a real-time task.
    pub runtime: Option<Nanos>,
    /// How often it is given; above zero.
    pub period: Nanos,
}

impl RtLimit {
    /// That of the whole class: sched_rt_runtime_us of each sched_rt_period_us. (Nobody writes a period below
    /// 1 us.)
    pub fn of_root(tunables: &Tunables) -> RtLimit {
        let runtime = u64::try_from(tunables.sched_rt_runtime_us.get()).ok();
        let period = tunables.sched_rt_period_us.get().unsigned_abs();
        RtLimit { runtime: runtime.map(Nanos::from_micros), period: Nanos::from_micros(period) }
    }

    /// What of a CPU that is, in 2^20ths, as the kernel divides it (deadline-groups B9).
    pub fn part(self) -> u64 {
        ratio(self.period, self.runtime.unwrap_or(self.period))
    }
}

/// What became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RtThrottleCounts {
    /// How often a queue of the group was stopped.
    pub nr_throttled: u64,
    /// How long its queues were, summed over CPUs.
    pub throttled_time: Nanos,
    /// What its tasks, and those of the groups below it, have used on all CPUs.
    pub usage: Nanos,
    /// How much of their shares CPUs have taken from each other (RT_RUNTIME_SHARE).
    pub borrowed: Nanos,
}

/// The shares of all CPUs, of the root or of a group, and the timer, which is one for all root domains.
#[derive(Debug)]
pub struct Bandwidth {
    pub(super) cpus: Box<[Share]>,
    /// That of a group; `None` of the root, for which the tunables say it.
    limit: Cell<Option<RtLimit>>,
    /// sched_rt_runtime_us for which the shares of the root were set; writing the tunable resets them all.
    pub(super) runtime_us: Cell<i64>,
    /// When the timer expires next, if it is started.
    pub(super) expires: Cell<Option<Nanos>>,
    /// Whether the kernel is one with RT_GROUP_SCHED.
    has_groups: bool,
    pub(super) counts: Cell<RtThrottleCounts>,
}

/// One CPU's part of the period.
#[derive(Debug, Default)]
pub(super) struct Share {
    /// Used and not yet given back by the timer.
    pub(super) used: Cell<Nanos>,
    /// May be used, borrowed time included.
    pub(super) runtime: Cell<Nanos>,
    /// Tasks that compete in the group's queue there; of the root the run queue publishes it.
    pub(super) members: Cell<u32>,
    /// Since when the group's queue is stopped there.
    pub(super) since: Cell<Option<Nanos>>,
}

impl Bandwidth {
    /// That of the root.
    pub(crate) fn new(cpus: usize, config: &Config) -> Bandwidth {
        Bandwidth {
            cpus: (0..cpus).map(|_| Share::default()).collect(),
            limit: Cell::new(None),
            // No legal value: the first look sets the shares.
            runtime_us: Cell::new(i64::MIN),
            expires: Cell::new(None),
            has_groups: config.rules.rt_throttle.get() == RtThrottle::Groups,
            counts: Cell::default(),
        }
    }

    /// That of a group.
    pub(crate) fn of_group(cpus: usize, limit: RtLimit) -> Bandwidth {
        let share = |_| Share { runtime: Cell::new(limit.runtime.unwrap_or_default()), ..Share::default() };
        Bandwidth {
            cpus: (0..cpus).map(share).collect(),
            limit: Cell::new(Some(limit)),
            runtime_us: Cell::default(),
            expires: Cell::new(None),
            has_groups: true,
            counts: Cell::default(),
        }
    }

    /// Whether the groups of this kernel have queues and limits of real-time tasks (RT_GROUP_SCHED). That is
    /// so from the start of a machine, or not at all.
    #[inline]
    pub fn has_groups(&self) -> bool {
        self.has_groups
    }

    /// That of a group; `None` of the root, for which the tunables say it.
    pub fn limit(&self) -> Option<RtLimit> {
        self.limit.get()
    }

    /// cpu.rt_runtime_us of a group is written: every CPU has that now, whatever it has borrowed or lent. Who
    /// is throttled goes on with its next period.
    ///
    /// The caller has made sure that the kernel takes it: above zero, and no more than the group above has
    /// (deadline-groups B9).
    pub fn set_runtime(&self, runtime: Option<Nanos>) {
        let Some(limit) = self.limit.get() else { return };
        self.limit.set(Some(RtLimit { runtime, ..limit }));
        self.cpus.iter().for_each(|share| share.runtime.set(runtime.unwrap_or_default()));
    }

    /// RT time of `cpu` that the timer has not yet given back.
    pub fn rt_time(&self, cpu: CpuId) -> Nanos {
        self.cpus[cpu.index()].used.get()
    }

    /// RT time that `cpu` may use in each period, borrowed time included.
    pub fn rt_runtime(&self, cpu: CpuId) -> Nanos {
        self.cpus[cpu.index()].runtime.get()
    }

    /// What became of a group's limit up to `now`.
    pub fn counts_until(&self, now: Nanos) -> RtThrottleCounts {
        let mut counts = self.counts.get();
        let stopped = self.cpus.iter().filter_map(|share| share.since.get());
        stopped.for_each(|since| counts.throttled_time += now.saturating_sub(since));
        counts
    }

    /// How often a share is given.
    #[inline]
    pub(super) fn period<P: Platform>(&self, me: ThisCpu<'_, P>) -> Nanos {
        self.limit.get().unwrap_or_else(|| RtLimit::of_root(&me.k.config.tunables)).period
    }

    /// RT_RUNTIME_SHARE: `cpu` takes from every other CPU of the root domain, of which there are n, 1/n of
    /// what it has not used, up to a whole period.
    pub(super) fn do_balance_runtime<P: Platform>(&self, me: ThisCpu<'_, P>, cpu: CpuId) {
        if !me.has(Feature::RtRuntimeShare) {
            return;
        }
        let (own, period) = (&self.cpus[cpu.index()].runtime, self.period(me));
        let span = me.k.root_domain(cpu).span;
        for other in span.iter().filter(|other| *other != cpu) {
            me.touch(Line::Rq(other), Access::Write);
            let share = &self.cpus[other.index()];
            let unused = share.runtime.get().saturating_sub(share.used.get());
            let part = Nanos(unused.0 / u64::from(span.weight())).min(period.saturating_sub(own.get()));
            share.runtime.set(share.runtime.get() - part);
            own.set(own.get() + part);
            let counts = self.counts.get();
            self.counts.set(RtThrottleCounts { borrowed: counts.borrowed + part, ..counts });
            if own.get() >= period {
                break;
            }
        }
    }
}
