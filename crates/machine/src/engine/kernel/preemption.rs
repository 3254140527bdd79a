//! Where a task that is asked to make room does so (eevdf-class 5.1, deadline-groups D1, machine.md 4.1).

use super::sim::Sim;
use crate::engine::hardware::{Hw, Point};
use crate::engine::userland::{Activity, Resume};
use crate::rng::Rng;
use crate::spec::Operation;
use scheduler::registry::PreemptModel;
use scheduler::rq::Resched;
use scheduler::{Nanos, TaskId, ThisCpu};

impl Sim {
    /// How long the running task, which is asked to make room, still executes before it does: in user mode
    /// not at all; in the kernel up to the next point where the preemption model lets the request act. Where
    /// that lies behind the end of what it does there, [`Nanos::NEVER`].
    pub fn makes_room_in(&self, me: ThisCpu<'_, Hw>, curr: TaskId, asked: Resched) -> Nanos {
        if curr == self.k.idle_task(me.id) {
            return Nanos::ZERO;
        }
        match self.user.tasks.with(curr, |t| t.activity) {
            Activity::Kernel { left, then } => self.stretch_goes_on(me, curr, asked, left, then),
            // Without preemption in the kernel it sees the request itself, and sleeps.
            Activity::SpinOnOwner(_) if !self.preempts_kernel(asked) => Nanos::NEVER,
            _ => Nanos::ZERO,
        }
    }

    /// Whether a task executes in user space, or is about to: its last system call is over.
    pub fn is_in_user_space(&self, p: TaskId) -> bool {
        match self.user.tasks.with(p, |t| t.activity) {
            Activity::Ready | Activity::Compute { .. } | Activity::SpinUntil(_) | Activity::Spinning(_) => {
                true
            }
            // The lock is one of user space: it has slept for a while, and looks again.
            Activity::InCall(Resume::SpinLock(_)) => true,
            Activity::Kernel { .. } | Activity::SpinOnOwner(_) | Activity::InCall(_) => false,
        }
    }

    /// Whether a request acts inside the kernel, where nothing forbids it.
    fn preempts_kernel(&self, asked: Resched) -> bool {
        let model = self.k.config.rules.preempt_model.get();
        asked == Resched::Full && matches!(model, PreemptModel::Full | PreemptModel::Lazy)
    }

    /// The same for a task with so much left of a stretch in the kernel.
    #[inline(never)]
    fn stretch_goes_on(
        &self,
        me: ThisCpu<'_, Hw>,
        curr: TaskId,
        asked: Resched,
        left: Nanos,
        then: Resume,
    ) -> Nanos {
        if asked == Resched::Lazy {
            return Nanos::NEVER;
        }
        let Some(stretch) = self.hw().spec.stretches.of(self.operation(curr, then)) else {
            return if self.preempts_kernel(asked) { Nanos::ZERO } else { Nanos::NEVER };
        };
        let here = &self.hw().cpu(me.id).point;
        let schedules = self.k.rq(me.id).published.counts.schedules.get();
        let point = here.get().filter(|point| point.schedules == schedules).unwrap_or_else(|| {
            let (stream, nth) = self.user.tasks.with(curr, |t| {
                t.requests += 1;
                (t.stream, t.requests)
            });
            let mut dice = Rng::of_request(self.user.processes.seed.get(), stream, nth);
            let rules = &self.k.config.rules;
            let residual = stretch.residual(rules.preempt_model.get(), rules.kernel_locks.get(), &mut dice);
            Point { schedules, left: left.saturating_sub(residual) }
        });
        here.set(Some(point));
        left.saturating_sub(point.left)
    }

    /// What a task does in the kernel that goes on with `then`.
    fn operation(&self, p: TaskId, then: Resume) -> Operation {
        let is_thread = |p| self.user.tasks.with(p, |t| t.family.thread);
        match then {
            Resume::Forked { child, .. } if is_thread(child) => Operation::Thread,
            Resume::Forked { .. } => Operation::Fork,
            Resume::Execed => Operation::Exec,
            Resume::Exit if is_thread(p) => Operation::Thread,
            Resume::Exit => Operation::Exit,
            Resume::Send(_) | Resume::SendAgain(_) | Resume::Receive(_) => Operation::Call,
            _ => Operation::Other,
        }
    }
}
