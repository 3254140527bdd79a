//! Two run-queue locks at once (rt-class 5.6).
//!
//! Whoever holds the lock of one queue and wants that of another may have to let the first one go, because
//! the global order is by CPU number. So the guard is given away, and two new ones come back, with the word
//! whether everything known about the first queue is stale.
//!
//! Most double locks are had at once. So a hot path asks [`double_lock_at_once`], and only what is left to
//! wait for,
//! [`Pending`], is awaited: a future that is not needed is not made and moved.

use crate::platform::Platform;
use crate::registry::DoubleLock;
use crate::rq::{Busy, RqGuard, Taken};
use crate::{CpuId, ThisCpu};

/// Two run-queue locks held at once.
pub(crate) struct DoubleLocked<'k, P: Platform> {
    /// The one that the caller held before.
    pub own: RqGuard<'k, P>,
    /// The other one.
    pub other: RqGuard<'k, P>,
    /// Whether `own` was released in between, so that everything known about it is stale.
    pub dropped: bool,
}

/// A double lock under way that another CPU may get in front of; by what is held.
pub(crate) enum Pending<'k, P: Platform> {
    /// The caller's lock; the other one is about to be tried.
    Try { own: RqGuard<'k, P>, other: CpuId },
    /// The caller's lock; the other one, which is later in the order, was not free.
    Own { own: RqGuard<'k, P>, other: CpuId },
    /// No lock.
    Neither { me: ThisCpu<'k, P>, own: CpuId, other: CpuId },
    /// The one that is first in the order.
    First { first: RqGuard<'k, P>, own: CpuId, other: CpuId },
}

/// Takes the lock of `other` in addition to the one held.
///
/// Virtual time passes. `other` must not be the CPU whose lock is held.
pub(crate) async fn double_lock_balance<P: Platform>(
    own: RqGuard<'_, P>,
    other: CpuId,
) -> DoubleLocked<'_, P> {
    match double_lock_at_once(own, other) {
        Ok(locked) => locked,
        Err(pending) => pending.wait().await,
    }
}

/// The same as far as it goes before any other CPU can act.
pub(crate) fn double_lock_at_once<P: Platform>(
    own: RqGuard<'_, P>,
    other: CpuId,
) -> Result<DoubleLocked<'_, P>, Pending<'_, P>> {
    let me = own.me;
    debug_assert_ne!(own.cpu, other);
    match me.k.config.rules.double_lock.get() {
        DoubleLock::TryLock => match me.try_at_once(other) {
            Some(tried) => after_try(own, other, tried),
            None => Err(Pending::Try { own, other }),
        },
        DoubleLock::Fair => let_go(own, other),
    }
}

fn after_try<P: Platform>(
    own: RqGuard<'_, P>,
    other: CpuId,
    tried: Result<Taken, Busy>,
) -> Result<DoubleLocked<'_, P>, Pending<'_, P>> {
    let taken = match tried {
        Ok(taken) => taken,
        Err(Busy) if own.cpu < other => match own.me.take_at_once(other) {
            Some(taken) => taken,
            None => return Err(Pending::Own { own, other }),
        },
        Err(Busy) => return let_go(own, other),
    };
    let other = own.me.guard(taken);
    Ok(DoubleLocked { own, other, dropped: false })
}

/// Gives up the caller's lock and takes both in order.
fn let_go<P: Platform>(own: RqGuard<'_, P>, other: CpuId) -> Result<DoubleLocked<'_, P>, Pending<'_, P>> {
    let (me, own_cpu) = (own.me, own.cpu);
    drop(own);
    match me.take_at_once(own_cpu.min(other)) {
        Some(first) => with_first(me.guard(first), own_cpu, other),
        None => Err(Pending::Neither { me, own: own_cpu, other }),
    }
}

fn with_first<P: Platform>(
    first: RqGuard<'_, P>,
    own: CpuId,
    other: CpuId,
) -> Result<DoubleLocked<'_, P>, Pending<'_, P>> {
    match first.me.take_at_once(own.max(other)) {
        Some(second) => {
            let second = first.me.guard(second);
            Ok(both(first, second, own))
        }
        None => Err(Pending::First { first, own, other }),
    }
}

/// Both locks, taken in order after the caller's was given up.
fn both<'k, P: Platform>(first: RqGuard<'k, P>, second: RqGuard<'k, P>, own: CpuId) -> DoubleLocked<'k, P> {
    if first.cpu == own {
        DoubleLocked { own: first, other: second, dropped: true }
    } else {
        DoubleLocked { own: second, other: first, dropped: true }
    }
}

impl<'k, P: Platform> Pending<'k, P> {
    /// Waits for what is missing.
    pub async fn wait(mut self) -> DoubleLocked<'k, P> {
        loop {
            let further = match self {
                Pending::Try { own, other } => {
                    let tried = own.me.try_take(other).await;
                    after_try(own, other, tried)
                }
                Pending::Own { own, other } => {
                    let other = own.me.lock(other).await;
                    return DoubleLocked { own, other, dropped: false };
                }
                Pending::Neither { me, own, other } => {
                    let first = me.lock(own.min(other)).await;
                    with_first(first, own, other)
                }
                Pending::First { first, own, other } => {
                    let second = first.me.lock(own.max(other)).await;
                    return both(first, second, own);
                }
            };
            match further {
                Ok(locked) => return locked,
                Err(pending) => self = pending,
            }
        }
    }
}
