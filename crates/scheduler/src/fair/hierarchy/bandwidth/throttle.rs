//! A queue that has used up its time stops, and goes on when it gets more (deadline-groups B7, rules 2 and
//! 5).
//!
//! Since 6.18 a throttled queue competes on, and its tasks park one by one ([`super::park`]). Before it is
//! *frozen*: what is below it is *hidden*, stays on its queues, and no count of the CPU contains it.

use super::park;
use super::pool::QueueBandwidth;
use crate::class::DequeueKind;
use crate::fair::hierarchy::path::{self, Passing};
use crate::fair::queue::{EntityId, TaskList};
use crate::platform::Platform;
use crate::registry::BwThrottle;
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{CpuId, Event, GroupId, Nanos, Policy, Scheduler, TaskId, ThisCpu, Throttled, dl, fair};

/// Whether a fair task of a CPU counts nowhere: it is parked, or below a frozen queue there.
#[inline]
pub(crate) fn is_hidden<P: Platform>(k: &Scheduler<P>, task: &Task) -> bool {
    let limit = k.limit_of(task.se.group.get(), task.cpu.get());
    limit.is_some_and(|queue| task.se.parked.get() || queue.is_hidden())
}

/// Whether a group's queue, or one above it, is throttled.
pub(in crate::fair) fn is_throttled_hierarchy<P: Platform>(
    k: &Scheduler<P>,
    group: GroupId,
    cpu: CpuId,
) -> bool {
    k.limit_of(group, cpu).is_some_and(QueueBandwidth::is_below_throttled)
}

/// Whether what is in a group's queue counts nowhere.
pub(in crate::fair) fn hides<P: Platform>(k: &Scheduler<P>, group: GroupId, cpu: CpuId) -> bool {
    k.limit_of(group, cpu).is_some_and(QueueBandwidth::is_hidden)
}

/// The time of the averages of a queue: it stands still while the queue is below a frozen one, or empty and
/// below a throttled one.
#[inline]
pub(in crate::fair) fn clock_of<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId) -> Nanos {
    let now = rq.clock_pelt();
    rq.me.k.limit_of(group, rq.cpu).map_or(now, |queue| queue.clock_at(now))
}

/// The same at this moment, for who holds no lock.
pub(in crate::fair) fn now_of<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, cpu: CpuId) -> Nanos {
    let published = &me.k.rq(cpu).published;
    let now = published.pelt.clock.of_idle(me.now().saturating_sub(published.left_out.get()));
    me.k.limit_of(group, cpu).map_or(now, |queue| queue.clock_at(now))
}

/// Somebody is about to enter the queue in front, in which nobody may have been: the time of its averages
/// goes on, unless it is below a frozen queue.
pub(in crate::fair) fn comes<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if let Some(own) = rq.me.k.limit_of(rq.fair.group, rq.cpu)
        && !own.is_hidden()
    {
        own.start_clock(rq.clock_pelt());
    }
}

/// The queues of a group and of those below it, on the CPU of `rq`.
fn each_below<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId, act: &impl Fn(GroupId, &QueueBandwidth)) {
    act(group, &rq.me.group_queue(group, rq.cpu).bandwidth);
    rq.me.k.groups.get(group).children.iter().for_each(|child| each_below(rq, *child, act));
}

/// The queue in front is throttled. Frozen, it stops; else each of its tasks will when it returns to user
/// space ([`super::park`]), and nothing else happens yet.
pub(super) fn throttle<P: Platform>(rq: &mut RqGuard<'_, P>, unit: BwThrottle) {
    let (me, group, now) = (rq.me, rq.fair.group, rq.clock);
    let pool = me.k.groups.get(group).pool.as_ref().expect("only a group with a limit is throttled");
    let own = &me.group_queue(group, rq.cpu).bandwidth;
    if unit == BwThrottle::Entity {
        freeze(rq);
        own.stops_since.set(Some(now));
    }
    own.unit.set(Some(unit));
    me.event(Event::ThrottleBegins { cpu: rq.cpu, whom: Throttled::Group(group) });
    pool.throttled.borrow_mut().push_back(rq.cpu);
    let frozen = u32::from(unit == BwThrottle::Entity);
    each_below(rq, group, &|other, queue| {
        queue.above.set(queue.above.get() + 1);
        queue.frozen.set(queue.frozen.get() + frozen);
        if queue.is_hidden() || rq.queue(other).nr_running == 0 {
            queue.stop_clock(rq.clock_pelt());
        }
    });
}

