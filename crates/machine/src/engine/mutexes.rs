//! Mutexes from the tasks' side: the fast path in user space, the system call, and the sleep in it.

use super::hw::Hw;
use super::sim::Sim;
use crate::outcome::{DeadlockLink, RunError};
use scheduler::{Cpu, MutexId, TaskId};

impl Sim {
    pub async fn lock_mutex(&self, _me: Cpu<'_, Hw>, _p: TaskId, _id: MutexId) {}
    pub async fn lock_again(&self, _me: Cpu<'_, Hw>, _p: TaskId, _id: MutexId) {}
    pub async fn unlock_mutex(&self, _me: Cpu<'_, Hw>, _p: TaskId, _id: MutexId) {}
}
