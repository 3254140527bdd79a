//! The runnable entities that wait, ordered by virtual time (fair-class 2.1).
//!
//! A sorted vector, rightmost first, so that the leftmost (the one that everybody asks for and that runs
//! next) is at the end and leaves without moving anything. Queues are short: a shift of a few hundred 16-byte
//! entries is cheaper than a tree's pointers, and nothing is allocated once the vector has grown. What a long
//! queue has to the right of that lies in rows of the same kind: with 12 500 tasks a queue, shifting one
//! vector was two thirds of a run (`cargo bench --bench events -- --once fair 100000`).

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

/// Entries of a row at most.
const ROW: usize = 256;

/// See the module's head.
#[derive(Debug, Default)]
pub struct Timeline {
    /// The leftmost ones; without any, nobody waits.
    near: Vec<Waiting>,
    /// The others in rows, rightmost row first. No row is empty.
    far: Vec<Vec<Waiting>>,
    /// Memory of former rows.
    spare: Vec<Vec<Waiting>>,
}

/// Where in a row a newcomer with this virtual runtime belongs.
fn place(row: &[Waiting], vruntime: u64) -> usize {
    row.partition_point(|e| lag(e.vruntime, vruntime) > 0)
}

/// Where in a row an entity is that was inserted with this virtual runtime.
fn find(row: &[Waiting], entity: EntityId, vruntime: u64) -> Option<usize> {
    let first = place(row, vruntime);
    let mut equals = row[first..].iter().take_while(|e| e.vruntime == vruntime);
    equals.position(|e| e.entity == entity).map(|offset| first + offset)
}

impl Timeline {
    /// Adds an entity; among equals it comes last.
    pub(super) fn insert(&mut self, entity: EntityId, vruntime: u64) {
        let (at, waiting) = (place(&self.near, vruntime), Waiting { vruntime, entity });
        if at == 0 && !self.far.is_empty() {
            let row = self.row(vruntime);
            if row < self.far.len() {
                return self.insert_far(row, waiting);
            }
        }
        self.near.insert(at, waiting);
        if self.near.len() > ROW {
            let mut right = self.new_row();
            right.extend(self.near.drain(..ROW / 2));
            self.far.push(right);
        }
    }

    fn insert_far(&mut self, row: usize, waiting: Waiting) {
        let entries = &mut self.far[row];
        entries.insert(place(entries, waiting.vruntime), waiting);
        if entries.len() > ROW {
            let mut left = self.new_row();
            left.extend(self.far[row].drain(ROW / 2..));
            self.far.insert(row + 1, left);
        }
    }

    /// The first row of which not all are to the right of this virtual runtime.
    fn row(&self, vruntime: u64) -> usize {
        self.far.partition_point(|row| row.last().is_some_and(|e| lag(e.vruntime, vruntime) > 0))
    }

    fn new_row(&mut self) -> Vec<Waiting> {
        self.spare.pop().unwrap_or_else(|| Vec::with_capacity(ROW + 1))
    }

    /// Takes out an entity that was inserted with this virtual runtime.
    pub(super) fn remove(&mut self, entity: EntityId, vruntime: u64) {
        if self.near.last().is_some_and(|e| e.entity == entity) {
            self.near.pop();
        } else if let Some(at) = find(&self.near, entity, vruntime) {
            self.near.remove(at);
        } else {
            self.remove_far(entity, vruntime);
        }
        if self.near.is_empty()
            && let Some(row) = self.far.pop()
        {
            self.spare.push(core::mem::replace(&mut self.near, row));
        }
    }

    /// Of its equals some may be in the next rows.
    fn remove_far(&mut self, entity: EntityId, vruntime: u64) {
        let found = (self.row(vruntime)..self.far.len())
            .find_map(|row| find(&self.far[row], entity, vruntime).map(|at| [row, at]));
        debug_assert!(found.is_some(), "an entity is found where its vruntime put it");
        let Some([row, at]) = found else { return };
        self.far[row].remove(at);
        if self.far[row].is_empty() {
            self.spare.push(self.far.remove(row));
        }
    }

    /// The entity with the smallest virtual runtime.
    #[inline]
    pub fn leftmost(&self) -> Option<Waiting> {
        self.near.last().copied()
    }

    /// The one to the right of the leftmost.
    pub fn second(&self) -> Option<Waiting> {
        self.iter().nth(1)
    }

    /// The entity with the largest virtual runtime.
    pub fn rightmost(&self) -> Option<Waiting> {
        self.far.first().unwrap_or(&self.near).first().copied()
    }

    /// Number of those that wait.
    pub fn len(&self) -> usize {
        self.near.len() + self.far.iter().map(Vec::len).sum::<usize>()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// From left to right: the order in which they would run.
    pub fn iter(&self) -> impl Iterator<Item = Waiting> + '_ {
        let far = self.far.iter().rev().flat_map(|row| row.iter().rev());
        self.near.iter().rev().chain(far).copied()
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

    /// A queue of many rows is in the same order as a sorted list, whatever leaves it and comes, equals and
    /// the wrap included.
    #[test]
    fn a_long_queue_is_in_the_same_order_as_a_list() {
        let start = u64::MAX - 50_000;
        let (mut timeline, mut list) = (Timeline::default(), Vec::<(u64, u32)>::new());
        let mut dice = 1_u64;
        for step in 0..12_000_u32 {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let drawn = (dice >> 33) as usize;
            // Grows to some thousands, then empties.
            if step < 8_000 && !drawn.is_multiple_of(4) || list.is_empty() {
                let ahead = (drawn / 4 % 100_000 / 37 * 37) as u64;
                list.insert(list.partition_point(|e| e.0 <= ahead), (ahead, step));
                timeline.insert(entity(step), start.wrapping_add(ahead));
            } else {
                let at = if drawn.is_multiple_of(3) { 0 } else { drawn / 4 % list.len() };
                let (ahead, task) = list.remove(at);
                timeline.remove(entity(task), start.wrapping_add(ahead));
            }
            if step.is_multiple_of(100) {
                assert_eq!(order(&timeline), list.iter().map(|e| e.1).collect::<Vec<_>>(), "step {step}");
                assert_eq!(timeline.len(), list.len());
                let ends = [timeline.leftmost(), timeline.second(), timeline.rightmost()];
                let expected = [list.first(), list.get(1), list.last()];
                assert_eq!(ends.map(|e| e.map(|e| e.entity.task().0)), expected.map(|e| e.map(|e| e.1)));
            }
        }
    }
}
