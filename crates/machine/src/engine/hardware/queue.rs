//! The event queue: which slot fires next.
//!
//! An event *source* (a CPU's work, a task's timer, an interrupt on its way) owns a slot and is in the queue
//! at most once; setting it again moves it. So the queue never holds stale entries, is as small as the
//! machine, and nothing is allocated in steady state. Events at one time fire in the order in which they were
//! set.

use scheduler::Nanos;
use std::cell::{Cell, RefCell};
use std::hint::select_unpredictable;

/// A source of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot(pub u32);

/// What a slot fires by: its time, then how often anything had been set before it; and its number, so that
/// one comparison says which slot is first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    time: Nanos,
    /// 40 bits of sequence, from 1 on, and 24 of the slot.
    order: u64,
}

const SLOT_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 64 - SLOT_BITS;

impl Key {
    /// The slot is not set.
    const ABSENT: Key = Key { time: Nanos::NEVER, order: 0 };

    fn new(time: Nanos, sequence: u64, slot: Slot) -> Key {
        Key { time, order: sequence << SLOT_BITS | u64::from(slot.0) }
    }

    /// The order alone says which one it is.
    fn is(self, other: Key) -> bool {
        self.order == other.order
    }

    fn slot(self) -> Slot {
        Slot(self.order as u32 & ((1 << SLOT_BITS) - 1))
    }

    /// The one that fires first. Which of two CPUs is first that act within the same microsecond is anybody's
    /// guess: the processor shall not make it, so there is no branch here. (Compilers make one of a
    /// comparison of pairs or of u128.)
    #[inline(always)]
    fn or_earlier(self, other: Key) -> Key {
        let (a, b) = (self, other);
        // At the same time the order decides. What never fires is in no order.
        let a_is_first = a.time.0 < b.time.0.wrapping_add(u64::from(a.order < b.order));
        Key {
            time: select_unpredictable(a_is_first, a.time, b.time),
            order: select_unpredictable(a_is_first, a.order, b.order),
        }
    }
}

/// A tree of winners: each slot has a leaf, and each node holds the smallest key of the four below it. A
/// change goes from a leaf towards the root and ends where another slot wins anyway.
#[derive(Debug)]
pub(crate) struct EventQueue {
    nodes: RefCell<Nodes>,
    slots: Cell<u32>,
    sequence: Cell<u64>,
    /// Time of the root.
    next_time: Cell<Nanos>,
}

/// Nodes that have the same parent lie together, four to a cache line, level by level: the root's children
/// first, the leaves last.
#[derive(Debug)]
struct Nodes {
    fours: Box<[[Key; 4]]>,
    /// Number of the first leaf, counted in single nodes.
    first_leaf: usize,
    root: Key,
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        let nodes = Nodes { fours: [[Key::ABSENT; 4]].into(), first_leaf: 0, root: Key::ABSENT };
        EventQueue {
            nodes: RefCell::new(nodes),
            slots: Cell::new(0),
            sequence: Cell::new(1),
            next_time: Cell::new(Nanos::NEVER),
        }
    }
}

impl EventQueue {
    /// A new source.
    ///
    /// # Panics
    /// With more sources than 2²⁴: there are less pids.
    pub fn add_slot(&self) -> Slot {
        let slot = self.slots.get();
        assert!(slot < 1 << SLOT_BITS, "more than {slot} sources of events");
        self.slots.set(slot + 1);
        self.nodes.borrow_mut().make_room(slot as usize + 1);
        Slot(slot)
    }

    /// Lets `slot` fire at `time`, whether or not it was set before.
    pub fn set(&self, slot: Slot, time: Nanos) {
        let mut nodes = self.nodes.borrow_mut();
        if self.sequence.get() == 1 << SEQUENCE_BITS {
            self.sequence.set(nodes.renumber());
        }
        nodes.replace(slot, Key::new(time, self.sequence.get(), slot));
        self.sequence.set(self.sequence.get() + 1);
        self.next_time.set(nodes.root.time);
    }

    /// Lets `slot` not fire, whether or not it was set before. (Set to never, it would be in no order with
    /// the others, and hide them.)
    pub fn clear(&self, slot: Slot) {
        let mut nodes = self.nodes.borrow_mut();
        nodes.replace(slot, Key::ABSENT);
        self.next_time.set(nodes.root.time);
    }

    /// Lets `slot`, which is set, fire at `time` if that is earlier.
    pub fn set_earlier(&self, slot: Slot, time: Nanos) {
        let set = self.nodes.borrow().of(slot);
        if set != Key::ABSENT && time < set.time {
            self.set(slot, time);
        }
    }

    /// Whether `slot` is going to fire.
    pub fn is_set(&self, slot: Slot) -> bool {
        !self.nodes.borrow().of(slot).is(Key::ABSENT)
    }

    /// When the next slot fires; [`Nanos::NEVER`] if none does.
    #[inline]
    pub fn next_time(&self) -> Nanos {
        self.next_time.get()
    }

    /// Takes the next slot out.
    #[inline(always)]
    pub fn pop(&self) -> Option<Slot> {
        let mut nodes = self.nodes.borrow_mut();
        let first = nodes.root;
        if first == Key::ABSENT {
            return None;
        }
        nodes.remove_first();
        self.next_time.set(nodes.root.time);
        Some(first.slot())
    }
}

impl Nodes {
    fn of(&self, slot: Slot) -> Key {
        let leaf = self.first_leaf + slot.0 as usize;
        self.fours[leaf / 4][leaf % 4]
    }

