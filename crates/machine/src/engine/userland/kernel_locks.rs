//! Locks of the kernel that operations take by the dozen, as often as machine.md 1.12 says, and for which
//! tasks may have to sleep: spinlocks with PREEMPT_RT, each a sleeping lock then (1.3), and semaphores (3.5).
//!
//! Nearly all are free when they are taken, and given back before anybody asks. So they cost no event. A lock
//! becomes *live*, a mutex or semaphore with an owner, in two ways.
//!
//! - A task is preempted inside the kernel: it is drawn whether it has one. Whoever begins or goes on with an
//!   operation while a lock is live may come to want it; where in the operation, is drawn as well. Who is in
//!   the midst of one on another CPU at that moment does not meet it before the next.
//! - A task begins, or goes on with, an operation while other CPUs are in such: it is drawn when it comes to
//!   a semaphore that one of these has, which may be never. Whether the one comes to what the other has or
//!   the other way round, the later one waits: they are as likely to be either. With spinlocks of PREEMPT_RT
//!   this is not done.

use super::activity::{Activity, Resume};
use super::caller::Caller;
use super::kernel_lock::{InKernelLock, KernelLock, Meeting, Stage, Wait};
use super::kernel_mutexes::Waited;
use crate::objects::ChannelId;
use crate::rng::Rng;
use crate::spec::{
    HeldFor, Lasting, LockClass, LockScope, Rwsems, held_at_some_moment, until_met, until_taken,
};
use scheduler::migrate::{migrate_disable, migrate_enable};
use scheduler::mutex::{
    FastPath, LockError, LockOutcome, lock_fast, lock_resume, lock_slow, unlock_fast, unlock_slow,
};
use scheduler::platform::Platform;
use scheduler::registry;
use scheduler::{MutexId, Nanos, Pid};
use std::cell::RefCell;

/// How long a lock of a channel is held, with the wakeup in it (machine.md 1.12).
const CHANNEL_HOLD: Nanos = Nanos(350);

/// The locks that are live.
#[derive(Debug, Default)]
pub(crate) struct KernelLocks {
    /// How long the machine's kernel holds semaphores. `None`: they are not modelled.
    rwsems: Option<Rwsems>,
    live: RefCell<Vec<Live>>,
    /// Mutexes of locks that no longer are.
    unused: RefCell<Vec<MutexId>>,
    /// The same of semaphores.
    unused_rwsems: RefCell<Vec<MutexId>>,
    /// Waits for semaphores that were over before the task slept.
    pub spun: Waited,
    /// The others, from the beginning.
    pub slept: Waited,
}

#[derive(Clone, Copy, Debug)]
struct Live {
    lock: KernelLock,
    mutex: MutexId,
    /// How many tasks have come to it and not got it yet. A spinner that gives up is neither among its
    /// spinners nor among its waiters for a moment.
    wanted: u32,
}

/// A piece of an operation in the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub lasting: Lasting,
    pub left: Nanos,
    pub then: Resume,
}

/// What the task of another CPU is doing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elsewhere {
    pub meeting: Meeting,
    pub process: Pid,
    pub piece: Piece,
}

impl KernelLocks {
    /// Those of a machine whose kernel holds semaphores for so long.
    pub fn new(rwsems: Option<Rwsems>) -> KernelLocks {
        KernelLocks { rwsems, ..KernelLocks::default() }
    }

    /// Whether somebody may have to wait for one.
    #[inline]
    pub fn any(&self) -> bool {
        self.rwsems.is_some() || !self.live.borrow().is_empty()
    }

    /// Whether operations take semaphores.
    pub fn has_rwsems(&self) -> bool {
        self.rwsems.is_some()
    }

    /// Those for which tasks may have to sleep.
    fn classes(&self, call: Caller<'_>) -> impl Iterator<Item = HeldFor> + '_ {
        let sleeping = call.me.k.config.rules.kernel_locks.get() == registry::KernelLocks::Sleeping;
        let spinlocks = LockClass::SPINLOCKS.into_iter().filter(move |_| sleeping);
        spinlocks.map(|class| HeldFor { class, hold: class.hold() }).chain(self.rwsem_classes())
    }

    fn rwsem_classes(&self) -> impl Iterator<Item = HeldFor> + '_ {
        let hold = |class| self.rwsems.and_then(|rwsems| rwsems.hold(class));
        LockClass::RWSEMS.into_iter().filter_map(move |class| Some(HeldFor { class, hold: hold(class)? }))
    }

