//! Mutexes from the tasks' side: the fast path in user space, the system call, and the sleep in it.

use crate::engine::hardware::hw::Hw;
use crate::engine::kernel::execution::Next;
use crate::engine::kernel::sim::{Progress, Sim, Then};
use crate::engine::kernel::steps::Path;
use crate::outcome::{DeadlockLink, RunError};
use scheduler::mutex::{
    Deadlock, FastPath, LockError, LockOutcome, OwnerSeen, lock_fast, lock_resume, lock_slow, spin_on_owner,
    unlock_fast, unlock_slow,
};
use scheduler::{MutexId, Nanos, TaskId, ThisCpu};

/// A spinner executes until [`scheduler::platform::Platform::look_again`] or an interrupt; no run is as long.
const UNTIL_TOLD: Nanos = Nanos(1 << 62);

impl Sim {
    pub fn lock_mutex(&self, me: ThisCpu<'_, Hw>, p: TaskId, id: MutexId) -> Path {
        if lock_fast(me, p, id) == FastPath::Done {
            self.with(p, |t| t.locks_held += 1);
            Path::Done
        } else {
            self.syscall();
            Path::LockSlow(id)
        }
    }

    pub async fn lock_slow(&self, me: ThisCpu<'_, Hw>, p: TaskId, id: MutexId) {
        let outcome = lock_slow(me, p, id).await;
        self.locked(me, p, id, outcome).await;
    }

    /// The task runs again after it slept for the mutex.
    pub async fn lock_again(&self, me: ThisCpu<'_, Hw>, p: TaskId, id: MutexId) {
        let outcome = lock_resume(me, p, id).await;
        self.locked(me, p, id, outcome).await;
    }

    /// The task waits for a PI mutex and executes: does it still?
    pub fn spin_for(&self, me: ThisCpu<'_, Hw>, p: TaskId, id: MutexId) -> Next {
        match spin_on_owner(me, p, id) {
            OwnerSeen::Runs => Next::Execute(UNTIL_TOLD),
            OwnerSeen::Released => Next::Follow(self.resume(me, p, Then::Lock(id))),
            OwnerSeen::SleepNow => {
                self.set_progress(p, Progress::Resume(Then::Lock(id)));
                Next::Follow(Path::Sleep)
            }
        }
    }

    async fn locked(
        &self,
        me: ThisCpu<'_, Hw>,
        p: TaskId,
        id: MutexId,
        outcome: Result<LockOutcome, LockError>,
    ) {
        match outcome {
            Ok(LockOutcome::Acquired) => self.with(p, |t| t.locks_held += 1),
            // Its state was set when it became a waiter: whoever unlocks may have woken it meanwhile.
            Ok(LockOutcome::Sleep) => self.leave_asleep(me, p, Then::Lock(id)).await,
            Ok(LockOutcome::Spin) => self.set_progress(p, Progress::SpinOnOwner(id)),
            Err(error) => {
                let (pid, comm) = self.with(p, |t| (t.pid, t.comm.clone()));
                let lock = self.mutexes[id.index()].name.clone();
                self.fail(match error {
                    LockError::AlreadyOwner(_) => RunError::Relock { pid, comm, lock },
                    LockError::ChainTooLong(_) => RunError::ChainTooLong { pid, comm, lock },
                    LockError::Deadlock(deadlock) => self.deadlock(&deadlock),
                });
            }
        }
    }

    pub fn unlock_mutex(&self, me: ThisCpu<'_, Hw>, p: TaskId, id: MutexId) -> Path {
        match unlock_fast(me, p, id) {
            Ok(FastPath::Done) => self.with(p, |t| t.locks_held -= 1),
            Ok(FastPath::EnterKernel) => {
                self.with(p, |t| t.locks_held -= 1);
                self.syscall();
                return Path::UnlockSlow(id);
            }
            Err(_) => {
                let (pid, comm) = self.with(p, |t| (t.pid, t.comm.clone()));
                self.fail(RunError::NotOwner { pid, comm, lock: self.mutexes[id.index()].name.clone() });
            }
        }
        Path::Done
    }

    pub async fn unlock_slow(&self, me: ThisCpu<'_, Hw>, p: TaskId, id: MutexId) {
        unlock_slow(me, p, id).await;
    }

    fn deadlock(&self, deadlock: &Deadlock) -> RunError {
        let cycle = deadlock.cycle.iter().map(|waits| {
            let mutex = self.mutexes[waits.mutex.index()].name.clone();
            self.with(waits.task, |t| DeadlockLink { pid: t.pid, comm: t.comm.clone(), mutex })
        });
        RunError::Deadlock { at: self.hw().local_now(), cycle: cycle.collect() }
    }
}
