//! User-space spinlocks: try, spin a little, after enough tries sleep (fair-class 12.4).

use super::activity::{Activity, Resume, SpinAttempt};
use super::caller::Caller;
use super::rest::{Rest, Slow};
use super::sleep::sleep_until;
use crate::engine::hardware::Hw;
use crate::objects::{Backoff, SpinlockId};
use crate::outcome::RunError;
use scheduler::{CpuId, Nanos, TaskId, TaskState};
use std::cell::RefCell;

/// Every user-space spinlock of a run.
#[derive(Debug)]
pub(crate) struct Spinlocks {
    pub locks: RefCell<Vec<Spinlock>>,
}

/// One.
#[derive(Debug)]
pub(crate) struct Spinlock {
    pub owner: Option<TaskId>,
    /// Tries before the first sleep; learns between 10 and 1000.
    spins_per_delay: u32,
    /// Sleeps so far: the counter to watch for lock-holder preemption.
    sleeps: u64,
    /// What a task does that has spun in vain.
    backoff: Backoff,
    /// Who sleeps until the release.
    pub waiters: Vec<TaskId>,
    /// Who is going to hold it, and when: see [`super::sections`].
    pub plans: Vec<Plan>,
}

/// A lock is going to be held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub cpu: CpuId,
    pub start: Nanos,
    pub end: Nanos,
    /// The lock has learnt of it.
    pub learnt: bool,
}

const FIRST_SLEEP: Nanos = Nanos::from_millis(1);
const LONGEST_SLEEP: Nanos = Nanos::from_secs(1);

impl Spinlock {
    fn new(backoff: Backoff) -> Spinlock {
        Spinlock {
            owner: None,
            spins_per_delay: 100,
            sleeps: 0,
            backoff,
            waiters: Vec::new(),
            plans: Vec::new(),
        }
    }

    /// spins_per_delay: +100 after an acquisition that never slept, −1 after one that did, 10 to 1000.
    pub fn learn(&mut self, never_slept: bool) {
        let next = if never_slept { self.spins_per_delay + 100 } else { self.spins_per_delay - 1 };
        self.spins_per_delay = next.clamp(10, 1000);
    }

    /// Whether somebody else than `me` holds it now, by plan or not.
    fn is_taken(&self, me: CpuId, now: Nanos) -> bool {
        self.owner.is_some() || self.holder_by_plan(me, now).is_some()
    }

    fn holder_by_plan(&self, me: CpuId, now: Nanos) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.cpu != me && (plan.start..plan.end).contains(&now))
    }

    /// Learns of planned sections that have begun: somebody looks.
    fn settle(&mut self, now: Nanos) {
        let mut begun = 0;
        for plan in self.plans.iter_mut().filter(|plan| plan.start < now && !plan.learnt) {
            plan.learnt = true;
            begun += 1;
        }
        (0..begun).for_each(|_| self.learn(true));
    }

    /// Takes out the earliest plan of a CPU that has one; whether the lock has learnt of it.
    pub fn withdraw(&mut self, me: CpuId) -> bool {
        let mine = self.plans.iter().position(|plan| plan.cpu == me);
        mine.is_some_and(|mine| self.plans.remove(mine).learnt)
    }

    /// Whether a section can be planned, because nobody else holds or has planned the lock for its time.
    pub fn admits(&self, section: &Plan) -> bool {
        let apart =
            |plan: &Plan| plan.cpu == section.cpu || plan.end <= section.start || section.end <= plan.start;
        self.owner.is_none() && self.waiters.is_empty() && self.plans.iter().all(apart)
    }

    /// `me` takes it, or finds it taken: whose plan that crosses executes until there only.
    pub fn cross_plans(&self, hw: &Hw, me: CpuId) {
        let now = hw.now.get();
        if self.owner.is_none() {
            if let Some(holder) = self.holder_by_plan(me, now) {
                hw.queue.set_earlier(hw.work_slot(holder.cpu), holder.end);
            }
            return;
        }
        for plan in self.plans.iter().filter(|plan| plan.cpu != me && plan.start > now) {
            hw.queue.set_earlier(hw.work_slot(plan.cpu), plan.start);
        }
    }
}

