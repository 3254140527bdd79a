//! Where a task that is asked to make room does so (eevdf-class 5.1, deadline-groups D1, machine.md 4.1).

use super::sim::Sim;
use crate::engine::hardware::{Hw, Point};
use crate::engine::userland::{Activity, Caller, Piece, Resume};
use crate::objects::ChannelId;
use crate::rng::Rng;
use crate::spec::{Lasting, Operation};
use scheduler::registry::{Feature, KernelLocks, PreemptModel};
use scheduler::rq::Resched;
use scheduler::{Class, Nanos, TaskId, ThisCpu};

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
            // Without preemption in the kernel it sees the request itself, and sleeps. Who spins for a mutex
            // of the kernel cannot be preempted anyway.
            Activity::SpinOnOwner(mutex)
                if !self.preempts_kernel(asked) || self.k.mutexes.is_spun_for_atomically(mutex) =>
            {
                Nanos::NEVER
            }
            _ => Nanos::ZERO,
        }
    }

    /// Whether a task executes in user space, or is about to: its last system call is over.
    pub fn is_in_user_space(&self, p: TaskId) -> bool {
        self.user.tasks.with(p, |t| t.activity.is_in_user_space())
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
        if self.user.tasks.with(curr, |t| t.kernel_lock.as_ref().is_some_and(|lock| lock.has())) {
            let waits = self.is_put_off(me, curr) || !self.preempts_kernel(asked);
            return if waits { Nanos::NEVER } else { Nanos::ZERO };
        }
        let Some(stretch) = self.hw().spec.stretches.of(self.operation(curr, then)) else {
            return if self.preempts_kernel(asked) { Nanos::ZERO } else { Nanos::NEVER };
        };
        let here = &self.hw().cpu(me.id).point;
        let schedules = self.k.rq(me.id).published.counts.schedules.get();
        let point = here.get().filter(|point| point.schedules == schedules).unwrap_or_else(|| {
            let mut dice = self.request_dice(curr);
            let rules = &self.k.config.rules;
            let residual = stretch.residual(rules.preempt_model.get(), rules.kernel_locks.get(), &mut dice);
            let left = left.saturating_sub(residual);
            let any = self.locks_sleep() || self.user.kernel_locks.has_rwsems();
            let locks = residual == Nanos::ZERO && self.preempts_kernel(asked) && any;
            let lock = if locks { self.lock_met(me, curr, left, then, &mut dice) } else { None };
            match lock {
                Some(hold) => Point { schedules, left: left.saturating_sub(hold) },
                None => Point { schedules, left },
            }
        });
        here.set(Some(point));
        left.saturating_sub(point.left)
    }

    /// The running task is about to be preempted in the kernel, and may have a sleeping lock there: how long
    /// it still goes on, where that puts the request off.
    fn lock_met(
        &self,
        me: ThisCpu<'_, Hw>,
        curr: TaskId,
        left: Nanos,
        then: Resume,
        dice: &mut Rng,
    ) -> Option<Nanos> {
        let (call, locks) = (self.caller(me, curr), &self.user.kernel_locks);
        let piece = self.piece(curr, left, then).filter(|_| call.with(|t| t.kernel_lock.is_none()))?;
        let (lock, hold) = locks.met(call, piece, dice)?;
        if !lock.is_rwsem() && self.is_put_off(me, curr) {
            return Some(hold);
        }
        locks.holds(call, lock, hold, left, then);
        None
    }

    fn locks_sleep(&self) -> bool {
        self.k.config.rules.kernel_locks.get() == KernelLocks::Sleeping
    }

    /// Whether a task that wakes another one through a channel can be preempted in that: with PREEMPT_RT, on
    /// a machine of which is known how its kernel is preempted.
    pub fn wakes_under_locks_that_sleep(&self) -> bool {
        self.locks_sleep() && self.hw().spec.stretches.of(Operation::Call).is_some()
    }

    /// Whether a request waits until the running task has no lock of the kernel: that of a fair task while a
    /// fair one runs (PREEMPT_LAZY; machine.md 1.10).
    fn is_put_off(&self, me: ThisCpu<'_, Hw>, curr: TaskId) -> bool {
        let queue = &self.k.rq(me.id).published;
        let others = queue.rt_nr_running.get() + queue.dl_nr_running.get() + queue.stop_nr_running.get();
        me.has(Feature::PreemptLazy) && me.task(curr).class.get() == Class::Fair && others == 0
    }

    /// The running task has woken another one that preempts it, while it had the lock of the channel.
    pub fn preempted_under_lock(&self, call: Caller<'_>, channel: ChannelId) {
        let asked = self.k.rq(call.me.id).published.resched.get();
        if self.preempts_kernel(asked) && !self.is_put_off(call.me, call.p) {
            self.user.kernel_locks.holds_channel(call, channel, &mut self.request_dice(call.p));
        }
    }

    /// How long a task executes in the kernel until it comes to a lock that another one has, or to the end.
    #[inline(never)]
    pub fn up_to_a_lock(&self, me: ThisCpu<'_, Hw>, p: TaskId, left: Nanos, then: Resume) -> Nanos {
        let call = self.caller(me, p);
        let locks = &self.user.kernel_locks;
        if locks.was_found(call) {
            locks.keeps_found(call, left, &mut self.request_dice(p));
            return self.left_in_kernel(p);
        }
        if call.with(|t| t.kernel_lock.is_some()) {
            return left;
        }
        let Some(piece) = self.piece(p, left, then) else { return left };
        let others = self.operations_elsewhere(me);
        locks.plan(call, piece, others, &mut self.request_dice(p));
        self.left_in_kernel(p)
    }

    fn left_in_kernel(&self, p: TaskId) -> Nanos {
        match self.user.tasks.with(p, |t| t.activity) {
            Activity::Kernel { left, .. } => left,
            _ => Nanos::ZERO,
        }
    }

    pub(super) fn request_dice(&self, p: TaskId) -> Rng {
        let (stream, nth) = self.user.tasks.with(p, |t| {
            t.requests = t.requests.wrapping_add(1);
            (t.stream, t.requests.into())
        });
        Rng::of_request(self.user.processes.seed.get(), stream, nth)
    }

    /// What is left of an operation that takes locks of the kernel.
    pub(super) fn piece(&self, p: TaskId, left: Nanos, then: Resume) -> Option<Piece> {
        let costs = &self.hw().spec.costs;
        let operation = self.operation(p, then);
        let whole = match operation {
            Operation::Fork => costs.fork,
            Operation::Thread => costs.thread_create,
            Operation::Exec => costs.exec,
            Operation::Exit => costs.exit,
            Operation::Call | Operation::Other => return None,
        };
        (whole > Nanos::ZERO).then_some(Piece { lasting: Lasting { operation, whole }, left, then })
    }

    /// What a task does in the kernel that goes on with `then`.
    fn operation(&self, p: TaskId, then: Resume) -> Operation {
        let is_thread = |p| self.user.tasks.with(p, |t| t.family.thread);
        let behind = self.user.tasks.with(p, |t| t.kernel_lock.as_ref().map(|lock| lock.then));
        match behind.unwrap_or(then) {
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
