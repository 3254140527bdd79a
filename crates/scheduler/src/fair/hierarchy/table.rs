//! The groups of a machine, and what is kept of their queues beside the run-queue locks (deadline-groups B1).

use super::bandwidth::{BandwidthCounts, Pool, QueueBandwidth, QuotaParams};
use crate::fair::pelt::{Average, Removed};
use crate::fair::queue::CfsRq;
use crate::platform::Platform;
use crate::rt::{Bandwidth, RtLimit};
use crate::shared::{Kept, RqLock, Shared};
use crate::{
    Clamps, CpuId, GroupId, GroupOnCpu, IDLE_POLICY_WEIGHT, Nanos, Policy, Scheduler, TaskId, ThisCpu,
};
use alloc::vec::Vec;
use core::hint::cold_path;

/// What a group is to be like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupParams {
    /// The group that it is part of.
    pub parent: GroupId,
    /// Weight of the whole group among its siblings, 2 to 262,144 (`cpu.shares`).
    pub shares: u64,
    /// `cpu.idle`: it weighs what a SCHED_IDLE task does, and makes room as one (deadline-groups B6).
    pub idle: bool,
    /// How much it may use; `None`: without limit.
    pub quota: Option<QuotaParams>,
    /// `cpu.uclamp.min` and `cpu.uclamp.max`, in 1024ths (deadline-groups B11).
    pub clamps: Clamps,
    /// How much its real-time tasks may use; `None`: it is a session (autogroup), whose real-time tasks are
    /// the parent's. Without RT_GROUP_SCHED all are those of the root (deadline-groups B9).
    pub rt: Option<RtLimit>,
}

/// All groups but the root.
#[derive(Debug, Default)]
pub struct Groups {
    all: Vec<Group>,
    /// Some have a limit. Where none has, nobody looks for one.
    limited: bool,
}

/// A group. (In this order in memory: what each event of its tasks asks for comes first.)
#[derive(Debug)]
#[repr(C)]
pub struct Group {
    /// The group that it is part of.
    pub parent: GroupId,
    /// How many groups it is part of, the root included.
    pub depth: u32,
    /// What it weighs as a whole.
    pub shares: u64,
    /// Sum of what its queues have published of their loads (deadline-groups B3, B4).
    pub load_avg: Kept<u64>,
    /// Whether it is a `cpu.idle` group.
    pub idle: bool,
    /// The groups that are part of it, and of no other that is.
    pub(super) children: Vec<GroupId>,
    /// What it may use; `None`: without limit.
    pub pool: Option<Pool>,
    /// The clamps in force: those that it asks for, within its parent's.
    pub clamps: Clamps,
    /// What its real-time tasks may use, if they have queues of their own.
    pub rt: Option<Bandwidth>,
    /// CPU time of its tasks, and of those below it, while they were in a higher class: none of its queues is
    /// charged that.
    ran_above: Kept<Nanos>,
}

/// What is kept of a group's queue on a CPU, beside that CPU's lock.
///
/// In this order in memory, so that a group without a limit, whose tasks stay, touches two cache lines of it.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct GroupQueue {
    /// Averages of what its tasks ask for and use, those of the groups below included.
    pub average: Average,
    /// What of its load is in the group's sum.
    pub contrib: Kept<u64>,
    /// When that was last brought up to date.
    pub(super) published_at: Kept<Nanos>,
    /// Tasks below it, as its entity was last counted.
    pub(in crate::fair) runnable: Kept<u64>,
    /// Of what has joined or left, the sum of the times that it was runnable.
    pub(super) load_change: Kept<i64>,
    /// Something has joined or left, which the levels above do not show yet.
    pub(super) changed: Kept<bool>,
    /// Its averages, or who is in it, have to be looked after ([`super::averages::Living`]).
    pub(super) lives: Kept<bool>,
    /// Sum of the weights that are queued there; zero: nobody competes.
    pub(in crate::fair) load: Kept<u64>,
    /// In which pick its entity was last put back: so many switches the CPU had made, and one more; zero: in
    /// none.
    pub(super) put_in_pick: Kept<u64>,
    /// What has left it asleep since the averages were last updated.
    pub removed: Removed,
    /// Floor of virtual time.
    pub min_vruntime: Shared<u64, RqLock>,
    /// Its part of the group's limit.
    pub bandwidth: QueueBandwidth,
}

