//! A spinlock of a kernel with PREEMPT_RT, and where a task is with it.

use super::activity::Resume;
use crate::objects::ChannelId;
use crate::spec::LockClass;
use scheduler::{CpuId, MutexId, Nanos};

/// One lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KernelLock {
    Cpu(LockClass, CpuId),
    Machine(LockClass, u64),
    /// That of the queue of those who wait for a channel.
    Channel(ChannelId),
}

/// Where a task is with a lock that is live.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InKernelLock {
    pub lock: KernelLock,
    pub mutex: MutexId,
    /// It has it; else it comes to it, or waits for it.
    pub has: bool,
    /// What it does after it: so much of its operation is left.
    pub rest: Nanos,
    pub then: Resume,
}
