//! The period of a group's pool, and the slack after which what was given back is handed out (deadline-groups
//! B7, rules 3, 4, 6 and 8).

use super::charge::slice;
use super::pool::Pool;
use super::throttle::unthrottle;
use crate::dl;
use crate::platform::{Ipi, Platform};
use crate::registry::BwUnthrottle;
use crate::rq::RqGuard;
use crate::{CpuId, GroupId, Nanos, ThisCpu};

/// How long what was given back waits for more.
const SLACK: Nanos = Nanos::from_millis(5);

/// With so little left of the period nothing is handed out before it ends.
const MIN_LEFT: Nanos = Nanos::from_millis(2);

/// So many periods in one run of the timer, and their time is too short for what there is to do: it doubles
/// (rule 8).
const MOST_FORWARDS: u32 = 3;

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
    let (period, offset) = (pool.params.get().period, pool.params.get().offset);
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
/// timer stops. Where that takes so long that more periods end, it goes on with them.
async fn period_ends<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, pool: &Pool) {
    let (mut is_first, mut forwarded) = (true, 0);
    let next = loop {
        let (due, now) = (pool.period_ends.get().unwrap_or(me.now()), me.now());
        if now < due && !is_first {
            break due;
        }
        is_first = false;
        let period = pool.params.get().period;
        let passed = 1 + now.saturating_sub(due).0 / period.0;
        forwarded += 1;
        if forwarded > MOST_FORWARDS {
            pool.double();
            forwarded = 0;
        }
        let throttled = !pool.throttled.borrow().is_empty();
        pool.count(|counts| counts.nr_periods += passed);
        pool.refill();
        if pool.idle.get() && !throttled {
            pool.period_ends.set(None);
            return;
        }
        pool.period_ends.set(Some(due + period * passed));
        pool.idle.set(!throttled);
        if throttled {
            pool.count(|counts| counts.nr_throttled += passed);
            distribute(me, group, pool).await;
            pool.idle.set(false);
        }
    };
    dl::arm_group_timer(me, next, group, GroupTimer::Period);
}

/// The limit of a group changes that has one: what is left is as much as the new one gives, and throttled
/// queues go on with it (tg_set_cfs_bandwidth). The period goes on as it was.
pub async fn set_limit<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, quota: Nanos, burst: Nanos) {
    if let Some(pool) = me.k.groups.get(group).pool.as_ref() {
        pool.change(quota, burst);
        distribute(me, group, pool).await;
    }
}

/// Throttled queues, the oldest first, get what brings them just out of debt, until the pool is empty.
async fn distribute<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, pool: &Pool) {
    let waits = |cpu: &CpuId| !me.group_queue(group, *cpu).bandwidth.is_called.get();
    while pool.runtime.get() > Nanos::ZERO && pool.throttled.borrow().iter().any(waits) {
        let mut here = None;
        for cpu in pool.throttled_on() {
            if pool.runtime.get() == Nanos::ZERO {
                break;
            }
            let mut rq = me.lock(cpu).await;
            rq.update_clock();
            let own = &me.group_queue(group, cpu).bandwidth;
            if !own.is_throttled() || own.is_called.get() {
                continue;
            }
            pool.give(own, 1 - own.remaining.get());
            if own.remaining.get() <= 0 {
                continue;
            }
            match me.k.config.rules.bw_unthrottle.get() {
                BwUnthrottle::Inline => unthrottle(&mut rq, group),
                // The CPU of the timer has its turn when the others have been called.
                BwUnthrottle::Ipi if cpu == me.id => {
                    own.is_called.set(true);
                    here = Some(cpu);
                }
                BwUnthrottle::Ipi => {
                    own.is_called.set(true);
                    if me.k.rq(cpu).unthrottle_list.push(group) {
                        me.k.platform.send_ipi(me.id, cpu, Ipi::Unthrottle);
                    }
                }
            }
        }
        if let Some(cpu) = here {
            let mut rq = me.lock(cpu).await;
            go_on(&mut rq, group);
        }
    }
}

/// Handler of [`Ipi::Unthrottle`]: the queues of the executing CPU that have got more go on.
pub async fn unthrottle_called<P: Platform>(me: ThisCpu<'_, P>) {
    let list = &me.k.rq(me.id).unthrottle_list;
    let mut rq = me.lock(me.id).await;
    while let Some(group) = list.pop() {
        go_on(&mut rq, group);
    }
}

/// A queue goes on that was called to.
fn go_on<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId) {
    rq.update_clock();
    rq.me.group_queue(group, rq.cpu).bandwidth.is_called.set(false);
    unthrottle(rq, group);
}