/// What is still in the second line.
const _: () = assert!(core::mem::offset_of!(GroupQueue, removed) == 128 - size_of::<u64>());

/// The averages of a queue, of a group or of a CPU.
#[derive(Clone, Copy, Debug)]
pub struct QueueAverages<'k> {
    /// What its tasks ask for and use.
    pub average: &'k Average,
    /// What has left it since that was last brought up to date.
    pub removed: &'k Removed,
}

impl Groups {
    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// A group other than the root.
    ///
    /// # Panics
    /// If there is no such group.
    #[inline]
    pub fn get(&self, group: GroupId) -> &Group {
        &self.all[group.index() - 1]
    }

    /// A task of a group has run for so long in a class above the fair one.
    pub(in crate::fair) fn ran_above(&self, group: GroupId, ran: Nanos) {
        for level in self.upwards(group) {
            let sum = &self.get(level).ran_above;
            sum.set(sum.get() + ran);
        }
    }

    /// The limit of a group, if it has one.
    #[inline]
    pub(super) fn pool_of(&self, group: GroupId) -> Option<&Pool> {
        if !self.limited || group == GroupId::ROOT {
            return None;
        }
        cold_path();
        self.get(group).pool.as_ref()
    }

    /// Every group other than the root, parents before their children.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = GroupId> + use<> {
        (1..=self.all.len() as u32).map(GroupId)
    }

    /// The group that this one is part of; the root is part of itself.
    pub(crate) fn parent(&self, group: GroupId) -> GroupId {
        if group == GroupId::ROOT { group } else { self.get(group).parent }
    }

    /// A group and those that it is part of, but for the root.
    pub(crate) fn upwards(&self, group: GroupId) -> impl Iterator<Item = GroupId> {
        let levels = core::iter::successors(Some(group), |group| Some(self.parent(*group)));
        levels.take_while(|group| *group != GroupId::ROOT)
    }

    /// Whether a group is this one, other than the root, or below it.
    pub fn is_within(&self, group: GroupId, above: GroupId) -> bool {
        self.upwards(group).any(|level| level == above)
    }

    pub(in crate::fair) fn depth(&self, group: GroupId) -> u32 {
        if group == GroupId::ROOT { 0 } else { self.get(group).depth }
    }

    /// Whether a group, or one that it is part of, is a `cpu.idle` group.
    pub(in crate::fair) fn is_idle(&self, mut group: GroupId) -> bool {
        while group != GroupId::ROOT {
            if self.get(group).idle {
                return true;
            }
            group = self.parent(group);
        }
        false
    }
}

impl Default for GroupQueue {
    fn default() -> GroupQueue {
        GroupQueue {
            min_vruntime: Shared::new(CfsRq::INITIAL_MIN_VRUNTIME),
            average: Average::default(),
            removed: Removed::default(),
            contrib: Kept::default(),
            published_at: Kept::default(),
            runnable: Kept::default(),
            changed: Kept::default(),
            load_change: Kept::default(),
            lives: Kept::default(),
            load: Kept::default(),
            put_in_pick: Kept::default(),
            bandwidth: QueueBandwidth::default(),
        }
    }
}

impl<P: Platform> Scheduler<P> {
    /// So many groups will be added. (One more than that would move all that is kept of them.)
    pub fn expect_groups(&mut self, groups: usize) {
        let cpus = self.cpus();
        self.tasks.expect_groups(groups, cpus);
    }

