//! migrate_disable: a task that has a sleeping lock of the kernel stays on its CPU until it gives that back,
//! whatever its affinity says (machine.md 1.5).
//!
//! It still counts as one that may move: a real-time task stays on the pushable list and makes its CPU
//! overloaded. A push or a pull that finds it cannot take it, but may have the stopper move the task *that
//! runs there* instead, so that the one with the lock goes on.

use crate::affinity::leave_where_not_allowed;
use crate::class::move_queued_task;
use crate::double_lock::{DoubleLocked, double_lock_balance};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::rt::{lowest_cpu_for, takes_pushed};
use crate::schedule::move_running_task;
use crate::shared::Kept;
use crate::stats::bump;
use crate::stop::{Job, StopWork, interrupt_stopper, wake_up_stopper};
use crate::{Class, CpuId, Reason, TaskId, ThisCpu};

/// How often the stopper looks for a CPU before it gives up.
const MAX_TRIES: usize = 3;

/// Whether a task may leave its CPU; its own.
#[derive(Debug, Default)]
pub struct Migration {
    disabled: Kept<bool>,
    /// The stopper was to move it meanwhile.
    push_when_enabled: Kept<bool>,
}

impl Migration {
    pub(crate) fn reset(&self) {
        self.disabled.set(false);
        self.push_when_enabled.set(false);
    }

    /// Whether it has to stay.
    #[inline]
    pub fn is_disabled(&self) -> bool {
        self.disabled.get()
    }
}

/// The running task has to stay on this CPU from here on. (There is one level: no path takes a second lock.)
pub fn migrate_disable<P: Platform>(me: ThisCpu<'_, P>) {
    let migration = &me.task(me.curr()).migration;
    debug_assert!(!migration.is_disabled());
    migration.disabled.set(true);
}

/// It may leave again. What was to happen to it meanwhile happens now: its affinity has changed, or the
/// stopper came for it.
pub async fn migrate_enable<P: Platform>(me: ThisCpu<'_, P>) {
    let p = me.curr();
    let migration = &me.task(p).migration;
    debug_assert!(migration.is_disabled());
    migration.disabled.set(false);
    let pushes = migration.push_when_enabled.get();
    migration.push_when_enabled.set(false);
    if !me.task(p).is_allowed_on(me.id) {
        leave_where_not_allowed(me, p).await;
    } else if pushes {
        ask_stopper(me, me.id, p).await;
    }
}

/// With the queue's lock: whether its stopper is to move the task that runs there, and which. That is so if it
/// is a real-time task that may go somewhere, and nobody has asked for it yet.
pub(crate) fn get_push_task<P: Platform>(rq: &RqGuard<'_, P>) -> Option<TaskId> {
    let curr = rq.me.task(rq.curr);
    let may_go = curr.class.get() == Class::Rt && !curr.is_pinned() && !curr.migration.is_disabled();
    let push_busy = &rq.me.k.rq(rq.cpu).stop.push_busy;
    if push_busy.get() || !may_go {
        return None;
    }
    push_busy.set(true);
    rq.me.decide(rq.curr, Reason::PushAway);
    Some(rq.curr)
}

/// Has the stopper of `cpu` move `p`, which runs there. The caller holds no lock.
pub(crate) async fn ask_stopper<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, p: TaskId) {
    me.k.rq(cpu).stop.works.push(StopWork { task: p, job: Job::PushAway, waiter: None });
    if !interrupt_stopper(me, cpu) {
        wake_up_stopper(me, cpu).await;
    }
}

/// The stopper's part: the task that ran before it goes to a CPU with a lower priority, if there is one.
pub(crate) async fn push_cpu_stop<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) {
    let mut rq = me.lock(me.id).await;
    rq.update_clock();
    me.k.rq(me.id).stop.push_busy.set(false);
    let task = me.task(p);
    for _ in 0..MAX_TRIES {
        if task.cpu.get() != me.id || !task.on_rq.get() || task.class.get() != Class::Rt {
            return;
        }
        if task.migration.is_disabled() {
            task.migration.push_when_enabled.set(true);
            return;
        }
        let Some(cpu) = lowest_cpu_for(me, p) else { return me.decide(p, Reason::PushNoTarget) };
        if me.curr() == p {
            // The stopper is an interrupt.
            drop(rq);
            bump(&me.k.totals.pushes);
            me.decide(p, Reason::Pushed);
            return move_running_task(me, cpu).await;
        }
        let DoubleLocked { own: mut from, other: mut to, .. } = double_lock_balance(rq, cpu).await;
        let waits_here = task.cpu.get() == me.id && task.on_rq.get() && from.curr != p;
        if waits_here && task.may_run_on(cpu) && takes_pushed(&to, p) {
            from.update_clock();
            move_queued_task(&mut from, &mut to, p);
            bump(&me.k.totals.pushes);
            me.decide(p, Reason::Pushed);
            to.resched();
            return;
        }
        rq = from;
    }
}

#[cfg(test)]
mod tests;
