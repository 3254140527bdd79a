//! A task's pi_lock: it serialises the task's wakeups and changes of its parameters. Taken after a mutex's
//! wait_lock and before a run-queue lock.

use crate::platform::{Lock, Platform};
use crate::rq::RqGuard;
use crate::shared::{PiAndRqLock, Proof, Residence, Wakefulness};
use crate::{TaskId, ThisCpu};

/// [`ThisCpu::pi_lock`] without a future of its own, for a hot path.
macro_rules! pi_lock_here {
    ($me:expr, $task:expr) => {{
        let (me, task) = ($me, $task);
        let taken = match me.take_pi_at_once(task) {
            Some(taken) => taken,
            None => me.take_pi(task).await,
        };
        me.pi_guard(taken)
    }};
}
pub(crate) use pi_lock_here;

/// Proof that the executing path holds the pi_lock of this task, and has no guard of it yet.
#[must_use = "a lock that was taken is given back by its guard"]
pub(crate) struct TakenPi(TaskId);

/// A held pi_lock; dropping it releases the lock.
pub(crate) struct PiGuard<'k, P: Platform> {
    pub me: ThisCpu<'k, P>,
    pub task: TaskId,
}

impl<P: Platform> Drop for PiGuard<'_, P> {
    fn drop(&mut self) {
        self.me.k.platform.release(self.me.id, Lock::Pi(self.task));
    }
}

impl<P: Platform> Proof<Residence> for PiGuard<'_, P> {}
impl<P: Platform> Proof<Wakefulness> for PiGuard<'_, P> {}
impl<P: Platform> Proof<PiAndRqLock> for (&PiGuard<'_, P>, &RqGuard<'_, P>) {}

impl<'k, P: Platform> ThisCpu<'k, P> {
    /// Takes the pi_lock of `task`.
    pub(crate) async fn pi_lock(self, task: TaskId) -> PiGuard<'k, P> {
        pi_lock_here!(self, task)
    }

    /// Takes the lock if that is possible before any other CPU can act.
    #[inline]
    pub(crate) fn take_pi_at_once(self, task: TaskId) -> Option<TakenPi> {
        self.k.platform.acquire_at_once(self.id, Lock::Pi(task)).then_some(TakenPi(task))
    }

    /// Takes the lock.
    pub(crate) async fn take_pi(self, task: TaskId) -> TakenPi {
        self.k.platform.acquire(self.id, Lock::Pi(task)).await;
        TakenPi(task)
    }

    /// The guard of a lock that has been taken.
    #[inline]
    pub(crate) fn pi_guard(self, TakenPi(task): TakenPi) -> PiGuard<'k, P> {
        PiGuard { me: self, task }
    }
}