    /// Adds a group, before the machine runs. Its parent has to be there already.
    ///
    /// # Panics
    /// If it is not, or the shares are zero.
    pub fn create_group(&mut self, params: GroupParams) -> GroupId {
        let GroupParams { parent, shares, idle, quota, clamps, rt } = params;
        assert!(parent.index() <= self.groups.all.len() && shares > 0, "a legal group: {params:?}");
        let cpus = self.cpus();
        let shares = if idle { IDLE_POLICY_WEIGHT } else { shares };
        let policy = if idle { Policy::Idle } else { Policy::Normal };
        let depth = self.groups.depth(parent) + 1;
        self.tasks.create_group(cpus, parent, shares, policy);
        let id = GroupId(self.groups.all.len() as u32 + 1);
        let has_rt_groups = self.rt_bandwidth.has_groups();
        for rq in self.rqs_mut() {
            rq.create_group(id, has_rt_groups);
        }
        let rt = rt.filter(|_| has_rt_groups).map(|limit| Bandwidth::of_group(cpus, limit));
        let (pool, load_avg) = (quota.map(Pool::new), Kept::default());
        if parent != GroupId::ROOT {
            self.groups.all[parent.index() - 1].children.push(id);
        }
        self.groups.limited |= pool.is_some();
        let children = Vec::new();
        let clamps = self.clamps_below(parent, clamps);
        self.groups.all.push(Group {
            parent,
            depth,
            children,
            shares,
            idle,
            pool,
            clamps,
            rt,
            load_avg,
            ran_above: Kept::default(),
        });
        id
    }
}

impl<P: Platform> Scheduler<P> {
    /// The queue of a group, other than the root, on a CPU.
    #[inline]
    pub fn group_queue(&self, group: GroupId, cpu: CpuId) -> &GroupQueue {
        &self.tasks.group_on(group, cpu).queue
    }

    /// The part of a group's queue in the limits, its own and those of the levels above; `None` where no
    /// group has a limit, and for the root.
    #[inline]
    pub(super) fn limit_of(&self, group: GroupId, cpu: CpuId) -> Option<&QueueBandwidth> {
        if !self.groups.limited || group == GroupId::ROOT {
            return None;
        }
        cold_path();
        Some(&self.group_queue(group, cpu).bandwidth)
    }

    /// The averages of a queue.
    #[inline]
    pub fn averages_of(&self, group: GroupId, cpu: CpuId) -> QueueAverages<'_> {
        if group == GroupId::ROOT {
            let pelt = &self.rq(cpu).published.pelt;
            return QueueAverages { average: &pelt.average, removed: &pelt.removed };
        }
        let queue = self.group_queue(group, cpu);
        QueueAverages { average: &queue.average, removed: &queue.removed }
    }

    /// The floor of virtual time of a queue.
    #[inline]
    pub fn floor_of(&self, group: GroupId, cpu: CpuId) -> &Shared<u64, RqLock> {
        if group == GroupId::ROOT {
            return &self.rq(cpu).published.min_vruntime;
        }
        &self.group_queue(group, cpu).min_vruntime
    }

    /// What stands for a task in the queue of a group on its CPU: itself, or a group; `None` if the task is
    /// not below that group.
    pub(crate) fn ancestor_in(&self, mut p: TaskId, group: GroupId) -> Option<TaskId> {
        let cpu = self.task(p).cpu.get();
        loop {
            match self.task(p).se.group.get() {
                own if own == group => return Some(p),
                GroupId::ROOT => return None,
                own => p = TaskId::of_group(own, cpu),
            }
        }
    }

    /// What became of the limit of a group, other than the root, up to `now`; `None` without one.
    pub fn bandwidth_counts(&self, group: GroupId, now: Nanos) -> Option<BandwidthCounts> {
        let pool = self.groups.get(group).pool.as_ref()?;
        Some(pool.counts_with(now, self.tasks.group_on_all(group).iter().map(|on| &on.queue)))
    }

    /// CPU time of the tasks of a group, other than the root, and of the groups below it, whatever their
    /// class is (`usage_usec` of its `cpu.stat`).
    pub fn group_usage(&self, group: GroupId) -> Nanos {
        let charged = |on: &GroupOnCpu| on.entity.stats.sum_exec_runtime.get();
        let on_cpus = self.tasks.group_on_all(group).iter().map(charged);
        on_cpus.fold(self.groups.get(group).ran_above.get(), |a, b| a + b)
    }
}

impl<'k, P: Platform> ThisCpu<'k, P> {
    /// What is kept of a group's queue on a CPU.
    #[inline]
    pub(in crate::fair) fn group_queue(self, group: GroupId, cpu: CpuId) -> &'k GroupQueue {
        self.k.group_queue(group, cpu)
    }

    /// What is kept of a group on a CPU.
    #[inline]
    pub(in crate::fair) fn group_on(self, group: GroupId, cpu: CpuId) -> &'k GroupOnCpu {
        self.k.tasks.group_on(group, cpu)
    }
}
