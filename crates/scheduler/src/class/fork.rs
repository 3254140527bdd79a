//! A task enters the class that serves it for the first time (fair-class 5.1).

use super::Class;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{Scheduler, TaskId, fair};

impl Class {
    /// Whether the class places a forked task, so that a queue's lock is needed.
    pub(crate) fn has_task_fork<P: Platform>(self, k: &Scheduler<P>) -> bool {
        match self {
            Class::Fair => fair::has_task_fork(k),
            Class::Stop | Class::Deadline | Class::Rt | Class::Idle => false,
        }
    }

    /// Places a forked task against this queue and the task that runs there.
    pub(crate) fn task_fork<P: Platform>(self, rq: &mut RqGuard<'_, P>, child: TaskId) {
        match self {
            Class::Fair => fair::task_fork(rq, child),
            Class::Stop | Class::Deadline | Class::Rt | Class::Idle => {}
        }
    }

    /// Places a task that comes from outside the model, and so has no parent.
    pub(crate) fn place_orphan<P: Platform>(self, rq: &mut RqGuard<'_, P>, p: TaskId) {
        match self {
            Class::Fair => fair::place_orphan(rq, p),
            Class::Stop | Class::Deadline | Class::Rt | Class::Idle => {}
        }
    }
}