    /// How long somebody has one in the mean.
    fn hold(&self, class: LockClass) -> Nanos {
        self.rwsems.and_then(|rwsems| rwsems.hold(class)).unwrap_or(class.hold())
    }

    /// The running task is about to be preempted in a piece of an operation: how long it still has a lock
    /// that it has, if it has one.
    pub fn met(&self, call: Caller<'_>, piece: Piece, rng: &mut Rng) -> Option<(KernelLock, Nanos)> {
        let held = held_at_some_moment(self.classes(call), piece.lasting, rng)?;
        let lock = one_of(held.class, call, rng);
        // Somebody else has it: then this task does not.
        let is_free = self.live_mutex(lock).is_none();
        is_free.then(|| (lock, rng.exponential(held.hold).min(piece.left)))
    }

    /// The running task has a lock for so long, and somebody may notice.
    pub fn holds(&self, call: Caller<'_>, lock: KernelLock, hold: Nanos, left: Nanos, then: Resume) {
        let mutex = self.revive(call, lock);
        let free = lock_fast(call.me, call.p, mutex);
        debug_assert_eq!(free, FastPath::Done);
        self.keeps(call, lock, mutex, hold, left, then);
    }

    /// The running task has a lock from now on, for so long of what is left of its operation. With a spinlock
    /// of PREEMPT_RT it stays where it is.
    fn keeps(
        &self,
        call: Caller<'_>,
        lock: KernelLock,
        mutex: MutexId,
        hold: Nanos,
        left: Nanos,
        then: Resume,
    ) {
        if !lock.is_rwsem() {
            migrate_disable(call.me);
        }
        let rest = left.saturating_sub(hold);
        call.with(|t| {
            t.kernel_lock = Some(Box::new(InKernelLock::comes(lock, Stage::Has(mutex), rest, then)));
            t.activity = Activity::in_kernel(hold, Resume::KernelUnlock);
        });
    }

    /// The task of another CPU has a lock, as one that wants it has found out. It looks at itself soon.
    pub fn is_found(&self, call: Caller<'_>, other: Elsewhere, lock: KernelLock) -> MutexId {
        let mutex = self.revive(call, lock);
        let task = other.meeting.task;
        let free = lock_fast(call.me, task, mutex);
        debug_assert_eq!(free, FastPath::Done);
        let Piece { left, then, .. } = other.piece;
        let found = InKernelLock::comes(lock, Stage::Found(mutex), Nanos::ZERO, then);
        call.tasks.with(task, |t| {
            t.kernel_lock = Some(Box::new(found));
            // Where it was about to come to a lock itself, it no longer is.
            t.activity = Activity::in_kernel(left, then);
        });
        call.hw().look_again(call.me, task);
        mutex
    }

    /// Whether the task was found with a lock, and does not know yet.
    pub fn was_found(&self, call: Caller<'_>) -> bool {
        call.with(|t| t.kernel_lock.as_ref().is_some_and(|lock| matches!(lock.stage, Stage::Found(_))))
    }

    /// The running task, with so much left of a piece of an operation, looks whether it has been found with a
    /// lock: it has that for some time yet.
    pub fn keeps_found(&self, call: Caller<'_>, left: Nanos, rng: &mut Rng) {
        let Some(found) = call.with(|t| t.kernel_lock.as_deref().copied()) else { return };
        if let (Stage::Found(mutex), Some(class)) = (found.stage, found.lock.class()) {
            let hold = rng.exponential(self.hold(class)).min(left);
            self.keeps(call, found.lock, mutex, hold, left, found.then);
        }
    }

