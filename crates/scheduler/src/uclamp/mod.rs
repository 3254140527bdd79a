//! Clamps of utilisation (uclamp, deadline-groups B11): between which two values a task counts as using a
//! CPU, whatever it really uses, where that decides on which CPU it runs.
//!
//! A task asks for them (sched_setattr), its group narrows them, the system's sysctls go before all. They
//! never change an average (CF5): who reads one asks here what of it counts.

mod buckets;

pub use buckets::CpuClamps;
pub(crate) use buckets::{comes, goes};

use crate::pi_lock::PiGuard;
use crate::platform::{Cost, Platform};
use crate::registry::{RtFit, Uclamp};
use crate::shared::Kept;
use crate::task::Task;
use crate::{CpuId, FULL_CAPACITY, GroupId, Scheduler, TaskId, ThisCpu};

/// Bounds of utilisation, in 1024ths of the best CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clamps {
    /// It counts as using no less: 0 to 1024.
    pub min: u16,
    /// It counts as using no more: 0 to 1024.
    pub max: u16,
}

impl Clamps {
    /// What a task has that asks for nothing: none.
    pub const NONE: Clamps = Clamps { min: 0, max: FULL_CAPACITY as u16 };

    /// What counts of so much utilisation.
    #[must_use]
    pub fn of(self, util: u64) -> u64 {
        util.min(self.max.into()).max(self.min.into())
    }

    /// The same, of which neither is above that of `limits`.
    #[must_use]
    pub fn at_most(self, limits: Clamps) -> Clamps {
        Clamps { min: self.min.min(limits.min), max: self.max.min(limits.max) }
    }
}

impl Default for Clamps {
    fn default() -> Clamps {
        Clamps::NONE
    }
}

/// The clamps that a task asks for; `None`: as the kernel gives them by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClampRequest {
    /// `util_min`, 0 to 1024; by itself 0, of a real-time task sched_util_clamp_min_rt_default.
    pub min: Option<u16>,
    /// `util_max`, 0 to 1024; by itself 1024.
    pub max: Option<u16>,
}

impl ClampRequest {
    /// Whether a kernel takes it (sched_setattr refuses others with EINVAL).
    #[must_use]
    pub fn is_legal(self) -> bool {
        let Clamps { min, max } = Clamps { min: self.min.unwrap_or(0), max: self.max.unwrap_or(1024) };
        min <= max && u64::from(max) <= FULL_CAPACITY
    }
}

/// What a task asks for.
#[derive(Debug, Default)]
pub struct TaskClamps {
    requested: Kept<ClampRequest>,
    /// What the clamps of its queue contain of it, while it competes.
    pub(crate) counted: Kept<Option<Clamps>>,
}

impl TaskClamps {
    /// A new task asks for what its parent does (sched_fork).
    pub(crate) fn inherit(&self, parent: &TaskClamps) {
        self.requested.set(parent.requested.get());
    }

    pub(crate) fn reset(&self) {
        self.requested.set(ClampRequest::default());
        self.counted.set(None);
    }

    /// What it asks for.
    pub fn requested(&self) -> ClampRequest {
        self.requested.get()
    }
}

impl<P: Platform> Scheduler<P> {
    /// The clamps that count of a task (uclamp_eff_value): its request within its group's clamps, then within
    /// the system's.
    pub fn clamps_of(&self, task: &Task) -> Clamps {
        if self.config.rules.uclamp.get() == Uclamp::Off {
            return Clamps::NONE;
        }
        let tunables = &self.config.tunables;
        let request = task.clamps.requested.get();
        let by_itself =
            if task.policy.get().is_rt() { tunables.sched_util_clamp_min_rt_default.get() as u16 } else { 0 };
        let asked =
            Clamps { min: request.min.unwrap_or(by_itself), max: request.max.unwrap_or(Clamps::NONE.max) };
        let group = self.clamps_of_group(task.se.group.get());
        let narrowed =
            Clamps { min: group.of(asked.min.into()) as u16, max: group.of(asked.max.into()) as u16 };
        narrowed.at_most(Clamps {
            min: tunables.sched_util_clamp_min.get() as u16,
            max: tunables.sched_util_clamp_max.get() as u16,
        })
    }

    /// The clamps in force of a group; the root has none.
    fn clamps_of_group(&self, group: GroupId) -> Clamps {
        if group == GroupId::ROOT { Clamps::NONE } else { self.groups.get(group).clamps }
    }

    /// Those in force of a group that asks for these and is to be part of another one: neither is above the
    /// parent's, and the lower one is not above the upper one.
    pub(crate) fn clamps_below(&self, parent: GroupId, asked: Clamps) -> Clamps {
        let Clamps { min, max } = match parent {
            GroupId::ROOT => asked,
            parent => asked.at_most(self.groups.get(parent).clamps),
        };
        Clamps { min: min.min(max), max }
    }

    /// Whether a real-time task finds enough on a CPU (rt_task_fits_capacity): what it is clamped to from
    /// below, which by itself is all of the best one.
    #[inline]
    pub(crate) fn rt_task_fits(&self, task: &Task, cpu: CpuId) -> bool {
        !self.rt_tasks_must_fit() || self.is_worth_its_clamp(task, cpu)
    }

    #[cold]
    fn is_worth_its_clamp(&self, task: &Task, cpu: CpuId) -> bool {
        let Clamps { min, max } = self.clamps_of(task);
        self.full_capacity(cpu) >= u64::from(min.min(max))
    }

    /// Whether real-time tasks look for that, because CPUs are not worth the same.
    #[inline]
    pub(crate) fn rt_tasks_must_fit(&self) -> bool {
        let rules = &self.config.rules;
        self.fair_root.is_asymmetric && rules.rt_fit.get() == RtFit::Fit && rules.uclamp.get() != Uclamp::Off
    }
}

/// sched_setattr with clamps on a task: each that is not asked for is as the kernel gives it by itself.
/// Nothing moves; they count from the next decision on.
pub async fn sched_setattr_clamps<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, request: ClampRequest) {
    let _pi: PiGuard<'_, P> = me.pi_lock(p).await;
    let mut rq = me.task_rq_lock(p).await;
    rq.update_clock();
    rq.charge(Cost::SetPrio);
    let is_counted = me.task(p).clamps.counted.get().is_some();
    goes(&rq, p);
    me.task(p).clamps.requested.set(request);
    if is_counted {
        comes(&rq, p);
    }
}

#[cfg(test)]
mod tests;
