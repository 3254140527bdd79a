//! Tasks, and the table they live in.

use crate::chunks::Chunks;
use crate::class::Class;
use crate::dl::DlOfTask;
use crate::fair::{FairEntity, GroupQueue};
use crate::migrate::Migration;
use crate::mutex::PiState;
use crate::rt::RtEntity;
use crate::shared::{Kept, PiAndRqLock, Proof, Residence, RqLock, Shared, Unseen, Wakefulness};
use crate::stats::TaskStats;
use crate::uclamp::TaskClamps;
use crate::{CpuId, CpuMask, GroupId, Nanos, Nice, Pid, Policy, Prio, TaskId};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::hint::cold_path;

/// What a task wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TaskState {
    /// Free slot of the table.
    #[default]
    Free,
    /// Created, not yet woken for the first time.
    New,
    /// Runnable, or running.
    Running,
    /// Sleeping; a signal or an event wakes it: S.
    Interruptible,
    /// Sleeping; only its event wakes it: D.
    Uninterruptible,
    /// Between the decision to wake it and its enqueue.
    Waking,
    /// Exited.
    Dead,
}

/// A task. Everybody may read it, racily as on the real machine; who writes which field its type says
/// ([`Shared`]).
///
/// In this order in memory, so that what every switch and wakeup touches lies in three cache lines: in the
/// compiler's order oltp and cyclictest on many CPUs take 2 to 4 % longer.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Task {
    /// Whether it runs, sleeps, or is being woken.
    pub state: Shared<TaskState, Wakefulness>,
    /// Class that serves the effective priority.
    pub class: Shared<Class, PiAndRqLock>,
    /// Whether it is on a run queue (the running task is).
    pub on_rq: Shared<bool, RqLock>,
    /// Whether some CPU executes it or is still switching away from it.
    pub on_cpu: Shared<bool, RqLock>,
    /// Balancing has taken it off a queue and is about to put it on another (TASK_ON_RQ_MIGRATING).
    pub migrating: Shared<bool, RqLock>,
    /// It is a thread of the kernel; set at creation.
    pub kernel_thread: Kept<bool>,
    /// Its real-time queue counts it as boosted.
    pub(crate) rt_boosted: Kept<bool>,
    /// Its own nice value.
    pub nice: Shared<Nice, PiAndRqLock>,
    /// Its own policy.
    pub policy: Shared<Policy, PiAndRqLock>,
    /// Effective priority.
    pub prio: Shared<Prio, PiAndRqLock>,
    /// Priority without inheritance.
    pub normal_prio: Shared<Prio, PiAndRqLock>,
    /// CPU it is assigned to.
    pub cpu: Shared<CpuId, Residence>,
    /// Counters.
    pub stats: TaskStats,
    /// Fair class fields, under the run-queue lock.
    pub se: FairEntity,
    /// RT class fields, under the run-queue lock.
    pub rt: RtEntity,
    /// Set at creation.
    pub pid: Kept<Pid>,
    /// Weight of `cpus_allowed` (1: pinned).
    pub nr_cpus_allowed: Shared<u32, PiAndRqLock>,
    /// Affinity.
    pub cpus_allowed: Shared<CpuMask, PiAndRqLock>,
    /// Whether it may leave its CPU at present.
    pub migration: Migration,
    /// Priority inheritance, under the wait_locks of the mutexes involved.
    pub pi: PiState,
    /// Deadline class fields, under the run-queue lock.
    pub dl: DlOfTask,
    /// Clamps of utilisation, under the run-queue lock.
    pub clamps: TaskClamps,
}

/// What is at the beginning of a line, and what is still in the first one.
const _: () = assert!(core::mem::offset_of!(Task, se) == 256);
const _: () = assert!(core::mem::offset_of!(Task, stats.last_ran) == 64);

impl Task {
    /// Clears a slot for a new task. The caller sets what it inherits.
    fn reset(&self, id: TaskId, pid: Pid, policy: Policy, nice: Nice, cpus_allowed: CpuMask) {
        self.pid.set(pid);
        self.kernel_thread.set(false);
        self.policy.set(&Unseen, policy);
        self.nice.set(&Unseen, nice);
        let prio = policy.normal_prio(nice);
        self.normal_prio.set(&Unseen, prio);
        self.set_prio(&Unseen, prio);
        self.set_cpus_allowed(&Unseen, cpus_allowed);
        self.cpu.set(&Unseen, CpuId(0));
        self.state.set(&Unseen, TaskState::New);
        self.on_rq.set(&Unseen, false);
        self.migrating.set(&Unseen, false);
        self.on_cpu.set(&Unseen, false);
        self.migration.reset();
        self.dl.reset(policy);
        self.rt.reset(id);
        self.rt_boosted.set(false);
        self.se.reset(policy.weight(nice));
        self.pi.reset();
        self.stats.reset();
        self.clamps.reset();
    }