    /// A task is about to execute a piece of an operation: it may come to want a lock that is live on the
    /// way, or a semaphore that one of those has who are in such operations on other CPUs.
    pub fn plan(
        &self,
        call: Caller<'_>,
        piece: Piece,
        others: impl Iterator<Item = Elsewhere>,
        rng: &mut Rng,
    ) {
        let process = call.with(|t| t.process);
        let here = |lock: KernelLock| match lock {
            KernelLock::Cpu(class, cpu) => (cpu == call.me.id).then_some(class),
            KernelLock::Process(class, of) => (of == process).then_some(class),
            KernelLock::Machine(class, _) => Some(class),
            KernelLock::Channel(_) => None,
        };
        let mut first = (piece.left, None);
        for live in self.live.borrow().iter() {
            let Some(class) = here(live.lock) else { continue };
            let after = until_taken(class, piece.lasting, rng);
            if after < first.0 {
                first = (after, Some((live.lock, Stage::Wants(live.mutex))));
            }
        }
        let both = others.flat_map(|other| self.rwsem_classes().map(move |held| (other, held)));
        for (other, held) in both {
            if held.class.scope() == LockScope::Process && other.process != process {
                continue;
            }
            let after = until_met(held, [piece.lasting, other.piece.lasting], rng);
            if after < first.0 {
                first = (after, Some((one_of(held.class, call, rng), Stage::Meets(other.meeting))));
            }
        }
        let (after, Some((lock, stage))) = first else { return };
        let comes = InKernelLock::comes(lock, stage, piece.left - after, piece.then);
        call.with(|t| {
            t.kernel_lock = Some(Box::new(comes));
            t.activity = Activity::in_kernel(after, Resume::KernelLock);
        });
    }

    /// A task is about to wait for a message, and another one was preempted while it had the lock that this
    /// takes: it has to wait for that first.
    pub fn wants_channel(&self, call: Caller<'_>, channel: ChannelId, then: Resume) -> bool {
        let lock = KernelLock::Channel(channel);
        let Some(mutex) = self.live_mutex(lock) else { return false };
        let comes = InKernelLock::comes(lock, Stage::Wants(mutex), Nanos::ZERO, then);
        call.with(|t| t.kernel_lock = Some(Box::new(comes)));
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
        call.with(|t| t.kernel_lock.as_ref().is_some_and(|lock| lock.stage == Stage::Wants(mutex)))
    }

    /// It wants the lock that it has come to, unless that is free by now.
    pub async fn lock(&self, call: Caller<'_>) {
        let since = call.hw().local_now();
        let want = call.with(|t| {
            let want = t.kernel_lock.as_deref_mut()?;
            want.since = since;
            Some(*want)
        });
        let Some(want) = want else { return };
        let mutex = match want.stage {
            Stage::Wants(mutex) if self.live_mutex(want.lock) == Some(mutex) => mutex,
            _ => {
                // It is free, and costs no more than it always does.
                call.with(|t| t.kernel_lock = None);
                return call.does(Activity::in_kernel(want.rest, want.then));
            }
        };
        if lock_fast(call.me, call.p, mutex) == FastPath::Done {
            return self.has(call, want, mutex);
        }
        self.live.borrow_mut().iter_mut().filter(|l| l.mutex == mutex).for_each(|l| l.wanted += 1);
        let outcome = lock_slow(call.me, call.p, mutex).await;
        self.came(call, want, mutex, outcome).await;
    }

    /// It has slept for it, or spun.
    pub async fn lock_again(&self, call: Caller<'_>) {
        let Some(want) = call.with(|t| t.kernel_lock.as_deref().copied()) else { return };
        if let Stage::Wants(mutex) = want.stage {
            let outcome = lock_resume(call.me, call.p, mutex).await;
            self.came(call, want, mutex, outcome).await;
        }
    }

