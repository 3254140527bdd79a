//! Mutexes that tasks block on: with priority inheritance, and plain (rt-class 7); and those of the kernel
//! itself (`kernel.rs`).
//!
//! The first two are futexes. A **word** in user space tells whether the mutex is free, taken, or taken with
//! waiters; while nobody waits, locking and unlocking are one compare-and-swap on it and the kernel knows
//! nothing ([`lock_fast`], [`unlock_fast`]). Only when that fails does a task enter the kernel
//! ([`lock_slow`], [`unlock_slow`]), where the list of waiters lies behind the mutex's wait_lock.
//!
//! Since Linux 5.15 the top waiter of a PI mutex does not sleep as long as the owner runs (`spin.rs`).
//!
//! A task is not a coroutine: a path that has to wait for a mutex ends with [`LockOutcome::Sleep`]. The task
//! is then on the waiter list and in state Interruptible; whoever drives it calls
//! [`crate::schedule::schedule`], and when it runs again, [`lock_resume`], which may say Sleep once more.
//!
//! # Priority inheritance
//!
//! Waiters of a PI mutex are ordered by effective priority. The first, the top waiter, lends its priority to
//! the owner: an owner's effective priority is the best of its own and of the top waiters of all the mutexes
//! it owns (`chain.rs`). A lender may in turn own mutexes that others wait for, so a change runs along a
//! chain.
//!
//! Unlocking does not hand the mutex over. It leaves it without owner but with waiters, and wakes the top
//! waiter, which takes it when it runs. Until then a strictly higher task can steal it; a lower or equal one
//! cannot, not even in user space, because the word already names the waiter.
//!
//! # Plain mutexes
//!
//! No ownership is passed at all: unlocking frees the word and wakes one waiter, which tries again. Whoever
//! comes first wins, the unlocker included (barging), and a preempted low owner delays everybody.
//!
//! # What loads get wrong
//!
//! Locking twice, unlocking what another task owns and closing a cycle of waits are errors of the load that
//! no kernel repairs: they are returned, the task is not put to sleep. A task that exits leaves its mutexes
//! locked for ever.
//!
//! # Locks
//!
//! Order: a mutex's wait_lock, a task's pi_lock, a run queue's lock; never two wait_locks or two pi_locks.
//! What a task inherits and from which mutexes is protected by its pi_lock.

mod chain;
mod deadlock;
mod inspect;
mod kernel;
mod object;
mod pi;
mod plain;
mod rwsem;
mod spin;
#[cfg(test)]
mod tests;
mod waiters;

pub use chain::MAX_LOCK_DEPTH;
pub(crate) use chain::{Inherited, inherited, rt_mutex_adjust_prio_chain};
pub use deadlock::{Deadlock, WaitsFor};
pub(crate) use object::Form;
pub use object::{MutexKind, MutexTable, PiState};
pub(crate) use spin::owner_left;
pub use spin::{OwnerSeen, spin_on_owner};

use crate::platform::Platform;
use crate::{MutexId, TaskId, ThisCpu};
use core::fmt;
use object::{Owner, Word};

/// Whether user space could do it alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum FastPath {
    /// It is done.
    Done,
    /// A system call has to follow.
    EnterKernel,
}

/// How an attempt to lock ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum LockOutcome {
    /// The task owns the mutex.
    Acquired,
    /// The task waits, its state says that it sleeps: call schedule, and [`lock_resume`] when it runs again.
    Sleep,
    /// The task waits, its state says that it sleeps (for a mutex of the kernel: runnable), but it goes on
    /// executing: ask [`spin_on_owner`] before
    /// anything else, and again whenever it comes back onto a CPU or is told by [`Platform::look_again`].
    Spin,
}

/// Why a task could not even wait for a mutex. It is neither owner nor waiter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LockError {
    /// It owns the mutex already.
    AlreadyOwner(WaitsFor),
    /// It would wait, over others, for itself.
    Deadlock(Deadlock),
    /// The chain of owners that themselves wait for PI mutexes is longer than [`MAX_LOCK_DEPTH`].
    ChainTooLong(WaitsFor),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::AlreadyOwner(w) => {
                write!(f, "task {} locks mutex {}, which it already owns", w.task.0, w.mutex.0)
            }
            LockError::Deadlock(deadlock) => deadlock.fmt(f),
            LockError::ChainTooLong(w) => write!(
                f,
                "task {} would wait for mutex {} at the end of a chain of more than {MAX_LOCK_DEPTH} owners that \
                 wait themselves",
                w.task.0, w.mutex.0
            ),
        }
    }
}

