//! Who waits for a mutex, in the order in which they are served.

use crate::task::Task;
use crate::{Nanos, Prio, TaskId};
use alloc::collections::VecDeque;

/// What waiters are ordered by: priority, and among deadline tasks their deadlines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key {
    pub prio: Prio,
    /// Zero for all others.
    pub deadline: Nanos,
}

impl Key {
    /// Strictly before another: equal is not enough.
    pub fn beats(self, other: Key) -> bool {
        let sooner = self.prio.is_deadline() && self.deadline < other.deadline;
        self.prio.beats(other.prio) || self.prio == other.prio && sooner
    }
}

/// A task that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Waiter {
    pub task: TaskId,
    /// What it is ordered by: [`pi_key`] or [`plain_key`] of the task.
    pub key: Key,
    /// When it came.
    pub since: Nanos,
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
    pub fn requeue(&mut self, task: TaskId, key: Key) -> bool {
        let waiter = self.0.iter().find(|w| w.task == task && w.key != key).copied();
        if let Some(waiter) = waiter {
            self.remove(task);
            self.insert(Waiter { key, ..waiter });
        }
        waiter.is_some()
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

/// Key of a task that waits for a PI mutex: its effective priority, where all normal tasks count as nice 0
/// (rt-class 7.1), and its deadline (deadline-groups A10).
pub(super) fn pi_key(task: &Task) -> Key {
    let prio = pi_prio(task.prio.get());
    let deadline = if prio.is_deadline() { task.dl.deadline() } else { Nanos::ZERO };
    Key { prio, deadline }
}

fn pi_prio(prio: Prio) -> Prio {
    if prio.is_rt() { prio } else { Prio::NICE_0 }
}

/// Key of a task that waits for a plain mutex: its own priority, not an inherited one, and all normal tasks
/// last (rt-class 7.6).
pub(super) fn plain_key(normal_prio: Prio) -> Key {
    Key { prio: normal_prio.min(Prio::NO_RT), deadline: Nanos::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn key(prio: i16) -> Key {
        Key { prio: Prio(prio), deadline: Nanos::ZERO }
    }

    fn waiter(task: u32, prio: i16) -> Waiter {
        Waiter { task: TaskId(task), key: key(prio), since: Nanos::ZERO }
    }

    fn order(keys: &[i16]) -> Vec<u32> {
        let mut waiters = Waiters::default();
        for (i, prio) in keys.iter().enumerate() {
            waiters.insert(waiter(i as u32, *prio));
        }
        waiters.iter().map(|w| w.task.0).collect()
    }

    #[test]
    fn by_priority_then_first_come_first_served() {
        assert_eq!(order(&[50, 20, 50, 20, 10]), [4, 1, 3, 0, 2]);
    }

    /// deadline-groups A10: deadline waiters before real-time ones, among them by deadline.
    #[test]
    fn deadline_waiters_by_deadline() {
        let of = |deadline| Key { prio: Prio::DEADLINE, deadline: Nanos(deadline) };
        assert!(of(5).beats(of(6)) && !of(5).beats(of(5)) && !of(6).beats(of(5)));
        assert!(of(9).beats(key(0)) && !key(0).beats(of(9)));
    }

    #[test]
    fn normal_tasks_are_equals() {
        assert_eq!([100, 119, 120, 139].map(|p| pi_prio(Prio(p))), [Prio::NICE_0; 4]);
        assert_eq!(pi_prio(Prio(98)), Prio(98));
        assert_eq!([100, 139].map(|p| plain_key(Prio(p)).prio), [Prio::NO_RT; 2]);
        assert_eq!(plain_key(Prio(98)).prio, Prio(98));
    }

    #[test]
    fn a_waiter_with_the_same_key_keeps_its_place() {
        let mut waiters = Waiters::default();
        for task in [1, 2] {
            waiters.insert(waiter(task, 7));
        }
        assert!(!waiters.requeue(TaskId(1), key(7)) && !waiters.requeue(TaskId(3), key(8)));
        assert_eq!(waiters.top().map(|w| w.task), Some(TaskId(1)));
        assert!(waiters.requeue(TaskId(2), key(6)));
        assert_eq!(waiters.top(), Some(waiter(2, 6)));
    }

    #[test]
    fn a_waiter_that_left_is_gone() {
        let mut waiters = Waiters::default();
        waiters.insert(waiter(1, 10));
        waiters.insert(waiter(2, 5));
        assert_eq!(waiters.remove(TaskId(2)), Some(waiter(2, 5)));
        assert_eq!(waiters.remove(TaskId(2)), None);
        assert_eq!((waiters.pop(), waiters.pop()), (Some(waiter(1, 10)), None));
    }
}
