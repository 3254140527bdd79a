//! Who has a copy of a cache line.

use scheduler::CpuId;
use std::cell::{Cell, OnceCell};

/// A set of CPUs. Most machines have no more than one word of them, and that is at hand: a pass of balancing
/// makes such sets anew by the dozen. The words of larger machines come once they are needed, as there is a
/// line for each task, and few are shared.
#[derive(Debug, Default)]
pub(crate) struct Sharers {
    low: Cell<u64>,
    high: OnceCell<Box<[Cell<u64>; HIGH_WORDS]>>,
}

const HIGH_WORDS: usize = CpuId::LIMIT / 64 - 1;

impl Sharers {
    /// No CPU is left.
    #[inline]
    pub fn clear(&self) {
        self.low.set(0);
        if let Some(high) = self.high.get() {
            high.iter().for_each(|word| word.set(0));
        }
    }

    /// Adds one.
    #[inline]
    pub fn insert(&self, cpu: CpuId) {
        let word = match (cpu.index() / 64).checked_sub(1) {
            None => &self.low,
            Some(place) => &self.high.get_or_init(Box::default)[place],
        };
        word.set(word.get() | 1 << (cpu.index() % 64));
    }

    /// Whether `cpu` is one of them.
    #[inline]
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.word(cpu.index() / 64) >> (cpu.index() % 64) & 1 == 1
    }

    #[inline]
    fn word(&self, number: usize) -> u64 {
        match number.checked_sub(1) {
            None => self.low.get(),
            Some(place) => self.high.get().map_or(0, |high| high[place].get()),
        }
    }

    /// The next one strictly above `cpu`, starting over at 0: `cpu` itself, where it is alone.
    pub fn next_wrapping(&self, cpu: CpuId) -> CpuId {
        self.next_from(cpu.index() + 1).or_else(|| self.next_from(0)).unwrap_or(cpu)
    }

    fn next_from(&self, start: usize) -> Option<CpuId> {
        let words = (start / 64)..=HIGH_WORDS;
        let kept = |word| if word == start / 64 { u64::MAX << (start % 64) } else { u64::MAX };
        let mut rests = words.map(|word| (word, self.word(word) & kept(word)));
        let (word, rest) = rests.find(|(_, rest)| *rest != 0)?;
        Some(CpuId((64 * word) as u16 + rest.trailing_zeros() as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sharers_are_found_across_words() {
        let sharers = Sharers::default();
        let next = |cpu| sharers.next_wrapping(CpuId(cpu)).0;
        assert_eq!(next(70), 70, "nobody");
        [3, 64, 511].into_iter().for_each(|cpu| sharers.insert(CpuId(cpu)));
        assert_eq!([next(3), next(64), next(511), next(2)], [64, 511, 3, 3]);
        assert_eq!(
            [3, 64, 65, 128, 511].map(|cpu| sharers.contains(CpuId(cpu))),
            [true, true, false, false, true]
        );
        sharers.clear();
        assert!(!sharers.contains(CpuId(3)) && !sharers.contains(CpuId(511)));
    }
}
