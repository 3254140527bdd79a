//! Work with short critical sections, without a trip through the event queue for each.
//!
//! A task that begins such work *plans* its sections: as far as nobody holds or has planned the locks for the
//! same time, it executes all of it in one stretch. What a plan promises is kept in the locks, and whoever
//! crosses it makes it come true:
//!
//! - Who takes a lock before a planned section begins ends the planner's stretch where that section would
//!   begin; the planner then finds the lock taken.
//! - Who wants a lock during a planned section finds it taken, and ends the planner's stretch where that
//!   section ends, so that the planner wakes who sleeps for the lock.
//! - An interrupt ends the planner's stretch anyway: what is past has happened, a section that is under way
//!   takes its lock, for who knows how long, and the rest is planned anew.

use super::world::{SpinAttempt, Spinlock};
use crate::engine::hardware::hw::Hw;
use crate::engine::kernel::execution::Next;
use crate::engine::kernel::sim::{Progress, Sim};
use crate::engine::kernel::steps::Path;
use crate::objects::SpinlockId;
use crate::sections::Sections;
use scheduler::{CpuId, Nanos, TaskId, ThisCpu};

/// A task's place in its work. Phases are counted from 0: the even ones are the parts between the sections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InSections {
    work: Sections,
    phase: usize,
    /// CPU time left of the phase.
    left: Nanos,
    /// The present stretch ends with this phase, a part.
    planned: usize,
}

/// A lock is going to be held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    cpu: CpuId,
    start: Nanos,
    end: Nanos,
    /// The lock has learnt of it.
    learnt: bool,
}

impl InSections {
    pub fn new(work: Sections) -> InSections {
        InSections { work, phase: 0, left: work.first, planned: 0 }
    }

    fn holds(&self) -> bool {
        self.phase % 2 == 1
    }

    fn last(&self) -> usize {
        2 * self.work.locks().len()
    }

    /// The lock of this phase, or of the section after it.
    fn lock(&self, phase: usize) -> SpinlockId {
        self.work.locks()[phase / 2]
    }

    fn advance(&mut self) {
        self.phase += 1;
        self.left = if self.holds() { self.work.hold } else { self.work.part };
    }
}

impl Spinlock {
    /// Whether somebody holds it now, by plan or not.
    pub fn is_taken(&self, me: CpuId, now: Nanos) -> bool {
        self.owner.is_some() || self.holder_by_plan(me, now).is_some()
    }

    fn holder_by_plan(&self, me: CpuId, now: Nanos) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.cpu != me && (plan.start..plan.end).contains(&now))
    }

    /// Learns of planned sections that have begun: somebody looks.
    pub fn settle(&mut self, now: Nanos) {
        let mut begun = 0;
        for plan in self.plans.iter_mut().filter(|plan| plan.start < now && !plan.learnt) {
            plan.learnt = true;
            begun += 1;
        }
        (0..begun).for_each(|_| self.learn(true));
    }

    /// Takes out the earliest plan of a CPU that has one; whether the lock has learnt of it.
    fn withdraw(&mut self, me: CpuId) -> bool {
        let mine = self.plans.iter().position(|plan| plan.cpu == me);
        mine.is_some_and(|mine| self.plans.remove(mine).learnt)
    }

    fn admits(&self, section: &Plan) -> bool {
        let apart =
            |plan: &Plan| plan.cpu == section.cpu || plan.end <= section.start || section.end <= plan.start;
        self.owner.is_none() && self.waiters.is_empty() && self.plans.iter().all(apart)
    }
}

impl Sim {
    /// What a task in the middle of its sections does next.
    pub fn next_section(&self, me: ThisCpu<'_, Hw>, p: TaskId) -> Next {
        let cold = self.refill(p);
        let start = self.hw().local_now();
        let mut tasks = self.tasks.borrow_mut();
        let task = &mut tasks[p.index()];
        let Some(at) = &mut task.sections else { return Next::Follow(Path::Done) };
        at.left += cold;
        if !at.holds() && at.left == Nanos::ZERO {
            if at.phase == at.last() {
                task.sections = None;
                return Next::Follow(Path::Done);
            }
            let lock = at.lock(at.phase);
            at.advance();
            drop(tasks);
            return Next::Follow(self.spin_lock(me, p, self.first_attempt(lock)));
        }
        let mut end = start + at.left;
        at.planned = at.phase;
        if !at.holds() {
            let locks = &mut self.world.borrow_mut().spinlocks;
            while at.planned < at.last() {
                let lock = &mut locks[at.lock(at.planned).0 as usize];
                let section = Plan { cpu: me.id, start: end, end: end + at.work.hold, learnt: false };
                if !lock.admits(&section) {
                    break;
                }
                lock.plans.push(section);
                end = section.end + at.work.part;
                at.planned += 2;
            }
        }
        task.progress = Progress::Sections;
        Next::Execute(end - start)
    }

    /// It has executed for so long.
    pub fn sections_executed(&self, me: CpuId, p: TaskId, ran: Nanos) -> Path {
        let mut tasks = self.tasks.borrow_mut();
        let task = &mut tasks[p.index()];
        task.progress = Progress::Ready;
        let Some(at) = &mut task.sections else { return Path::Done };
        if at.holds() {
            at.left -= ran;
            if at.left > Nanos::ZERO {
                return Path::Done;
            }
            let lock = at.lock(at.phase);
            at.advance();
            drop(tasks);
            return self.spin_unlock(p, lock);
        }
        let locks = &mut self.world.borrow_mut().spinlocks;
        let (mut rest, mut woken) = (ran, Vec::new());
        let mut stops = false;
        for phase in (at.phase..at.planned).step_by(2) {
            let lock = &mut locks[at.lock(phase).0 as usize];
            let learnt = lock.withdraw(me);
            stops = stops || rest <= at.left;
            if stops {
                continue;
            }
            rest -= at.left;
            at.advance();
            if !learnt {
                lock.learn(true);
            }
            if rest < at.left {
                debug_assert_eq!(lock.owner, None, "nobody takes a lock during a planned section");
                lock.owner = Some(p);
                task.locks_held += 1;
                self.cross_plans(me, lock, self.hw().now.get());
                stops = true;
                continue;
            }
            rest -= at.left;
            at.advance();
            // Who came meanwhile has ended the stretch here.
            woken.append(&mut lock.waiters);
        }
        at.left -= rest;
        if at.phase == at.last() && at.left == Nanos::ZERO {
            task.sections = None;
        }
        if woken.is_empty() {
            return Path::Done;
        }
        self.syscall();
        Path::WakeAll(woken)
    }

    /// `me` takes a lock, or finds it taken: whose plan that crosses executes until there only.
    pub fn cross_plans(&self, me: CpuId, lock: &Spinlock, now: Nanos) {
        let hw = self.hw();
        if lock.owner.is_none() {
            if let Some(holder) = lock.holder_by_plan(me, now) {
                hw.queue.set_earlier(hw.work_slot(holder.cpu), holder.end);
            }
            return;
        }
        for plan in lock.plans.iter().filter(|plan| plan.cpu != me && plan.start > now) {
            hw.queue.set_earlier(hw.work_slot(plan.cpu), plan.start);
        }
    }

    pub fn first_attempt(&self, lock: SpinlockId) -> SpinAttempt {
        let state = &mut self.world.borrow_mut().spinlocks[lock.0 as usize];
        state.settle(self.hw().now.get());
        let tries_left = state.spins_per_delay;
        SpinAttempt { lock, tries_left, slept: Nanos::ZERO }
    }
}
