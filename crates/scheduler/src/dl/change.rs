//! What follows from a change of a task's class, parameters or affinity (deadline-groups A9, A10).

use super::overload;
use super::preempt::check_preempt_curr;
use super::pull::pull_dl_task;
use super::push::push_dl_tasks;
use super::queue::{first, publish};
use super::server::rule_changed;
use super::tree::{DlId, Queued};
use crate::Class;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{Reason, TaskId};

/// The parameters of a queued task of this class changed; it is back in the tree, or throttled.
pub(crate) async fn prio_changed<P: Platform>(mut rq: RqGuard<'_, P>, p: TaskId) {
    if rq.curr != p {
        return preempt_if_earlier(&mut rq, p);
    }
    if !rq.dl.overloaded {
        rq = pull_dl_task(rq).await;
    }
    // The lock may have been dropped meanwhile; and the task may be throttled.
    let me = rq.me;
    let first = rq.dl.tree.first();
    if rq.curr == p && first.is_none_or(|first| first.deadline < me.task(p).dl.deadline()) {
        me.decide(p, Reason::PrioDropped);
        rq.resched();
    }
}

/// A queued task entered the class. A running one has nothing to do, but for one that has nothing left of a
/// former stay; a waiting one may be pushed, or preempt.
pub(crate) async fn switched_to<P: Platform>(mut rq: RqGuard<'_, P>, p: TaskId) -> RqGuard<'_, P> {
    let task = rq.me.task(p);
    if rq.curr == p {
        if task.dl.is_throttled() {
            rq.resched();
        }
        return rq;
    }
    preempt_if_earlier(&mut rq, p);
    if !task.is_pinned() && rq.dl.overloaded {
        rq = push_dl_tasks(rq).await;
    }
    rq
}

fn preempt_if_earlier<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    if !me.task(p).dl.is_queued() {
        return;
    }
    if me.task(rq.curr).class.get() == Class::Deadline {
        check_preempt_curr(rq, p);
    } else {
        me.decide(p, Reason::PrioRaised);
        rq.resched();
    }
}

/// A queued task left the class. If it runs, it makes room for those that are still of the class here (one
/// may have been woken while it was boosted); if it was the last here, others may have something to give.
pub(crate) async fn switched_from<P: Platform>(mut rq: RqGuard<'_, P>) {
    if first(&rq).is_some() && rq.me.task(rq.curr).class.get() != Class::Deadline {
        rq.me.decide(rq.curr, Reason::PrioDropped);
        rq.resched();
    }
    if rq.dl.nr_running == 0 {
        pull_dl_task(rq).await;
    }
}

/// A task of this class, queued or not, may move now, or may no longer.
pub(crate) fn pinned_changed<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    if !task.dl.is_queued() {
        return;
    }
    let queued = Queued { id: DlId::Task(p), deadline: task.dl.deadline() };
    if !task.is_pinned() {
        rq.dl.nr_migratory += 1;
        if rq.curr != p {
            rq.dl.pushable.insert(queued);
        }
    } else {
        rq.dl.nr_migratory -= 1;
        rq.dl.pushable.remove(queued.id);
    }
    publish(rq);
}

/// Brings a queue in line with rules that changed while tasks are queued.
pub(crate) fn rules_changed<P: Platform>(rq: &mut RqGuard<'_, P>) {
    overload::update(rq);
    rule_changed(rq);
}
