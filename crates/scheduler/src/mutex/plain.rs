//! The plain futex mutex (rt-class 7.6).

use super::deadlock::refuse_cycle;
use super::object::{Owner, Part, Word};
use super::waiters::{Waiter, plain_key};
use super::{LockError, LockOutcome};
use crate::platform::Platform;
use crate::schedule::set_current_state;
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{MutexId, TaskId, TaskState, ThisCpu};

/// Exchanges the word for "taken with waiters" and sleeps as long as it says that, first and after each
/// wakeup.
pub(super) async fn lock<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    m: MutexId,
) -> Result<LockOutcome, LockError> {
    let mutex = me.k.mutexes.get(m);
    debug_assert_eq!(me.task(p).pi.blocked_on(), None, "{p:?} was woken by something else");
    loop {
        if mutex.word.replace(Word::Waiters) == Word::Free {
            mutex.owner.set(Some(Owner::new(me, p)));
            return Ok(LockOutcome::Acquired);
        }
        let mut lock = me.wait_lock(m).await;
        if mutex.word.get() != Word::Waiters {
            continue;
        }
        refuse_cycle(me, p, m)?;
        let task = me.task(p);
        lock.waiters.insert(Waiter { task: p, key: plain_key(task.normal_prio.get()), since: me.now() });
        task.pi.takes_part(Part::Waits, m);
        set_current_state(me, TaskState::Interruptible);
        return Ok(LockOutcome::Sleep);
    }
}

/// Wakes the first waiter, which tries again. It gets nothing but that.
pub(super) async fn wake_one<P: Platform>(me: ThisCpu<'_, P>, m: MutexId) {
    let woken = me.wait_lock(m).await.waiters.pop();
    if let Some(Waiter { task, .. }) = woken {
        me.task(task).pi.waits_no_more();
        try_to_wake_up(me, task, WakeFlags::default()).await;
    }
}
