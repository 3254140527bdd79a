//! The queue itself: enqueue, dequeue, pick, and the values that others read without the lock
//! (deadline-groups A4, A5).
//!
//! The running task stays in the tree, unless it is throttled. A throttled task counts as runnable, but not
//! as one of those that run here.

use super::active;
use super::budget::{cancel_replenishment, replenish, throttle, unthrottle, update_curr};
use super::cbs::{self, Budget, Woken};
use super::overload;
use super::tree::{DlId, Queued};
use crate::class::{DequeueKind, EnqueueKind, count_runnable, uncount_runnable};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{Nanos, Policy, TaskId, TaskState, rt};

/// Makes a task runnable on this queue. It competes, unless it has to wait for its next period.
pub(crate) fn enqueue_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: EnqueueKind) {
    let task = rq.me.task(p);
    active::contends(rq, p);
    if matches!(kind, EnqueueKind::Wakeup | EnqueueKind::New) {
        task.dl.counting.job_begins(task, rq.clock);
    }
    if task.dl.is_throttled() {
        // Its timer queues it.
        return;
    }
    let waits = match kind {
        EnqueueKind::Wakeup | EnqueueKind::New => wakes(rq, task),
        EnqueueKind::Restore(_) => comes_back(rq, task),
        EnqueueKind::Arrival => false,
    };
    if waits {
        if throttle(rq, &task.dl, DlId::Task(p)) {
            return;
        }
        replenish(rq, p);
    }
    enter(rq, DlId::Task(p));
}

/// Rules 2 to 5 of deadline-groups A5; whether it has to wait for its next period.
fn wakes<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) -> bool {
    let e = &task.dl;
    let Some(params) = e.params() else { return false };
    let rule = rq.me.k.config.rules.dl_wakeup.get();
    let (budget, waits) = match cbs::wakeup(e.budget(), params, rq.clock, rule, e.is_boosted()) {
        Woken::Runs(budget) => (budget, false),
        Woken::Waits(budget) => (budget, true),
    };
    e.set_budget(budget);
    waits
}

/// It was off the queue for a change. A period that is over does not go on; with nothing left of one that
/// goes on, the task has to wait: it left the class throttled, and came back.
fn comes_back<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) -> bool {
    let e = &task.dl;
    match e.params() {
        Some(params) if e.budget().is_past(rq.clock) && !e.is_boosted() => {
            e.set_budget(Budget::new_period(params, rq.clock));
            false
        }
        _ => e.runtime_ns() <= 0,
    }
}

/// Takes a task off its queue.
pub(crate) fn dequeue_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: DequeueKind) {
    if rq.curr == p {
        update_curr(rq);
    }
    let task = rq.me.task(p);
    if task.dl.is_queued() {
        leave(rq, DlId::Task(p));
    }
    if kind == DequeueKind::Sleep && task.state.get() != TaskState::Dead {
        task.dl.counting.job_ends(task, rq.clock);
        active::blocks(rq, p);
    }
}

/// An entity begins to compete.
pub(super) fn enter<P: Platform>(rq: &mut RqGuard<'_, P>, id: DlId) {
    let p = match id {
        DlId::Task(p) => p,
        DlId::Server(cpu) => {
            let e = &rq.me.k.dl_cpus.servers[cpu.index()].entity;
            e.queued.set(true);
            rq.dl.tree.insert(Queued { id, deadline: e.deadline() });
            return publish(rq);
        }
    };
    let task = rq.me.task(p);
    task.dl.queued.set(true);
    let queued = Queued { id, deadline: task.dl.deadline() };
    rq.dl.tree.insert(queued);
    rq.dl.nr_running += 1;
    if !task.is_pinned() {
        rq.dl.nr_migratory += 1;
        if rq.curr != p {
            rq.dl.pushable.insert(queued);
        }
    }
    count_runnable(rq);
    publish(rq);
}

