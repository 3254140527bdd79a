//! A map from task id to a small value, for loops that look one up at every event.

use crate::model::Pid;

/// Open addressing with linear probing; keys are never removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct PidMap<T> {
    /// Key and value; the length is a power of two, at most half of it used.
    slots: Vec<Option<(Pid, T)>>,
    used: usize,
}

impl<T: Copy> PidMap<T> {
    pub(crate) fn new() -> Self {
        PidMap { slots: Vec::new(), used: 0 }
    }

    pub(crate) fn get(&self, pid: Pid) -> Option<T> {
        let slot = self.slot(pid)?;
        self.slots[slot].map(|(_, value)| value)
    }

    pub(crate) fn insert(&mut self, pid: Pid, value: T) {
        if self.slots.len() < 2 * (self.used + 1) {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![None; (old.len() * 2).max(16)];
            for (pid, value) in old.into_iter().flatten() {
                self.put(pid, value);
            }
        }
        self.used += usize::from(self.put(pid, value));
    }

    /// True if the key is new.
    fn put(&mut self, pid: Pid, value: T) -> bool {
        let Some(slot) = self.slot(pid) else { return false };
        let new = self.slots[slot].is_none();
        self.slots[slot] = Some((pid, value));
        new
    }

    /// The slot of `pid`, or the free one where it belongs; `None` for a map without slots.
    fn slot(&self, pid: Pid) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = ((pid.0 as u32).wrapping_mul(0x9e37_79b1) >> 8) as usize & mask;
        while self.slots[slot].is_some_and(|(key, _)| key != pid) {
            slot = (slot + 1) & mask;
        }
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_again_and_replaced() {
        let mut map = PidMap::new();
        assert_eq!(map.get(Pid(1)), None);
        for n in 0..2000 {
            map.insert(Pid(n * 512), n);
        }
        for n in 0..2000 {
            assert_eq!(map.get(Pid(n * 512)), Some(n));
        }
        map.insert(Pid(512), -1);
        assert_eq!(map.get(Pid(512)), Some(-1));
        assert_eq!(map.get(Pid(1)), None);
    }
}
