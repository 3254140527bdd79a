//! The queue itself: enqueue, dequeue, pick, and the values that others read without the lock (rt-class 1.1
//! to 1.8).
//!
//! The running task stays on its list. A task is *pushable* while it is queued, not running and free to move.

use super::{groups, overload, throttle};
use crate::class::{DequeueKind, EnqueueKind, ListEnd};
use crate::platform::Platform;
use crate::registry::NextDef;
use crate::rq::RqGuard;
use crate::{Event, Prio, TaskId, fair};

/// Puts a task on its list, and tells everybody who should know.
#[inline]
pub(crate) fn enqueue_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: EnqueueKind) {
    let me = rq.me;
    let task = me.task(p);
    let (prio, movable, running) = (task.prio.get(), !task.is_pinned(), rq.curr == p);
    let before = rq.rt.root.active.best();
    let place = if let EnqueueKind::Restore(place) = kind { place } else { ListEnd::Tail };
    if me.k.rt_bandwidth.has_groups() {
        groups::enqueue(rq, p, place);
    } else {
        rq.rt.root.push(&me.k.tasks, p, prio, place);
        rq.rt.root.nr_running += 1;
    }
    rq.rt.nr_queued += 1;
    rq.rt.nr_migratory += u32::from(movable);
    if movable && !running {
        rq.rt.pushable.push_back(&me.k.tasks, p, prio);
    }
    update_next(rq, Change::Enqueued { prio, before });
    overload::update(rq);
    publish(rq);
    throttle::start_rt_bandwidth(me, p);
}

/// Takes a task off its list.
#[inline]
pub(crate) fn dequeue_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, _kind: DequeueKind) {
    if rq.curr == p {
        update_curr(rq);
    }
    let me = rq.me;
    let task = me.task(p);
    if me.k.rt_bandwidth.has_groups() {
        groups::dequeue(rq, p);
    } else {
        rq.rt.root.active.remove(&me.k.tasks, p);
        rq.rt.root.nr_running -= 1;
    }
    rq.rt.pushable.remove(&me.k.tasks, p);
    rq.rt.nr_queued -= 1;
    rq.rt.nr_migratory -= u32::from(!task.is_pinned());
    update_next(rq, Change::Dequeued { prio: task.prio.get() });
    overload::update(rq);
    publish(rq);
}

/// Whether a pick would find a task of this class.
pub(crate) fn has_runnable<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    rq.rt.root.active.first().is_some() && !throttle::is_throttled(rq)
}

/// Best task, unless the queue is throttled; it becomes current and leaves the pushable list.
#[inline]
pub(crate) fn pick_next_task<P: Platform>(rq: &mut RqGuard<'_, P>) -> Option<TaskId> {
    let first = rq.rt.root.active.first();
    if first.is_none() && rq.rt.nr_queued == 0 {
        return None;
    }
    let Some(first) = first.filter(|_| !throttle::is_throttled(rq)) else {
        // Who was put is below a throttled queue.
        pushable_changed(rq);
        return None;
    };
    let first = groups::first_below(rq, first);
    set_next_task(rq, first);
    Some(first)
}

/// The running task stops being current. If it is still queued, it waits and becomes pushable, behind its
/// equals there; the pick that follows publishes that.
#[inline]
pub(crate) fn put_prev_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    update_curr(rq);
    let me = rq.me;
    let task = me.task(p);
    if !task.on_rq.get() {
        return;
    }
    task.stats.wait_start(rq.clock);
    if !task.is_pinned() {
        rq.rt.pushable.push_back(&me.k.tasks, p, task.prio.get());
    }
}

/// The task becomes current: it was picked, or it runs already and its parameters changed.
#[inline]
pub(crate) fn set_next_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    let stats = &me.task(p).stats;
    if rq.curr == p {
        // It was put and picked again: no wait.
        stats.wait_start.set(None);
    }
    stats.exec_start.set(rq.clock_task());
    stats.prev_sum_exec_runtime.set(stats.sum_exec_runtime.get());
    rq.rt.pushable.remove(&me.k.tasks, p);
    pushable_changed(rq);
}

/// Accounts the running task's time up to the queue's clock, which may throttle the queue.
#[inline]
pub(crate) fn update_curr<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let me = rq.me;
    let (stats, now) = (&me.task(rq.curr).stats, rq.clock_task());
    let delta = now.saturating_sub(stats.exec_start.get());
    if delta.0 == 0 {
        return;
    }
    stats.ran(delta, now);
    me.event(Event::StatRuntime { task: rq.curr, runtime: delta, vruntime: 0 });
    throttle::account(rq, delta);
    fair::higher_class_charged(rq, delta);
}

