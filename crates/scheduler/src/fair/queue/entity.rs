//! What a fair queue orders: entities, and what is kept of each.

use super::task_list::Links;
use super::weight::Weight;
use crate::fair::averages::Averages;
use crate::fair::eevdf::EevdfEntity;
use crate::fair::pelt::TaskPelt;
use crate::fair::select::WakeHabits;
use crate::platform::Platform;
use crate::shared::Kept;
use crate::{CpuId, GroupId, Nanos, TaskId, ThisCpu};

/// A competitor for CPU time: a task, or what stands for a group of tasks on a CPU. What orders entities
/// (timeline, buddies, the running one) speaks of them and not of tasks, and here alone one becomes the
/// other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntityId(TaskId);

impl EntityId {
    /// That of a task.
    #[inline]
    pub fn of(task: TaskId) -> EntityId {
        EntityId(task)
    }

    /// That of a group, other than the root, on a CPU.
    #[inline]
    pub fn of_group(group: GroupId, cpu: CpuId) -> EntityId {
        EntityId(TaskId::of_group(group, cpu))
    }

    /// The task that it stands for; of a group's, the slot that is kept for it as if it were one.
    #[inline]
    pub fn task(self) -> TaskId {
        self.0
    }

    /// Whether it stands for a group.
    #[inline]
    pub fn is_group(self) -> bool {
        self.0.is_of_group()
    }

    /// The group that it stands for.
    #[inline]
    pub fn group(self) -> GroupId {
        self.0.group()
    }
}

impl<'k, P: Platform> ThisCpu<'k, P> {
    /// What is kept of an entity.
    #[inline]
    pub(in crate::fair) fn entity(self, entity: EntityId) -> &'k FairEntity {
        &self.task(entity.task()).se
    }
}

/// A task's fields of this class; the run-queue lock protects them.
///
/// In this order in memory, so that all that competing takes lies in three cache lines: what orders it, its
/// averages, where it is. Of an entity that stands for a group nothing else is used, and there may be very
/// many of those.
#[derive(Debug, Default)]
#[repr(C)]
pub struct FairEntity {
    /// Load weight (fair-class 1.1).
    weight: Kept<Weight>,
    /// Virtual runtime in ns; wraps around, so compare it with [`crate::fair::lag`] only.
    pub vruntime: Kept<u64>,
    /// What EEVDF keeps of it.
    pub eevdf: EevdfEntity,
    /// What it has asked for and used, if that is tracked.
    pub pelt: TaskPelt,
    /// Group in whose queues it competes.
    pub group: Kept<GroupId>,
    /// `vruntime` counts from the min_vruntime of whatever queue the task enters next: between a fork and the
    /// child's first enqueue, on the way from one CPU to another, and while the real-time class serves the
    /// task.
    pub(in crate::fair) relative: Kept<bool>,
    /// It is among those that wait: in the timeline of CFS, in the tree of EEVDF.
    pub(in crate::fair) in_timeline: Kept<bool>,
    /// It has stopped on its way to user space, because its group has used up its limit, and is on no queue
    /// (deadline-groups B7).
    pub(crate) parked: Kept<bool>,
    /// START_NICE: left shift applied to the task's virtual time, 0 to 8 (fair-class 5.3).
    pub penalty: Kept<u8>,
    /// Its place in the queue's list of tasks.
    pub(super) links: Links,
    /// How it behaves when it wakes others and is woken.
    pub averages: Averages,
    /// Whom it wakes, and where it ran.
    pub habits: WakeHabits,
    /// START_NICE: the task's own `sum_exec_runtime` after which the penalty ends; zero: none recorded.
    pub pen_timeout: Kept<Nanos>,
}

/// What is at the beginning of a line, and what is still in the third.
const _: () = assert!(core::mem::offset_of!(FairEntity, pelt) == 64);
const _: () = assert!(core::mem::offset_of!(FairEntity, links) <= 192);

impl FairEntity {
    /// State of a new task: level with min_vruntime of the queue it enters first, unless a fork places it.
    pub(crate) fn reset(&self, weight: u64) {
        self.group.set(GroupId::ROOT);
        self.set_weight(weight);
        self.vruntime.set(0);
        self.penalty.set(0);
        self.pen_timeout.set(Nanos::ZERO);
        self.relative.set(true);
        self.in_timeline.set(false);
        self.parked.set(false);
        self.eevdf.reset();
        self.pelt.reset(weight);
        self.habits.reset();
    }

    /// State of an entity that stands for a new group: part of the averages of its parent's queue, to which
    /// it brings nothing yet.
    pub(crate) fn reset_group(&self, parent: GroupId, weight: u64) {
        self.reset(weight);
        self.group.set(parent);
        self.pelt.reset_group();
    }

    /// Its load weight in whole units, as averages, sums and balancing count with it.
    #[inline]
    pub fn weight(&self) -> u64 {
        self.weight.get().whole()
    }

    /// Its load weight to the last bit, as its own virtual time counts with it.
    #[inline]
    pub fn exact_weight(&self) -> Weight {
        self.weight.get()
    }

    /// It gets another weight.
    #[inline]
    pub(crate) fn set_weight(&self, weight: impl Into<Weight>) {
        self.weight.set(weight.into());
    }

    /// Whether the virtual time counts from a floor that is not known yet, so that it cannot be compared.
    pub(crate) fn is_relative(&self) -> bool {
        self.relative.get()
    }

    /// Makes a virtual time that counts from `min_vruntime` absolute, if it is not already.
    pub(in crate::fair) fn make_absolute(&self, min_vruntime: u64) {
        if self.relative.replace(false) {
            self.vruntime.set(self.vruntime.get().wrapping_add(min_vruntime));
        }
    }

    /// Makes the virtual time count from `min_vruntime`, if it does not already.
    pub(in crate::fair) fn make_relative(&self, min_vruntime: u64) {
        if !self.relative.replace(true) {
            self.vruntime.set(self.vruntime.get().wrapping_sub(min_vruntime));
        }
    }
}
