//! The event queue: which slot fires next.
//!
//! An event *source* (a CPU's work, a task's timer, an interrupt on its way) owns a slot and is in the queue
//! at most once; setting it again moves it. So the queue never holds stale entries, is as small as the
//! machine, and nothing is allocated in steady state. Events at one time fire in the order in which they were
//! set.

use super::winners::{Key, SEQUENCE_BITS, SLOT_BITS, Slot, Winners};
use scheduler::Nanos;
use std::cell::{Cell, RefCell};

/// See the module's head.
#[derive(Debug)]
pub(crate) struct EventQueue {
    trees: RefCell<Trees>,
    slots: Cell<u32>,
    sequence: Cell<u64>,
    /// When the next slot fires.
    next_time: Cell<Nanos>,
}

#[derive(Debug)]
struct Trees {
    /// The first slots, which fire most often: they are few, so their tree is low.
    busy: Winners,
    others: Winners,
    busy_slots: u32,
}

impl EventQueue {
    /// One with so many sources that fire far more often than all others.
    ///
    /// # Panics
    /// With more sources than 2²⁴: there are less pids.
    pub fn with_busy_slots(busy_slots: u32) -> EventQueue {
        let mut busy = Winners::of_slots_from(0);
        (0..busy_slots).for_each(|slot| busy.make_room(Slot(slot)));
        let others = Winners::of_slots_from(busy_slots);
        EventQueue {
            trees: RefCell::new(Trees { busy, others, busy_slots }),
            slots: Cell::new(busy_slots),
            sequence: Cell::new(1),
            next_time: Cell::new(Nanos::NEVER),
        }
    }

    /// A new source.
    ///
    /// # Panics
    /// As [`EventQueue::with_busy_slots`].
    pub fn add_slot(&self) -> Slot {
        let slot = self.slots.get();
        assert!(slot < 1 << SLOT_BITS, "more than {slot} sources of events");
        self.slots.set(slot + 1);
        self.trees.borrow_mut().others.make_room(Slot(slot));
        Slot(slot)
    }

    /// Lets `slot` fire at `time`, whether or not it was set before.
    pub fn set(&self, slot: Slot, time: Nanos) {
        if self.sequence.get() == 1 << SEQUENCE_BITS {
            self.renumber();
        }
        self.replace(slot, Key::new(time, self.sequence.get(), slot));
        self.sequence.set(self.sequence.get() + 1);
    }

    /// Lets `slot` not fire, whether or not it was set before. (Set to never, it would be in no order with
    /// the others, and hide them.)
    pub fn clear(&self, slot: Slot) {
        self.replace(slot, Key::ABSENT);
    }

    /// Lets `slot`, which is set, fire at `time` if that is earlier.
    pub fn set_earlier(&self, slot: Slot, time: Nanos) {
        let set = self.trees.borrow().of(slot);
        if set != Key::ABSENT && time < set.time {
            self.set(slot, time);
        }
    }

    /// Whether `slot` is going to fire.
    pub fn is_set(&self, slot: Slot) -> bool {
        !self.trees.borrow().of(slot).is(Key::ABSENT)
    }

    /// When `slot` is going to fire, if it is.
    pub fn time_of(&self, slot: Slot) -> Option<Nanos> {
        let set = self.trees.borrow().of(slot);
        (!set.is(Key::ABSENT)).then_some(set.time)
    }

    /// When the next slot fires; [`Nanos::NEVER`] if none does.
    #[inline]
    pub fn next_time(&self) -> Nanos {
        self.next_time.get()
    }

    /// Takes the next slot out.
    #[inline(always)]
    pub fn pop(&self) -> Option<Slot> {
        let mut trees = self.trees.borrow_mut();
        let first = trees.busy.first().or_earlier(trees.others.first());
        if first == Key::ABSENT {
            return None;
        }
        trees.tree_of(first.slot()).remove_first();
        self.next_time.set(trees.next_time());
        Some(first.slot())
    }

    fn replace(&self, slot: Slot, key: Key) {
        let mut trees = self.trees.borrow_mut();
        trees.tree_of(slot).replace(slot, key);
        self.next_time.set(trees.next_time());
    }

    /// Numbers what is set from 1 on, in the order in which it fires.
    #[cold]
    #[inline(never)]
    fn renumber(&self) {
        let mut set: Vec<Key> = {
            let trees = self.trees.borrow();
            trees.busy.set().chain(trees.others.set()).collect()
        };
        set.sort_unstable();
        for (sequence, key) in (1..).zip(&set) {
            self.replace(key.slot(), Key::new(key.time, sequence, key.slot()));
        }
        self.sequence.set(set.len() as u64 + 1);
    }
}

impl Trees {
    #[inline(always)]
    fn tree_of(&mut self, slot: Slot) -> &mut Winners {
        if slot.0 < self.busy_slots { &mut self.busy } else { &mut self.others }
    }

    fn of(&self, slot: Slot) -> Key {
        let tree = if slot.0 < self.busy_slots { &self.busy } else { &self.others };
        tree.of(slot)
    }

    #[inline(always)]
    fn next_time(&self) -> Nanos {
        self.busy.first().time.min(self.others.first().time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng};
    use proptest::prelude::*;

    /// With so many slots in all.
    fn queue(busy: u32, slots: u32) -> (EventQueue, Vec<Slot>) {
        let q = EventQueue::with_busy_slots(busy.min(slots));
        (busy..slots).for_each(|slot| assert_eq!(q.add_slot(), Slot(slot)));
        (q, (0..slots).map(Slot).collect())
    }

    fn drain(queue: &EventQueue) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).map(|s| s.0).collect()
    }

    /// Whichever of the four below a node is cleared, and in whatever order they were set.
    #[test]
    fn a_slot_that_is_cleared_hides_no_other() {
        for (busy, cleared) in (0..9).flat_map(|busy| (0..8).map(move |slot| (busy, slot))) {
            let (q, slots) = queue(busy, 8);
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
        let (q, slots) = queue(2, 4);
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
        let (q, slots) = queue(1, 3);
        q.sequence.set((1 << SEQUENCE_BITS) - 2);
        for slot in [2, 0, 1] {
            q.set(slots[slot], Nanos(5));
        }
        assert_eq!(q.sequence.get(), 4);
        assert_eq!(drain(&q), [2, 0, 1]);
    }

    proptest! {
        #[test]
        fn agrees_with_a_sorted_list(seed: u64, n in 1usize..60, busy in 0usize..60) {
            let mut rng = Rng::keyed(seed, Purpose::Load, 0);
            let (q, slots) = queue(busy.min(n) as u32, n as u32);
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
