//! A task's CPU, class or priority changes: what becomes of its virtual time (fair-class 4.4, 4.5), and what
//! follows for the CPU (2.6).

use super::place::place_sleeper;
use super::vruntime::update_curr;
use crate::class::{PreemptCause, PrioChange, check_preempt_curr};
use crate::platform::Platform;
use crate::registry::FloorOrder;
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{CpuId, Prio, TaskId, TaskState, ThisCpu};

/// A task that is not queued changes its CPU: it keeps its distance from the floor there, and takes it to the
/// floor that it finds where it is queued next. No lock is needed. Up to 2.6.32 both floors were read in one
/// step, and the destination's may move until the task is queued there.
pub(crate) fn migrate_task_rq<P: Platform>(me: ThisCpu<'_, P>, task: &Task, from: CpuId, to: CpuId) {
    let floor = |cpu| me.k.rq(cpu).published.min_vruntime.get();
    if task.se.is_relative() {
        return;
    }
    task.se.make_relative(floor(from));
    if me.k.config.rules.floor_order.get() == FloorOrder::OneStep {
        task.se.make_absolute(floor(to));
    }
}

/// The task leaves the class for the real-time one, by policy or by inheritance. Called off the queue, in
/// whatever state it is. While the class serves others, virtual time passes here without it, so it keeps its
/// distance from the floor; a sleeper's distance is bounded as if it woke now, because that bound will not be
/// applied again.
pub(crate) fn detach_task_cfs_rq<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    let se = &task.se;
    // Between two CPUs the virtual time is a distance from the floor already.
    let floor = if se.is_relative() { 0 } else { rq.published.min_vruntime.get() };
    if task.state.get() != TaskState::Running {
        place_sleeper(rq, se, floor);
    }
    se.make_relative(floor);
}

/// The task comes back from the real-time class, or enters for the first time; not yet on the queue.
pub(crate) fn attach_task_cfs_rq<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    // The floor as it is now, not as it was at the running task's last charge.
    update_curr(rq);
    rq.me.task(p).se.make_absolute(rq.published.min_vruntime.get());
}

/// A queued task has come from the real-time class: a running one makes room if there is anybody better, a
/// waiting one competes as after a wakeup.
pub(crate) fn switched_to<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    if rq.curr == p {
        rq.resched();
    } else {
        check_preempt_curr(rq, p, PreemptCause::Migration);
    }
}

/// A queued task's priority was `old`.
pub(crate) fn prio_changed<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, old: Prio, change: PrioChange) {
    match change {
        PrioChange::Parameters => reniced(rq, p, old),
        PrioChange::Inheritance => inherited(rq, p, old),
    }
}

/// A normal task got another nice value or policy: it reschedules its CPU if it improved, or if it worsened
/// while running.
fn reniced<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, old: Prio) {
    let prio = rq.me.task(p).prio.get();
    if prio.beats(old) || (old.beats(prio) && rq.curr == p) {
        rq.resched();
    }
}

/// A normal task inherited the priority of another normal one, or lost it. Its weight is its own, so a
/// waiting one competes by virtual time as after a wakeup.
fn inherited<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, old: Prio) {
    if rq.curr != p {
        check_preempt_curr(rq, p, PreemptCause::Migration);
    } else if old.beats(rq.me.task(p).prio.get()) {
        rq.resched();
    }
}
