//! The fair class: SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE (fair-class).

use crate::class::{DequeueKind, EnqueueKind, PreemptCause};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::task::Task;
use crate::wakeup::WakeFlags;
use crate::{Cpu, CpuId, TaskId};

/// A task's fields of this class.
#[derive(Debug, Default)]
pub struct FairEntity {}

impl FairEntity {
    pub(crate) fn reset(&self, _weight: u64) {}
    /// New load weight, after a change of nice or policy; the task is off its queue for the moment.
    pub(crate) fn set_weight(&self, _weight: u64) {}
}

/// A run queue's part of this class.
#[derive(Debug, Default)]
pub struct CfsRq {}

impl CfsRq {
    /// About 1 ms below wrap-around, on purpose (fair-class 0.2).
    pub const INITIAL_MIN_VRUNTIME: u64 = u64::MAX - (1 << 20) + 1;
}

pub(crate) fn init_entity<P: Platform>(_me: Cpu<'_, P>, _p: TaskId) {}
/// Step C of 5.1 on this queue.
pub(crate) fn task_fork<P: Platform>(_rq: &mut RqGuard<'_, P>, _child: TaskId) {}
/// A task with no parent starts at min_vruntime.
pub(crate) fn place_orphan<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
pub(crate) fn enqueue_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId, _kind: EnqueueKind) {}
pub(crate) fn dequeue_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId, _kind: DequeueKind) {}
pub(crate) fn pick_next_task<P: Platform>(_rq: &mut RqGuard<'_, P>) -> Option<TaskId> {
    None
}
pub(crate) fn put_prev_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
pub(crate) fn set_next_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
pub(crate) fn update_curr<P: Platform>(_rq: &mut RqGuard<'_, P>) {}
pub(crate) fn yield_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
pub(crate) fn task_tick<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
pub(crate) fn check_preempt_wakeup<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId, _cause: PreemptCause) {}
pub(crate) fn select_task_rq_wake<P: Platform>(me: Cpu<'_, P>, p: TaskId, _flags: WakeFlags) -> CpuId {
    me.task(p).cpu.get()
}
pub(crate) fn select_task_rq_fork<P: Platform>(me: Cpu<'_, P>, _p: TaskId) -> CpuId {
    me.id
}
/// Conversion of virtual time when a task's CPU changes (4.5); it is not queued.
pub(crate) fn task_changes_cpu<P: Platform>(_me: Cpu<'_, P>, _task: &Task, _from: CpuId, _to: CpuId) {}
/// The task is about to leave the class for the real-time one, by policy or by inheritance. Called off the queue,
/// in whatever state it is: its virtual time becomes relative to the queue's (4.4).
pub(crate) fn detach_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
/// The task has just come back from the real-time class, or enters for the first time; not yet on the queue.
pub(crate) fn attach_task<P: Platform>(_rq: &mut RqGuard<'_, P>, _p: TaskId) {}
/// Load averages, at the tick (8.2).
pub(crate) fn update_cpu_load<P: Platform>(_rq: &mut RqGuard<'_, P>) {}
/// New-idle balancing (8.6).
pub(crate) async fn idle_balance<P: Platform>(rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    rq
}
/// Periodic balancing (8.5).
pub(crate) async fn rebalance_domains<P: Platform>(_me: Cpu<'_, P>) {}
/// The stopper's part of active balancing (8.5 step 7).
pub(crate) async fn active_load_balance<P: Platform>(_me: Cpu<'_, P>) {}
