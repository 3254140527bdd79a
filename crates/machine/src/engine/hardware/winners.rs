//! A tree of winners: which of many keys is the earliest.

use scheduler::Nanos;
use std::hint::select_unpredictable;

/// A source of events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Slot(pub u32);

/// What a slot fires by: its time, then how often anything had been set before it; and its number, so that
/// one comparison says which slot is first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key {
    pub time: Nanos,
    /// 40 bits of sequence, from 1 on, and 24 of the slot.
    order: u64,
}

pub(super) const SLOT_BITS: u32 = 24;
pub(super) const SEQUENCE_BITS: u32 = 64 - SLOT_BITS;

impl Key {
    /// The slot is not set.
    pub const ABSENT: Key = Key { time: Nanos::NEVER, order: 0 };

    pub fn new(time: Nanos, sequence: u64, slot: Slot) -> Key {
        Key { time, order: sequence << SLOT_BITS | u64::from(slot.0) }
    }

    /// The order alone says which one it is.
    pub fn is(self, other: Key) -> bool {
        self.order == other.order
    }

    pub fn slot(self) -> Slot {
        Slot(self.order as u32 & ((1 << SLOT_BITS) - 1))
    }

    /// The one that fires first. Which of two CPUs is first that act within the same microsecond is anybody's
    /// guess: the processor shall not make it, so there is no branch here. (Compilers make one of a
    /// comparison of pairs or of u128.)
    #[inline(always)]
    pub fn or_earlier(self, other: Key) -> Key {
        let (a, b) = (self, other);
        // At the same time the order decides. What never fires is in no order.
        let a_is_first = a.time.0 < b.time.0.wrapping_add(u64::from(a.order < b.order));
        Key {
            time: select_unpredictable(a_is_first, a.time, b.time),
            order: select_unpredictable(a_is_first, a.order, b.order),
        }
    }
}

/// Each slot has a leaf, and each node holds the smallest key of the four below it. A change goes from a leaf
/// towards the root and ends where another slot wins anyway.
///
/// Nodes that have the same parent lie together, four to a cache line, level by level: the root's children
/// first, the leaves last.
#[derive(Debug)]
pub(super) struct Winners {
    fours: Box<[[Key; 4]]>,
    /// Number of the first leaf, counted in single nodes.
    first_leaf: usize,
    /// The slot of the first leaf.
    first_slot: u32,
    root: Key,
}

impl Winners {
    /// Those of slots from `first_slot` on; there is none yet.
    pub fn of_slots_from(first_slot: u32) -> Winners {
        Winners { fours: [[Key::ABSENT; 4]].into(), first_leaf: 0, first_slot, root: Key::ABSENT }
    }

    /// The earliest.
    #[inline(always)]
    pub fn first(&self) -> Key {
        self.root
    }

    #[inline(always)]
    fn leaf(&self, slot: Slot) -> usize {
        self.first_leaf + (slot.0 - self.first_slot) as usize
    }

    /// That of a slot.
    pub fn of(&self, slot: Slot) -> Key {
        let leaf = self.leaf(slot);
        self.fours[leaf / 4][leaf % 4]
    }

    /// Gives a slot another key.
    pub fn replace(&mut self, slot: Slot, mut key: Key) {
        let mut node = self.leaf(slot);
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
    #[inline(always)]
    pub fn remove_first(&mut self) {
        let mut node = self.leaf(self.root.slot());
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

    /// Makes room for all slots up to `last`.
    pub fn make_room(&mut self, last: Slot) {
        let slots = (last.0 - self.first_slot) as usize + 1;
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

    /// All that are set.
    pub fn set(&self) -> impl Iterator<Item = Key> {
        let leaves = self.fours[self.first_leaf / 4..].as_flattened();
        leaves.iter().copied().filter(|key| *key != Key::ABSENT)
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
