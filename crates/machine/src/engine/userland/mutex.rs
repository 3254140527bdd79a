//! Mutexes from the tasks' side: the fast path in user space, the system call, and the sleep in it.

use super::activity::{Activity, Resume};
use super::caller::Caller;
use super::rest::{Length, Next, Rest, Slow};
use crate::outcome::{DeadlockLink, RunError};
use crate::setup::MutexSpec;
use scheduler::mutex::{
    Deadlock, FastPath, LockError, LockOutcome, OwnerSeen, lock_fast, lock_resume, lock_slow, spin_on_owner,
    unlock_fast,
};
use scheduler::{MutexId, Nanos};

/// What messages say of each mutex; the mutexes themselves are the scheduler's.
#[derive(Debug)]
pub(crate) struct Mutexes {
    pub specs: Vec<MutexSpec>,
}

/// A spinner executes until [`scheduler::platform::Platform::look_again`] or an interrupt; no run is as long.
const UNTIL_TOLD: Nanos = Nanos(1 << 62);

impl Mutexes {
    /// What messages call it.
    pub fn name(&self, id: MutexId) -> String {
        self.specs.get(id.index()).map_or_else(|| "of the kernel".to_owned(), |spec| spec.name.clone())
    }

    /// pthread_mutex_lock.
    pub fn lock(&self, call: Caller<'_>, id: MutexId) -> Rest {
        if lock_fast(call.me, call.p, id) == FastPath::Done {
            call.with(|t| t.locks_held.add());
            return Rest::Nothing;
        }
        call.syscall();
        call.slowly(Slow::Lock(id))
    }

    /// The task waits for a PI mutex and executes: does it still?
    pub fn spin_for(&self, call: Caller<'_>, id: MutexId) -> Next {
        Next::Follow(match spin_on_owner(call.me, call.p, id) {
            OwnerSeen::Runs => return Next::Execute(Length::Time(UNTIL_TOLD)),
            OwnerSeen::Released => {
                call.does(Activity::Ready);
                call.slowly(Slow::LockAgain(id))
            }
            OwnerSeen::SleepNow => {
                call.does(Activity::InCall(Resume::Lock(id)));
                Rest::Sleep
            }
        })
    }

    /// In the kernel, because the mutex is not free.
    pub async fn lock_slow(&self, call: Caller<'_>, id: MutexId) {
        let outcome = lock_slow(call.me, call.p, id).await;
        self.locked(call, id, outcome).await;
    }

    /// The task runs again after it slept for the mutex.
    pub async fn lock_again(&self, call: Caller<'_>, id: MutexId) {
        let outcome = lock_resume(call.me, call.p, id).await;
        self.locked(call, id, outcome).await;
    }

    async fn locked(&self, call: Caller<'_>, id: MutexId, outcome: Result<LockOutcome, LockError>) {
        match outcome {
            Ok(LockOutcome::Acquired) => call.with(|t| t.locks_held.add()),
            // Its state was set when it became a waiter: whoever unlocks may have woken it meanwhile.
            Ok(LockOutcome::Sleep) => {
                call.does(Activity::InCall(Resume::Lock(id)));
                call.schedule().await;
            }
            Ok(LockOutcome::Spin) => call.does(Activity::SpinOnOwner(id)),
            Err(error) => call.fail(|pid, comm| match error {
                LockError::AlreadyOwner(_) => RunError::Relock { pid, comm, lock: self.name(id) },
                LockError::ChainTooLong(_) => RunError::ChainTooLong { pid, comm, lock: self.name(id) },
                LockError::Deadlock(deadlock) => self.deadlock(call, &deadlock),
            }),
        }
    }

    /// pthread_mutex_unlock.
    pub fn unlock(&self, call: Caller<'_>, id: MutexId) -> Rest {
        match unlock_fast(call.me, call.p, id) {
            Ok(FastPath::Done) => call.with(|t| t.locks_held.remove()),
            Ok(FastPath::EnterKernel) => {
                call.with(|t| t.locks_held.remove());
                call.syscall();
                return call.slowly(Slow::Unlock(id));
            }
            Err(_) => call.fail(|pid, comm| RunError::NotOwner { pid, comm, lock: self.name(id) }),
        }
        Rest::Nothing
    }

    fn deadlock(&self, call: Caller<'_>, deadlock: &Deadlock) -> RunError {
        let cycle = deadlock.cycle.iter().map(|waits| {
            let mutex = self.name(waits.mutex);
            call.tasks.with(waits.task, |t| DeadlockLink { pid: t.pid, comm: t.comm.clone(), mutex })
        });
        RunError::Deadlock { at: call.hw().local_now(), cycle: cycle.collect() }
    }
}
