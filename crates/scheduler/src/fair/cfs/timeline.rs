//! The runnable entities that wait, ordered by virtual time (fair-class 2.1).
//!
//! A sorted vector, rightmost first, so that the leftmost (the one that everybody asks for and that runs
//! next) is at the end and leaves without moving anything. Queues are short: a shift of a few hundred 16-byte
//! entries is cheaper than a tree's pointers, and nothing is allocated once the vector has grown.

use crate::fair::queue::EntityId;
use crate::fair::vruntime::lag;
use alloc::vec::Vec;

/// A waiting entity and its virtual runtime, which cannot change while it waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Virtual runtime in ns.
    pub vruntime: u64,
    /// Who.
    pub entity: EntityId,
}

/// See the module's head.
#[derive(Debug, Default)]
pub struct Timeline {
    entries: Vec<Waiting>,
}

impl Timeline {
    /// Adds an entity; among equals it comes last.
    pub(super) fn insert(&mut self, entity: EntityId, vruntime: u64) {
        let at = self.entries.partition_point(|e| lag(e.vruntime, vruntime) > 0);
        self.entries.insert(at, Waiting { vruntime, entity });
    }

    /// Takes out an entity that was inserted with this virtual runtime.
    pub(super) fn remove(&mut self, entity: EntityId, vruntime: u64) {
        if self.entries.last().is_some_and(|e| e.entity == entity) {
            self.entries.pop();
            return;
        }
        let first = self.entries.partition_point(|e| lag(e.vruntime, vruntime) > 0);
        let found = self.entries[first..].iter().position(|e| e.entity == entity);
        debug_assert!(found.is_some(), "an entity is found where its vruntime put it");
        if let Some(offset) = found {
            self.entries.remove(first + offset);
        }
    }

    /// The entity with the smallest virtual runtime.
    #[inline]
    pub fn leftmost(&self) -> Option<Waiting> {
        self.entries.last().copied()
    }

    /// The one to the right of the leftmost.
    pub fn second(&self) -> Option<Waiting> {
        self.entries.len().checked_sub(2).map(|at| self.entries[at])
    }

    /// The entity with the largest virtual runtime.
    pub fn rightmost(&self) -> Option<Waiting> {
        self.entries.first().copied()
    }

    /// Number of those that wait.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// From left to right: the order in which they would run.
    pub fn iter(&self) -> impl Iterator<Item = Waiting> + '_ {
        self.entries.iter().rev().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskId;

    fn entity(number: u32) -> EntityId {
        EntityId::of(TaskId(number))
    }

    fn order(timeline: &Timeline) -> Vec<u32> {
        timeline.iter().map(|e| e.entity.task().0).collect()
    }

    #[test]
    fn runs_from_left_to_right_and_newcomers_follow_their_equals() {
        let mut timeline = Timeline::default();
        for (task, vruntime) in [(1, 50), (2, 10), (3, 50), (4, 90), (5, 50)] {
            timeline.insert(entity(task), vruntime);
        }
        assert_eq!(order(&timeline), [2, 1, 3, 5, 4]);
        timeline.remove(entity(3), 50);
        timeline.remove(entity(2), 10);
        assert_eq!(order(&timeline), [1, 5, 4]);
        assert_eq!(timeline.leftmost().map(|e| e.entity), Some(entity(1)));
        assert_eq!(timeline.rightmost().map(|e| e.entity), Some(entity(4)));
    }

    /// D15: a queue that crosses 2^64 orders as one far from it.
    #[test]
    fn order_survives_the_wrap() {
        let mut timeline = Timeline::default();
        for (task, vruntime) in [(1, u64::MAX), (2, 3), (3, u64::MAX - 5), (4, 0)] {
            timeline.insert(entity(task), vruntime);
        }
        assert_eq!(order(&timeline), [3, 1, 4, 2]);
        timeline.remove(entity(4), 0);
        timeline.remove(entity(2), 3);
        assert_eq!(order(&timeline), [3, 1]);
    }
}
