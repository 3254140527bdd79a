//! One simulated machine: the scheduler on its hardware, the tasks, and what happens to them from outside.

use super::kthreads::KthreadWakes;
use crate::cpusets::PartitionOutcome;
use crate::engine::hardware::Hw;
use crate::engine::observe::{Observed, View};
use crate::engine::userland::{Caller, Userland};
use crate::group::GroupSpec;
use crate::setup::{Outside, OutsideChange};
use crate::softirq::SoftirqSpec;
use scheduler::{CpuId, Nanos, Scheduler, TaskId, ThisCpu};

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Sim {
    pub k: Scheduler<Hw>,
    /// What the setup says of the task groups.
    pub groups: Vec<GroupSpec>,
    /// The parts of a divided machine.
    pub partitions: Vec<PartitionOutcome>,
    pub user: Userland,
    pub observed: Observed,
    pub surroundings: Surroundings,
}

/// What happens to a run from outside, and when.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// Where each task of the setup wants to start.
    pub spawn_cpus: Vec<Option<CpuId>>,
    pub outside: Vec<Outside>,
    pub softirqs: Vec<SoftirqSpec>,
    /// A tick of each CPU, where the setup says one.
    pub ticks_at: Vec<Option<Nanos>>,
    /// Which kernel threads wake by what happens on a CPU.
    pub kthread_wakes: KthreadWakes,
    /// Changes of the settings, by index.
    pub settings: Vec<String>,
    /// Other seeds, by index.
    pub redraws: Vec<u64>,
    /// What somebody outside changes, by index.
    pub changes: Vec<OutsideChange>,
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
