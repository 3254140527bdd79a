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
    oldest: Option<TaskId>,
}

impl TaskList {
    /// Puts a task at the head.
    pub(in crate::fair) fn push(&mut self, tasks: &TaskTable, p: TaskId) {
        let links = &tasks.get(p).se.links;
        links.newer.set(None);
        links.older.set(self.newest);
        if let Some(second) = self.newest {
            tasks.get(second).se.links.newer.set(Some(p));
        } else {
            self.oldest = Some(p);
        }
        self.newest = Some(p);
    }

    /// Puts a task at the tail.
    pub(in crate::fair) fn push_last(&mut self, tasks: &TaskTable, p: TaskId) {
        let links = &tasks.get(p).se.links;
        links.older.set(None);
        links.newer.set(self.oldest);
        if let Some(last) = self.oldest {
            tasks.get(last).se.links.older.set(Some(p));
        } else {
            self.newest = Some(p);
        }
        self.oldest = Some(p);
    }

    /// Takes a task of this list out.
    pub(in crate::fair) fn remove(&mut self, tasks: &TaskTable, p: TaskId) {
        let links = &tasks.get(p).se.links;
        let (newer, older) = (links.newer.take(), links.older.take());
        match newer {
            Some(n) => tasks.get(n).se.links.older.set(older),
            None => self.newest = older,
        }
        match older {
            Some(o) => tasks.get(o).se.links.newer.set(newer),
            None => self.oldest = newer,
        }
    }

    /// The most recently enqueued task.
    pub(in crate::fair) fn newest(&self) -> Option<TaskId> {
        self.newest
    }

    /// The task at the tail.
    pub(in crate::fair) fn oldest(&self) -> Option<TaskId> {
        self.oldest
    }

    /// The task before that one.
    pub(in crate::fair) fn newer(tasks: &TaskTable, p: TaskId) -> Option<TaskId> {
        tasks.get(p).se.links.newer.get()
    }

    /// The task enqueued just before `p`.
    pub(in crate::fair) fn older(tasks: &TaskTable, p: TaskId) -> Option<TaskId> {
        tasks.get(p).se.links.older.get()
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
        let order = |list: &TaskList| {
            let all = core::iter::successors(list.newest(), |p| TaskList::older(&tasks, *p));
            all.map(|p| p.0).collect::<Vec<_>>()
        };
        assert_eq!(order(&list), [3, 2, 1, 0]);
        list.remove(&tasks, ids[2]);
        list.push_last(&tasks, ids[2]);
        assert_eq!(order(&list), [3, 1, 0, 2]);
        for (gone, left) in [(1, &[3, 0, 2][..]), (3, &[0, 2]), (0, &[2]), (2, &[])] {
            list.remove(&tasks, ids[gone]);
            assert_eq!(order(&list), left);
            let from_the_tail = core::iter::successors(list.oldest(), |p| TaskList::newer(&tasks, *p));
            let backwards: Vec<_> = from_the_tail.map(|p| p.0).collect();
            assert!(backwards.iter().rev().eq(left), "{backwards:?}");
        }
    }
}
