//! The mutex of a pipe: a mutex of the kernel that reads and writes take (machine.md 3.4; with PREEMPT_RT
//! 3.2).
//!
//! Who reads or writes has it for all of its work in the kernel beyond a bare system call, which is when it
//! copies: the machine file and the load say how long that is, and the time to take a free mutex is part of
//! it. (Measured together, native-6.18; that the whole is under the mutex is assumed: machine.md 1.12 puts
//! the mean hold at 0.3 us, of calls that take 0.26 us.) Only who finds it taken costs more: a wait.
//!
//! Who has slept for a message or for room has done that work already. It takes the mutex for no time, and
//! waits for who has it.

use super::activity::{Activity, Resume};
use super::caller::Caller;
use super::kernel_mutex::ForMutex;
use super::rest::{Rest, Slow};
use crate::engine::hardware::Ahead;
use scheduler::mutex::{FastPath, LockError, LockOutcome, lock_fast, lock_resume, lock_slow, unlock_fast};
use scheduler::{MutexId, Nanos};
use std::cell::Cell;

/// What all waits for mutexes of the kernel come to.
#[derive(Debug, Default)]
pub(crate) struct KernelMutexes {
    /// Those that were over before the task slept.
    pub spun: Waited,
    /// The others, from the beginning.
    pub slept: Waited,
}

/// Waits of one kind.
#[derive(Debug, Default)]
pub(crate) struct Waited {
    pub times: Cell<u64>,
    pub time: Cell<Nanos>,
}

impl Waited {
    /// One more, of so long.
    pub fn count(&self, waited: Nanos) {
        self.times.set(self.times.get() + 1);
        self.time.set(self.time.get() + waited);
    }
}

impl KernelMutexes {
    /// The task wants it for some work; it goes on with that at once if it is free. Where others spin for it,
    /// it counts who comes first, and the task is on its way for as long as its debt says.
    #[inline]
    pub fn enter(&self, call: Caller<'_>, want: ForMutex) -> Rest {
        let is_alone = call.me.k.mutexes.spinners(want.mutex) == 0;
        if is_alone && lock_fast(call.me, call.p, want.mutex) == FastPath::Done {
            call.does(Activity::Kernel { left: want.work, then: want.then });
            return Rest::Nothing;
        }
        KernelMutexes::comes_to(call, want)
    }

    /// Somebody has it, or had it a moment ago.
    pub fn comes_to(call: Caller<'_>, want: ForMutex) -> Rest {
        call.with(|t| match &mut t.for_mutex {
            Some(last) => **last = want,
            None => t.for_mutex = Some(Box::new(want)),
        });
        call.slowly(Slow::KernelMutex)
    }

    /// Whether the mutex that a task looks at again is one of these.
    pub fn waits_for(&self, call: Caller<'_>, mutex: MutexId) -> bool {
        call.with(|t| t.for_mutex.as_ref().is_some_and(|want| want.wanted && want.mutex == mutex))
    }

    /// The task comes to a mutex that seemed to be taken. By the time at which it is there, it may be free.
    pub async fn lock(&self, call: Caller<'_>) {
        call.hw().settled(call.me.id).await;
        let Some(mutex) = call.with(|t| t.for_mutex.as_ref().map(|want| want.mutex)) else { return };
        if lock_fast(call.me, call.p, mutex) == FastPath::Done {
            return self.has(call);
        }
        let owner = call.me.k.mutexes.living_owner(mutex, &call.me.k.tasks);
        let holder = owner.map_or(call.me.id, |owner| call.me.task(owner).cpu.get());
        let since = call.hw().local_now();
        let ahead = Ahead { holder, waiters: call.me.k.mutexes.spinners(mutex) as u16 };
        call.with(|t| {
            if let Some(want) = &mut t.for_mutex {
                (want.since, want.ahead) = (since, ahead);
            }
        });
        let outcome = lock_slow(call.me, call.p, mutex).await;
        self.came(call, mutex, outcome).await;
    }

    /// It has spun, or slept.
    pub async fn lock_again(&self, call: Caller<'_>, mutex: MutexId) {
        let outcome = lock_resume(call.me, call.p, mutex).await;
        self.came(call, mutex, outcome).await;
    }

    async fn came(&self, call: Caller<'_>, mutex: MutexId, outcome: Result<LockOutcome, LockError>) {
        match outcome {
            Ok(LockOutcome::Acquired) => {
                self.count(call);
                self.has(call);
            }
            Ok(LockOutcome::Sleep) => {
                call.with(|t| {
                    if let Some(want) = &mut t.for_mutex {
                        want.slept = true;
                    }
                });
                call.does(Activity::InCall(Resume::Lock(mutex)));
                call.schedule().await;
            }
            Ok(LockOutcome::Spin) => call.does(Activity::SpinOnOwner(mutex)),
            // Whoever reads or writes has no other mutex of the kernel.
            Err(error) => unreachable!("{error}"),
        }
    }

    fn count(&self, call: Caller<'_>) {
        let Some(want) = call.with(|t| t.for_mutex.as_deref().copied()) else { return };
        let now = call.hw().local_now();
        let waited = if want.slept { &self.slept } else { &self.spun };
        waited.count(now.saturating_sub(want.since));
        if !want.slept {
            call.hw().waited_for_pipe(call.me.id, want.channel, want.since, want.ahead);
        }
    }

    /// It has it, and works.
    fn has(&self, call: Caller<'_>) {
        let Some(want) = call.with(|t| t.for_mutex.as_deref_mut().map(ForMutex::take)) else { return };
        call.does(Activity::in_kernel(want.work, want.then));
    }

    /// The task has done what it took the mutex for, and `rest` is left to do. Whoever waits for the mutex is
    /// woken first.
    pub fn unlock(&self, call: Caller<'_>, mutex: MutexId, rest: Rest) -> Rest {
        match unlock_fast(call.me, call.p, mutex) {
            Ok(FastPath::Done) => rest,
            Ok(FastPath::EnterKernel) => {
                let slow = call.tasks.take_slow().map(Box::new);
                call.slowly(Slow::KernelMutexUnlock { mutex, rest, slow })
            }
            Err(error) => unreachable!("{error}"),
        }
    }
}