    async fn came(
        &self,
        call: Caller<'_>,
        want: InKernelLock,
        mutex: MutexId,
        outcome: Result<LockOutcome, LockError>,
    ) {
        match outcome {
            Ok(LockOutcome::Acquired) => {
                self.live.borrow_mut().iter_mut().filter(|l| l.mutex == mutex).for_each(|l| l.wanted -= 1);
                let waits = match want.waited {
                    Wait::No => None,
                    Wait::Spinning => Some(&self.spun),
                    Wait::Asleep => Some(&self.slept),
                };
                if let Some(waits) = waits.filter(|_| want.lock.is_rwsem()) {
                    waits.count(call.hw().local_now().saturating_sub(want.since));
                }
                self.has(call, want, mutex);
            }
            Ok(LockOutcome::Sleep) => {
                self.waits(call, Wait::Asleep);
                call.does(Activity::InCall(Resume::Lock(mutex)));
                call.schedule().await;
            }
            Ok(LockOutcome::Spin) => {
                if want.waited == Wait::No {
                    self.waits(call, Wait::Spinning);
                }
                call.does(Activity::SpinOnOwner(mutex));
            }
            // Whoever has such a lock wants no other before it has given it back.
            Err(error) => unreachable!("{error}"),
        }
    }

    fn waits(&self, call: Caller<'_>, how: Wait) {
        call.with(|t| {
            if let Some(want) = &mut t.kernel_lock {
                want.waited = how;
            }
        });
    }

    /// It has it now: for as long as one has such a lock in the mean, of what is left of its operation.
    fn has(&self, call: Caller<'_>, want: InKernelLock, mutex: MutexId) {
        // Sending or receiving itself is what the lock of a channel is for: that follows, in its own time.
        let hold = want.lock.class().map_or(Nanos::ZERO, |class| self.hold(class).min(want.rest));
        self.keeps(call, want.lock, mutex, hold, want.rest, want.then);
    }

    /// It gives back the lock that it has, and goes on with its operation.
    pub async fn unlock(&self, call: Caller<'_>) {
        let Some(held) = call.with(|t| t.kernel_lock.take()) else { return };
        let Stage::Has(mutex) = held.stage else { return };
        call.with(|t| {
            t.activity = Activity::in_kernel(held.rest, held.then);
            t.had_channel_lock = matches!(held.then, Resume::Receive(_));
        });
        if unlock_fast(call.me, call.p, mutex) == Ok(FastPath::EnterKernel) {
            unlock_slow(call.me, call.p, mutex).await;
        }
        self.forget_free(call);
        if !held.lock.is_rwsem() {
            migrate_enable(call.me).await;
        }
    }

    /// What somebody has, or waits for.
    pub fn live_mutex(&self, lock: KernelLock) -> Option<MutexId> {
        self.live.borrow().iter().find(|live| live.lock == lock).map(|live| live.mutex)
    }

    fn revive(&self, call: Caller<'_>, lock: KernelLock) -> MutexId {
        let k = call.me.k;
        let mutex = if lock.is_rwsem() {
            self.unused_rwsems.borrow_mut().pop().unwrap_or_else(|| k.mutexes.create_rwsem(&k.config.rules))
        } else {
            self.unused.borrow_mut().pop().unwrap_or_else(|| k.mutexes.create_rtlock())
        };
        self.live.borrow_mut().push(Live { lock, mutex, wanted: 0 });
        mutex
    }

    /// Who has none of its locks live any more: those that nobody has or waits for are not.
    fn forget_free(&self, call: Caller<'_>) {
        let is_free = |live: &Live| live.wanted == 0 && call.me.k.mutexes.is_free(live.mutex);
        let mut live = self.live.borrow_mut();
        for live in live.iter().filter(|l| is_free(l)) {
            let unused = if live.lock.is_rwsem() { &self.unused_rwsems } else { &self.unused };
            unused.borrow_mut().push(live.mutex);
        }
        live.retain(|l| !is_free(l));
    }
}

/// A lock of a class, of those that the running task comes to: which one, is drawn where the machine has
/// several.
fn one_of(class: LockClass, call: Caller<'_>, rng: &mut Rng) -> KernelLock {
    match class.scope() {
        LockScope::Cpu => KernelLock::Cpu(class, call.me.id),
        LockScope::Process => KernelLock::Process(class, call.with(|t| t.process)),
        LockScope::Machine(instances) => KernelLock::Machine(class, rng.below(instances)),
    }
}