    fn replace(&mut self, slot: Slot, mut key: Key) {
        let mut node = self.first_leaf + slot.0 as usize;
        loop {
            let (four, at) = (&mut self.fours[node / 4], node % 4);
            if four[at].is(key) {
                return;
            }
            key = put(four, at, key);
            match (node / 4).checked_sub(1) {
                Some(parent) => node = parent,
                None => break,
            }
        }
        self.root = key;
    }

    /// Takes out the slot that fires first: it has won all the way up.
    fn remove_first(&mut self) {
        let mut node = self.first_leaf + self.root.slot().0 as usize;
        let mut key = Key::ABSENT;
        loop {
            key = put(&mut self.fours[node / 4], node % 4, key);
            match (node / 4).checked_sub(1) {
                Some(parent) => node = parent,
                None => break,
            }
        }
        self.root = key;
    }

    fn make_room(&mut self, slots: usize) {
        let leaves = 4 * self.fours.len() - self.first_leaf;
        if slots > leaves {
            let old: Vec<[Key; 4]> = self.fours[self.first_leaf / 4..].into();
            // One level more: what was the number of all nodes is that of those above the leaves.
            self.first_leaf = 4 * self.fours.len();
            self.fours = vec![[Key::ABSENT; 4]; self.fours.len() + leaves].into();
            self.fours[self.first_leaf / 4..][..old.len()].copy_from_slice(&old);
            self.rebuild();
        }
    }

    fn rebuild(&mut self) {
        for four in (1..self.fours.len()).rev() {
            let parent = four - 1;
            self.fours[parent / 4][parent % 4] = smallest(&self.fours[four]);
        }
        self.root = smallest(&self.fours[0]);
    }

    /// Numbers what is set from 1 on, in the order in which it fires; the next free number.
    #[cold]
    #[inline(never)]
    fn renumber(&mut self) -> u64 {
        let leaves = self.fours[self.first_leaf / 4..].as_flattened();
        let mut set: Vec<Key> = leaves.iter().copied().filter(|key| *key != Key::ABSENT).collect();
        set.sort_unstable();
        for (sequence, key) in (1..).zip(&set) {
            self.replace(key.slot(), Key::new(key.time, sequence, key.slot()));
        }
        set.len() as u64 + 1
    }
}

/// Puts a key in its place; the smallest of the four. The key is not read back: what the siblings are does
/// not wait for what comes from below.
#[inline(always)]
fn put(four: &mut [Key; 4], at: usize, key: Key) -> Key {
    let sibling = four[at ^ 1].or_earlier(four[at ^ 2]).or_earlier(four[at ^ 3]);
    four[at] = key;
    key.or_earlier(sibling)
}

fn smallest(four: &[Key; 4]) -> Key {
    four[0].or_earlier(four[1]).or_earlier(four[2].or_earlier(four[3]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng};
    use proptest::prelude::*;

    fn drain(queue: &EventQueue) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).map(|s| s.0).collect()
    }

    /// Whichever of the four below a node is cleared, and in whatever order they were set.
    #[test]
    fn a_slot_that_is_cleared_hides_no_other() {
        for cleared in 0..8 {
            let q = EventQueue::default();
            let slots: Vec<Slot> = (0..8).map(|_| q.add_slot()).collect();
            for (slot, time) in slots.iter().zip([5, 3, 8, 1, 7, 2, 6, 4]) {
                q.set(*slot, Nanos(time));
            }
            q.clear(slots[cleared]);
            assert!(!q.is_set(slots[cleared]));
            let rest: Vec<u32> =
                [3, 5, 1, 7, 0, 6, 4, 2].into_iter().filter(|s| *s != cleared as u32).collect();
            assert_eq!(drain(&q), rest);
        }
    }

    #[test]
    fn fires_by_time_then_by_order_of_setting() {
        let q = EventQueue::default();
        let slots: Vec<Slot> = (0..4).map(|_| q.add_slot()).collect();
        q.set(slots[2], Nanos(5));
        q.set(slots[0], Nanos(5));
        q.set(slots[3], Nanos(9));
        q.set(slots[1], Nanos(1));
        q.set(slots[3], Nanos(2));
        assert_eq!(q.next_time(), Nanos(1));
        assert_eq!(drain(&q), [1, 3, 2, 0]);
        assert_eq!(q.next_time(), Nanos::NEVER);
    }

    #[test]
    fn the_order_of_setting_outlives_its_numbers() {
        let q = EventQueue::default();
        let slots: Vec<Slot> = (0..3).map(|_| q.add_slot()).collect();
        q.sequence.set((1 << SEQUENCE_BITS) - 2);
        for slot in [2, 0, 1] {
            q.set(slots[slot], Nanos(5));
        }
        assert_eq!(q.sequence.get(), 4);
        assert_eq!(drain(&q), [2, 0, 1]);
    }

    proptest! {
        #[test]
        fn agrees_with_a_sorted_list(seed: u64, n in 1usize..60) {
            let mut rng = Rng::keyed(seed, Purpose::Load, 0);
            let q = EventQueue::default();
            let slots: Vec<Slot> = (0..n).map(|_| q.add_slot()).collect();
            let mut model: Vec<(u64, u64, u32)> = Vec::new();
            for order in 0..4 * n as u64 {
                let slot = slots[rng.below(n as u64) as usize];
                let time = rng.below(20);
                q.set(slot, Nanos(time));
                model.retain(|e| e.2 != slot.0);
                model.push((time, order, slot.0));
            }
            model.sort_unstable();
            prop_assert_eq!(drain(&q), model.iter().map(|e| e.2).collect::<Vec<_>>());
        }
    }
}
