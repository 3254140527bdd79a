//! Spinlocks of a kernel with PREEMPT_RT: who has one can be preempted, and others sleep for it (machine.md
//! 1.3, 1.12): sleeping locks.
//!
//! Nearly all are free when they are taken, and given back before anybody asks. So they cost no event: only
//! when a task is preempted inside the kernel it is drawn whether it has one, and that one is *live* from
//! then on: a mutex with inheritance, and its owner stays on its CPU. Whoever begins or goes on with an
//! operation while a lock is live may come to want it; where in the operation, is drawn as well. Who is in
//! the midst of one on another CPU at that moment does not meet it before the next.

use super::activity::{Activity, Resume};
use super::caller::Caller;
use super::kernel_lock::{InKernelLock, KernelLock};
use crate::objects::ChannelId;
use crate::rng::Rng;
use crate::spec::{LockScope, Operation, held_at_some_moment, until_taken};
use scheduler::migrate::{migrate_disable, migrate_enable};
use scheduler::mutex::{
    FastPath, LockError, LockOutcome, lock_fast, lock_resume, lock_slow, unlock_fast, unlock_slow,
};
use scheduler::{MutexId, Nanos};
use std::cell::RefCell;

/// How long a lock of a channel is held, with the wakeup in it (machine.md 1.12).
const CHANNEL_HOLD: Nanos = Nanos(350);

/// The locks that are live.
#[derive(Debug, Default)]
pub(crate) struct KernelLocks {
    live: RefCell<Vec<Live>>,
    /// Mutexes of locks that no longer are.
    unused: RefCell<Vec<MutexId>>,
}

#[derive(Clone, Copy, Debug)]
struct Live {
    lock: KernelLock,
    mutex: MutexId,
}

/// A piece of an operation in the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub operation: Operation,
    /// How long the whole operation takes.
    pub whole: Nanos,
    pub left: Nanos,
    pub then: Resume,
}

impl KernelLocks {
    /// Whether somebody may have to wait for one.
    #[inline]
    pub fn any(&self) -> bool {
        !self.live.borrow().is_empty()
    }

    /// The running task is about to be preempted in a piece of an operation: how long it still has a lock
    /// that it has, if it has one.
    pub fn met(&self, call: Caller<'_>, piece: Piece, rng: &mut Rng) -> Option<(KernelLock, Nanos)> {
        let class = held_at_some_moment(piece.operation, piece.whole, rng)?;
        let lock = match class.scope() {
            LockScope::Cpu => KernelLock::Cpu(class, call.me.id),
            LockScope::Machine(instances) => KernelLock::Machine(class, rng.below(instances)),
        };
        // Somebody else has it: then this task does not.
        let is_free = self.live_mutex(lock).is_none();
        is_free.then(|| (lock, rng.exponential(class.hold()).min(piece.left)))
    }

    /// The running task has a lock for so long, and somebody may notice.
    pub fn holds(&self, call: Caller<'_>, lock: KernelLock, hold: Nanos, left: Nanos, then: Resume) {
        let mutex = self.revive(call, lock);
        let free = lock_fast(call.me, call.p, mutex);
        debug_assert_eq!(free, FastPath::Done);
        migrate_disable(call.me);
        let rest = left.saturating_sub(hold);
        call.with(|t| {
            t.kernel_lock = Some(Box::new(InKernelLock { lock, mutex, has: true, rest, then }));
            t.activity = Activity::in_kernel(hold, Resume::KernelUnlock);
        });
    }

    /// A task is about to execute a piece of an operation while locks are live: it may come to want one of
    /// them on the way.
    pub fn plan(&self, call: Caller<'_>, piece: Piece, rng: &mut Rng) {
        let here = |lock: KernelLock| match lock {
            KernelLock::Cpu(class, cpu) => (cpu == call.me.id).then_some(class),
            KernelLock::Machine(class, _) => Some(class),
            KernelLock::Channel(_) => None,
        };
        let live = self.live.borrow();
        let wanted = live.iter().filter_map(|live| {
            let class = here(live.lock)?;
            Some((until_taken(class, piece.operation, piece.whole, rng), *live))
        });
        let first = wanted.min_by_key(|(after, _)| *after);
        let Some((after, live)) = first.filter(|(after, _)| *after < piece.left) else { return };
        let (rest, then) = (piece.left - after, piece.then);
        call.with(|t| {
            t.kernel_lock =
                Some(Box::new(InKernelLock { lock: live.lock, mutex: live.mutex, has: false, rest, then }));
            t.activity = Activity::in_kernel(after, Resume::KernelLock);
        });
    }

