//! What the checker remembers of tasks and queues between two looks.

use super::Moment;
use crate::platform::Platform;
use crate::{CpuId, Nanos, Pid, Prio, TaskId};
use alloc::vec::Vec;

/// A moment on the checker's own clock, which counts events and looks.
pub(super) type Stamp = u64;

/// What happened to a task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskMemory {
    /// Whose memory this is: slots are reused.
    pub pid: Pid,
    /// A wakeup of it has begun and not ended (P8).
    pub waking: bool,
    /// It was on a queue when its latest wakeup began (P9).
    pub was_queued: bool,
    /// The CPU that the events say it is assigned to; `None` before its first wakeup (P16).
    pub cpu: Option<CpuId>,
    /// sched_migrate_task events (P16).
    pub migrations: u64,
    /// Switches away from it (P15).
    pub switches: u64,
    /// Sum of its sched_stat_runtime events (I11).
    pub runtime: Nanos,
    /// It was last woken, moved to another CPU, or sent behind its equals.
    pub requeued: Stamp,
    /// It may last have been put anywhere among its equals.
    pub placed: Stamp,
    /// Its virtual time when it was last seen (I7).
    pub vruntime: Option<u64>,
    /// What it was like at the last look.
    seen: Seen,
    /// Whether that changed since the look before (P2).
    pub changed: bool,
}

/// What decides where a task may run before others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Seen {
    prio: Prio,
    nr_cpus_allowed: u32,
}

/// A queue at the last look at it.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueMemory {
    pub at: Stamp,
    /// Its RT tasks in their order, the running one included (P9).
    pub order: Vec<Queued>,
    /// Room for the next order.
    pub next_order: Vec<Queued>,
    /// How often its tasks had yielded (P9).
    pub yields: u64,
    /// Its floor of virtual time (I4).
    pub min_vruntime: u64,
    /// Its reference of virtual times, while that may not go back (eevdf-class E12).
    pub v0: Option<u64>,
    /// Context switches that the events told of (P15).
    pub switches: u64,
}

/// A task on an RT list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Queued {
    pub task: TaskId,
    pub prio: Prio,
}

/// The memories of all tasks, by slot.
#[derive(Debug, Default)]
pub(super) struct TaskMemories(Vec<TaskMemory>);

impl TaskMemories {
    /// Compares every task with what it was like at the last look.
    pub fn notice_changes<P: Platform>(&mut self, moment: &Moment<'_, P>) {
        for p in moment.tasks() {
            let task = moment.k.task(p);
            let now = Seen { prio: task.prio.get(), nr_cpus_allowed: task.nr_cpus_allowed.get() };
            let memory = self.of(p, task.pid.get());
            let before = core::mem::replace(&mut memory.seen, now);
            memory.changed = now != before;
        }
    }

    /// Of the task with this pid in this slot; empty if it is a new one.
    pub fn of(&mut self, task: TaskId, pid: Pid) -> &mut TaskMemory {
        if task.index() >= self.0.len() {
            self.0.resize(task.index() + 1, TaskMemory::default());
        }
        let memory = &mut self.0[task.index()];
        if memory.pid != pid {
            *memory = TaskMemory { pid, ..TaskMemory::default() };
        }
        memory
    }
}
