//! Names of things: CPUs, tasks, locks.

use core::fmt;

/// A CPU of the machine, 0 to [`CpuId::LIMIT`] − 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CpuId(pub u16);

impl CpuId {
    /// One more than the largest CPU number that a [`crate::CpuMask`] can hold.
    pub const LIMIT: usize = crate::CpuMask::BITS;

    /// As an index into per-CPU arrays.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A task in the scheduler's table. Slots are reused after a task has been reaped; pids are not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TaskId(pub u32);

impl TaskId {
    /// As an index into per-task arrays.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A process id as tools show it; 0 is the idle task of each CPU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Pid(pub i32);

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A task group in the scheduler's table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GroupId(pub u32);

impl GroupId {
    /// The group that everybody is in who is in no other; it has no entities of its own.
    pub const ROOT: GroupId = GroupId(0);

    /// As an index into the group table.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A mutex (PI or plain) in the scheduler's table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct MutexId(pub u32);

impl MutexId {
    /// As an index into the mutex table.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
