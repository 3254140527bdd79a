//! RT throttling: how much of each period the class may use on a CPU (rt-class 8.1).
//!
//! Run time is accounted wherever the running task's time is. A queue that used up its share is throttled:
//! its tasks stay queued, and others may still take them, but it is passed over when picking. One period
//! timer for the whole machine gives every queue a new share.
//!
//! The shares lie beside the run queues, not in them: in the kernel a lock of their own protects them, so
//! that a CPU can borrow from another without its run-queue lock.

use crate::platform::{Access, Line, Platform};
use crate::registry::{Feature, RtThrottle, ThrottledCount};
use crate::rq::RqGuard;
use crate::{CpuId, Event, Nanos, Prio, Reason, ThisCpu, Throttled, fair};
use alloc::boxed::Box;
use core::cell::Cell;

/// The shares of all CPUs, and the timer, which without RT_GROUP_SCHED is one for all root domains.
#[derive(Debug)]
pub struct Bandwidth {
    cpus: Box<[Share]>,
    /// sched_rt_runtime_us for which the shares were set; writing the tunable resets them all.
    runtime_us: Cell<i64>,
    /// When the timer expires next, if it is started.
    expires: Cell<Option<Nanos>>,
}

/// One CPU's part of the period.
#[derive(Debug, Default)]
struct Share {
    /// Used and not yet given back by the timer.
    used: Cell<Nanos>,
    /// May be used, borrowed time included.
    runtime: Cell<Nanos>,
}

impl Bandwidth {
    pub(crate) fn new(cpus: usize) -> Bandwidth {
        Bandwidth {
            cpus: (0..cpus).map(|_| Share::default()).collect(),
            // No legal value: the first look sets the shares.
            runtime_us: Cell::new(i64::MIN),
            expires: Cell::new(None),
        }
    }

    /// RT time of `cpu` that the timer has not yet given back.
    pub fn rt_time(&self, cpu: CpuId) -> Nanos {
        self.cpus[cpu.index()].used.get()
    }

    /// RT time that `cpu` may use in each period, borrowed time included.
    pub fn rt_runtime(&self, cpu: CpuId) -> Nanos {
        self.cpus[cpu.index()].runtime.get()
    }
}

/// Whether throttling is on (sched_rt_runtime_us is not −1, and the kernel has it: deadline-groups A12);
/// brings the shares up to date with the tunable.
#[inline]
fn enabled<P: Platform>(me: ThisCpu<'_, P>) -> bool {
    let runtime_us = me.k.config.tunables.sched_rt_runtime_us.get();
    let bandwidth = &me.k.rt_bandwidth;
    if bandwidth.runtime_us.replace(runtime_us) != runtime_us {
        let share = Nanos::from_micros(u64::try_from(runtime_us).unwrap_or(0));
        bandwidth.cpus.iter().for_each(|cpu| cpu.runtime.set(share));
    }
    runtime_us >= 0 && me.k.config.rules.rt_throttle.get() == RtThrottle::Root
}

fn period<P: Platform>(me: ThisCpu<'_, P>) -> Nanos {
    Nanos::from_micros(me.k.config.tunables.sched_rt_period_us.get().unsigned_abs())
}

/// Whether the queue must be passed over when picking.
#[inline]
pub(super) fn is_throttled<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    rq.rt.throttled && enabled(rq.me)
}

/// The first RT enqueue starts the period timer.
#[inline]
pub(super) fn start_rt_bandwidth<P: Platform>(me: ThisCpu<'_, P>) {
    let expires = &me.k.rt_bandwidth.expires;
    if expires.get().is_none() && enabled(me) {
        let at = me.now() + period(me);
        expires.set(Some(at));
        me.k.platform.start_rt_period_timer(at);
    }
}

