//! sched_setaffinity.

use crate::class::{PreemptCause, check_preempt_curr, move_queued_task};
use crate::double_lock::{DoubleLocked, double_lock_balance};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::select::{cpu_for_affinity, select_fallback_rq};
use crate::stop::{Job, stop_by_interrupt, stop_one_cpu, stop_one_cpu_nowait};
use crate::{CpuId, CpuMask, Reason, TaskId, TaskState, ThisCpu};

/// Restricts `p` to `cpus`. A task that waits elsewhere moves; one that runs elsewhere, or is about to be
/// queued there, is moved by that CPU's stopper: a forced migration, and an involuntary switch if it runs
/// (rt-class 12 E8, E9, E20). No balancing follows from a widened affinity.
///
/// `cpus` must share a CPU with the machine: the caller has refused anything else.
pub async fn set_cpus_allowed<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, cpus: CpuMask) {
    if let Some(leaves) = change(me, p, cpus).await {
        stop_one_cpu(me, leaves.cpu, p, leaves.job).await;
    }
}

/// The same for somebody who cannot sleep until the task has moved: an interrupt.
pub async fn set_cpus_allowed_nowait<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, cpus: CpuMask) {
    if let Some(leaves) = change(me, p, cpus).await {
        stop_one_cpu_nowait(me, leaves.cpu, p, leaves.job).await;
    }
}

/// The running task `p` may not be here, and has had to stay until now: the stopper moves it.
pub(crate) async fn leave_where_not_allowed<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) {
    let job = Job::Leave(select_fallback_rq(me, p));
    if !stop_by_interrupt(me, me.id, p, job) {
        stop_one_cpu(me, me.id, p, job).await;
    }
}

/// What the stopper of a CPU is to do.
struct Leaves {
    cpu: CpuId,
    job: Job,
}

async fn change<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, cpus: CpuMask) -> Option<Leaves> {
    let pi = me.pi_lock(p).await;
    let mut rq = me.task_rq_lock(p).await;
    rq.update_clock();
    let task = me.task(p);
    let allowed = cpus.and(&me.k.online);
    debug_assert!(!allowed.is_empty());
    if task.cpus_allowed.get().and(&me.k.online) == allowed {
        return None;
    }
    let dest = cpu_for_affinity(me, &allowed).unwrap_or(rq.cpu);
    task.class.get().set_cpus_allowed(&mut rq, &pi, allowed);
    if task.state.get() == TaskState::New && !allowed.contains(rq.cpu) {
        // Its CPU may have been chosen at the start of the fork; it has not run there, so it does not
        // migrate.
        task.cpu.set(&pi, select_fallback_rq(me, p));
    }
    let waking = task.state.get() == TaskState::Waking;
    let must_go = must_leave(&rq, p) || waking && !task.may_run_on(rq.cpu);
    if !must_go {
        return None;
    }
    me.decide(p, Reason::AffinityMove);
    if rq.curr == p || waking {
        let cpu = rq.cpu;
        drop(rq);
        let job = Job::Leave(dest);
        return (!stop_by_interrupt(me, cpu, p, job)).then_some(Leaves { cpu, job });
    }
    move_waiting_task(rq, p, dest).await;
    None
}

/// Moves a task that waits on the guard's queue, if it may not run there any more, to `dest` if it may run
/// there.
pub(crate) async fn move_waiting_task<P: Platform>(rq: RqGuard<'_, P>, p: TaskId, dest: CpuId) {
    let me = rq.me;
    let task = me.task(p);
    if !must_leave(&rq, p) {
        return;
    }
    let dest = if task.may_run_on(dest) { dest } else { select_fallback_rq(me, p) };
    let DoubleLocked { own: mut from, other: mut to, .. } = double_lock_balance(rq, dest).await;
    // The locks may have been dropped.
    if !must_leave(&from, p) {
        return;
    }
    if from.curr != p && task.may_run_on(dest) {
        move_queued_task(&mut from, &mut to, p);
        check_preempt_curr(&mut to, p, PreemptCause::Migration);
    } else {
        // It began to run, or its affinity changed once more.
        let cpu = from.cpu;
        let job = Job::Leave(dest);
        if !stop_by_interrupt(me, cpu, p, job) {
            drop((from, to));
            stop_one_cpu_nowait(me, cpu, p, job).await;
        }
    }
}

/// Whether a task is here, where it may not run. One that is being switched away from is here as long as it
/// is the queue's current one: a waker may queue it where it is.
fn must_leave<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) -> bool {
    let task = rq.me.task(p);
    let here = task.cpu.get() == rq.cpu && (task.on_rq.get() || rq.curr == p);
    here && !task.may_run_on(rq.cpu)
}

#[cfg(test)]
mod tests;
