//! The Linux CPU scheduler: run queues, wakeup, fork, tick, the deadline, the real-time and the fair class.
//!
//! Knows neither simulation nor files: it runs on whatever implements [`platform::Platform`]. Kernel paths
//! are async functions over virtual locks; **an `.await` means that virtual time may pass and other CPUs may
//! act here**, and nothing else awaits. What a run queue's lock protects is reachable only through its guard
//! ([`rq::RqGuard`]).
//!
//! Start at [`wakeup::try_to_wake_up`] and [`schedule::schedule`]; what they ask of a class is in `class`,
//! the classes are [`dl`], [`rt`] and [`fair`]; everything that differs between kernels is in [`registry`].

#![no_std]

extern crate alloc;

pub mod affinity;
pub mod check;
mod chunks;
mod class;
mod clock;
pub mod cpu_clock;
mod cpumask;
mod cpusets;
pub mod dl;
mod domains;
mod double_lock;
mod event;
pub mod fair;
pub mod fork;
pub mod frequency;
mod ids;
mod kernel;
pub mod migrate;
pub mod mutex;
mod partitions;
mod pi_lock;
pub mod platform;
pub mod policy;
mod prio;
pub mod registry;
mod root_domain;
pub mod rq;
pub mod rt;
pub mod schedule;
mod select;
pub mod shared;
mod standing;
pub mod stats;
pub mod stop;
mod task;
#[cfg(test)]
pub(crate) mod testing;
pub mod tick;
mod time;
pub mod uclamp;
pub mod wakeup;

pub use class::{Class, admits};
pub use cpumask::CpuMask;
pub use cpusets::{Cpuset, Cpusets};
pub use dl::{DlParams, DlParamsError, NotAdmitted};
pub use domains::{FULL_CAPACITY, LevelKind, SchedDomain, Topology, TopologyLevel, domains_of};
pub use event::{Event, Reason, SwitchState, Throttled};
pub use ids::{CpuId, GroupId, MutexId, Pid, TaskId};
pub use kernel::{Scheduler, ThisCpu, Totals};
pub use partitions::Partitions;
pub use prio::{IDLE_POLICY_WEIGHT, NICE_0_LOAD, Nice, Policy, Prio, RT_LOAD_WEIGHT, RtPriority};
pub use root_domain::{RootDomain, RootId};
pub use standing::Standing;
pub use stats::TaskStats;
pub use task::{GroupOnCpu, Task, TaskState, TaskTable};
pub use time::Nanos;
pub use uclamp::{ClampRequest, Clamps};