    /// Sets the effective priority and the class that goes with it.
    pub(crate) fn set_prio(&self, held: &impl Proof<PiAndRqLock>, prio: Prio) {
        self.prio.set(held, prio);
        self.class.set(held, Class::serving(prio));
    }

    pub(crate) fn set_cpus_allowed(&self, held: &impl Proof<PiAndRqLock>, cpus: CpuMask) {
        self.cpus_allowed.set(held, cpus);
        self.nr_cpus_allowed.set(held, cpus.weight());
    }

    /// Makes a new task the idle task of a CPU, which runs it.
    pub(crate) fn init_idle(&self, cpu: CpuId) {
        self.prio.set(&Unseen, Prio::IDLE);
        self.class.set(&Unseen, Class::Idle);
        self.cpu.set(&Unseen, cpu);
        self.state.set(&Unseen, TaskState::Running);
        self.on_cpu.set(&Unseen, true);
    }

    /// Makes a new task the stopper of a CPU, which sleeps.
    pub(crate) fn init_stopper(&self, cpu: CpuId) {
        self.class.set(&Unseen, Class::Stop);
        self.cpu.set(&Unseen, cpu);
        self.state.set(&Unseen, TaskState::Interruptible);
    }

    /// Whether the queue of its class holds it: it is queued and not parked.
    #[inline]
    pub fn is_in_queue(&self) -> bool {
        self.on_rq.get() && !self.se.parked.get()
    }

    /// Whether it may run on one CPU only.
    pub fn is_pinned(&self) -> bool {
        self.nr_cpus_allowed.get() == 1
    }

    /// Whether it may run on `cpu`: by its affinity or, as long as it may not migrate, where it is.
    pub fn may_run_on(&self, cpu: CpuId) -> bool {
        if self.migration.is_disabled() { self.cpu.get() == cpu } else { self.is_allowed_on(cpu) }
    }

    /// Whether its affinity names `cpu`.
    pub fn is_allowed_on(&self, cpu: CpuId) -> bool {
        self.cpus_allowed.get().contains(cpu)
    }

    /// Real time in the present stint, up to the last accounting (fair-class 0.2, `ran`).
    pub fn ran(&self) -> Nanos {
        self.stats.sum_exec_runtime.get() - self.stats.prev_sum_exec_runtime.get()
    }
}

/// All tasks. A reference to one stays good while others are created; slots of reaped tasks are reused, so
/// nothing is allocated in steady state.
#[derive(Debug, Default)]
pub struct TaskTable {
    slots: Chunks<Task>,
    /// What stands for the groups: see [`GroupEntities`].
    groups: GroupEntities,
    free: RefCell<Vec<TaskId>>,
}

/// A group on a CPU. Whoever needs one half is about to need the other, and there may be very many: so they
/// lie beside each other.
#[derive(Debug, Default)]
pub struct GroupOnCpu {
    /// What stands for it in its parent's queue.
    pub entity: Task,
    /// Its own queue.
    pub queue: GroupQueue,
}

/// An odd number of cache lines, so that the parts that are used most do not share few places of a cache.
const _: () = assert!(size_of::<GroupOnCpu>() / 64 % 2 == 1);

/// The group entities (deadline-groups B1). A queue takes them for tasks, so they are kept as those are, but
/// apart: they have no pid, nobody lists them, and their ids have the highest bit.
#[derive(Debug, Default)]
struct GroupEntities {
    /// By the number of the group, then by CPU.
    all: Vec<GroupOnCpu>,
    /// How many there are of each group.
    cpus: usize,
}

impl GroupEntities {
    const BIT: u32 = 1 << 31;
    /// So many of the lowest bits name the CPU, those above it the group.
    const CPU_BITS: u32 = CpuId::LIMIT.ilog2();

    #[inline]
    fn get(&self, id: TaskId) -> &GroupOnCpu {
        self.at((id.0 & !Self::BIT) as usize >> Self::CPU_BITS, id.0 as usize & (CpuId::LIMIT - 1))
    }

    #[inline]
    fn at(&self, group: usize, cpu: usize) -> &GroupOnCpu {
        debug_assert!(cpu < self.cpus, "a group is on the CPUs of the machine");
        &self.all[group * self.cpus + cpu]
    }
}

const _: () = assert!(CpuId::LIMIT.is_power_of_two());

impl TaskId {
    /// Whether it stands for a group, and is no task.
    #[inline]
    pub(crate) fn is_of_group(self) -> bool {
        self.0 & GroupEntities::BIT != 0
    }

