//! A task below a throttled queue parks when it returns to user space, and comes back when the queue goes on
//! (deadline-groups B7, rules 2 and 5, `bw_throttle=task`).
//!
//! What it does in the kernel it does to the end: so nobody waits up to a period for a lock that it holds. A
//! task that is parked is on no queue and counts nowhere, but stays a runnable task of its CPU: it can be
//! moved and changed, and served by another class, and is not woken.

use crate::class::{Class, EnqueueKind, activate_task};
use crate::fair::queue::{CfsRq, TaskList};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{GroupId, Scheduler, TaskId, ThisCpu};

/// Whether `p`, which the executing CPU runs, has to park instead of returning to user space. Threads of the
/// kernel never do that; nor do tasks that exit, which do not return.
#[inline]
pub fn parks_on_return<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> bool {
    let task = me.task(p);
    let is_user = || !task.kernel_thread.get() && task.class.get() == Class::Fair;
    let limit = me.k.limit_of(task.se.group.get(), task.cpu.get());
    limit.is_some_and(|queue| is_user() && queue.above.get() > queue.frozen.get())
}

/// Whether a fair task that comes to the queue of its CPU competes there: it sleeps in no queue, and if it
/// was parked, its group has time here.
#[inline]
pub(crate) fn comes_to_compete<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) -> bool {
    let stays_parked =
        task.se.parked.get() && rq.me.group_queue(task.se.group.get(), rq.cpu).bandwidth.is_below_throttled();
    task.se.parked.set(stays_parked);
    !stays_parked && !task.se.eevdf.sched_delayed.get()
}

/// A task waits beside the queue of its group from now on, in which it is no more.
pub(crate) fn park<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    let (task, now) = (me.task(p), rq.clock);
    let own = task.se.group.get();
    task.se.parked.set(true);
    let before = rq.bring(own);
    rq.fair.parked.push(&me.k.tasks, p);
    rq.bring(before);
    // The first for whom a throttled queue stops begins its time.
    for group in me.k.groups.upwards(own) {
        let queue = &me.group_queue(group, rq.cpu).bandwidth;
        if queue.is_throttled() && queue.stops_since.get().is_none() {
            queue.stops_since.set(Some(now));
        }
    }
}

/// A parked task waits there no longer. That it is parked stays known: it may come to another queue that is
/// throttled.
pub(in crate::fair) fn leave<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    let before = rq.bring(me.task(p).se.group.get());
    rq.fair.parked.remove(&me.k.tasks, p);
    rq.bring(before);
}

/// The parked tasks of a group and of those below it compete again, where nothing above is throttled any
/// more; until one of them throttles the queue again.
pub(super) fn release<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId) {
    let me = rq.me;
    let queue = &me.group_queue(group, rq.cpu).bandwidth;
    while !queue.is_below_throttled()
        && let Some(p) = rq.queue(group).parked.oldest()
    {
        leave(rq, p);
        let task = me.task(p);
        task.se.parked.set(false);
        task.on_rq.set(rq, false);
        activate_task(rq, p, EnqueueKind::Wakeup);
    }
    for child in &me.k.groups.get(group).children {
        release(rq, *child);
    }
}

/// Who is parked beside the queue of a group, on its CPU, the latest first. For reports and checks.
pub(crate) fn parked<P: Platform>(k: &Scheduler<P>, queue: &CfsRq) -> impl Iterator<Item = TaskId> {
    core::iter::successors(queue.parked.newest(), |p| TaskList::older(&k.tasks, *p))
}