impl core::error::Error for LockError {}

/// A task unlocks a mutex that it does not own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotOwner {
    /// The mutex.
    pub mutex: MutexId,
    /// Who wants to unlock it.
    pub task: TaskId,
    /// Who owns it, if a living task does.
    pub owner: Option<TaskId>,
}

impl fmt::Display for NotOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {} unlocks mutex {}, ", self.task.0, self.mutex.0)?;
        match self.owner {
            Some(owner) => write!(f, "which task {} owns", owner.0),
            None => write!(f, "which no living task owns"),
        }
    }
}

impl core::error::Error for NotOwner {}

/// `p` tries to lock `m` in user space.
pub fn lock_fast<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> FastPath {
    let mutex = me.k.mutexes.get(m);
    if mutex.word.get() != Word::Free {
        return FastPath::EnterKernel;
    }
    mutex.word.set(Word::Locked);
    match mutex.form.get() {
        Form::Kernel => kernel::own(me, p, m),
        Form::Pi | Form::Plain => mutex.owner.set(Some(Owner::new(me, p))),
    }
    FastPath::Done
}

/// `p`, running on the executing CPU, locks `m` through the kernel after [`lock_fast`] failed.
pub async fn lock_slow<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    m: MutexId,
) -> Result<LockOutcome, LockError> {
    if owner(me, m) == Some(p) {
        return Err(LockError::AlreadyOwner(WaitsFor { task: p, mutex: m }));
    }
    match form(me, m) {
        Form::Pi => pi::lock(me, p, m).await,
        Form::Plain => plain::lock(me, p, m).await,
        Form::Kernel => Ok(kernel::lock(me, p, m).await),
    }
}

/// `p` runs again after [`LockOutcome::Sleep`], or has seen [`OwnerSeen::Released`]: it takes `m` or waits
/// once more. Only a plain mutex can fail, where another task barged in and then waited for `p`.
pub async fn lock_resume<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    m: MutexId,
) -> Result<LockOutcome, LockError> {
    match form(me, m) {
        Form::Pi => Ok(pi::resume(me, p, m).await),
        Form::Plain => plain::lock(me, p, m).await,
        Form::Kernel => Ok(kernel::resume(me, p, m).await),
    }
}

/// `p` unlocks `m` in user space, as far as that goes.
pub fn unlock_fast<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> Result<FastPath, NotOwner> {
    let mutex = me.k.mutexes.get(m);
    let owner = owner(me, m);
    if owner != Some(p) {
        return Err(NotOwner { mutex: m, task: p, owner });
    }
    let waited_for = mutex.word.get() == Word::Waiters;
    // A plain mutex is free from here on; a PI mutex with waiters is released by the kernel.
    match mutex.form.get() {
        Form::Kernel => kernel::release(me, p, m),
        Form::Pi if waited_for => {}
        Form::Pi | Form::Plain => {
            mutex.word.set(Word::Free);
            mutex.owner.set(None);
        }
    }
    Ok(if waited_for { FastPath::EnterKernel } else { FastPath::Done })
}

/// The kernel's part of unlocking, after [`unlock_fast`] asked for it: wakes the next waiter and takes back
/// what `p` inherited over `m`.
pub async fn unlock_slow<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) {
    match form(me, m) {
        Form::Pi => pi::unlock(me, p, m).await,
        Form::Plain => plain::wake_one(me, m).await,
        Form::Kernel => kernel::wake_first(me, p, m).await,
    }
}

fn form<P: Platform>(me: ThisCpu<'_, P>, m: MutexId) -> Form {
    me.k.mutexes.form(m)
}

fn owner<P: Platform>(me: ThisCpu<'_, P>, m: MutexId) -> Option<TaskId> {
    me.k.mutexes.living_owner(m, &me.k.tasks)
}