    /// The entity of a group, other than the root, on a CPU.
    #[inline]
    pub(crate) fn of_group(group: GroupId, cpu: CpuId) -> TaskId {
        TaskId(GroupEntities::BIT | (group.0 - 1) << GroupEntities::CPU_BITS | u32::from(cpu.0))
    }

    /// The group that it stands for.
    #[inline]
    pub(crate) fn group(self) -> GroupId {
        GroupId(((self.0 & !GroupEntities::BIT) >> GroupEntities::CPU_BITS) + 1)
    }
}

impl TaskTable {
    /// An empty table with room for `expected` tasks; more are possible, at a little more time for each
    /// lookup.
    pub fn with_room_for(expected: usize) -> TaskTable {
        TaskTable { slots: Chunks::with_room_for(expected), ..TaskTable::default() }
    }

    /// The task in slot `id`.
    ///
    /// # Panics
    /// If `id` did not come from this table.
    #[inline]
    pub fn get(&self, id: TaskId) -> &Task {
        match self.slots.in_base(id.0) {
            Some(task) => task,
            None => {
                // Only for how the code is laid out: it is not rare where there are groups.
                cold_path();
                self.behind_base(id)
            }
        }
    }

    #[inline(never)]
    fn behind_base(&self, id: TaskId) -> &Task {
        if id.is_of_group() { &self.groups.get(id).entity } else { self.slots.behind_base(id.0) }
    }

    /// What is kept of a group, other than the root, on a CPU.
    #[inline]
    pub fn group_on(&self, group: GroupId, cpu: CpuId) -> &GroupOnCpu {
        self.groups.at(group.index() - 1, cpu.index())
    }

    /// What is kept of a group, other than the root, on each CPU.
    pub(crate) fn group_on_all(&self, group: GroupId) -> &[GroupOnCpu] {
        let first = (group.index() - 1) * self.groups.cpus;
        &self.groups.all[first..first + self.groups.cpus]
    }

    /// So many groups will be made on a machine of `cpus` CPUs: they need no more memory than they take.
    pub(crate) fn expect_groups(&mut self, groups: usize, cpus: usize) {
        self.groups.all.reserve_exact(groups * cpus);
    }

    /// Makes the entities of a new group, one for each CPU, as members of `parent`'s queues.
    pub(crate) fn create_group(&mut self, cpus: usize, parent: GroupId, weight: u64, policy: Policy) {
        let entity = |cpu: u16| {
            let task = Task::default();
            task.policy.set(&Unseen, policy);
            task.set_prio(&Unseen, policy.normal_prio(Nice::default()));
            task.cpu.set(&Unseen, CpuId(cpu));
            task.se.reset_group(parent, weight);
            GroupOnCpu { entity: task, queue: GroupQueue::default() }
        };
        self.groups.cpus = cpus;
        self.groups.all.extend((0..cpus as u16).map(entity));
    }

    /// A slot for a new task, state [`TaskState::New`].
    pub fn create(&self, pid: Pid, policy: Policy, nice: Nice, cpus_allowed: CpuMask) -> TaskId {
        let id = self.free.borrow_mut().pop().unwrap_or_else(|| TaskId(self.slots.grow()));
        self.get(id).reset(id, pid, policy, nice, cpus_allowed);
        id
    }

    /// Gives the slot of a dead task back.
    pub fn reap(&self, id: TaskId) {
        debug_assert_eq!(self.get(id).state.get(), TaskState::Dead);
        self.get(id).state.set(&Unseen, TaskState::Free);
        self.free.borrow_mut().push(id);
    }

    /// Number of slots in use or free; ids are below it.
    pub fn len(&self) -> usize {
        self.slots.len() as usize
    }

    /// Whether no task was ever created.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every task that exists, dead but unreaped ones included.
    pub fn iter(&self) -> impl Iterator<Item = TaskId> + '_ {
        (0..self.slots.len()).map(TaskId).filter(|id| self.get(*id).state.get() != TaskState::Free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_stable_and_reused() {
        let table = TaskTable::with_room_for(10);
        let new = |pid| table.create(Pid(pid), Policy::Normal, Nice::default(), CpuMask::first_n(2));
        let first = new(1);
        let task = table.get(first);
        for pid in 2..1000 {
            new(pid);
        }
        assert_eq!((task.pid.get(), table.len()), (Pid(1), 999));
        task.state.overwrite(TaskState::Dead);
        table.reap(first);
        assert_eq!(new(1000), first);
        assert_eq!((task.pid.get(), task.state.get(), table.len()), (Pid(1000), TaskState::New, 999));
    }
}
