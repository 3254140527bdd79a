//! The period of a group's pool, and the slack after which what was given back is handed out (deadline-groups
//! B7, rules 3, 4 and 6).

use super::charge::slice;
use super::pool::Pool;
use super::throttle::unthrottle;
use crate::dl;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{GroupId, Nanos, ThisCpu};

/// How long what was given back waits for more.
const SLACK: Nanos = Nanos::from_millis(5);

/// With so little left of the period nothing is handed out before it ends.
const MIN_LEFT: Nanos = Nanos::from_millis(2);

/// Which timer of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GroupTimer {
    /// Its period ends.
    Period,
    /// What was given back is handed out.
    Slack,
}

/// Starts the period timer of a pool from which something is drawn, on the CPU that executes.
pub(super) fn start_period<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId, pool: &Pool) {
    if pool.period_ends.get().is_some() {
        return;
    }
    let (period, offset) = (pool.params.period, pool.params.offset);
    let begun = rq.clock.saturating_sub(offset).0 / period.0;
    let first = if rq.clock < offset { offset } else { offset + period * (begun + 1) };
    pool.period_ends.set(Some(first));
    dl::arm_group_timer(rq.me, first, group, GroupTimer::Period);
}

/// Starts the slack timer, unless the period ends soon.
pub(super) fn start_slack<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId, pool: &Pool) {
    if ends_within(pool, rq.clock, SLACK + MIN_LEFT) || pool.slack_runs.replace(true) {
        return;
    }
    dl::arm_group_timer(rq.me, rq.clock + SLACK, group, GroupTimer::Slack);
}

fn ends_within(pool: &Pool, now: Nanos, time: Nanos) -> bool {
    pool.period_ends.get().is_some_and(|ends| ends < now + time)
}

/// A timer of a group fires on the executing CPU.
pub(crate) async fn group_timer<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, timer: GroupTimer) {
    let Some(pool) = me.k.groups.get(group).pool.as_ref() else { return };
    match timer {
        GroupTimer::Period => period_ends(me, group, pool).await,
        GroupTimer::Slack => {
            pool.slack_runs.set(false);
            let much = pool.runtime.get().0 as i64 > slice(me);
            if much && !ends_within(pool, me.now(), MIN_LEFT) {
                distribute(me, group, pool).await;
            }
        }
    }
}

/// Fills the pool and hands out what throttled queues owe. After a period in which nobody drew anything the
/// timer stops.
async fn period_ends<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, pool: &Pool) {
    let due = pool.period_ends.get().unwrap_or(me.now());
    let passed = 1 + me.now().saturating_sub(due).0 / pool.params.period.0;
    let throttled = !pool.throttled.borrow().is_empty();
    pool.count(|counts| counts.nr_periods += passed);
    pool.refill();
    if pool.idle.get() && !throttled {
        pool.period_ends.set(None);
        return;
    }
    let next = due + pool.params.period * passed;
    pool.period_ends.set(Some(next));
    dl::arm_group_timer(me, next, group, GroupTimer::Period);
    if !throttled {
        pool.idle.set(true);
        return;
    }
    pool.count(|counts| counts.nr_throttled += passed);
    distribute(me, group, pool).await;
    pool.idle.set(false);
}

/// Throttled queues, the oldest first, get what brings them just out of debt, until the pool is empty.
async fn distribute<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, pool: &Pool) {
    while pool.runtime.get() > Nanos::ZERO && !pool.throttled.borrow().is_empty() {
        for cpu in pool.throttled_on() {
            if pool.runtime.get() == Nanos::ZERO {
                return;
            }
            let mut rq = me.lock(cpu).await;
            rq.update_clock();
            let own = &me.group_queue(group, cpu).bandwidth;
            if !own.is_throttled() {
                continue;
            }
            pool.give(own, 1 - own.remaining.get());
            if own.remaining.get() > 0 {
                unthrottle(&mut rq, group);
            }
        }
    }
}