impl Spinlocks {
    /// Free ones, by number.
    pub fn new(backoffs: &[Backoff]) -> Spinlocks {
        Spinlocks { locks: RefCell::new(backoffs.iter().copied().map(Spinlock::new).collect()) }
    }

    /// What they are like.
    pub fn backoffs(&self) -> Vec<Backoff> {
        self.locks.borrow().iter().map(|lock| lock.backoff).collect()
    }

    /// How often tasks have slept in the back-off.
    pub fn sleeps(&self) -> u64 {
        self.locks.borrow().iter().map(|lock| lock.sleeps).sum()
    }

    fn with<T>(&self, id: SpinlockId, f: impl FnOnce(&mut Spinlock) -> T) -> T {
        f(&mut self.locks.borrow_mut()[id.0 as usize])
    }

    /// Takes it, or begins to try.
    pub fn lock(&self, call: Caller<'_>, lock: SpinlockId) -> Rest {
        let tries_left = self.with(lock, |state| {
            state.settle(call.hw().now.get());
            state.spins_per_delay
        });
        self.lock_again(call, SpinAttempt { lock, tries_left, slept: Nanos::ZERO })
    }

    /// Goes on with an attempt.
    pub fn lock_again(&self, call: Caller<'_>, attempt: SpinAttempt) -> Rest {
        let (me, now) = (call.me.id, call.hw().now.get());
        let taken_by_other = self.with(attempt.lock, |lock| {
            lock.settle(now);
            let is_taken = lock.is_taken(me, now);
            if !is_taken {
                lock.owner = Some(call.p);
                lock.learn(attempt.slept == Nanos::ZERO);
                call.with(|t| t.locks_held.add());
            }
            lock.cross_plans(call.hw(), me);
            is_taken.then_some(lock.backoff)
        });
        let Some(backoff) = taken_by_other else { return Rest::Nothing };
        if attempt.tries_left > 0 {
            call.does(Activity::Spinning(attempt));
            return Rest::Nothing;
        }
        match backoff {
            Backoff::Sleep => self.sleep_longer(call, attempt),
            Backoff::Event => self.await_release(call, attempt),
        }
    }

    fn sleep_longer(&self, call: Caller<'_>, attempt: SpinAttempt) -> Rest {
        let slept = call.with(|t| match attempt.slept {
            Nanos::ZERO => FIRST_SLEEP,
            before => before + t.rng.between(Nanos::ZERO, before),
        });
        let slept = if slept > LONGEST_SLEEP { FIRST_SLEEP } else { slept };
        let tries_left = self.with(attempt.lock, |lock| {
            lock.sleeps += 1;
            lock.spins_per_delay
        });
        call.does(Activity::InCall(Resume::SpinLock(SpinAttempt { tries_left, slept, ..attempt })));
        sleep_until(call, call.hw().local_now() + slept)
    }

    /// The task sleeps until the spinlock is released, then spins again.
    fn await_release(&self, call: Caller<'_>, attempt: SpinAttempt) -> Rest {
        call.syscall();
        let tries_left = self.with(attempt.lock, |lock| {
            lock.sleeps += 1;
            lock.waiters.push(call.p);
            lock.spins_per_delay
        });
        call.sleeps(TaskState::Interruptible, Resume::SpinLock(SpinAttempt { tries_left, ..attempt }))
    }

    /// Gives it up, and wakes who sleeps until then.
    pub fn unlock(&self, call: Caller<'_>, id: SpinlockId) -> Rest {
        let released = self.with(id, |lock| {
            let owns = lock.owner == Some(call.p);
            owns.then(|| {
                lock.owner = None;
                std::mem::take(&mut lock.waiters)
            })
        });
        let Some(waiters) = released else {
            call.fail(|pid, comm| RunError::NotOwner { pid, comm, lock: format!("spinlock {}", id.0) });
            return Rest::Nothing;
        };
        call.with(|t| t.locks_held.remove());
        if waiters.is_empty() {
            return Rest::Nothing;
        }
        call.syscall();
        call.slowly(Slow::WakeAll(waiters))
    }
}
