//! What a stopper is asked to do, and how it does that.

use crate::affinity::move_waiting_task;
use crate::class::{PreemptCause, active_load_balance, check_preempt_curr, move_queued_task, push_away};
use crate::double_lock::{DoubleLocked, double_lock_balance};
use crate::platform::Platform;
use crate::rq::{HandedOver, RunQueue};
use crate::schedule::move_running_task;
use crate::select::select_fallback_rq;
use crate::shared::Kept;
use crate::stop::stop_by_interrupt;
use crate::wakeup::sched_ttwu_pending;
use crate::{CpuId, TaskId, TaskState, ThisCpu};

/// The stopper of a CPU.
#[derive(Debug, Default)]
pub(crate) struct Stopper {
    /// The thread; none: it works in an interrupt.
    pub thread: Kept<Option<TaskId>>,
    /// What it has to do.
    pub works: HandedOver<StopWork>,
    /// It has been asked to move the running task away; the queue's lock.
    pub push_busy: Kept<bool>,
}

/// One piece of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StopWork {
    /// Whom to move.
    pub task: TaskId,
    /// Why, and where to.
    pub job: Job,
    /// Who sleeps until it is done.
    pub waiter: Option<TaskId>,
}

/// Why a task is to be moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Job {
    /// It may not run here any more: to this CPU, or to another one if it may not run there either by then.
    Leave(CpuId),
    /// It executes another program: to this CPU.
    GoTo(CpuId),
    /// A task that has to stay here waits behind it: wherever it may run at once.
    PushAway,
}

impl RunQueue {
    /// Whether this CPU's stopper has something to do.
    pub(crate) fn has_stop_work(&self) -> bool {
        !self.stop.works.is_empty() || self.published.balance.is_asked()
    }
}

/// The stopper of the executing CPU does a piece of its work, as a thread or as the handler of
/// [`crate::platform::Ipi::Stop`]: it moves a task away that may no longer run here or executes another
/// program, and one for which a balancing CPU asked. Returns who waits for that.
pub async fn migration_cpu_stop<P: Platform>(me: ThisCpu<'_, P>) -> Option<TaskId> {
    let work = me.k.rq(me.id).stop.works.pop();
    if let Some(StopWork { task, job, .. }) = work {
        match job {
            Job::Leave(dest) => leave(me, task, dest).await,
            Job::GoTo(dest) => go_to(me, task, dest).await,
            Job::PushAway => push_away(me, task).await,
        }
    }
    active_load_balance(me).await;
    work?.waiter
}

/// `p` may not run here any more, unless that changed once more.
async fn leave<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, dest: CpuId) {
    let task = me.task(p);
    if task.cpu.get() != me.id || task.may_run_on(me.id) {
        return;
    }
    if me.k.rq(me.id).stop.thread.get().is_some() {
        // Wakeups that were handed over come first, and others are waited for.
        sched_ttwu_pending(me).await;
        let _pi = me.pi_lock(p).await;
        let mut rq = me.lock(me.id).await;
        rq.update_clock();
        return move_waiting_task(rq, p, dest).await;
    }
    if me.curr() == p {
        let dest = if task.may_run_on(dest) { dest } else { select_fallback_rq(me, p) };
        move_running_task(me, dest).await;
    } else if task.on_rq.get() {
        // It was preempted since.
        let mut rq = me.lock(me.id).await;
        rq.update_clock();
        move_waiting_task(rq, p, dest).await;
    } else if task.state.get() == TaskState::Waking {
        // Its waker is about to queue it here.
        stop_by_interrupt(me, me.id, p, Job::Leave(dest));
    }
}

/// `p` asked to be moved, and waits here. Its affinity may have been narrowed since: it still goes where it
/// was to go if it may, and who narrowed it then finds nothing to do.
async fn go_to<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, dest: CpuId) {
    let rq = me.lock(me.id).await;
    let task = me.task(p);
    let waits_here = || task.cpu.get() == me.id && task.on_rq.get() && me.curr() != p;
    if !waits_here() || !task.may_run_on(dest) {
        return;
    }
    let DoubleLocked { own: mut from, other: mut to, .. } = double_lock_balance(rq, dest).await;
    // The lock may have been dropped.
    if waits_here() && task.may_run_on(dest) {
        from.update_clock();
        move_queued_task(&mut from, &mut to, p);
        check_preempt_curr(&mut to, p, PreemptCause::Migration);
    }
}
