//! The tasks of one queue in the order of their last enqueue, newest first; balancing walks it (fair-class
//! 2.1).
//!
//! Links live in the tasks, so nothing is allocated and removal needs no search.

use crate::TaskId;
use crate::task::TaskTable;
use core::cell::Cell;

/// A task's neighbours in the list.
#[derive(Debug, Default)]
pub(super) struct Links {
    newer: Cell<Option<TaskId>>,
    older: Cell<Option<TaskId>>,
}

/// The list; the running task is on it too.
#[derive(Debug, Default)]
pub struct TaskList {
    newest: Option<TaskId>,
}

impl TaskList {
    /// Puts a task at the head.
    pub(in crate::fair) fn push(&mut self, tasks: &TaskTable, p: TaskId) {
        let links = &tasks.get(p).se.links;
        links.newer.set(None);
        links.older.set(self.newest);
        if let Some(second) = self.newest {
            tasks.get(second).se.links.newer.set(Some(p));
        }
        self.newest = Some(p);
    }

    /// Takes a task of this list out.
    pub(in crate::fair) fn remove(&mut self, tasks: &TaskTable, p: TaskId) {
        let links = &tasks.get(p).se.links;
        let (newer, older) = (links.newer.take(), links.older.take());
        match newer {
            Some(n) => tasks.get(n).se.links.older.set(older),
            None => self.newest = older,
        }
        if let Some(o) = older {
            tasks.get(o).se.links.newer.set(newer);
        }
    }

    /// The most recently enqueued task.
    pub(in crate::fair) fn newest(&self) -> Option<TaskId> {
        self.newest
    }

    /// The task enqueued just before `p`.
    pub(in crate::fair) fn older(tasks: &TaskTable, p: TaskId) -> Option<TaskId> {
        tasks.get(p).se.links.older.get()
    }

    /// Every task, newest first.
    pub(in crate::fair) fn iter<'t>(&self, tasks: &'t TaskTable) -> impl Iterator<Item = TaskId> + 't {
        core::iter::successors(self.newest, move |p| TaskList::older(tasks, *p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuMask, Nice, Pid, Policy};
    use alloc::vec::Vec;

    #[test]
    fn newest_first_and_any_one_can_leave() {
        let tasks = TaskTable::default();
        let mut list = TaskList::default();
        let ids: Vec<_> = (0..4)
            .map(|n| tasks.create(Pid(n), Policy::Normal, Nice::default(), CpuMask::ALL))
            .inspect(|p| list.push(&tasks, *p))
            .collect();
        let order = |list: &TaskList| list.iter(&tasks).map(|p| p.0).collect::<Vec<_>>();
        assert_eq!(order(&list), [3, 2, 1, 0]);
        for (gone, left) in [(1, &[3, 2, 0][..]), (3, &[2, 0]), (0, &[2]), (2, &[])] {
            list.remove(&tasks, ids[gone]);
            assert_eq!(order(&list), left);
        }
    }
}
