//! The real-time class: SCHED_FIFO and SCHED_RR (rt-class).

use crate::class::{DequeueKind, EnqueueKind};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::wakeup::WakeFlags;
use crate::{Cpu, CpuId, CpuMask, Nanos, Prio, TaskId};

/// A task's fields of this class.
#[derive(Debug, Default)]
pub struct RtEntity {}

impl RtEntity {
    pub(crate) fn reset(&self, _id: TaskId) {}
}

/// A run queue's part of this class.
#[derive(Debug, Default)]
pub struct RtRq {}

/// Overload, cpupri and walker state of the root domain.
#[derive(Debug)]
pub struct RootDomain {}

impl RootDomain {
    pub(crate) fn new(_cpus: usize) -> RootDomain {
        RootDomain {}
    }
}

pub(crate) fn enqueue_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId, _kind: EnqueueKind) {}
pub(crate) fn dequeue_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId, _kind: DequeueKind) {}
/// Best task; leaves the pushable list; set as current (set_next_task).
pub(crate) fn pick_next_task<P: Platform>(_rq: &mut RqGuard<'_, P>) -> Option<TaskId> {
    None
}
/// If still queued: accounts, becomes pushable.
pub(crate) fn put_prev_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
/// The task is running and becomes current of this class (after policy changes).
pub(crate) fn set_next_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
pub(crate) fn update_curr<P: Platform>(_rq: &mut RqGuard<'_, P>) {}
pub(crate) fn yield_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
pub(crate) fn task_tick<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
pub(crate) fn check_preempt_curr<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
pub(crate) fn select_task_rq<P: Platform>(me: Cpu<'_, P>, p: TaskId, _flags: WakeFlags) -> CpuId {
    me.task(p).cpu.get()
}
pub(crate) fn select_task_rq_fork<P: Platform>(me: Cpu<'_, P>, _p: TaskId) -> CpuId {
    me.id
}
/// Whether this schedule lowers the CPU's priority so that it should pull (5.1).
pub(crate) fn lowers<P: Platform>(_rq: &RqGuard<'_, P>, _prev: TaskId, _prev_prio: Prio) -> bool {
    false
}
/// Pull, or ask for a push (5.5, 6).
pub(crate) async fn balance<P: Platform>(rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    rq
}
/// After the switch: pushes, then releases the lock (5.4).
pub(crate) async fn post_schedule<P: Platform>(rq: RqGuard<'_, P>, _next: TaskId) {
    drop(rq);
}
/// After a wakeup without preemption: pushes (3.5), then releases the lock.
pub(crate) async fn task_woken<P: Platform>(rq: RqGuard<'_, P>, _p: TaskId) {
    drop(rq);
}
/// Affinity of a task of this class changes; updates counts, pushable list, overload (E8).
pub(crate) fn set_cpus_allowed<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, cpus: CpuMask) {
    rq.me.task(p).set_cpus_allowed(cpus);
}
/// The running task left the class, or its priority dropped: pull and reschedule as 5.1 says.
pub(crate) async fn prio_changed<P: Platform>(rq: RqGuard<'_, P>, _p: TaskId, _old: Prio) -> RqGuard<'_, P> {
    rq
}
/// A queued task entered the class (5.1).
pub(crate) async fn switched_to<P: Platform>(rq: RqGuard<'_, P>, _p: TaskId) -> RqGuard<'_, P> {
    rq
}
/// A queued task left the class (5.1).
pub(crate) async fn switched_from<P: Platform>(rq: RqGuard<'_, P>, _p: TaskId) -> RqGuard<'_, P> {
    rq
}
/// Handler of `Ipi::Push`, in hard interrupt (6).
pub async fn push_irq_work<P: Platform>(_me: Cpu<'_, P>, _source: CpuId) {}
/// Handler of the period timer (8.1): returns when it is due again, if it is.
pub async fn period_timer<P: Platform>(_me: Cpu<'_, P>) -> Option<Nanos> {
    None
}
