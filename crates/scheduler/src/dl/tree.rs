//! Entities in the order of their deadlines; among equals first come first served (deadline-groups A4).

use crate::{CpuId, Nanos, TaskId};
use alloc::vec::Vec;

/// Who competes by deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DlId {
    /// A task.
    Task(TaskId),
    /// The server of a CPU that stands for the fair class (deadline-groups A11).
    Server(CpuId),
}

impl DlId {
    /// The task, if it is one.
    pub fn task(self) -> Option<TaskId> {
        match self {
            DlId::Task(p) => Some(p),
            DlId::Server(_) => None,
        }
    }
}

/// An entity and the deadline by which it is queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queued {
    /// Who.
    pub id: DlId,
    /// Its absolute deadline.
    pub deadline: Nanos,
}

/// The kernel keeps a red-black tree. Admission keeps these queues short, so that a sorted list is as good;
/// it keeps its room.
#[derive(Debug, Default)]
pub(super) struct Tree(Vec<Queued>);

impl Tree {
    /// The earliest.
    pub fn first(&self) -> Option<Queued> {
        self.0.first().copied()
    }

    /// Behind those of the same deadline.
    pub fn insert(&mut self, new: Queued) {
        let behind = self.0.partition_point(|queued| queued.deadline <= new.deadline);
        self.0.insert(behind, new);
    }

    /// Whether it was in.
    pub fn remove(&mut self, id: DlId) -> bool {
        let at = self.0.iter().position(|queued| queued.id == id);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Queued> + '_ {
        self.0.iter().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_first_and_equals_as_they_came() {
        let mut tree = Tree::default();
        for (task, deadline) in [(1, 30), (2, 10), (3, 30), (4, 20), (5, 10)] {
            tree.insert(Queued { id: DlId::Task(TaskId(task)), deadline: Nanos(deadline) });
        }
        let order = |tree: &Tree| tree.iter().filter_map(|q| q.id.task()).map(|p| p.0).collect::<Vec<_>>();
        assert_eq!(order(&tree), [2, 5, 4, 1, 3]);
        assert!(tree.remove(DlId::Task(TaskId(2))) && !tree.remove(DlId::Task(TaskId(2))));
        assert_eq!(tree.first().map(|q| q.deadline), Some(Nanos(10)));
    }
}
