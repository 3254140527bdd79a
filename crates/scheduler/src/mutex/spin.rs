//! The top waiter of a PI mutex spins while the owner runs (machine.md 3.2; `rtmutex_spin`). Who spins for a
//! mutex of the kernel, `kernel.rs` says.
//!
//! It does so in its own time, its state already that of a sleeper. It watches four things without a lock:
//! who owns the mutex, whether that task is on a CPU, who the top waiter is, and its own need-resched flag.
//! Whoever changes one of the first three for a spinner tells it ([`look_again`]); the flag comes with an
//! interrupt.

use super::{Form, owner};
use crate::platform::Platform;
use crate::{MutexId, TaskId, ThisCpu};

/// What a spinner sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum OwnerSeen {
    /// Nothing has changed: it goes on spinning.
    Runs,
    /// The mutex has no owner: it tries to take it ([`super::lock_resume`]). One of the kernel may also have
    /// an owner who does not run any more.
    Released,
    /// Spinning is of no use any more: it sleeps, and calls [`super::lock_resume`] when it runs again. It
    /// calls [`crate::schedule::schedule`] likewise where it leaves its CPU runnable.
    SleepNow,
}

/// `p`, running on the executing CPU after [`super::LockOutcome::Spin`], looks at the mutex that it waits
/// for.
pub fn spin_on_owner<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> OwnerSeen {
    let seen = match super::form(me, m) {
        Form::Kernel => super::kernel::look(me, p, m),
        Form::Pi | Form::Plain => look(me, p, m),
    };
    me.task(p).pi.spins.set(seen == OwnerSeen::Runs);
    seen
}

fn look<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> OwnerSeen {
    if me.k.mutexes.get(m).owner.get().is_none() {
        OwnerSeen::Released
    } else if may_spin(me, p, m) && !me.k.rq(me.id).published.need_resched() {
        OwnerSeen::Runs
    } else {
        super::pi::tell_sleep(me, p, m);
        OwnerSeen::SleepNow
    }
}

/// Whether `p` is the top waiter of a mutex whose owner is on a CPU.
pub(super) fn may_spin<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, m: MutexId) -> bool {
    let runs = |owner: TaskId| me.task(owner).on_cpu.get();
    me.k.mutexes.get(m).top.get() == Some(p) && owner(me, m).is_some_and(runs)
}

/// Something that `waiter` watches has changed, if it spins.
pub(super) fn look_again<P: Platform>(me: ThisCpu<'_, P>, waiter: TaskId) {
    if me.task(waiter).pi.spins.replace(false) {
        me.k.platform.look_again(me, waiter);
    }
}

/// `p` has left its CPU: nobody spins for what it owns.
pub(crate) fn owner_left<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) {
    let tops = super::chain::lenders(me, p).filter_map(|m| me.k.mutexes.get(m).top.get());
    tops.for_each(|top| look_again(me, top));
    super::kernel::owner_left(me, p);
}
