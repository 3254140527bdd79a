//! Tasks, and the table they live in.

use crate::chunks::Chunks;
use crate::fair::FairEntity;
use crate::mutex::PiState;
use crate::rt::RtEntity;
use crate::stats::TaskStats;
use crate::{CpuId, CpuMask, Nanos, Nice, Pid, Policy, Prio, TaskId};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

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

/// Which class serves a task now; it follows the effective priority, so a boosted fair task is RT.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Class {
    /// rt/.
    Rt,
    /// fair/.
    Fair,
    /// The idle task of a CPU.
    #[default]
    Idle,
}

/// A task. Every field is a cell: which lock protects it is said at the field; the others may read it racily,
/// as on the real machine.
#[derive(Debug, Default)]
pub struct Task {
    /// Set at creation.
    pub pid: Cell<Pid>,
    /// pi_lock and run-queue lock to change.
    pub policy: Cell<Policy>,
    /// The same.
    pub nice: Cell<Nice>,
    /// Priority without inheritance; the same locks.
    pub normal_prio: Cell<Prio>,
    /// Effective priority; the same locks.
    pub prio: Cell<Prio>,
    /// Class that serves the effective priority; the same locks.
    pub class: Cell<Class>,
    /// Affinity; the same locks.
    pub cpus_allowed: Cell<CpuMask>,
    /// Weight of `cpus_allowed` (1: pinned); the same locks.
    pub nr_cpus_allowed: Cell<u32>,
    /// CPU it is assigned to; run-queue lock while queued, pi_lock otherwise.
    pub cpu: Cell<CpuId>,
    /// Written by the task itself and by its wakers under pi_lock.
    pub state: Cell<TaskState>,
    /// Whether it is on a run queue (the running task is); run-queue lock.
    pub on_rq: Cell<bool>,
    /// Whether some CPU executes it or is still switching away from it.
    pub on_cpu: Cell<bool>,
    /// RT class fields; run-queue lock.
    pub rt: RtEntity,
    /// Fair class fields; run-queue lock.
    pub se: FairEntity,
    /// Priority inheritance; the wait_locks of the mutexes involved.
    pub pi: PiState,
    /// Counters; run-queue lock.
    pub stats: TaskStats,
}

impl Task {
    /// Clears a slot for a new task. The caller sets what it inherits.
    fn reset(&self, id: TaskId, pid: Pid, policy: Policy, nice: Nice, cpus_allowed: CpuMask) {
        self.pid.set(pid);
        self.policy.set(policy);
        self.nice.set(nice);
        let prio = policy.normal_prio(nice);
        self.normal_prio.set(prio);
        self.set_prio(prio);
        self.set_cpus_allowed(cpus_allowed);
        self.cpu.set(CpuId(0));
        self.state.set(TaskState::New);
        self.on_rq.set(false);
        self.on_cpu.set(false);
        self.rt.reset(id);
        self.se.reset(policy.weight(nice));
        self.pi.reset();
        self.stats.reset();
    }

    /// Sets the effective priority and the class that goes with it.
    pub(crate) fn set_prio(&self, prio: Prio) {
        self.prio.set(prio);
        self.class.set(if prio.is_rt() { Class::Rt } else { Class::Fair });
    }

    pub(crate) fn set_cpus_allowed(&self, cpus: CpuMask) {
        self.cpus_allowed.set(cpus);
        self.nr_cpus_allowed.set(cpus.weight());
    }

    /// Whether it may run on one CPU only.
    pub fn is_pinned(&self) -> bool {
        self.nr_cpus_allowed.get() == 1
    }

    /// Whether it may run on `cpu`.
    pub fn may_run_on(&self, cpu: CpuId) -> bool {
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
    free: RefCell<Vec<TaskId>>,
}

impl TaskTable {
    /// An empty table with room for `expected` tasks; more are possible, at a little more time for each
    /// lookup.
    pub fn with_room_for(expected: usize) -> TaskTable {
        TaskTable { slots: Chunks::with_room_for(expected), free: RefCell::default() }
    }

    /// The task in slot `id`.
    ///
    /// # Panics
    /// If `id` did not come from this table.
    #[inline]
    pub fn get(&self, id: TaskId) -> &Task {
        self.slots.get(id.0)
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
        self.get(id).state.set(TaskState::Free);
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
        task.state.set(TaskState::Dead);
        table.reap(first);
        assert_eq!(new(1000), first);
        assert_eq!((task.pid.get(), task.state.get(), table.len()), (Pid(1000), TaskState::New, 999));
    }
}
