//! Who inherits what, and how a change runs along a chain of owners that wait themselves (rt-class 7.1, 7.2
//! step 4).

use super::object::{Loan, WaitGuard};
use super::waiters::pi_key;
use super::{Form, form, owner};
use crate::pi_lock::PiGuard;
use crate::platform::Platform;
use crate::policy::rt_mutex_setprio;
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{DlParams, MutexId, Prio, TaskId, ThisCpu};

/// Longest chain of owners along which a priority is passed (max_lock_depth).
pub const MAX_LOCK_DEPTH: u32 = 1024;

/// What a task is served by, inheritance included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Inherited {
    /// Its effective priority.
    pub prio: Prio,
    /// The parameters of a deadline task that waits for it, if those count.
    pub donor: Option<DlParams>,
}

/// Of a task whose own priority is `normal`: the best of that and what the mutexes it owns lend it. Of
/// several deadline tasks the earliest lends; to a deadline task only if it is earlier than that itself
/// (deadline-groups A10). The caller holds its pi_lock.
pub(crate) fn inherited<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, normal: Prio) -> Inherited {
    let loans = || lenders(me, p).map(|m| me.k.mutexes.get(m).lends.get());
    let prio = loans().map(|loan| loan.prio).fold(normal, Prio::min);
    let earliest = loans().filter_map(|loan| loan.deadline).min_by_key(|(deadline, _)| *deadline);
    let own = normal.is_deadline().then(|| me.task(p).dl.deadline());
    let donor =
        earliest.filter(|(deadline, _)| own.is_none_or(|own| *deadline < own)).map(|(_, params)| params);
    Inherited { prio, donor }
}

/// The PI mutexes that `p` owns and others wait for.
pub(super) fn lenders<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> impl Iterator<Item = MutexId> {
    core::iter::successors(me.task(p).pi.lenders.get(), move |m| me.k.mutexes.get(*m).next_lender.get())
}

/// What the mutex's top waiter has is lent to the task that owns the mutex, whose pi_lock is held as well.
/// Returns whether its effective priority changed.
pub(super) async fn lend<P: Platform>(lock: &WaitGuard<'_, P>, owner: &PiGuard<'_, P>) -> bool {
    let me = lock.me;
    let Some(top) = lock.waiters.top() else { return false };
    let parameters = if top.key.prio.is_deadline() { me.task(top.task).dl.params() } else { None };
    let deadline = parameters.map(|params| (top.key.deadline, params));
    lock.mutex.lends.set(Loan { prio: top.key.prio, deadline });
    if !lenders(me, owner.task).any(|m| m == lock.id) {
        lock.mutex.next_lender.set(me.task(owner.task).pi.lenders.replace(Some(lock.id)));
    }
    inherit(owner).await
}

/// The mutex lends its owner nothing any more; [`inherit`] is still to follow.
pub(super) fn stop_lending<P: Platform>(lock: &WaitGuard<'_, P>, owner: &PiGuard<'_, P>) {
    let me = lock.me;
    let next_lender = |m: MutexId| &me.k.mutexes.get(m).next_lender;
    let before = lenders(me, owner.task).find(|m| next_lender(*m).get() == Some(lock.id));
    let link = before.map_or(&me.task(owner.task).pi.lenders, next_lender);
    if link.get() == Some(lock.id) {
        link.set(lock.mutex.next_lender.take());
    }
    lock.mutex.lends.set(Loan::default());
}

/// Gives a task the effective priority that it should have now; whether that changed it.
pub(super) async fn inherit<P: Platform>(task: &PiGuard<'_, P>) -> bool {
    let normal = task.me.task(task.task).normal_prio.get();
    rt_mutex_setprio(task, inherited(task.me, task.task, normal)).await
}

/// The effective priority of `p` may have changed: if it waits for a PI mutex, its place among the waiters
/// follows, then the owner's priority, then that owner's place where it waits, and so on. Ends at an owner
/// that does not wait, at a waiter that neither was nor becomes the top one, and where nothing changes. Holds
/// no lock between two hops.
pub(crate) async fn rt_mutex_adjust_prio_chain<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) {
    let mut waiter = p;
    for _ in 0..MAX_LOCK_DEPTH {
        let Some(m) = me.task(waiter).pi.blocked_on() else { return };
        if form(me, m) != Form::Pi {
            return;
        }
        let Some(owner) = hop(me, waiter, m).await else { return };
        waiter = owner;
    }
}

/// One hop: `waiter` moves among the waiters of `m`. Returns the owner if that changed its priority.
async fn hop<P: Platform>(me: ThisCpu<'_, P>, waiter: TaskId, m: MutexId) -> Option<TaskId> {
    let mut lock = me.wait_lock(m).await;
    let before = lock.waiters.top()?;
    // It may have got the mutex meanwhile; then it took its present priority along to wherever it waits now.
    if !lock.waiters.requeue(waiter, pi_key(me.task(waiter))) {
        return None;
    }
    lock.show_top();
    let top = lock.waiters.top()?;
    if let Some(owner) = owner(me, m) {
        if top == before {
            return None;
        }
        let pi = me.pi_lock(owner).await;
        return lend(&lock, &pi).await.then_some(owner);
    }
    // Between unlock and take: who is first now has to come and take it.
    if lock.mutex.owner.get().is_none() && top.task != before.task {
        lock.mutex.handed_to.set(Some(top.task));
        try_to_wake_up(me, top.task, WakeFlags::default()).await;
    }
    None
}