    /// A task is about to wait for a message, and another one was preempted while it had the lock that this
    /// takes: it has to wait for that first.
    pub fn wants_channel(&self, call: Caller<'_>, channel: ChannelId, then: Resume) -> bool {
        let lock = KernelLock::Channel(channel);
        let Some(mutex) = self.live_mutex(lock) else { return false };
        let rest = Nanos::ZERO;
        call.with(|t| t.kernel_lock = Some(Box::new(InKernelLock { lock, mutex, has: false, rest, then })));
        true
    }

    /// The running task has woken another one under the lock of a channel, and is preempted before it has
    /// given that back.
    pub fn holds_channel(&self, call: Caller<'_>, channel: ChannelId, rng: &mut Rng) {
        let lock = KernelLock::Channel(channel);
        if self.live_mutex(lock).is_none() {
            let hold = rng.exponential(CHANNEL_HOLD);
            self.holds(call, lock, hold, hold, Resume::Return);
        }
    }

    /// Whether the lock for which a task waits is one of these.
    pub fn waits_for(&self, call: Caller<'_>, mutex: MutexId) -> bool {
        call.with(|t| t.kernel_lock.as_ref().is_some_and(|lock| lock.mutex == mutex && !lock.has))
    }

    /// It wants the lock that it has come to, unless that is free by now.
    pub async fn lock(&self, call: Caller<'_>) {
        let Some(want) = call.with(|t| t.kernel_lock.as_deref().copied()) else { return };
        if self.live_mutex(want.lock) != Some(want.mutex) {
            // It is free, and costs no more than it always does.
            call.with(|t| t.kernel_lock = None);
            return call.does(Activity::in_kernel(want.rest, want.then));
        }
        if lock_fast(call.me, call.p, want.mutex) == FastPath::Done {
            return self.has(call, want);
        }
        let outcome = lock_slow(call.me, call.p, want.mutex).await;
        self.came(call, want, outcome).await;
    }

    /// It has slept for it, or spun.
    pub async fn lock_again(&self, call: Caller<'_>) {
        let Some(want) = call.with(|t| t.kernel_lock.as_deref().copied()) else { return };
        let outcome = lock_resume(call.me, call.p, want.mutex).await;
        self.came(call, want, outcome).await;
    }

    async fn came(&self, call: Caller<'_>, want: InKernelLock, outcome: Result<LockOutcome, LockError>) {
        match outcome {
            Ok(LockOutcome::Acquired) => self.has(call, want),
            Ok(LockOutcome::Sleep) => {
                call.does(Activity::InCall(Resume::Lock(want.mutex)));
                call.schedule().await;
            }
            Ok(LockOutcome::Spin) => call.does(Activity::SpinOnOwner(want.mutex)),
            // Whoever has such a lock wants no other before it has given it back.
            Err(error) => unreachable!("{error}"),
        }
    }

    /// It has it now: for as long as one has such a lock in the mean, of what is left of its operation.
    fn has(&self, call: Caller<'_>, want: InKernelLock) {
        migrate_disable(call.me);
        let hold = match want.lock {
            KernelLock::Cpu(class, _) | KernelLock::Machine(class, _) => class.hold().min(want.rest),
            // Sending or receiving itself is what it is for: that follows, and takes its own time.
            KernelLock::Channel(_) => Nanos::ZERO,
        };
        call.with(|t| {
            t.kernel_lock = Some(Box::new(InKernelLock { has: true, rest: want.rest - hold, ..want }));
            t.activity = Activity::in_kernel(hold, Resume::KernelUnlock);
        });
    }

    /// It gives back the lock that it has, and goes on with its operation.
    pub async fn unlock(&self, call: Caller<'_>) {
        let Some(held) = call.with(|t| t.kernel_lock.take()) else { return };
        call.with(|t| {
            t.activity = Activity::in_kernel(held.rest, held.then);
            t.had_channel_lock = matches!(held.then, Resume::Receive(_));
        });
        if unlock_fast(call.me, call.p, held.mutex) == Ok(FastPath::EnterKernel) {
            unlock_slow(call.me, call.p, held.mutex).await;
        }
        self.forget_free(call);
        migrate_enable(call.me).await;
    }

    fn live_mutex(&self, lock: KernelLock) -> Option<MutexId> {
        self.live.borrow().iter().find(|live| live.lock == lock).map(|live| live.mutex)
    }

    fn revive(&self, call: Caller<'_>, lock: KernelLock) -> MutexId {
        let mutex = self.unused.borrow_mut().pop().unwrap_or_else(|| call.me.k.mutexes.create_rtlock());
        self.live.borrow_mut().push(Live { lock, mutex });
        mutex
    }

    /// Who has none of its locks live any more: those that nobody has or waits for are not.
    fn forget_free(&self, call: Caller<'_>) {
        let is_free = |live: &Live| call.me.k.mutexes.is_free(live.mutex);
        let mut live = self.live.borrow_mut();
        self.unused.borrow_mut().extend(live.iter().filter(|l| is_free(l)).map(|l| l.mutex));
        live.retain(|l| !is_free(l));
    }
}
