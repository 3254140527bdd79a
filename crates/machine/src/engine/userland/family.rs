//! Who waits for whom among parents and children.

use scheduler::platform::Platform;
use scheduler::{Pid, Scheduler, TaskId, TaskState};

/// A task's relatives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Family {
    /// Its parent, if it is to be told of the exit.
    pub parent: Option<Parent>,
    /// Living children that will report their exit.
    pub children: u32,
    /// Dead ones not yet waited for.
    pub zombies: u32,
    /// It sleeps in wait(2).
    pub waiting: bool,
    /// It shares its parent's address space, so that its exit gives less back.
    pub thread: bool,
    /// The parent sleeps in vfork until this task execs or exits.
    pub vfork_parent: Option<Parent>,
    /// It sleeps in vfork itself.
    pub in_vfork: bool,
}

/// A task and its pid, which tells whether the slot has a new user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parent {
    pub task: TaskId,
    pub pid: Pid,
}

impl Parent {
    /// Whether it is still the task that it was.
    pub fn is_still_there<P: Platform>(self, k: &Scheduler<P>) -> bool {
        let task = k.task(self.task);
        task.pid.get() == self.pid && !matches!(task.state.get(), TaskState::Dead | TaskState::Free)
    }
}
