//! What sets the writers of a semaphore of the kernel for readers and writers apart from those that want a
//! mutex of it (`kernel.rs`; machine.md 3.5). Readers there are none: nothing that tasks do here takes one
//! for reading.
//!
//! - They spin since Linux 3.16, and with the queue from the beginning.
//! - A spinner that has to reschedule becomes a waiter at once, and sleeps if it still finds it taken.
//! - The first waiter that was woken in vain gets it next only if it is a real-time task, or has waited for
//!   4 ms. Until then others may come before it again and again.

use super::kernel::rule_of_mutexes;
use super::waiters::Waiter;
use crate::platform::Platform;
use crate::registry::MutexSpin;
use crate::{MutexId, Nanos, ThisCpu};

/// A fair waiter is patient for so long.
const PATIENCE: Nanos = Nanos::from_millis(4);

/// How writers spin.
pub(super) fn rule<P: Platform>(me: ThisCpu<'_, P>) -> MutexSpin {
    match rule_of_mutexes(me) {
        MutexSpin::Osq => MutexSpin::Osq,
        MutexSpin::OwnerOnCpu | MutexSpin::Never => MutexSpin::Never,
    }
}

/// Whether the first waiter, which was woken and found it taken again, is to get it next.
pub(super) fn is_impatient<P: Platform>(me: ThisCpu<'_, P>, first: Waiter) -> bool {
    me.task(first.task).prio.get().is_rt() || me.now().saturating_sub(first.since) >= PATIENCE
}

/// Whether `m` is one.
pub(super) fn is_one<P: Platform>(me: ThisCpu<'_, P>, m: MutexId) -> bool {
    me.k.mutexes.get(m).rwsem.get()
}
