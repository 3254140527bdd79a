//! A task in a system call.

use super::activity::{Activity, Resume};
use super::rest::{Rest, Slow};
use super::tasks::{TaskCtx, Tasks};
use crate::engine::hardware::Hw;
use crate::outcome::RunError;
use crate::spec::Operation;
use scheduler::registry::KernelLocks;
use scheduler::schedule::{Entry, schedule, set_current_state};
use scheduler::wakeup::{WakeFlags, try_to_wake_up};
use scheduler::{Nanos, TaskId, TaskState, ThisCpu};
use schema::LogEvent;

/// The task that takes a step, the CPU on which it runs, and the tasks beside it: all that an object of the
/// kernel has to know of its callers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'s> {
    pub me: ThisCpu<'s, Hw>,
    pub p: TaskId,
    pub tasks: &'s Tasks,
}

impl<'s> Caller<'s> {
    pub fn hw(self) -> &'s Hw {
        &self.me.k.platform
    }

    /// Looks at or changes its context.
    #[inline]
    pub fn with<T>(self, f: impl FnOnce(&mut TaskCtx) -> T) -> T {
        self.tasks.with(self.p, f)
    }

    /// Says what it does when it runs next.
    #[inline]
    pub fn does(self, activity: Activity) {
        self.tasks.set_activity(self.p, activity);
    }

    /// Pays for entering and leaving the kernel.
    pub fn syscall(self) {
        let hw = self.hw();
        hw.charge_work(hw.spec.costs.syscall + hw.context_tracking(self.me.id));
    }

    /// What work in the kernel takes with its locks: to take a sleeping one costs twice as much as a
    /// spinlock, which is part of the work (machine.md 1.3).
    pub fn with_locks(self, operation: Operation, work: Nanos) -> Nanos {
        match self.me.k.config.rules.kernel_locks.get() {
            KernelLocks::Spin => work,
            KernelLocks::Sleeping => {
                work + self.hw().spec.costs.lock_uncontended * operation.sleeping_locks()
            }
        }
    }

    /// It is about to sleep; when it runs again it goes on with `then`.
    pub fn sleeps(self, state: TaskState, then: Resume) -> Rest {
        set_current_state(self.me, state);
        self.does(Activity::InCall(then));
        Rest::Sleep
    }

    /// What is left of its step is of the slow kind.
    pub fn slowly(self, slow: Slow) -> Rest {
        self.tasks.put_slow(slow);
        Rest::Slow
    }

    /// Leaves the CPU, unless it has been woken since its state said that it sleeps.
    pub async fn schedule(self) {
        self.hw().note_detail(self.me.id, || LogEvent::Schedule {});
        schedule(self.me, Entry::Call).await;
    }

    /// Wakes `task`; the waker's clock moves on.
    pub async fn wake(self, task: TaskId) {
        try_to_wake_up(self.me, task, WakeFlags::default()).await;
    }

    /// Stops the run: this task has done what cannot be. `error` gets its name.
    pub fn fail(self, error: impl FnOnce(scheduler::Pid, Box<str>) -> RunError) {
        let (pid, comm) = self.with(|t| (t.pid, t.comm.clone()));
        self.hw().recorder.fail(error(pid, comm));
    }
}
