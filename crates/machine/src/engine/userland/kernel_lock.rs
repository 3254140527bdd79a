//! A lock of the kernel, and where a task is with it.

use super::activity::Resume;
use crate::objects::ChannelId;
use crate::spec::{LockClass, Operation};
use scheduler::{CpuId, MutexId, Nanos, Pid, TaskId};

/// One lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KernelLock {
    Cpu(LockClass, CpuId),
    /// By the first thread of the process.
    Process(LockClass, Pid),
    Machine(LockClass, u64),
    /// That of the queue of those who wait for a channel.
    Channel(ChannelId),
}

impl KernelLock {
    /// Its class, unless it is that of a channel.
    pub fn class(self) -> Option<LockClass> {
        match self {
            KernelLock::Cpu(class, _) | KernelLock::Process(class, _) | KernelLock::Machine(class, _) => {
                Some(class)
            }
            KernelLock::Channel(_) => None,
        }
    }

    /// Whether it is a semaphore, and no spinlock.
    pub fn is_rwsem(self) -> bool {
        self.class().is_some_and(LockClass::is_rwsem)
    }
}

/// Where a task is with a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InKernelLock {
    pub lock: KernelLock,
    pub stage: Stage,
    /// What it does after it: so much of its operation is left.
    pub rest: Nanos,
    pub then: Resume,
    /// When it found it taken; of one that it wants.
    pub since: Nanos,
    pub waited: Wait,
}

/// How a task has waited for a lock so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// Not at all: it was free again by the time it came.
    No,
    Spinning,
    /// Whatever it did before.
    Asleep,
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// It comes to one that the task of another CPU has by then, if that is still in the same operation.
    Meets(Meeting),
    /// It comes to one that is live, or waits for it.
    Wants(MutexId),
    /// Another one has met it: it has it from this moment on, and has not looked at itself since.
    Found(MutexId),
    /// It has it.
    Has(MutexId),
}

/// Whom it meets, and in which of its operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Meeting {
    pub cpu: CpuId,
    pub task: TaskId,
    pub operation: Operation,
    /// How many tasks it had forked by then.
    pub forks: u32,
}

impl InKernelLock {
    /// It comes to a lock, and goes on so after it.
    pub fn comes(lock: KernelLock, stage: Stage, rest: Nanos, then: Resume) -> InKernelLock {
        InKernelLock { lock, stage, rest, then, since: Nanos::ZERO, waited: Wait::No }
    }

    /// Whether it has it.
    pub fn has(&self) -> bool {
        matches!(self.stage, Stage::Found(_) | Stage::Has(_))
    }
}
