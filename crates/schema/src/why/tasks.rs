//! All tasks that an explanation names.

use super::{Cause, Due, Explanation, WhyAlternative, WhyStretch, WhyTask};

impl Explanation {
    /// Calls `each` with every task that it names, those of a recording's own words left out.
    pub fn each_task(&mut self, each: &mut dyn FnMut(&mut WhyTask)) {
        each(&mut self.task);
        match &mut self.due {
            Due::Task { by } | Due::Preempted { by } => each(by),
            Due::Start { parent } => each(parent),
            Due::Timer {}
            | Due::Interrupt { .. }
            | Due::Mutex { .. }
            | Due::Handler { .. }
            | Due::Throttled { .. }
            | Due::Unknown {} => {}
        }
        self.woken.by.iter_mut().for_each(&mut *each);
        for stretch in self.stretches.iter_mut().chain(&mut self.afterwards) {
            stretch.each_task(each);
        }
    }
}

impl WhyStretch {
    fn each_task(&mut self, each: &mut dyn FnMut(&mut WhyTask)) {
        self.cause.each_task(each);
        self.shares.iter_mut().for_each(|share| share.cause.each_task(each));
        for alternative in self.decisions.iter_mut().flat_map(|decision| &mut decision.alternatives) {
            match alternative {
                WhyAlternative::Cpu { runs, .. } => runs.iter_mut().for_each(&mut *each),
                WhyAlternative::Task { task, .. } => each(task),
            }
        }
    }
}

impl Cause {
    fn each_task(&mut self, each: &mut dyn FnMut(&mut WhyTask)) {
        match self {
            Cause::InterruptsOff { during: task, .. } | Cause::LockWait { on_behalf_of: task, .. } => {
                task.iter_mut().for_each(each);
            }
            Cause::WakerWaits { waker: task } | Cause::Running { task, .. } | Cause::Sibling { task, .. } => {
                each(task);
            }
            Cause::Mutex { chain, behind } => {
                chain.iter_mut().filter_map(|held| held.owner.as_mut()).chain(behind).for_each(each);
            }
            Cause::TimerLate {}
            | Cause::Interrupt { .. }
            | Cause::Softirq {}
            | Cause::WakePath {}
            | Cause::InFlight { .. }
            | Cause::HandOver { .. }
            | Cause::Throttled { .. }
            | Cause::IdleExit { .. }
            | Cause::Idle {}
            | Cause::Switch {}
            | Cause::CacheRefill { .. }
            | Cause::Handler { .. }
            | Cause::NotRecorded {} => {}
        }
    }
}
