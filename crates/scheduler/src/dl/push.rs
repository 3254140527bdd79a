//! Push: a CPU gives away deadline tasks that it cannot run (deadline-groups A9).

use super::preempt::precedes;
use super::select::{find_later_rq, takes};
use crate::Class;
use crate::class::move_queued_task;
use crate::double_lock::{DoubleLocked, double_lock_balance};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{Reason, TaskId};

/// How often a push looks for a target before it gives up.
const MAX_TRIES: usize = 3;

/// Whether a push could find something to do.
pub(crate) fn has_pushable_tasks<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    !rq.dl.pushable.is_empty()
}

fn first_pushable<P: Platform>(rq: &RqGuard<'_, P>) -> Option<TaskId> {
    rq.dl.pushable().next()
}

/// A push, whether it moved a task, and the lock, which may have been dropped meanwhile.
pub(super) struct Push<'k, P: Platform> {
    pub rq: RqGuard<'k, P>,
    pub moved: bool,
}

/// Pushes one task, if a CPU is found that runs nothing as early.
pub(super) async fn push_dl_task<P: Platform>(rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    push(rq).await.rq
}

async fn push<P: Platform>(mut rq: RqGuard<'_, P>) -> Push<'_, P> {
    let me = rq.me;
    let mut candidate = first_pushable(&rq).filter(|_| rq.dl.overloaded);
    while let Some(p) = candidate {
        let curr = me.task(rq.curr);
        if curr.class.get() == Class::Deadline && precedes(me.task(p), curr) && !curr.is_pinned() {
            me.decide(p, Reason::PushPreempts);
            rq.resched();
            break;
        }
        if me.task(p).migration.is_disabled() {
            me.decide(p, Reason::PushHeld);
            break;
        }
        let Push { rq: back, moved } = push_to_later(rq, p).await;
        rq = back;
        if moved {
            return Push { rq, moved };
        }
        // Another one may be the first by now.
        candidate = first_pushable(&rq).filter(|next| *next != p);
    }
    Push { rq, moved: false }
}

/// Three times at most: looks for a CPU, locks it, makes sure that everything still holds, moves the task.
async fn push_to_later<P: Platform>(mut rq: RqGuard<'_, P>, p: TaskId) -> Push<'_, P> {
    let me = rq.me;
    for _ in 0..MAX_TRIES {
        let target = find_later_rq(me, p).filter(|cpu| *cpu != rq.cpu);
        let Some(cpu) = target.filter(|cpu| takes(me, *cpu, me.task(p).dl.deadline())) else {
            me.decide(p, Reason::PushNoTarget);
            break;
        };
        let DoubleLocked { own, other: mut to, dropped } = double_lock_balance(rq, cpu).await;
        rq = own;
        if dropped {
            rq.update_clock();
            if first_pushable(&rq) != Some(p) || !me.task(p).may_run_on(cpu) {
                me.decide(p, Reason::PushChanged);
                break;
            }
        }
        let deadline = me.task(p).dl.deadline();
        if to.dl.earliest().is_none_or(|earliest| deadline < earliest) {
            move_queued_task(&mut rq, &mut to, p);
            me.decide(p, Reason::DlPushed);
            to.resched();
            return Push { rq, moved: true };
        }
    }
    Push { rq, moved: false }
}

/// Pushes until nothing more can be pushed.
pub(super) async fn push_dl_tasks<P: Platform>(mut rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    loop {
        let Push { rq: back, moved } = push(rq).await;
        rq = back;
        if !moved {
            return rq;
        }
    }
}

/// The push that follows a switch to a deadline task. Releases the lock.
pub(crate) async fn post_schedule<P: Platform>(rq: RqGuard<'_, P>) {
    drop(push_dl_tasks(rq).await);
}

/// The push after a wakeup, where it is needed. Releases the lock.
pub(crate) async fn task_woken<P: Platform>(rq: RqGuard<'_, P>) {
    drop(push_dl_tasks(rq).await);
}

/// Whether `p`, which was woken and queued here, cannot run here soon, so that this CPU has to push.
pub(crate) fn wants_task_woken<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) -> bool {
    let me = rq.me;
    let (task, curr) = (me.task(p), me.task(rq.curr));
    rq.curr != p
        && !rq.need_resched()
        && !task.is_pinned()
        && curr.class.get() == Class::Deadline
        && (curr.is_pinned() || !precedes(task, curr))
}
