//! A queue uses up what it has drawn from its group's pool, draws again, and gives back what it keeps in
//! vain (deadline-groups B7, rules 1, 6 and 7).

use super::pool::{Pool, QueueBandwidth};
use super::throttle::throttle;
use super::timer;
use crate::fair::queue::update_curr;
use crate::platform::Platform;
use crate::registry::{BwExpire, BwThrottle};
use crate::rq::RqGuard;
use crate::{Nanos, ThisCpu};

/// What a queue without anybody keeps.
const KEPT: i64 = 1_000_000;

/// The limit of the group whose queue is in front.
#[inline]
fn pool_in_front<'k, P: Platform>(rq: &RqGuard<'k, P>) -> Option<&'k Pool> {
    rq.me.k.groups.pool_of(rq.fair.group)
}

/// Whether the queue in front, a group's, is frozen.
pub(in crate::fair) fn front_is_frozen<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    rq.me.k.limit_of(rq.fair.group, rq.cpu).is_some_and(QueueBandwidth::is_frozen)
}

/// What stops when a queue is throttled now.
fn unit<P: Platform>(rq: &RqGuard<'_, P>) -> BwThrottle {
    rq.me.k.config.rules.bw_throttle.get()
}

fn bandwidth_in_front<'k, P: Platform>(rq: &RqGuard<'k, P>) -> &'k QueueBandwidth {
    &rq.me.group_queue(rq.fair.group, rq.cpu).bandwidth
}

/// How much a queue draws at a time.
pub(super) fn slice<P: Platform>(me: ThisCpu<'_, P>) -> i64 {
    me.k.config.tunables.sched_cfs_bandwidth_slice_us.get() * 1_000
}

/// Somebody below the queue in front has run for `delta`. One that is in debt after asking for more is
/// throttled; where that stops the whole queue, it makes room first.
#[inline(never)]
pub(in crate::fair) fn account<P: Platform>(rq: &mut RqGuard<'_, P>, delta: Nanos) {
    let Some(pool) = pool_in_front(rq) else { return };
    let own = bandwidth_in_front(rq);
    own.remaining.set(own.remaining.get() - delta.0 as i64);
    expire(rq, pool, own);
    if own.remaining.get() > 0 || own.is_throttled() {
        return;
    }
    let wanted = slice(rq.me) - own.remaining.get();
    if draw(rq, pool, wanted) {
        return;
    }
    match unit(rq) {
        BwThrottle::Task => throttle(rq, BwThrottle::Task),
        BwThrottle::Entity if rq.fair.curr.is_some() => rq.resched(),
        BwThrottle::Entity => {}
    }
}

/// Under `bw_expire=on` what was drawn in another period is worth nothing.
fn expire<P: Platform>(rq: &RqGuard<'_, P>, pool: &Pool, own: &QueueBandwidth) {
    let expires = rq.me.k.config.rules.bw_expire.get() == BwExpire::On;
    if expires && own.drawn_in.get() != pool.period.get() && own.remaining.get() > 0 {
        own.remaining.set(0);
    }
}

/// The queue in front asks its pool for so much, in ns; whether it is out of debt then.
fn draw<P: Platform>(rq: &RqGuard<'_, P>, pool: &Pool, wanted: i64) -> bool {
    let own = bandwidth_in_front(rq);
    timer::start_period(rq, rq.fair.group, pool);
    if pool.runtime.get() > Nanos::ZERO {
        pool.idle.set(false);
        pool.give(own, wanted);
    }
    own.remaining.get() > 0
}

/// The queue in front is asked for somebody to run, or its running entity is put back: freezes it if it is in
/// debt and `bw_throttle` says so. Whether it is frozen.
pub(in crate::fair) fn stops_at_pick<P: Platform>(rq: &mut RqGuard<'_, P>) -> bool {
    let Some(pool) = pool_in_front(rq) else { return false };
    let own = bandwidth_in_front(rq);
    if rq.fair.curr.is_some_and(|curr| rq.me.task(curr.task()).is_in_queue()) {
        update_curr(rq);
    }
    if own.is_throttled() || unit(rq) == BwThrottle::Task {
        return own.is_frozen();
    }
    // Somebody may have filled the pool meanwhile: 1 ns more than the debt is asked for.
    if own.remaining.get() > 0 || draw(rq, pool, 1 - own.remaining.get()) {
        return false;
    }
    throttle(rq, BwThrottle::Entity);
    true
}

/// Somebody has entered the queue in front, in which nobody was: throttles it if it has nothing and gets
/// nothing. Whether it is frozen.
pub(in crate::fair) fn stops_at_enqueue<P: Platform>(rq: &mut RqGuard<'_, P>) -> bool {
    if pool_in_front(rq).is_none() {
        return false;
    }
    let own = bandwidth_in_front(rq);
    if rq.fair.nr_running == 1 && rq.fair.curr.is_none() {
        account(rq, Nanos::ZERO);
        if own.remaining.get() <= 0 && !own.is_throttled() {
            throttle(rq, BwThrottle::Entity);
        }
    }
    own.is_frozen()
}

/// Somebody has left the queue in front. Without anybody it gives back what it has above a millisecond, and
/// if others wait for that, it is handed out soon; and the time of its averages stands still if it is below a
/// throttled one.
pub(in crate::fair) fn has_left<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.fair.nr_running == 0
        && let Some(own) = rq.me.k.limit_of(rq.fair.group, rq.cpu)
    {
        if own.is_below_throttled() {
            own.stop_clock(rq.clock_pelt());
        }
        give_back(rq);
    }
}

fn give_back<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let Some(pool) = pool_in_front(rq) else { return };
    let own = bandwidth_in_front(rq);
    let extra = own.remaining.get() - KEPT;
    let expires = rq.me.k.config.rules.bw_expire.get() == BwExpire::On;
    let is_valid = !expires || own.drawn_in.get() == pool.period.get();
    if extra <= 0 {
        return;
    }
    if is_valid {
        pool.runtime.set(pool.runtime.get() + Nanos(extra as u64));
        if pool.runtime.get().0 as i64 > slice(rq.me) && !pool.throttled.borrow().is_empty() {
            timer::start_slack(rq, rq.fair.group, pool);
        }
    }
    own.remaining.set(KEPT);
}
