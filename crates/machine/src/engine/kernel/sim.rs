//! One simulated machine: the scheduler on its hardware, the tasks, and what happens to them from outside.

use super::kthreads::KthreadWakes;
use super::rcu::Rcu;
use crate::cpusets::PartitionOutcome;
use crate::engine::hardware::{Hw, OneShot};
use crate::engine::observe::{Observed, View};
use crate::engine::userland::{Caller, Userland};
use crate::group::GroupSpec;
use crate::rng::{Purpose, Rng};
use crate::setup::{Outside, OutsideChange};
use crate::softirq::{SoftirqGap, SoftirqSpec};
use scheduler::{CpuId, CpuMask, Nanos, Scheduler, TaskId, ThisCpu};
use std::cell::{Cell, RefCell};

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Sim {
    pub k: Scheduler<Hw>,
    /// What the setup says of the task groups.
    pub groups: Vec<GroupSpec>,
    /// The parts of a divided machine.
    pub partitions: Vec<PartitionOutcome>,
    /// CPUs in no sched domain from the start.
    pub isolcpus: CpuMask,
    pub user: Userland,
    pub observed: Observed,
    pub surroundings: Surroundings,
    pub rcu: Rcu,
}

/// What happens to a run from outside, and when.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// Where each task of the setup wants to start.
    pub spawn_cpus: Vec<Option<CpuId>>,
    pub outside: Vec<Outside>,
    pub softirqs: Vec<SoftirqSpec>,
    /// When the timers of those expire next.
    pub softirqs_due: Vec<Cell<Nanos>>,
    /// What the timers of those draw from.
    pub softirq_dice: RefCell<Vec<Rng>>,
    /// A tick of each CPU, where the setup says one.
    pub ticks_at: Vec<Option<Nanos>>,
    /// When CPUs without a tick have their next one from afar.
    pub next_remote_tick: Cell<Nanos>,
    /// Which kernel threads wake by what happens on a CPU.
    pub kthread_wakes: KthreadWakes,
    /// Changes of the settings, by index.
    pub settings: Vec<String>,
    /// Other seeds, by index.
    pub redraws: Vec<u64>,
    /// What somebody outside changes, by index.
    pub changes: Vec<OutsideChange>,
}

impl Surroundings {
    /// How long it takes until this timer of soft interrupts expires again.
    pub fn until_next_softirq(&self, index: u32) -> Nanos {
        let gap = match self.softirqs[index as usize].gap {
            SoftirqGap::Every(period) => period,
            SoftirqGap::Exponential(mean) => self.softirq_dice.borrow_mut()[index as usize].exponential(mean),
        };
        gap.max(Nanos(1))
    }

    /// This timer of soft interrupts expires next at `at`.
    pub fn softirq_at(&self, hw: &Hw, index: u32, at: Nanos) {
        self.softirqs_due[index as usize].set(at);
        hw.at(at, OneShot::Softirq(index));
    }

    /// When one of them expires next on a CPU; [`Nanos::NEVER`] without one.
    pub fn next_softirq(&self, cpu: CpuId) -> Nanos {
        let timers = self.softirqs.iter().zip(&self.softirqs_due).filter(|(timer, _)| timer.cpu == cpu);
        timers.map(|(_, due)| due.get()).min().unwrap_or(Nanos::NEVER)
    }

    /// Those timers draw from another seed from now on.
    pub fn redraw(&self, seed: u64) {
        *self.softirq_dice.borrow_mut() = softirq_dice(self.softirqs.len(), seed);
    }
}

/// A stream for each timer of soft interrupts.
pub(crate) fn softirq_dice(timers: usize, seed: u64) -> Vec<Rng> {
    (0..timers as u64).map(|number| Rng::keyed(seed, Purpose::Softirq, number)).collect()
}

impl Sim {
    pub fn hw(&self) -> &Hw {
        &self.k.platform
    }

    /// The task that runs on this CPU, as its system calls see it.
    #[inline]
    pub fn caller<'s>(&'s self, me: ThisCpu<'s, Hw>, p: TaskId) -> Caller<'s> {
        Caller { me, p, tasks: &self.user.tasks }
    }

    /// Everything, to look at.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View { k: &self.k, user: &self.user }
    }

    /// Asks every invariant that can be asked now, if the run is checked; a broken one stops it.
    #[inline]
    pub fn check(&self) {
        self.observed.check(self.view());
    }
}
