//! RT throttling: how much of each period the class may use on a CPU (rt-class 8.1), and, with
//! RT_GROUP_SCHED, how much a group of its tasks may (deadline-groups B9).
//!
//! Run time is accounted wherever the running task's time is: by the task's queue and by all above it. A
//! queue that used up its share is throttled: its tasks stay queued, and others may still take them, but it
//! is passed over when picking. One period timer for all CPUs, of the root and of each group, gives every
//! queue a new share.
//!
//! The shares lie beside the run queues, not in them: in the kernel a lock of their own protects them, so
//! that a CPU can borrow from another without its run-queue lock.

use super::bandwidth::{Bandwidth, RtThrottleCounts};
use super::groups::{best_in, recount, restack};
use super::queue::publish;
use crate::platform::Platform;
use crate::registry::{RtThrottle, ThrottledCount};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{
    CpuId, Event, GroupId, Nanos, NotAdmitted, Policy, Prio, Reason, Scheduler, TaskId, ThisCpu, Throttled,
    dl, fair,
};

/// Those of a group, or of the root.
#[inline]
fn bandwidth<'k, P: Platform>(me: ThisCpu<'k, P>, group: GroupId) -> &'k Bandwidth {
    if group == GroupId::ROOT {
        return &me.k.rt_bandwidth;
    }
    me.k.groups.get(group).rt.as_ref().expect("what has a queue has a share")
}

/// Whether throttling is on (sched_rt_runtime_us is not −1, and the kernel has it: deadline-groups A12);
/// brings the root's shares up to date with the tunable.
#[inline]
fn enabled<P: Platform>(k: &Scheduler<P>) -> bool {
    let runtime_us = k.config.tunables.sched_rt_runtime_us.get();
    let bandwidth = &k.rt_bandwidth;
    if bandwidth.runtime_us.replace(runtime_us) != runtime_us {
        let share = Nanos::from_micros(u64::try_from(runtime_us).unwrap_or(0));
        bandwidth.cpus.iter().for_each(|cpu| cpu.runtime.set(share));
    }
    runtime_us >= 0 && k.config.rules.rt_throttle.get() != RtThrottle::Off
}

/// Whether a group, or the root, has a limit.
#[inline]
fn is_limited<P: Platform>(me: ThisCpu<'_, P>, of: &Bandwidth) -> bool {
    enabled(me.k) && of.limit().is_none_or(|limit| limit.runtime.is_some())
}

/// Whether a task may become one of this class.
///
/// # Errors
/// Its group has no time for any (deadline-groups B9).
pub(crate) fn admits<P: Platform>(k: &Scheduler<P>, task: &Task, policy: Policy) -> Result<(), NotAdmitted> {
    let group = k.rt_group(task);
    if group == GroupId::ROOT || !matches!(policy, Policy::Fifo(_) | Policy::Rr(_)) || !enabled(k) {
        return Ok(());
    }
    let limit = k.groups.get(group).rt.as_ref().and_then(Bandwidth::limit);
    let has_none = limit.is_some_and(|limit| limit.runtime == Some(Nanos::ZERO));
    if has_none { Err(NotAdmitted::NoRtRuntime) } else { Ok(()) }
}

/// Whether the root's queue must be passed over when picking.
#[inline]
pub(super) fn is_throttled<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    rq.rt.root.is_stopped() && enabled(rq.me.k)
}

/// A task was enqueued: the first one starts the period timer, that of its group and of those above, too.
#[inline]
pub(super) fn start_rt_bandwidth<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) {
    if me.k.rt_bandwidth.has_groups() {
        start_timers(me, me.k.rt_group(me.k.task(p)));
    } else {
        start_timer(me, GroupId::ROOT);
    }
}

/// Those of a group and of all above it.
fn start_timers<P: Platform>(me: ThisCpu<'_, P>, group: GroupId) {
    start_timer(me, GroupId::ROOT);
    each_up(me.k, group, |group| start_timer(me, group));
}

/// The groups of a task that have queues, the root left out.
fn each_group<P: Platform>(k: &Scheduler<P>, p: TaskId, act: impl FnMut(GroupId)) {
    each_up(k, k.rt_group(k.task(p)), act);
}

/// A group and those above it, the root left out.
fn each_up<P: Platform>(k: &Scheduler<P>, mut group: GroupId, mut act: impl FnMut(GroupId)) {
    while group != GroupId::ROOT {
        act(group);
        group = k.groups.parent(group);
    }
}

