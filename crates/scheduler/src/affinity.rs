//! sched_setaffinity, and the stopper that enforces it.

use crate::class::{PreemptCause, check_preempt_curr, move_queued_task};
use crate::platform::{Ipi, Platform};
use crate::rq::{DoubleLocked, double_lock_balance};
use crate::schedule::{Entry, schedule};
use crate::task::Class;
use crate::wakeup::fallback_cpu;
use crate::{Cpu, CpuMask, Reason, TaskId, fair, rt};

/// Restricts `p` to `cpus`. A task that is queued elsewhere moves; one that runs elsewhere is moved by its CPU's
/// stopper: a forced migration and an involuntary switch (rt-class 12 E8, E9, E20). No balancing follows from a
/// widened affinity.
///
/// `cpus` must share a CPU with the machine: the caller has refused anything else.
pub async fn set_cpus_allowed<P: Platform>(me: Cpu<'_, P>, p: TaskId, cpus: CpuMask) {
    let mut rq = me.task_rq_lock(p).await;
    rq.update_clock();
    let task = me.task(p);
    let allowed = cpus.and(&me.k.online);
    debug_assert!(!allowed.is_empty());
    if task.class.get() == Class::Rt {
        rt::set_cpus_allowed(&mut rq, p, allowed);
    } else {
        task.set_cpus_allowed(allowed);
    }
    if allowed.contains(rq.cpu) || !task.on_rq.get() {
        return;
    }
    me.decide(p, Reason::AffinityMove);
    if rq.curr == p {
        let cpu = rq.cpu;
        drop(rq);
        me.k.platform.send_ipi(me.id, cpu, Ipi::Stop);
        return;
    }
    let dest = fallback_cpu(me, p);
    let DoubleLocked { own: mut from, other: mut to, .. } = double_lock_balance(rq, dest).await;
    // The locks may have been dropped: move it only if it still waits on a CPU that it must leave.
    if task.on_rq.get() && task.cpu.get() == from.cpu && from.curr != p && task.may_run_on(dest) {
        move_queued_task(&mut from, &mut to, p);
        check_preempt_curr(&mut to, p, PreemptCause::Migration);
    }
}

/// Handler of [`Ipi::Stop`]: the stopper moves the running task away if it may no longer run here, or if a balancing
/// CPU asked for it.
pub async fn migration_cpu_stop<P: Platform>(me: Cpu<'_, P>) {
    let p = me.curr();
    let task = me.task(p);
    if task.class.get() != Class::Idle && !task.may_run_on(me.id) {
        let dest = fallback_cpu(me, p);
        schedule(me, Entry::Stopped { dest }).await;
    }
    fair::active_load_balance(me).await;
}
