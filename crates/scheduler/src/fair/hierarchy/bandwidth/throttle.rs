//! A queue that has used up its time stops, and goes on when it gets more (deadline-groups B7, rules 2 and
//! 5).
//!
//! What is below a throttled queue is *hidden*: it stays on its queues, and no count of the CPU contains it.

use super::pool::QueueBandwidth;
use crate::class::DequeueKind;
use crate::fair::hierarchy::path::{self, Passing};
use crate::fair::queue::{EntityId, TaskList};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{CpuId, GroupId, Nanos, Policy, Scheduler, TaskId, ThisCpu, dl, fair};

/// Whether a fair task on a CPU's queues is below a throttled one there.
#[inline]
pub(crate) fn is_hidden<P: Platform>(k: &Scheduler<P>, task: &Task) -> bool {
    is_stopped(k, task.se.group.get(), task.cpu.get())
}

/// Whether a group's queue, or one above it, is throttled.
#[inline]
pub(in crate::fair) fn is_stopped<P: Platform>(k: &Scheduler<P>, group: GroupId, cpu: CpuId) -> bool {
    group != GroupId::ROOT && queue_is_stopped(k, group, cpu)
}

#[cold]
#[inline(never)]
fn queue_is_stopped<P: Platform>(k: &Scheduler<P>, group: GroupId, cpu: CpuId) -> bool {
    k.groups.get(group).queue(cpu).bandwidth.is_hidden()
}

/// The time of the averages of a queue: it stands still while the queue, or one above it, is throttled.
#[inline]
pub(in crate::fair) fn clock_of<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId) -> Nanos {
    if group == GroupId::ROOT {
        return rq.clock_task();
    }
    clock_of_group(rq, group)
}

#[cold]
#[inline(never)]
fn clock_of_group<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId) -> Nanos {
    rq.me.group_queue(group, rq.cpu).bandwidth.clock_at(rq.clock_task())
}

/// The same at this moment, for who holds no lock.
pub(in crate::fair) fn now_of<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, cpu: CpuId) -> Nanos {
    let now = me.now().saturating_sub(me.k.rq(cpu).published.left_out.get());
    if group == GroupId::ROOT {
        return now;
    }
    me.group_queue(group, cpu).bandwidth.clock_at(now)
}

/// The queues of a group and of those below it, on the CPU of `rq`.
fn each_below<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId, act: impl Fn(&QueueBandwidth)) {
    let groups = &rq.me.k.groups;
    let below = groups.ids().filter(|other| groups.is_below(*other, group));
    below.for_each(|other| act(&groups.get(other).queue(rq.cpu).bandwidth));
}

/// The queue in front stops.
pub(super) fn throttle<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let (me, group, now) = (rq.me, rq.fair.group, rq.clock);
    let pool = me.k.groups.get(group).pool.as_ref().expect("only a group with a limit is throttled");
    let own = &me.group_queue(group, rq.cpu).bandwidth;
    let was_hidden = own.is_hidden();
    let entity = EntityId::of_group(me.k, group, rq.cpu);
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
    own.throttled_since.set(Some(now));
    pool.throttled.borrow_mut().push_back(rq.cpu);
    each_below(rq, group, |queue| {
        queue.above.set(queue.above.get() + 1);
        if queue.above.get() == 1 {
            queue.stopped_at.set(rq.clock_task());
        }
    });
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
    fair::note_overload(rq.me, all);
    if tasks.all > 0 && rq.fair.h_nr_running == tasks.all {
        dl::fair_came(rq);
    }
}

/// The tasks that the queue of a group would let run.
fn tasks_below<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId) -> Tasks {
    let (me, groups) = (rq.me, &rq.me.k.groups);
    let mut found = Tasks::default();
    // Below other throttled queues there are none.
    let open_to = |mut other: GroupId| loop {
        if other == group {
            return true;
        }
        if other == GroupId::ROOT || groups.get(other).queue(rq.cpu).bandwidth.is_throttled() {
            return false;
        }
        other = groups.parent(other);
    };
    let newest = rq.queue(GroupId::ROOT).tasks.newest();
    let queued = core::iter::successors(newest, |p: &TaskId| TaskList::older(&me.k.tasks, *p));
    for task in queued.map(|p| me.task(p)) {
        let own = task.se.group.get();
        if own == GroupId::ROOT || !open_to(own) {
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
    let Some(since) = own.throttled_since.take() else { return };
    pool.throttled.borrow_mut().retain(|other| *other != cpu);
    pool.count(|counts| counts.throttled_time += now.saturating_sub(since));
    each_below(rq, group, |queue| {
        queue.above.set(queue.above.get() - 1);
        if queue.above.get() == 0 {
            let stood = rq.clock_task().saturating_sub(queue.stopped_at.get());
            queue.stood_still.set(queue.stood_still.get() + stood);
        }
    });
    let tasks = tasks_below(rq, group);
    let before = rq.bring(group);
    if rq.fair.nr_running > 0 {
        let is_open = path::enter_above(rq, tasks.all);
        if is_open {
            rq.fair.h_nr_running += tasks.all;
            show(rq, &tasks);
            if rq.curr == rq.idle && tasks.all > 0 {
                rq.resched();
            }
        }
    }
    rq.bring(before);
}
