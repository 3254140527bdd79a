//! Work with short critical sections, without a trip through the event queue for each.
//!
//! A task that begins such work *plans* its sections: as far as nobody holds or has planned the locks for the
//! same time, it executes all of it in one run. What a plan promises is kept in the locks, and whoever
//! crosses it makes it come true:
//!
//! - Who takes a lock before a planned section begins ends the planner's run where that section would
//!   begin; the planner then finds the lock taken.
//! - Who wants a lock during a planned section finds it taken, and ends the planner's run where that
//!   section ends, so that the planner wakes who sleeps for the lock.
//! - An interrupt, or another speed, ends the planner's run anyway: what is past has happened, a section that
//!   is under way takes its lock, for who knows how long, and the rest is planned anew.

use super::caller::Caller;
use super::in_sections::InSections;
use super::rest::{Length, Next, Rest, Slow};
use super::spinlock::{Plan, Spinlocks};
use crate::objects::SpinlockId;
use scheduler::Nanos;

/// What comes next of work with sections.
enum Ahead {
    /// It is done.
    Nothing,
    /// A section, which could not be planned.
    Section(SpinlockId),
    /// A run of so much work, with the sections that are planned in it.
    Run(Nanos),
}

impl Spinlocks {
    /// What a task in the middle of its sections does next.
    pub fn next_section(&self, call: Caller<'_>) -> Next {
        let cold = call.tasks.refill(call.p);
        let ahead = call.with(|task| {
            let Some(at) = task.sections.get() else { return Ahead::Nothing };
            at.left += cold;
            if at.holds() || at.left > Nanos::ZERO {
                return Ahead::Run(self.plan(call, at));
            }
            if at.phase == at.last() {
                task.sections.end();
                return Ahead::Nothing;
            }
            let lock = at.lock(at.phase);
            at.advance();
            Ahead::Section(lock)
        });
        match ahead {
            Ahead::Nothing => Next::Follow(Rest::Nothing),
            Ahead::Section(lock) => Next::Follow(self.lock(call, lock)),
            Ahead::Run(work) => Next::Execute(Length::Work(work)),
        }
    }

    /// Plans as many sections as can be, and says how much work the run is with them.
    fn plan(&self, call: Caller<'_>, at: &mut InSections) -> Nanos {
        let (start, cpu) = (call.hw().local_now(), call.hw().cpu(call.me.id));
        let (rate, done) = (cpu.rate.get(), cpu.fraction.get());
        let after = |work| start + rate.time_for(work, done);
        let mut work = at.left;
        at.planned = at.phase;
        if !at.holds() {
            let mut locks = self.locks.borrow_mut();
            while at.planned < at.last() {
                let lock = &mut locks[at.lock(at.planned).0 as usize];
                let (begins, ends) = (after(work), after(work + at.hold()));
                let section = Plan { cpu: call.me.id, start: begins, end: ends, learnt: false };
                if !lock.admits(&section) {
                    break;
                }
                lock.plans.push(section);
                work = work + at.hold() + at.part();
                at.planned += 2;
            }
        }
        work
    }

    /// It has done so much of it.
    pub fn sections_executed(&self, call: Caller<'_>, ran: Nanos) -> Rest {
        let in_section = call.with(|task| {
            task.sections.get().filter(|at| at.holds()).map(|at| {
                at.left -= ran;
                (at.left == Nanos::ZERO).then(|| {
                    let lock = at.lock(at.phase);
                    at.advance();
                    lock
                })
            })
        });
        match in_section {
            Some(Some(over)) => self.unlock(call, over),
            Some(None) => Rest::Nothing,
            None => self.parts_executed(call, ran),
        }
    }

    /// The same for a run of parts with planned sections between them: makes true what has passed, and
    /// withdraws the rest.
    fn parts_executed(&self, call: Caller<'_>, ran: Nanos) -> Rest {
        let me = call.me.id;
        let (mut rest, mut woken) = (ran, Vec::new());
        call.with(|task| {
            let Some(at) = task.sections.get() else { return };
            let mut locks = self.locks.borrow_mut();
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
                    lock.owner = Some(call.p);
                    task.locks_held.add();
                    lock.cross_plans(call.hw(), me);
                    stops = true;
                    continue;
                }
                rest -= at.left;
                at.advance();
                // Who came meanwhile has ended the run here.
                woken.append(&mut lock.waiters);
            }
            at.left -= rest;
            if at.phase == at.last() && at.left == Nanos::ZERO {
                task.sections.end();
            }
        });
        if woken.is_empty() {
            return Rest::Nothing;
        }
        call.syscall();
        call.slowly(Slow::WakeAll(woken))
    }
}
