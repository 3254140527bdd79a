//! What a CPU remembers of the timers of tasks.

use super::winners::Slot;
use scheduler::{Nanos, TaskId};

/// A task's timer that has expired, and whose interrupt is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expired {
    pub task: TaskId,
    /// The timer's own, in which the interrupt arrives.
    pub slot: Slot,
    /// When it arrives, unless something else brings it along.
    pub arrives: Nanos,
}

/// A time in which a CPU serves interrupts, or is with its hypervisor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fetched {
    pub from: Nanos,
    pub until: Nanos,
}
