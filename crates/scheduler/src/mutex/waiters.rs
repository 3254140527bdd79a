//! Who waits for a mutex, in the order in which they are served.

use crate::{Prio, TaskId};
use alloc::collections::VecDeque;

/// A task that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Waiter {
    pub task: TaskId,
    /// What it is ordered by: [`pi_key`] or [`plain_key`] of the task.
    pub key: Prio,
}

/// Ordered by key, first come first served among equals. Keeps its capacity.
#[derive(Debug, Default)]
pub(super) struct Waiters(VecDeque<Waiter>);

impl Waiters {
    /// The top waiter.
    pub fn top(&self) -> Option<Waiter> {
        self.0.front().copied()
    }

    /// Adds a waiter behind its equals.
    pub fn insert(&mut self, waiter: Waiter) {
        let behind = self.0.partition_point(|w| !waiter.key.beats(w.key));
        self.0.insert(behind, waiter);
    }

    /// Takes a task out; what it was queued as.
    pub fn remove(&mut self, task: TaskId) -> Option<Waiter> {
        let at = self.0.iter().position(|w| w.task == task)?;
        self.0.remove(at)
    }

    /// Gives a waiter another key, behind its new equals. Whether that changed anything: it is still waiting,
    /// and had another key.
    pub fn requeue(&mut self, task: TaskId, key: Prio) -> bool {
        let changed = self.0.iter().any(|w| w.task == task && w.key != key);
        if changed {
            self.remove(task);
            self.insert(Waiter { task, key });
        }
        changed
    }

    /// Takes the top waiter out.
    pub fn pop(&mut self) -> Option<Waiter> {
        self.0.pop_front()
    }

    /// Everyone, in order.
    pub fn iter(&self) -> impl Iterator<Item = Waiter> + '_ {
        self.0.iter().copied()
    }
}

/// Key of a task of effective priority `prio` that waits for a PI mutex: all normal tasks count as nice 0
/// (rt-class 7.1).
pub(super) fn pi_key(prio: Prio) -> Prio {
    if prio.is_rt() { prio } else { Prio::NICE_0 }
}

/// Key of a task that waits for a plain mutex: its own priority, not an inherited one, and all normal tasks
/// last (rt-class 7.6).
pub(super) fn plain_key(normal_prio: Prio) -> Prio {
    normal_prio.min(Prio::NO_RT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn order(keys: &[u8]) -> Vec<u32> {
        let mut waiters = Waiters::default();
        for (i, key) in keys.iter().enumerate() {
            waiters.insert(Waiter { task: TaskId(i as u32), key: Prio(*key) });
        }
        waiters.iter().map(|w| w.task.0).collect()
    }

    #[test]
    fn by_priority_then_first_come_first_served() {
        assert_eq!(order(&[50, 20, 50, 20, 10]), [4, 1, 3, 0, 2]);
    }

    #[test]
    fn normal_tasks_are_equals() {
        assert_eq!([100, 119, 120, 139].map(|p| pi_key(Prio(p))), [Prio::NICE_0; 4]);
        assert_eq!(pi_key(Prio(98)), Prio(98));
        assert_eq!([100, 139].map(|p| plain_key(Prio(p))), [Prio::NO_RT; 2]);
        assert_eq!(plain_key(Prio(98)), Prio(98));
    }

    #[test]
    fn a_waiter_with_the_same_key_keeps_its_place() {
        let mut waiters = Waiters::default();
        for task in [1, 2] {
            waiters.insert(Waiter { task: TaskId(task), key: Prio(7) });
        }
        assert!(!waiters.requeue(TaskId(1), Prio(7)) && !waiters.requeue(TaskId(3), Prio(8)));
        assert_eq!(waiters.top().map(|w| w.task), Some(TaskId(1)));
        assert!(waiters.requeue(TaskId(2), Prio(6)));
        assert_eq!(waiters.top(), Some(Waiter { task: TaskId(2), key: Prio(6) }));
    }

    #[test]
    fn a_waiter_that_left_is_gone() {
        let mut waiters = Waiters::default();
        let w = |task, key| Waiter { task: TaskId(task), key: Prio(key) };
        waiters.insert(w(1, 10));
        waiters.insert(w(2, 5));
        assert_eq!(waiters.remove(TaskId(2)), Some(w(2, 5)));
        assert_eq!(waiters.remove(TaskId(2)), None);
        assert_eq!((waiters.pop(), waiters.pop()), (Some(w(1, 10)), None));
    }
}