/// The entity of the group whose queue is in front competes no longer.
fn freeze<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let (me, group) = (rq.me, rq.fair.group);
    let was_hidden = me.group_queue(group, rq.cpu).bandwidth.is_hidden();
    let entity = EntityId::of_group(group, rq.cpu);
    let competes = me.task(entity.task()).on_rq.get();
    // What was hidden already does not count any more.
    let tasks = tasks_below(rq, group);
    if competes {
        path::climb(rq, Passing { tasks: tasks.all, leaves: Some(DequeueKind::Throttle) });
        if !was_hidden {
            rq.fair.h_nr_running -= tasks.all;
            hide(rq, &tasks);
        }
        rq.bring(group);
    }
}

/// Tasks that become hidden, or are hidden no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Tasks {
    all: u32,
    /// Of these, SCHED_IDLE ones and those of `cpu.idle` groups.
    idle: u32,
    /// Of these, those that work their debt off asleep.
    delayed: u32,
}

/// The CPU counts these no more. The root's queue is in front.
fn hide<P: Platform>(rq: &mut RqGuard<'_, P>, tasks: &Tasks) {
    let (all, published) = (rq.nr_running - tasks.all, rq.published);
    rq.set_nr_running(all);
    published.nr_idle_policy.set(rq, published.nr_idle_policy.get() - tasks.idle);
    published.nr_delayed.set(rq, published.nr_delayed.get() - tasks.delayed);
    if tasks.all > 0 && rq.fair.h_nr_running == 0 {
        dl::fair_went(rq);
    }
}

/// It counts them again.
fn show<P: Platform>(rq: &mut RqGuard<'_, P>, tasks: &Tasks) {
    let (all, published) = (rq.nr_running + tasks.all, rq.published);
    rq.set_nr_running(all);
    published.nr_idle_policy.set(rq, published.nr_idle_policy.get() + tasks.idle);
    published.nr_delayed.set(rq, published.nr_delayed.get() + tasks.delayed);
    fair::note_overload(rq.me, rq.cpu, all);
    if tasks.all > 0 && rq.fair.h_nr_running == tasks.all {
        dl::fair_came(rq);
    }
}

/// The tasks that the queue of a group would let run.
fn tasks_below<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId) -> Tasks {
    let (me, groups) = (rq.me, &rq.me.k.groups);
    let mut found = Tasks::default();
    // Below other frozen queues there are none, nor beside this one.
    let open_to = |mut other: GroupId| loop {
        if other == group {
            return true;
        }
        if other == GroupId::ROOT || me.group_queue(other, rq.cpu).bandwidth.is_frozen() {
            return false;
        }
        other = groups.parent(other);
    };
    let newest = rq.queue(GroupId::ROOT).tasks.newest();
    let queued = core::iter::successors(newest, |p: &TaskId| TaskList::older(&me.k.tasks, *p));
    for task in queued.map(|p| me.task(p)) {
        let own = task.se.group.get();
        if !open_to(own) {
            continue;
        }
        found.all += 1;
        found.idle += u32::from(task.policy.get() == Policy::Idle || groups.is_idle(own));
        found.delayed += u32::from(task.se.eevdf.sched_delayed.get());
    }
    found
}

/// The queue of a group goes on.
pub(super) fn unthrottle<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId) {
    let (me, now, cpu) = (rq.me, rq.clock, rq.cpu);
    let pool = me.k.groups.get(group).pool.as_ref().expect("only a group with a limit is throttled");
    let own = &me.group_queue(group, cpu).bandwidth;
    let Some(unit) = own.unit.take() else { return };
    me.event(Event::ThrottleEnds { cpu, whom: Throttled::Group(group) });
    pool.throttled.borrow_mut().retain(|other| *other != cpu);
    if let Some(since) = own.stops_since.take() {
        pool.count(|counts| counts.throttled_time += now.saturating_sub(since));
    }
    let frozen = u32::from(unit == BwThrottle::Entity);
    each_below(rq, group, &|other, queue| {
        queue.above.set(queue.above.get() - 1);
        queue.frozen.set(queue.frozen.get() - frozen);
        let goes_on = !queue.is_below_throttled() || rq.queue(other).nr_running > 0;
        if goes_on && !queue.is_hidden() {
            queue.start_clock(rq.clock_pelt());
        }
    });
    if unit == BwThrottle::Entity {
        thaw(rq, group);
    }
    park::release(rq, group);
    if rq.curr == rq.idle && rq.fair.h_nr_running > 0 {
        rq.resched();
    }
}

/// The entity of a group competes again.
fn thaw<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId) {
    let tasks = tasks_below(rq, group);
    let before = rq.bring(group);
    if rq.fair.nr_running > 0 && path::enter_above(rq, tasks.all) {
        rq.fair.h_nr_running += tasks.all;
        show(rq, &tasks);
    }
    rq.bring(before);
}
