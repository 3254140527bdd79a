//! The mutex of the kernel (machine.md 3.4; `mutex_spin`), and with the rules of `rwsem.rs` its semaphores.
//!
//! Who finds it taken spins as long as the owner is on a CPU: runnable, in its own time, and without a place
//! in the list of waiters. With the queue (`osq`) only the first of them looks at the owner, the others wait
//! for their turn to look. Whoever spins takes the mutex as soon as it is free, before those that sleep.
//!
//! Where spinning is of no use, it becomes a waiter: first come, first served, and asleep in state D. The
//! first waiter that was woken and found the mutex taken again may spin as well, and gets it from the next
//! unlock (hand-off), so that nobody starves.
//!
//! A spinner that has to reschedule leaves its CPU runnable, not asleep: of the 37 724 waits by spinning that
//! were recorded, the longest, 19.8 ms against a median below a microsecond, is one that was off its CPU
//! (machine.md 7.6, native-6.18-machine/results/trace/hackbench.contention.json). When it runs again it does
//! not spin any more.

use super::object::{Mutex, Owner, Part, WaitGuard, Word};
use super::spin::look_again;
use super::waiters::{Key, Waiter};
use super::{Form, LockOutcome, OwnerSeen, form, owner, rwsem};
use crate::platform::Platform;
use crate::registry::MutexSpin;
use crate::schedule::set_current_state;
use crate::wakeup::{WakeFlags, try_to_wake_up_if};
use crate::{MutexId, Nanos, Prio, Reason, TaskId, TaskState, ThisCpu};

/// All waiters are equal.
const FIFO: Key = Key { prio: Prio::NICE_0, deadline: Nanos::ZERO };

/// `p` has found the mutex taken: it spins, or waits.
pub(super) async fn lock<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> LockOutcome {
    let mutex = me.k.mutexes.get(m);
    if try_take(me, p, m) {
        return LockOutcome::Acquired;
    }
    if rule(me, m) != MutexSpin::Never && is_worth_it(me, m) && !me.k.rq(me.id).published.need_resched() {
        mutex.spinners.borrow_mut().push_back(p);
        me.task(p).pi.takes_part(Part::Spins, m);
        me.decide(p, Reason::MutexSpins);
        return LockOutcome::Spin;
    }
    wait(me, p, m).await
}

/// `p` spins, and looks.
pub(super) fn look<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> OwnerSeen {
    if me.k.rq(me.id).published.need_resched() {
        leave(me, p, m);
        // For a semaphore it tries once more, and sleeps; it does not leave its CPU before.
        return if rwsem::is_one(me, m) { OwnerSeen::Released } else { OwnerSeen::SleepNow };
    }
    let has_turn = !is_queued(me, p, m) || looks(me, p, m);
    if has_turn && !is_taken_by_running(me, p, m) { OwnerSeen::Released } else { OwnerSeen::Runs }
}

/// `p` has seen that spinning is over, or runs again: it takes the mutex, or waits, or spins as the first
/// waiter.
pub(super) async fn resume<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> LockOutcome {
    if me.task(p).pi.blocked_on() == Some(m) {
        return resume_waiting(me, p, m).await;
    }
    if is_queued(me, p, m) {
        if try_take(me, p, m) {
            leave(me, p, m);
            return LockOutcome::Acquired;
        }
        if is_worth_it(me, m) {
            return LockOutcome::Spin;
        }
        leave(me, p, m);
    }
    wait(me, p, m).await
}

/// The first waiter was woken, or spins: it takes the mutex, if that is free or was handed to it. If not, it
/// is to get it next.
async fn resume_waiting<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> LockOutcome {
    let mut lock = me.wait_lock(m).await;
    if owner(me, m) == Some(p) || try_take(me, p, m) {
        own(me, p, m);
        lock.waiters.remove(p);
        lock.show_top();
        lock.mutex.handoff.set(false);
        if lock.waiters.top().is_none() {
            lock.mutex.word.set(Word::Locked);
        }
        set_current_state(me, TaskState::Running);
        return LockOutcome::Acquired;
    }
    let first = lock.waiters.top().filter(|first| first.task == p);
    let is_next = |first| !rwsem::is_one(me, m) || rwsem::is_impatient(me, first);
    if rule(me, m) == MutexSpin::Osq && first.is_some_and(is_next) {
        lock.mutex.handoff.set(true);
        if is_worth_it(me, m) && !me.k.rq(me.id).published.need_resched() {
            set_current_state(me, TaskState::Running);
            return LockOutcome::Spin;
        }
    }
    sleeps(&lock, p)
}

/// `p` becomes a waiter, unless the mutex is free by now.
async fn wait<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> LockOutcome {
    let mut lock = me.wait_lock(m).await;
    if try_take(me, p, m) {
        return LockOutcome::Acquired;
    }
    lock.waiters.insert(Waiter { task: p, key: FIFO, since: me.now() });
    lock.show_top();
    lock.mutex.word.set(Word::Waiters);
    me.task(p).pi.takes_part(Part::Waits, m);
    sleeps(&lock, p)
}

