//! The fair class: SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE (fair-class).

mod cfs_rq;
mod class_change;
mod entity;
mod fork;
mod place;
mod preempt;
mod scale;
mod slice;
mod start_nice;
mod task_list;
mod tick;
mod timeline;
mod vruntime;
mod yield_;

pub use cfs_rq::CfsRq;
pub use entity::FairEntity;
pub use timeline::{Timeline, Waiting};
pub use vruntime::lag;

pub(crate) use cfs_rq::{dequeue_task, enqueue_task, pick_next_task, put_prev_task, set_next_task};
pub(crate) use class_change::{attach_task, detach_task, task_changes_cpu};
pub(crate) use fork::{place_orphan, task_fork};
pub(crate) use preempt::check_preempt_wakeup;
pub(crate) use tick::task_tick;
pub(crate) use vruntime::update_curr;
pub(crate) use yield_::yield_task;

use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::wakeup::WakeFlags;
use crate::{Cpu, CpuId, TaskId};

pub(crate) fn select_task_rq_wake<P: Platform>(me: Cpu<'_, P>, p: TaskId, _flags: WakeFlags) -> CpuId {
    me.task(p).cpu.get()
}
pub(crate) fn select_task_rq_fork<P: Platform>(me: Cpu<'_, P>, _p: TaskId) -> CpuId {
    me.id
}
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

#[cfg(test)]
mod tests;
