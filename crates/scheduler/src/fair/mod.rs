//! The fair class: SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE (fair-class).

mod active;
mod balance;
mod balance_find;
mod balance_move;
mod cfs_rq;
mod class_change;
mod cpu_load;
mod entity;
mod fork;
mod idlest;
mod new_idle;
mod nohz;
mod place;
mod preempt;
mod scale;
mod select_cpu;
mod slice;
mod start_nice;
mod task_list;
mod tick;
mod timeline;
mod vruntime;
mod yield_;

pub use balance::CpuBalance;
pub use cfs_rq::CfsRq;
pub use entity::FairEntity;
pub use nohz::FairRoot;
pub use timeline::{Timeline, Waiting};
pub use vruntime::lag;

pub(crate) use active::active_load_balance;
pub(crate) use balance::rebalance_domains;
pub(crate) use cfs_rq::{dequeue_task, enqueue_task, pick_next_task, put_prev_task, set_next_task};
pub(crate) use class_change::{attach_task, detach_task, task_changes_cpu};
pub(crate) use cpu_load::update_cpu_load;
pub(crate) use fork::{place_orphan, task_fork};
pub(crate) use idlest::select_task_rq_fork;
pub(crate) use new_idle::{idle_balance, idle_ends};
pub(crate) use place::largest_sleeper_threshold;
pub(crate) use preempt::check_preempt_wakeup;
pub(crate) use select_cpu::select_task_rq_wake;
pub(crate) use tick::task_tick;
pub(crate) use vruntime::update_curr;
pub(crate) use yield_::yield_task;

#[cfg(test)]
mod tests;
