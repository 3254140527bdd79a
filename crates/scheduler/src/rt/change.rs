//! What follows from a change of a task's priority, class or affinity (rt-class 5.1, 7.3, E8, E19, E20).
//!
//! The code that changes priorities dequeues the task, changes it, enqueues it, and then calls these.

use super::pull::pull_rt_task;
use super::push::{push_rt_task, push_rt_tasks};
use super::queue::{Change, publish, update_next};
use super::{groups, overload};
use crate::platform::Platform;
use crate::registry::PostPush;
use crate::rq::RqGuard;
use crate::{Class, Prio, Reason, TaskId, ThisCpu, dl};

/// The priority of a queued task of this class changed from `old`; it is back on its list.
///
/// The running task that dropped: pulls, and makes room if something here beats it now. A waiting one:
/// reschedules if it beats the running task; nobody pushes or pulls it.
pub(crate) async fn prio_changed<P: Platform>(mut rq: RqGuard<'_, P>, p: TaskId, old: Prio) {
    let me = rq.me;
    let task = me.task(p);
    if rq.curr != p {
        preempt_if_better(&mut rq, p);
    } else if old.beats(task.prio.get()) {
        rq = pull_rt_task(rq).await;
        // The lock may have been dropped meanwhile.
        if rq.curr == p && rq.rt.root.active.best().beats(task.prio.get()) {
            me.decide(p, Reason::PrioDropped);
            rq.resched();
        }
    }
}

/// A queued task entered the class. A running one has nothing to do; a waiting one may be pushed, or preempt.
pub(crate) async fn switched_to<P: Platform>(mut rq: RqGuard<'_, P>, p: TaskId) -> RqGuard<'_, P> {
    let me = rq.me;
    if rq.curr == p {
        return rq;
    }
    let cpu = rq.cpu;
    let push = !me.task(p).is_pinned();
    match me.k.config.rules.post_push.get() {
        PostPush::CallbackLocked => {
            preempt_if_better(&mut rq, p);
            if push {
                rq = push_rt_tasks(rq).await;
            }
        }
        PostPush::TailRelock => {
            if push {
                rq = push_rt_task(rq).await;
            }
            if me.task(p).cpu.get() == cpu && me.task(p).on_rq.get() {
                preempt_if_better(&mut rq, p);
            }
        }
    }
    rq
}

/// A task left the deadline class: if it runs, and for this one, it may be below others that wait here. (No
/// task that enters from the fair class is.)
pub(crate) fn left_deadline_class<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let curr = rq.me.task(rq.curr);
    if curr.class.get() == Class::Rt && rq.rt.root.active.best().beats(curr.prio.get()) {
        rq.me.decide(rq.curr, Reason::PrioDropped);
        rq.resched();
    }
}

/// A queued task left the class: if it was the last here, others may have something to give.
pub(crate) async fn switched_from<P: Platform>(rq: RqGuard<'_, P>) {
    if rq.rt.root.nr_running == 0 {
        pull_rt_task(rq).await;
    }
}

fn preempt_if_better<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    if me.task(p).prio.get().beats(me.task(rq.curr).prio.get()) {
        me.decide(p, Reason::PrioRaised);
        rq.resched();
    }
}

/// A task of this class, queued or not, may move now, or may no longer. Its place in its list stays; counts,
/// pushable list and overload follow; no balancing does.
pub(crate) fn pinned_changed<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    let task = me.task(p);
    if !task.rt.queued.is_linked() {
        return;
    }
    if !task.is_pinned() {
        rq.rt.nr_migratory += 1;
        if rq.curr != p {
            rq.rt.pushable.push_back(&me.k.tasks, p, task.prio.get());
        }
    } else {
        rq.rt.nr_migratory -= 1;
        rq.rt.pushable.remove(&me.k.tasks, p);
    }
    update_next(rq, Change::Affinity);
    overload::update(rq);
    publish(rq);
}

/// A queued task got another policy, and keeps the priority that it inherits: it may be boosted now, or no
/// longer.
pub(crate) fn boost_changed<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    if rq.me.k.rt_bandwidth.has_groups() && rq.me.task(p).rt.queued.is_linked() {
        groups::count_boost(rq, p);
        publish(rq);
    }
}

/// Brings every queue in line with rules that changed while tasks are queued: overload, `next`, and tasks
/// that an older push had dropped from the pushable list; and what the deadline class has of these. No kernel
/// can do this; whoever changes a rule while the machine runs calls it, on any CPU.
pub async fn rules_changed<P: Platform>(me: ThisCpu<'_, P>) {
    for cpu in me.k.online.iter() {
        let mut rq = me.lock(cpu).await;
        let curr = rq.curr;
        let dropped = |p: &TaskId| {
            let task = me.task(*p);
            *p != curr && !task.is_pinned() && !task.rt.pushable.is_linked()
        };
        while let Some(p) = groups::find_best(&rq, dropped) {
            rq.rt.pushable.push_back(&me.k.tasks, p, me.task(p).prio.get());
        }
        update_next(&mut rq, Change::Affinity);
        overload::update(&mut rq);
        publish(&mut rq);
        dl::rules_changed(&mut rq);
    }
}