/// To the tail of its own list; a normal schedule follows (rt-class 2.1).
pub(crate) fn yield_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    requeue(rq, p, ListEnd::Tail);
}

/// Moves a queued task to an end of its list. Its place in the pushable list stays.
pub(super) fn requeue<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, place: ListEnd) {
    let me = rq.me;
    if me.k.rt_bandwidth.has_groups() {
        return groups::requeue(rq, p, place);
    }
    rq.rt.root.active.remove(&me.k.tasks, p);
    rq.rt.root.push(&me.k.tasks, p, me.task(p).prio.get(), place);
}

/// The pushable list changed without an enqueue or dequeue, as where a higher class was picked after a task
/// was put: what else others read is as it was.
pub(crate) fn pushable_changed<P: Platform>(rq: &mut RqGuard<'_, P>) {
    update_next(rq, Change::Pushable);
    overload::pushable_changed(rq);
    let (published, rt) = (rq.published, &rq.rt);
    published.rt_pushable.set(rq, !rt.pushable.is_empty());
    if published.rt_next.replace(rq, rt.next) != rt.next {
        rq.touch_published();
    }
}

/// Deadline entities came to this queue, or left it, or its own best priority changed: cpupri follows, where
/// any deadline is above all priorities (deadline-groups A1).
pub(crate) fn cpupri_follows<P: Platform>(rq: &RqGuard<'_, P>) {
    let (me, has_deadline) = (rq.me, rq.dl.earliest().is_some());
    let highest = if has_deadline { Prio::DEADLINE } else { rq.rt.root.active.best() };
    me.k.root_domain(rq.cpu).rt.cpupri.set(me, rq.cpu, highest);
}

/// What happened to the queue since `next` was last right.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// A task of this priority came; `before` was the best priority before.
    Enqueued { prio: Prio, before: Prio },
    /// A task of this priority went.
    Dequeued { prio: Prio },
    /// Only the pushable list changed.
    Pushable,
    /// A task's affinity changed, or the rules did.
    Affinity,
}

/// highest_prio.next (rt-class 1.5).
#[inline]
pub(super) fn update_next<P: Platform>(rq: &mut RqGuard<'_, P>, change: Change) {
    rq.rt.next = match rq.me.k.config.rules.next_def.get() {
        NextDef::FirstPushable => rq.rt.pushable.best(),
        NextDef::SecondBest => second_best(rq, change),
    };
}

fn second_best<P: Platform>(rq: &RqGuard<'_, P>, change: Change) -> Prio {
    let next = rq.rt.next;
    if rq.me.k.rt_bandwidth.has_groups() {
        // What comes and goes in a group is not what its parent sees.
        return best_waiting(rq);
    }
    match change {
        Change::Enqueued { prio, before } if prio.beats(before) => before,
        Change::Enqueued { prio, before } if prio == before => prio,
        Change::Enqueued { prio, .. } if prio.beats(next) => best_waiting(rq),
        Change::Dequeued { prio } if !next.beats(prio) => best_waiting(rq),
        Change::Affinity => best_waiting(rq),
        Change::Enqueued { .. } | Change::Dequeued { .. } | Change::Pushable => next,
    }
}

/// Priority of the best queued task that does not run and may move.
fn best_waiting<P: Platform>(rq: &RqGuard<'_, P>) -> Prio {
    let me = rq.me;
    let waiting = |p: &TaskId| *p != rq.curr && !me.task(*p).is_pinned();
    groups::find_best(rq, waiting).map_or(Prio::NO_RT, |p| me.task(p).prio.get())
}

/// Tells the other CPUs what changed: the published cells and cpupri.
#[inline]
pub(super) fn publish<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let (published, rt) = (rq.published, &rq.rt);
    let (highest, next) = (rt.root.active.best(), rt.next);
    published.rt_nr_running.set(rq, rt.root.nr_running);
    published.rt_pushable.set(rq, !rt.pushable.is_empty());
    let rose_or_fell = published.rt_highest.replace(rq, highest) != highest;
    if published.rt_next.replace(rq, next) != next || rose_or_fell {
        rq.touch_published();
    }
    if rose_or_fell {
        cpupri_follows(rq);
    }
    if rq.me.k.rt_bandwidth.has_groups() {
        groups::recount(rq);
    }
}
