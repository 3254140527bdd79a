//! What the trace of a run tells of its programs, beside their steps ([`crate::ToldStep`]).
//!
//! The scheduler's events show who woke whom. They do not show a message to a reader who was awake, a lock
//! that was free or a timer that was set: what decides whether a task would have slept if something had come
//! a microsecond later.

use crate::objects::ChannelId;
use crate::setup::Arrival;
use scheduler::{CpuId, CpuMask, Nanos, Nice, Pid, Policy};

/// A message from outside as a trace tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToldMessage {
    /// Where it goes.
    pub channel: ChannelId,
    /// Which interrupt brings it.
    pub by: Arrival,
    /// When that came, as in [`crate::Outside`]; it may have had to wait.
    pub at: Nanos,
}

/// How a task began: what the program itself does not say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskStart {
    /// Its pid.
    pub pid: Pid,
    /// When it becomes runnable for the first time; `None`: when its parent forks it.
    pub at: Option<Nanos>,
    /// Where a task that nobody forks starts; `None`: the kernel decides.
    pub cpu: Option<CpuId>,
    /// Command name.
    pub comm: Box<str>,
    /// Policy.
    pub policy: Policy,
    /// Nice value.
    pub nice: Nice,
    /// Allowed CPUs; `None`: all.
    pub cpus: Option<CpuMask>,
    /// As in [`crate::TaskSpec`].
    pub working_set_bytes: u64,
    /// As in [`crate::TaskSpec`].
    pub reads_bytes_per_us: u32,
    /// As in [`crate::TaskSpec`].
    pub timer_slack: Nanos,
    /// As in [`crate::TaskSpec`].
    pub recorded_work: bool,
    /// As in [`crate::TaskSpec`].
    pub kernel_thread: bool,
}
