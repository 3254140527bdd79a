//! The PI mutex: lock, take, unlock (rt-class 7.2, 7.4, 7.5).

use super::chain::{inherit, lend, rt_mutex_adjust_prio_chain, stop_lending};
use super::deadlock::refuse_cycle;
use super::object::{Owner, Part, WaitGuard, Word};
use super::spin::{look_again, may_spin};
use super::waiters::{Key, Waiter, pi_key};
use super::{LockError, LockOutcome, owner};
use crate::pi_lock::PiGuard;
use crate::platform::Platform;
use crate::registry::{DeboostOrder, RtmutexSpin};
use crate::schedule::set_current_state;
use crate::wakeup::{WakeFlags, try_to_wake_up, try_to_wake_up_if};
use crate::{MutexId, Reason, TaskId, TaskState, ThisCpu};

/// The system call after a failed compare-and-swap (7.2).
pub(super) async fn lock<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    m: MutexId,
) -> Result<LockOutcome, LockError> {
    let lock = me.wait_lock(m).await;
    if lock.mutex.word.get() == Word::Free {
        lock.mutex.word.set(Word::Locked);
        lock.mutex.owner.set(Some(Owner::new(me, p)));
        return Ok(LockOutcome::Acquired);
    }
    lock.mutex.word.set(Word::Waiters);
    // Under the pi_lock, the priority by which it fails to steal is the one by which it waits.
    let own = me.pi_lock(p).await;
    if may_take(&lock, p) {
        take(lock, own).await;
        return Ok(LockOutcome::Acquired);
    }
    refuse_cycle(me, p, m)?;
    wait(lock, own).await;
    // The owner may have released it since: who may spin then sees that.
    let released = me.k.mutexes.get(m).owner.get().is_none();
    if spins(me) && (released || may_spin(me, p, m)) {
        tell(me, p, m, Reason::MutexSpins, Reason::RtlockSpins);
        return Ok(LockOutcome::Spin);
    }
    tell_sleep(me, p, m);
    Ok(LockOutcome::Sleep)
}

/// The waiter runs again, or still: it takes the mutex, unless someone stole it or came before it.
pub(super) async fn resume<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> LockOutcome {
    let lock = me.wait_lock(m).await;
    if may_take(&lock, p) {
        take(lock, me.pi_lock(p).await).await;
        return LockOutcome::Acquired;
    }
    set_current_state(me, waiting_state(me, m));
    if spins(me) && may_spin(me, p, m) {
        return LockOutcome::Spin;
    }
    tell_sleep(me, p, m);
    LockOutcome::Sleep
}

/// `p` goes to sleep for `m`.
pub(super) fn tell_sleep<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) {
    tell(me, p, m, Reason::MutexSleeps, Reason::RtlockSleeps);
}

/// Of locks of the kernel only: who waits for one of user space does so in a system call of its own, which is
/// seen without.
fn tell<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId, of_mutex: Reason, of_spinlock: Reason) {
    let mutex = me.k.mutexes.get(m);
    if mutex.in_kernel.get() {
        me.decide(p, if mutex.rtlock.get() { of_spinlock } else { of_mutex });
    }
}

fn spins<P: Platform>(me: ThisCpu<'_, P>) -> bool {
    me.k.config.rules.rtmutex_spin.get() == RtmutexSpin::OwnerOnCpu
}

fn waiting_state<P: Platform>(me: ThisCpu<'_, P>, m: MutexId) -> TaskState {
    let in_kernel = me.k.mutexes.get(m).in_kernel.get();
    if in_kernel { TaskState::Uninterruptible } else { TaskState::Interruptible }
}

/// Without an owner, the mutex is for the top waiter, or for a task that beats it; equal is enough among fair
/// tasks for a lock of the kernel only.
fn may_take<P: Platform>(lock: &WaitGuard<'_, P>, p: TaskId) -> bool {
    let own = key(lock.me, p);
    let lateral = lock.mutex.rtlock.get() && !own.prio.is_rt();
    let first = |top: Waiter| top.task == p || own.beats(top.key) || lateral && own == top.key;
    lock.mutex.owner.get().is_none() && lock.waiters.top().is_none_or(first)
}

fn key<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> Key {
    pi_key(me.task(p))
}

/// The task whose pi_lock is held becomes the owner, and inherits from whoever still waits.
async fn take<P: Platform>(mut lock: WaitGuard<'_, P>, own: PiGuard<'_, P>) {
    let (me, p) = (lock.me, own.task);
    lock.waiters.remove(p);
    lock.show_top();
    me.task(p).pi.waits_no_more();
    lock.mutex.owner.set(Some(Owner::new(me, p)));
    if lock.mutex.handed_to.take() != Some(p) {
        me.decide(p, Reason::Stolen);
    }
    lend(&lock, &own).await;
}

/// The task whose pi_lock is held becomes a waiter, already marked as asleep. If it is the top one, the owner
/// is boosted, and whoever that one waits for.
async fn wait<P: Platform>(mut lock: WaitGuard<'_, P>, own: PiGuard<'_, P>) {
    let (me, p) = (lock.me, own.task);
    let waiter = Waiter { task: p, key: key(me, p), since: me.now() };
    lock.waiters.insert(waiter);
    lock.show_top();
    me.task(p).pi.takes_part(Part::Waits, lock.id);
    me.task(p).state.set(&own, waiting_state(me, lock.id));
    drop(own);
    let is_top = lock.waiters.top() == Some(waiter);
    let Some(owner) = owner(me, lock.id).filter(|_| is_top) else { return };
    let boosted = lend(&lock, &me.pi_lock(owner).await).await;
    drop(lock);
    if boosted {
        rt_mutex_adjust_prio_chain(me, owner).await;
    }
}

/// Unlock with the waiters bit set (7.4). Whether the owner wakes the top waiter with the priority it
/// inherited or with its own (7.5) decides which CPU the waiter chooses and whom it preempts.
pub(super) async fn unlock<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) {
    let lock = me.wait_lock(m).await;
    lock.mutex.owner.set(None);
    let Some(top) = lock.waiters.top() else {
        lock.mutex.word.set(Word::Free);
        return;
    };
    lock.mutex.handed_to.set(Some(top.task));
    look_again(me, top.task);
    let pi = me.pi_lock(p).await;
    stop_lending(&lock, &pi);
    match me.k.config.rules.deboost_order.get() {
        DeboostOrder::DeboostThenWake => {
            inherit(&pi).await;
            drop((pi, lock));
            // Another unlocker may have been quicker; the task may sleep for something else by now.
            let still_waits = || me.task(top.task).pi.blocked_on() == Some(m);
            try_to_wake_up_if(me, top.task, WakeFlags::default(), still_waits).await;
        }
        DeboostOrder::WakeThenDeboost => {
            drop(pi);
            try_to_wake_up(me, top.task, WakeFlags::default()).await;
            drop(lock);
            inherit(&me.pi_lock(p).await).await;
        }
    }
}
