//! Charging, throttling and replenishing (deadline-groups A5).

use super::entity::DlEntity;
use super::grub;
use super::queue::{enter, leave};
use super::timer::{What, arm, cancel};
use super::tree::DlId;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{Event, Nanos, Reason, TaskId, Throttled, fair, rt};

/// Accounts the running task's time up to the queue's clock, which may throttle it.
pub(crate) fn update_curr<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let (me, curr) = (rq.me, rq.curr);
    let task = me.task(curr);
    let stats = &task.stats;
    let now = rq.clock_task();
    let delta = now.saturating_sub(stats.exec_start.get());
    if delta > Nanos::ZERO {
        stats.ran(delta, now);
        rt::deadline_ran(rq, delta);
        fair::higher_class_charged(rq, delta);
        me.event(Event::StatRuntime { task: curr, runtime: delta, vruntime: 0 });
        let charged = grub::charged(me, rq.cpu, &task.dl, delta);
        let budget = task.dl.budget();
        task.dl.set_budget(super::cbs::Budget { runtime: budget.runtime - charged, ..budget });
    }
    let used_up = task.dl.runtime_ns() <= 0 || task.dl.yielded.get();
    if used_up && task.dl.is_queued() {
        exhausted(rq, curr);
    }
}

/// The running task has used up its budget, or gives the rest of it away.
fn exhausted<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let (me, id) = (rq.me, DlId::Task(p));
    let e = &me.task(p).dl;
    leave(rq, id);
    if e.is_boosted() || !throttle(rq, e, id) {
        replenish(rq, p);
        enter(rq, id);
    } else {
        me.decide(p, Reason::DlThrottled);
    }
    if rq.dl.tree.first().map(|first| first.id) != Some(id) {
        rq.resched();
    }
}

/// An entity that is out of the tree has to wait for its next period; not if that has begun already.
pub(super) fn throttle<P: Platform>(rq: &RqGuard<'_, P>, e: &DlEntity, id: DlId) -> bool {
    let Some(params) = e.params() else { return false };
    let at = e.budget().next_period(params);
    if at <= rq.me.now() {
        return false;
    }
    e.throttled.set(true);
    if let DlId::Task(p) = id {
        e.counting.throttle_begins(rq.clock);
        rq.me.event(Event::ThrottleBegins { cpu: rq.cpu, whom: Throttled::Deadline(p) });
    }
    cancel_replenishment(rq, e, id);
    e.replenish.set(Some(arm(rq.me, rq.cpu, at, What::Replenish(id))));
    true
}

pub(super) fn cancel_replenishment<P: Platform>(rq: &RqGuard<'_, P>, e: &DlEntity, id: DlId) {
    cancel(rq.me, e.replenish.take(), What::Replenish(id));
}

/// A task has to wait no longer, if it had to.
pub(super) fn unthrottle<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    let e = &rq.me.task(p).dl;
    if e.throttled.replace(false) {
        e.counting.throttle_ends(rq.clock);
        rq.me.event(Event::ThrottleEnds { cpu: rq.cpu, whom: Throttled::Deadline(p) });
    }
}

/// A new period of a task begins, or as many as it takes.
pub(super) fn replenish<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    let e = &task.dl;
    if let Some(params) = e.params() {
        e.set_budget(e.budget().replenished(params, e.yielded.get(), rq.clock));
    }
    e.counting.replenished();
    if e.yielded.take() && task.on_rq.get() {
        e.counting.job_begins(task, rq.clock);
    }
    unthrottle(rq, p);
}

/// A tick while a deadline task runs: accounting.
pub(crate) fn task_tick<P: Platform>(rq: &mut RqGuard<'_, P>) {
    update_curr(rq);
}

/// The running task gives the rest of its budget away, and is off until its next period. A schedule follows.
pub(crate) fn yield_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    task.dl.yielded.set(true);
    task.dl.counting.job_ends(task, rq.clock);
    update_curr(rq);
}
