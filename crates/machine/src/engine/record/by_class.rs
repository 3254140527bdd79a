//! Wakeup latencies of tasks that become real-time, or stop being so: the waits from before are no real-time
//! latencies, however long they were.

use crate::outcome::LatencyByClass;
use scheduler::{Nanos, TaskId};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The tasks that were both. Those that never changed have all their latencies under the one that they are.
#[derive(Debug, Default)]
pub(super) struct ByClass {
    tasks: RefCell<BTreeMap<TaskId, OfTask>>,
}

/// What becomes of a task's policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    /// Whether it is a real-time one now.
    pub is_realtime: bool,
    /// Whether a wakeup latency of the task is under way: it began under the old policy.
    pub waits: bool,
}

#[derive(Clone, Copy, Debug)]
struct OfTask {
    is_realtime: bool,
    /// Whether the task was real-time when the wait began that is under way.
    waits_as_realtime: bool,
    latencies: LatencyByClass,
}

impl ByClass {
    /// A task has become real-time, or stopped being so. What `before` gives, its latencies until now, counts
    /// if it is the first time.
    pub fn changes(&self, task: TaskId, change: Change, before: impl FnOnce() -> LatencyByClass) {
        let Change { is_realtime, waits } = change;
        let mut tasks = self.tasks.borrow_mut();
        let of_task = tasks.entry(task).or_insert_with(|| OfTask {
            is_realtime,
            waits_as_realtime: !is_realtime,
            latencies: before(),
        });
        of_task.is_realtime = is_realtime;
        if !waits {
            of_task.waits_as_realtime = is_realtime;
        }
    }

    /// A wait has ended.
    pub fn latency(&self, task: TaskId, latency: Nanos) {
        let mut tasks = self.tasks.borrow_mut();
        if let Some(of_task) = tasks.get_mut(&task) {
            of_task.latencies.add(of_task.waits_as_realtime, latency);
            of_task.waits_as_realtime = of_task.is_realtime;
        }
    }

    /// What is known of a task, if it was both; `open` is a wait that is under way and counts so far.
    pub fn of(&self, task: TaskId, open: Option<Nanos>) -> Option<LatencyByClass> {
        let OfTask { waits_as_realtime, mut latencies, .. } = *self.tasks.borrow().get(&task)?;
        if let Some(open) = open {
            latencies.add(waits_as_realtime, open);
        }
        Some(latencies)
    }

    /// The slot gets another user.
    pub fn forget(&self, task: TaskId) {
        self.tasks.borrow_mut().remove(&task);
    }

    /// Latencies count anew from now on.
    pub fn forget_latencies(&self) {
        self.tasks
            .borrow_mut()
            .values_mut()
            .for_each(|of_task| of_task.latencies = LatencyByClass::default());
    }
}