#[inline]
fn start_timer<P: Platform>(me: ThisCpu<'_, P>, group: GroupId) {
    let of = bandwidth(me, group);
    if of.expires.get().is_none() && is_limited(me, of) {
        let at = me.now() + of.period(me);
        of.expires.set(Some(at));
        match group {
            GroupId::ROOT => me.k.platform.start_rt_period_timer(at),
            _ => dl::arm_rt_group_timer(me, at, group),
        }
    }
}

/// The running RT task ran for `delta` more.
#[inline]
pub(super) fn account<P: Platform>(rq: &mut RqGuard<'_, P>, delta: Nanos) {
    let me = rq.me;
    let enabled = enabled(me.k);
    if me.k.rt_bandwidth.has_groups() {
        each_group(me.k, rq.curr, |group| {
            count_usage(me, group, delta);
            if enabled {
                account_in(rq, group, delta);
            }
        });
    }
    if enabled {
        account_in(rq, GroupId::ROOT, delta);
    }
}

fn count_usage<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, delta: Nanos) {
    let counts = &bandwidth(me, group).counts;
    let now = counts.get();
    counts.set(RtThrottleCounts { usage: now.usage + delta, ..now });
}

/// The queue of a group, or of the root, used `delta` more.
#[inline(always)]
fn account_in<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId, delta: Nanos) {
    let me = rq.me;
    let of = bandwidth(me, group);
    if of.limit().is_some_and(|limit| limit.runtime.is_none()) {
        return;
    }
    let share = &of.cpus[rq.cpu.index()];
    share.used.set(share.used.get() + delta);
    if rq.rt.level(group).throttled || share.used.get() > share.runtime.get() {
        overruns(rq, group);
    }
}

/// It has used more than its share, or had done so before.
#[cold]
#[inline(never)]
fn overruns<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId) {
    let me = rq.me;
    let of = bandwidth(me, group);
    let share = &of.cpus[rq.cpu.index()];
    if rq.rt.level(group).throttled {
        if rq.rt.level(group).is_stopped() {
            rq.resched();
        }
        return;
    }
    if share.runtime.get() >= of.period(me) {
        return;
    }
    of.do_balance_runtime(me, rq.cpu);
    if share.used.get() > share.runtime.get() {
        if of.limit().is_some_and(|limit| limit.runtime == Some(Nanos::ZERO)) {
            // Only who is boosted runs in such a group, and no timer would ever give it anything.
            share.used.set(Nanos::ZERO);
            return;
        }
        rq.rt.level_mut(group).throttled = true;
        if rq.rt.level(group).is_stopped() {
            stop(rq, group);
            // It is not running if throttling was off when the queue's tasks came.
            start_timer(me, group);
            rq.resched();
        }
    }
}

/// The queue of a group, or of the root, is passed over from now on.
fn stop<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId) {
    match group {
        GroupId::ROOT if !rq.me.k.rt_bandwidth.has_groups() => leave_out(rq),
        GroupId::ROOT => recount(rq),
        _ => {
            restack(rq, group);
            publish(rq);
        }
    }
    tell(rq, group);
}

/// Tells if the queue of a group, or of the root, has stopped, or goes on: also because somebody boosted came
/// or went.
pub(super) fn tell<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId) {
    let stopped = rq.rt.level(group).is_stopped();
    if rq.rt.level(group).told == stopped {
        return;
    }
    rq.rt.level_mut(group).told = stopped;
    let (me, cpu) = (rq.me, rq.cpu);
    let of = bandwidth(me, group);
    let since = &of.cpus[cpu.index()].since;
    let mut counts = of.counts.get();
    if stopped {
        counts.nr_throttled += 1;
        since.set(Some(me.now()));
    } else if let Some(since) = since.take() {
        counts.throttled_time += me.now().saturating_sub(since);
    }
    of.counts.set(counts);
    let whom = if group == GroupId::ROOT { Throttled::RealTime } else { Throttled::RtGroup(group) };
    if stopped {
        me.decide(rq.curr, Reason::Throttled);
        me.event(Event::ThrottleBegins { cpu, whom });
    } else {
        me.decide(best_in(rq, group).unwrap_or(rq.curr), Reason::Unthrottled);
        me.event(Event::ThrottleEnds { cpu, whom });
    }
}

/// So many compete in a group's queue: what its timer looks at without the lock.
pub(super) fn publish_members<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, cpu: CpuId, members: u32) {
    bandwidth(me, group).cpus[cpu.index()].members.set(members);
}

