//! The event queue: which slot fires next.
//!
//! An event *source* (a CPU's work, a task's timer, an interrupt on its way) owns a slot and is in the queue at most
//! once; setting it again moves it. So the queue never holds stale entries, is as small as the machine, and nothing
//! is allocated in steady state. Events at one time fire in the order in which they were set.

use scheduler::Nanos;

/// A source of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot(pub u32);

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Time, then the order of setting, in one number: a comparison is two instructions.
    key: u128,
    slot: Slot,
}

impl Entry {
    #[inline]
    fn before(&self, other: &Entry) -> bool {
        self.key < other.key
    }

    fn time(&self) -> Nanos {
        Nanos((self.key >> 64) as u64)
    }
}

/// Not in the heap.
const ABSENT: u32 = u32::MAX;

/// A binary heap that knows where each slot is.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<Entry>,
    position: Vec<u32>,
    sequence: u64,
}

impl EventQueue {
    /// A new source.
    pub fn add_slot(&mut self) -> Slot {
        self.position.push(ABSENT);
        Slot(self.position.len() as u32 - 1)
    }

    /// Lets `slot` fire at `time`, whether or not it was set before.
    pub fn set(&mut self, slot: Slot, time: Nanos) {
        self.sequence += 1;
        let entry = Entry { key: u128::from(time.0) << 64 | u128::from(self.sequence), slot };
        match self.position[slot.0 as usize] {
            ABSENT => {
                self.heap.push(entry);
                self.sift_up(self.heap.len() - 1, entry);
            }
            at => {
                let at = at as usize;
                if entry.before(&self.heap[at]) { self.sift_up(at, entry) } else { self.sift_down(at, entry) }
            }
        }
    }

    /// Whether `slot` is going to fire.
    pub fn is_set(&self, slot: Slot) -> bool {
        self.position[slot.0 as usize] != ABSENT
    }

    /// When the next slot fires; [`Nanos::NEVER`] if none does.
    #[inline]
    pub fn next_time(&self) -> Nanos {
        self.heap.first().map_or(Nanos::NEVER, Entry::time)
    }

    /// Takes the next slot out.
    pub fn pop(&mut self) -> Option<Slot> {
        let top = *self.heap.first()?;
        self.position[top.slot.0 as usize] = ABSENT;
        let last = self.heap.pop()?;
        if !self.heap.is_empty() {
            self.sift_down(0, last);
        }
        Some(top.slot)
    }

    fn place(&mut self, at: usize, entry: Entry) {
        self.heap[at] = entry;
        self.position[entry.slot.0 as usize] = at as u32;
    }

    fn sift_up(&mut self, mut at: usize, entry: Entry) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.place(at, self.heap[parent]);
            at = parent;
        }
        self.place(at, entry);
    }

    fn sift_down(&mut self, mut at: usize, entry: Entry) {
        loop {
            let mut child = 2 * at + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.heap[child + 1].before(&self.heap[child]) {
                child += 1;
            }
            if !self.heap[child].before(&entry) {
                break;
            }
            self.place(at, self.heap[child]);
            at = child;
        }
        self.place(at, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng};
    use proptest::prelude::*;

    fn drain(queue: &mut EventQueue) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).map(|s| s.0).collect()
    }

    #[test]
    fn fires_by_time_then_by_order_of_setting() {
        let mut q = EventQueue::default();
        let slots: Vec<Slot> = (0..4).map(|_| q.add_slot()).collect();
        q.set(slots[2], Nanos(5));
        q.set(slots[0], Nanos(5));
        q.set(slots[3], Nanos(9));
        q.set(slots[1], Nanos(1));
        q.set(slots[3], Nanos(2));
        assert_eq!(q.next_time(), Nanos(1));
        assert_eq!(drain(&mut q), [1, 3, 2, 0]);
        assert_eq!(q.next_time(), Nanos::NEVER);
    }

    proptest! {
        #[test]
        fn agrees_with_a_sorted_list(seed: u64, n in 1usize..60) {
            let mut rng = Rng::keyed(seed, Purpose::Load, 0);
            let mut q = EventQueue::default();
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
            prop_assert_eq!(drain(&mut q), model.iter().map(|e| e.2).collect::<Vec<_>>());
        }
    }
}