/// An entity competes no longer.
pub(super) fn leave<P: Platform>(rq: &mut RqGuard<'_, P>, id: DlId) {
    let p = match id {
        DlId::Task(p) => p,
        DlId::Server(cpu) => {
            rq.me.k.dl_cpus.servers[cpu.index()].entity.queued.set(false);
            rq.dl.tree.remove(id);
            return publish(rq);
        }
    };
    let task = rq.me.task(p);
    task.dl.queued.set(false);
    rq.dl.tree.remove(id);
    rq.dl.pushable.remove(id);
    rq.dl.nr_running -= 1;
    rq.dl.nr_migratory -= u32::from(!task.is_pinned());
    uncount_runnable(rq);
    publish(rq);
}

/// Who is to run before all other classes.
pub(crate) fn first<P: Platform>(rq: &RqGuard<'_, P>) -> Option<DlId> {
    rq.dl.tree.first().map(|first| first.id)
}

/// The task with the earliest deadline, if no server goes before it; it becomes current.
pub(crate) fn pick_task<P: Platform>(rq: &mut RqGuard<'_, P>) -> Option<TaskId> {
    let p = first(rq)?.task()?;
    set_next_task(rq, p);
    Some(p)
}

/// The running task stops being current; if it still competes it becomes pushable.
pub(crate) fn put_prev_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    update_curr(rq);
    let task = rq.me.task(p);
    if !task.on_rq.get() {
        return;
    }
    task.stats.wait_start(rq.clock);
    if task.dl.is_queued() && !task.is_pinned() {
        let waits = Queued { id: DlId::Task(p), deadline: task.dl.deadline() };
        rq.dl.pushable.remove(waits.id);
        rq.dl.pushable.insert(waits);
        pushable_changed(rq);
    }
}

/// The task becomes current: it was picked, or it runs already and its parameters changed.
pub(crate) fn set_next_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let stats = &rq.me.task(p).stats;
    if rq.curr == p {
        // It was put and picked again: no wait.
        stats.wait_start.set(None);
    }
    stats.exec_start.set(rq.clock_task());
    stats.prev_sum_exec_runtime.set(stats.sum_exec_runtime.get());
    rq.dl.pushable.remove(DlId::Task(p));
    pushable_changed(rq);
}

/// The pushable tasks changed, and not those that compete.
pub(super) fn pushable_changed<P: Platform>(rq: &mut RqGuard<'_, P>) {
    overload::update(rq);
    let next = rq.dl.earliest_pushable();
    if rq.published.dl_next.replace(rq, next) != next {
        rq.touch_published();
    }
}

/// Tells the other CPUs what changed.
pub(super) fn publish<P: Platform>(rq: &mut RqGuard<'_, P>) {
    overload::update(rq);
    let (published, dl) = (rq.published, &rq.dl);
    let (earliest, next) = (dl.earliest(), dl.earliest_pushable());
    published.dl_nr_running.set(rq, dl.nr_running);
    let moved = published.dl_earliest.replace(rq, earliest) != earliest;
    if published.dl_next.replace(rq, next) != next || moved {
        rq.touch_published();
    }
    if moved {
        let me = rq.me;
        me.k.root_domain(rq.cpu).dl.cpudl.set(me, rq.cpu, earliest);
        rt::cpupri_follows(rq);
    }
}

/// Inheritance lends `p`, which is off its queue, the parameters of who waits for it, or takes them back
/// (deadline-groups A10).
pub(crate) fn lend<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId, donor: Option<super::DlParams>) {
    let task = rq.me.task(p);
    let e = &task.dl;
    if e.donor.replace(donor) == donor {
        return;
    }
    let own = matches!(task.policy.get(), Policy::Deadline(_));
    cancel_replenishment(rq, e, DlId::Task(p));
    match donor {
        Some(params) if own => {
            e.set_budget(e.budget().replenished(params, e.yielded.take(), rq.clock));
        }
        Some(params) => e.set_budget(Budget::new_period(params, rq.clock)),
        // Of what it was lent it keeps no more than it could have of its own.
        None if own => {
            let most = e.own.get().map_or(0, |own| own.runtime().0 as i64);
            e.set_budget(Budget { runtime: e.runtime_ns().min(most), ..e.budget() });
        }
        None => e.set_budget(Budget { runtime: 0, deadline: Nanos::ZERO }),
    }
    unthrottle(rq, p);
}