/// A deadline task ran for `delta` more: with RT_GROUP_SCHED that counts against the root's share, as long as
/// its timer runs or something is left of it (deadline-groups A12). It is the real-time tasks that are
/// throttled for it.
pub(crate) fn deadline_ran<P: Platform>(rq: &RqGuard<'_, P>, delta: Nanos) {
    let of = &rq.me.k.rt_bandwidth;
    if !of.has_groups() || !enabled(rq.me.k) {
        return;
    }
    let share = &of.cpus[rq.cpu.index()];
    if of.expires.get().is_some() || share.used.get() < share.runtime.get() {
        share.used.set(share.used.get() + delta);
    }
}

/// Throttled tasks do not count as running on their CPU.
fn leave_out<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.me.k.config.rules.throttled_count.get() == ThrottledCount::LeftOut {
        let others = rq.nr_running - rq.rt.root.nr_running;
        rq.published.rt_left_out.set(rq, true);
        rq.set_nr_running(others);
    }
}

/// They do again.
fn count_again<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.published.rt_left_out.replace(rq, false) {
        let all = rq.nr_running + rq.rt.root.nr_running;
        rq.set_nr_running(all);
        fair::note_overload(rq.me, rq.cpu, all);
    }
}

/// Handler of the root's period timer: gives every CPU one share for each period that passed, and lets
/// throttled queues run again. Returns when it is due next; `None` when nothing is left to account, until the
/// next RT enqueue starts it again.
pub async fn sched_rt_period_timer<P: Platform>(me: ThisCpu<'_, P>) -> Option<Nanos> {
    period_ends(me, GroupId::ROOT).await
}

/// The same for a group, on the CPU whose timer it is: that is set anew.
pub(crate) async fn group_period_ends<P: Platform>(me: ThisCpu<'_, P>, group: GroupId) {
    if let Some(next) = period_ends(me, group).await {
        dl::arm_rt_group_timer(me, next, group);
    }
}

async fn period_ends<P: Platform>(me: ThisCpu<'_, P>, group: GroupId) -> Option<Nanos> {
    let of = bandwidth(me, group);
    let on = is_limited(me, of);
    let (period, due) = (of.period(me), of.expires.get().unwrap_or(me.now()));
    let periods = 1 + me.now().saturating_sub(due).0 / period.0;
    let mut busy = false;
    for cpu in me.k.online.iter() {
        busy |= do_sched_rt_period_timer(me, group, cpu, periods).await;
    }
    let next = (busy && on).then_some(due + period * periods);
    of.expires.set(next);
    next
}

/// Whether there is still something to account on `cpu`.
async fn do_sched_rt_period_timer<P: Platform>(
    me: ThisCpu<'_, P>,
    group: GroupId,
    cpu: CpuId,
    periods: u64,
) -> bool {
    let of = bandwidth(me, group);
    let share = &of.cpus[cpu.index()];
    let is_empty = match group {
        GroupId::ROOT => me.k.rq(cpu).published.rt_highest.get() == Prio::NO_RT,
        _ => share.members.get() == 0,
    };
    if share.used.get() == Nanos::ZERO && is_empty {
        return false;
    }
    let mut rq = me.lock(cpu).await;
    rq.update_clock();
    if rq.rt.level(group).throttled {
        of.do_balance_runtime(me, cpu);
    }
    // Without a limit everything is forgiven.
    let limited = is_limited(me, of);
    let given = if limited { share.runtime.get() * periods } else { Nanos::NEVER };
    share.used.set(share.used.get().saturating_sub(given));
    if rq.rt.level(group).throttled && (share.used.get() < share.runtime.get() || !limited) {
        let was_stopped = rq.rt.level(group).is_stopped();
        rq.rt.level_mut(group).throttled = false;
        if was_stopped {
            go_on(&mut rq, group);
        }
    }
    share.used.get() > Nanos::ZERO || rq.rt.level(group).nr_running > 0
}

/// The queue of a group, or of the root, competes again.
fn go_on<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId) {
    match group {
        GroupId::ROOT if !rq.me.k.rt_bandwidth.has_groups() => count_again(rq),
        GroupId::ROOT => recount(rq),
        _ => {
            restack(rq, group);
            publish(rq);
            // The group counts in those above again, whose timers may have found nothing to do meanwhile.
            start_timers(rq.me, rq.me.k.groups.parent(group));
        }
    }
    tell(rq, group);
    let curr = rq.me.task(rq.curr).prio.get();
    let goes_before = match group {
        // Whoever runs, a deadline task too.
        GroupId::ROOT => best_in(rq, group).is_some(),
        _ => rq.rt.level(group).active.best().beats(curr),
    };
    if goes_before {
        rq.resched();
    }
}