fn sleeps<P: Platform>(lock: &WaitGuard<'_, P>, p: TaskId) -> LockOutcome {
    set_current_state(lock.me, TaskState::Uninterruptible);
    lock.me.decide(p, Reason::MutexSleeps);
    LockOutcome::Sleep
}

/// `p` gives the mutex up. If it is to be handed over, that follows in [`wake_first`], and nobody else gets
/// it; else whoever comes first has it.
pub(super) fn release<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) {
    let mutex = me.k.mutexes.get(m);
    me.task(p).pi.takes_part(Part::Nothing, m);
    if mutex.handoff.get() {
        return;
    }
    if mutex.word.get() == Word::Locked {
        mutex.word.set(Word::Free);
    }
    mutex.owner.set(None);
    tell(me, m);
}

/// The rest of the unlock by `p` while others wait: the first of them gets the mutex, if it was woken in vain
/// before, and is woken.
pub(super) async fn wake_first<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) {
    let lock = me.wait_lock(m).await;
    let Some(first) = lock.mutex.top.get() else { return };
    // Where it was given up at once, somebody else may have it, and the first may have come in vain since.
    if owner(me, m) == Some(p) {
        lock.mutex.handoff.set(false);
        // It is on the list until it comes to take it.
        lock.mutex.owner.set(Some(Owner::new(me, first)));
        me.decide(first, Reason::MutexHandedOver);
        tell(me, m);
    }
    drop(lock);
    let still_waits = || me.task(first).pi.blocked_on() == Some(m);
    try_to_wake_up_if(me, first, WakeFlags::default(), still_waits).await;
}

/// Takes the mutex if it has no owner.
fn try_take<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> bool {
    let mutex = me.k.mutexes.get(m);
    let is_free = mutex.owner.get().is_none();
    if is_free {
        own(me, p, m);
        if mutex.word.get() == Word::Free {
            mutex.word.set(Word::Locked);
        }
    }
    is_free
}

/// `p` owns the mutex from now on.
pub(super) fn own<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) {
    me.k.mutexes.get(m).owner.set(Some(Owner::new(me, p)));
    me.task(p).pi.takes_part(Part::Has, m);
}

/// `p` has left its CPU: nobody spins for a mutex of the kernel that it has.
#[inline]
pub(super) fn owner_left<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) {
    let pi = &me.task(p).pi;
    if pi.has_no_part() {
        return;
    }
    let Some(m) = pi.mutex(Part::Has).or(pi.blocked_on()) else { return };
    if form(me, m) == Form::Kernel && owner(me, m) == Some(p) {
        tell(me, m);
    }
}

/// The owner, or who waits, has changed: those that look at it look again.
pub(super) fn tell<P: Platform>(me: ThisCpu<'_, P>, m: MutexId) {
    let mutex = me.k.mutexes.get(m);
    if let Some(first) = mutex.top.get() {
        look_again(me, first);
    }
    let at_once = match rule(me, m) {
        MutexSpin::Osq => 1,
        MutexSpin::OwnerOnCpu | MutexSpin::Never => usize::MAX,
    };
    for spinner in mutex.spinners.borrow().iter().take(at_once) {
        look_again(me, *spinner);
    }
}

/// `p` does not spin any more; with the queue, the next one has its turn.
fn leave<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) {
    let mutex = me.k.mutexes.get(m);
    if is_queued(me, p, m) {
        me.task(p).pi.takes_part(Part::Nothing, m);
    }
    mutex.spinners.borrow_mut().retain(|spinner| *spinner != p);
    if let Some(next) = first_spinner(mutex) {
        look_again(me, next);
    }
}

pub(super) fn first_spinner(mutex: &Mutex) -> Option<TaskId> {
    mutex.spinners.borrow().front().copied()
}

/// Whether `p` is among the spinners: the first waiter is not.
fn is_queued<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> bool {
    me.task(p).pi.mutex(Part::Spins) == Some(m)
}

/// Whether `p`, one of the spinners, looks at the owner.
fn looks<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> bool {
    rule(me, m) != MutexSpin::Osq || first_spinner(me.k.mutexes.get(m)) == Some(p)
}

/// Whether somebody else has it, who is on a CPU.
fn is_taken_by_running<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> bool {
    owner(me, m).is_some_and(|owner| owner != p && me.task(owner).on_cpu.get())
}

/// Whether it may soon be had: it is free, or its owner is on a CPU.
fn is_worth_it<P: Platform>(me: ThisCpu<'_, P>, m: MutexId) -> bool {
    owner(me, m).is_none_or(|owner| me.task(owner).on_cpu.get())
}

fn rule<P: Platform>(me: ThisCpu<'_, P>, m: MutexId) -> MutexSpin {
    if rwsem::is_one(me, m) { rwsem::rule(me) } else { rule_of_mutexes(me) }
}

pub(super) fn rule_of_mutexes<P: Platform>(me: ThisCpu<'_, P>) -> MutexSpin {
    me.k.config.rules.mutex_spin.get()
}