/// The running RT task ran for `delta` more.
#[inline]
pub(super) fn account<P: Platform>(rq: &mut RqGuard<'_, P>, delta: Nanos) {
    let me = rq.me;
    if !enabled(me) {
        return;
    }
    let share = &me.k.rt_bandwidth.cpus[rq.cpu.index()];
    share.used.set(share.used.get() + delta);
    if rq.rt.throttled {
        rq.resched();
        return;
    }
    if share.used.get() <= share.runtime.get() || share.runtime.get() >= period(me) {
        return;
    }
    do_balance_runtime(me, rq.cpu);
    if share.used.get() > share.runtime.get() {
        rq.rt.throttled = true;
        leave_out(rq);
        // It is not running if throttling was off when the queue's tasks came.
        start_rt_bandwidth(me);
        me.decide(rq.curr, Reason::Throttled);
        me.event(Event::ThrottleBegins { cpu: rq.cpu, whom: Throttled::RealTime });
        rq.resched();
    }
}

/// Throttled tasks do not count as running on their CPU.
fn leave_out<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.me.k.config.rules.throttled_count.get() == ThrottledCount::LeftOut {
        let others = rq.nr_running - rq.rt.nr_running;
        rq.published.rt_left_out.set(rq, true);
        rq.set_nr_running(others);
    }
}

/// They do again.
fn count_again<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.published.rt_left_out.replace(rq, false) {
        let all = rq.nr_running + rq.rt.nr_running;
        rq.set_nr_running(all);
        fair::note_overload(rq.me, rq.cpu, all);
    }
}

/// RT_RUNTIME_SHARE: takes from every other CPU of the root domain, of which there are n, 1/n of what it
/// has not used, up to a whole period.
fn do_balance_runtime<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) {
    if !me.has(Feature::RtRuntimeShare) {
        return;
    }
    let cpus = &me.k.rt_bandwidth.cpus;
    let (own, period) = (&cpus[cpu.index()].runtime, period(me));
    let span = me.k.root_domain(cpu).span;
    for other in span.iter().filter(|other| *other != cpu) {
        me.touch(Line::Rq(other), Access::Write);
        let share = &cpus[other.index()];
        let unused = share.runtime.get().saturating_sub(share.used.get());
        let part = Nanos(unused.0 / u64::from(span.weight())).min(period.saturating_sub(own.get()));
        share.runtime.set(share.runtime.get() - part);
        own.set(own.get() + part);
        if own.get() >= period {
            break;
        }
    }
}

/// Handler of the period timer: gives every CPU one share for each period that passed, and lets throttled
/// queues run again. Returns when it is due next; `None` when nothing is left to account, until the next RT
/// enqueue starts it again.
pub async fn sched_rt_period_timer<P: Platform>(me: ThisCpu<'_, P>) -> Option<Nanos> {
    let bandwidth = &me.k.rt_bandwidth;
    let on = enabled(me);
    let (period, due) = (period(me), bandwidth.expires.get().unwrap_or(me.now()));
    let periods = 1 + me.now().saturating_sub(due).0 / period.0;
    let mut busy = false;
    for cpu in me.k.online.iter() {
        busy |= do_sched_rt_period_timer(me, cpu, periods).await;
    }
    let next = (busy && on).then_some(due + period * periods);
    bandwidth.expires.set(next);
    next
}

/// Whether there is still something to account on `cpu`.
async fn do_sched_rt_period_timer<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, periods: u64) -> bool {
    let share = &me.k.rt_bandwidth.cpus[cpu.index()];
    if share.used.get() == Nanos::ZERO && me.k.rq(cpu).published.rt_highest.get() == Prio::NO_RT {
        return false;
    }
    let mut rq = me.lock(cpu).await;
    rq.update_clock();
    if rq.rt.throttled {
        do_balance_runtime(me, cpu);
    }
    // Without a limit everything is forgiven.
    let limited = enabled(me);
    let given = if limited { share.runtime.get() * periods } else { Nanos::NEVER };
    share.used.set(share.used.get().saturating_sub(given));
    if rq.rt.throttled && (share.used.get() < share.runtime.get() || !limited) {
        rq.rt.throttled = false;
        count_again(&mut rq);
        let best = rq.rt.active.first();
        me.decide(best.unwrap_or(rq.curr), Reason::Unthrottled);
        me.event(Event::ThrottleEnds { cpu, whom: Throttled::RealTime });
        // Whoever runs, a deadline task too.
        if best.is_some() {
            rq.resched();
        }
    }
    share.used.get() > Nanos::ZERO || rq.rt.nr_running > 0
}
