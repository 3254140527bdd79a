//! A real-time task that waits may not migrate: the stopper moves the one that runs there instead (machine.md
//! 1.5).

use super::push::{lowest_cpu_for, takes_pushed};
use crate::class::move_queued_task;
use crate::double_lock::{DoubleLocked, double_lock_balance};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::schedule::move_running_task;
use crate::stats::bump;
use crate::{Class, Reason, TaskId, ThisCpu};

/// How often the stopper looks for a CPU before it gives up.
const MAX_TRIES: usize = 3;

/// With the queue's lock: the task that runs there, if its stopper is to move it. That is so of a real-time
/// task that may go somewhere, and for which nobody has asked yet.
pub(super) fn get_push_task<P: Platform>(rq: &RqGuard<'_, P>) -> Option<TaskId> {
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

/// The stopper's part: the task that ran before it goes to a CPU with a lower priority, if there is one.
pub(crate) async fn push_away<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) {
    let mut rq = me.lock(me.id).await;
    rq.update_clock();
    me.k.rq(me.id).stop.push_busy.set(false);
    let task = me.task(p);
    for _ in 0..MAX_TRIES {
        if task.cpu.get() != me.id || !task.on_rq.get() || task.class.get() != Class::Rt {
            return;
        }
        if task.migration.is_disabled() {
            task.migration.push_when_enabled();
            return;
        }
        let Some(cpu) = lowest_cpu_for(me, p, me.id) else { return me.decide(p, Reason::PushNoTarget) };
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
