//! Cycles of tasks that wait for each other, found when a task is about to close one.

use super::{Form, LockError, MAX_LOCK_DEPTH, form, owner};
use crate::platform::Platform;
use crate::{MutexId, TaskId, ThisCpu};
use alloc::vec::Vec;
use core::fmt;

/// A task and the mutex that it waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitsFor {
    /// Who waits.
    pub task: TaskId,
    /// For what.
    pub mutex: MutexId,
}

/// Each task waits for a mutex that the next one owns, the last one for a mutex of the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// The task that closed the cycle comes first.
    pub cycle: Vec<WaitsFor>,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deadlock: ")?;
        for (i, waits) in self.cycle.iter().enumerate() {
            let owner = self.cycle[(i + 1) % self.cycle.len()].task;
            let and = if i == 0 { "" } else { ", " };
            write!(
                f,
                "{and}task {} waits for mutex {}, owned by task {}",
                waits.task.0, waits.mutex.0, owner.0
            )?;
        }
        Ok(())
    }
}

/// Refuses to let `p` wait for `m` if the owner waits, over others, for `p`, or at the end of too long a
/// chain. The kernel sees a cycle of PI mutexes only; the model follows both kinds.
///
/// No virtual time passes, and the caller makes `p` a waiter without letting any pass: of the tasks of a
/// cycle, the last one is refused.
pub(super) fn refuse_cycle<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> Result<(), LockError> {
    let first = WaitsFor { task: p, mutex: m };
    let mut pi_hops = 0;
    for waits in chain(me, first) {
        if owner(me, waits.mutex) == Some(p) {
            // `p` itself does not wait yet: the chain ends with this link.
            return Err(LockError::Deadlock(Deadlock { cycle: chain(me, first).collect() }));
        }
        pi_hops += u32::from(form(me, waits.mutex) == Form::Pi);
        if pi_hops > MAX_LOCK_DEPTH {
            return Err(LockError::ChainTooLong(first));
        }
    }
    Ok(())
}

/// Who waits for whom, from a waiter on.
fn chain<P: Platform>(me: ThisCpu<'_, P>, first: WaitsFor) -> impl Iterator<Item = WaitsFor> {
    core::iter::successors(Some(first), move |waits| {
        let task = owner(me, waits.mutex)?;
        let mutex = me.task(task).pi.blocked_on()?;
        Some(WaitsFor { task, mutex })
    })
}
