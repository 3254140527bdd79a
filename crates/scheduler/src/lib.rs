//! The Linux CPU scheduler: run queues, wakeup, fork, tick, the real-time and the fair class.

#![no_std]

extern crate alloc;

mod cpumask;
mod ids;
mod prio;
mod time;

pub use cpumask::CpuMask;
pub use ids::{CpuId, MutexId, Pid, TaskId};
pub use prio::{IDLE_POLICY_WEIGHT, NICE_0_LOAD, Nice, Policy, Prio, RtPriority};
pub use time::Nanos;
