//! Sets of CPUs.

use crate::CpuId;
use core::cell::Cell;
use core::fmt;

const WORDS: usize = 8;

/// A set of CPUs, up to [`CpuMask::BITS`] of them; `Copy`, and cheap to intersect and scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CpuMask([u64; WORDS]);

impl CpuMask {
    /// Number of CPUs a mask can name.
    pub const BITS: usize = WORDS * 64;
    /// No CPU.
    pub const EMPTY: CpuMask = CpuMask([0; WORDS]);
    /// Every CPU that a mask can name.
    pub const ALL: CpuMask = CpuMask([u64::MAX; WORDS]);

    /// CPUs 0 to `n` − 1; `n` at most [`CpuMask::BITS`].
    pub fn first_n(n: usize) -> CpuMask {
        let mut mask = CpuMask::EMPTY;
        for cpu in 0..n {
            mask.insert(CpuId(cpu as u16));
        }
        mask
    }

    /// Just `cpu`.
    pub fn single(cpu: CpuId) -> CpuMask {
        let bit = 1 << (cpu.index() % 64);
        CpuMask(core::array::from_fn(|word| if word == cpu.index() / 64 { bit } else { 0 }))
    }

    /// Adds `cpu`.
    pub fn insert(&mut self, cpu: CpuId) {
        self.0[cpu.index() / 64] |= 1 << (cpu.index() % 64);
    }

    /// Takes `cpu` out.
    pub fn remove(&mut self, cpu: CpuId) {
        self.0[cpu.index() / 64] &= !(1 << (cpu.index() % 64));
    }

    /// Whether `cpu` is in the set.
    #[inline]
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.0[cpu.index() / 64] >> (cpu.index() % 64) & 1 == 1
    }

    /// Number of CPUs in the set (the kernel's cpumask weight).
    pub fn weight(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    /// Whether no CPU is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|w| *w == 0)
    }

    /// The CPUs in both sets.
    #[inline]
    pub fn and(&self, other: &CpuMask) -> CpuMask {
        let mut out = *self;
        for (w, o) in out.0.iter_mut().zip(other.0) {
            *w &= o;
        }
        out
    }

    /// The CPUs in either set.
    pub fn or(&self, other: &CpuMask) -> CpuMask {
        let mut out = *self;
        for (w, o) in out.0.iter_mut().zip(other.0) {
            *w |= o;
        }
        out
    }

    /// The CPUs of this set that are not in `other`.
    pub fn without(&self, other: &CpuMask) -> CpuMask {
        let mut out = *self;
        for (w, o) in out.0.iter_mut().zip(other.0) {
            *w &= !o;
        }
        out
    }

    /// Whether the sets share a CPU.
    #[inline]
    pub fn intersects(&self, other: &CpuMask) -> bool {
        self.0.iter().zip(other.0).any(|(w, o)| w & o != 0)
    }

    /// Whether every CPU of this set is in `other`.
    pub fn is_subset(&self, other: &CpuMask) -> bool {
        self.0.iter().zip(other.0).all(|(w, o)| w & !o == 0)
    }

    /// The lowest-numbered CPU.
    #[inline]
    pub fn first(&self) -> Option<CpuId> {
        self.next_from(0)
    }

    /// The lowest-numbered CPU strictly above `cpu`.
    pub fn next_after(&self, cpu: CpuId) -> Option<CpuId> {
        self.next_from(cpu.index() + 1)
    }

    /// The next CPU strictly above `cpu`, starting over at 0 (so it may be `cpu` itself).
    pub fn next_wrapping(&self, cpu: CpuId) -> Option<CpuId> {
        self.next_after(cpu).or_else(|| self.first())
    }

    fn next_from(&self, start: usize) -> Option<CpuId> {
        let mut word = start / 64;
        if word >= WORDS {
            return None;
        }
        let mut bits = self.0[word] & (u64::MAX << (start % 64));
        loop {
            if bits != 0 {
                return Some(CpuId((word * 64) as u16 + bits.trailing_zeros() as u16));
            }
            word += 1;
            bits = *self.0.get(word)?;
        }
    }

    /// The CPUs in ascending order, from the one behind `start` around to itself.
    pub fn around(self, start: CpuId) -> impl Iterator<Item = CpuId> {
        self.iter_from(start.index() + 1).chain(self.iter().take_while(move |cpu| *cpu <= start))
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> Iter {
        self.iter_from(0)
    }

    fn iter_from(&self, start: usize) -> Iter {
        let word = start / 64;
        Iter { mask: *self, word, rest: self.0.get(word).map_or(0, |bits| bits & (u64::MAX << (start % 64))) }
    }
}

/// Iterator over the CPUs of a [`CpuMask`], ascending.
#[derive(Clone, Debug)]
pub struct Iter {
    mask: CpuMask,
    word: usize,
    /// What is still to come of that word.
    rest: u64,
}

impl Iterator for Iter {
    type Item = CpuId;

    fn next(&mut self) -> Option<CpuId> {
        while self.rest == 0 {
            self.word += 1;
            self.rest = *self.mask.0.get(self.word)?;
        }
        let bit = self.rest.trailing_zeros() as u16;
        self.rest &= self.rest - 1;
        Some(CpuId((self.word * 64) as u16 + bit))
    }
}

impl FromIterator<CpuId> for CpuMask {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> CpuMask {
        let mut mask = CpuMask::EMPTY;
        for cpu in cpus {
            mask.insert(cpu);
        }
        mask
    }
}

/// A CPU list as Linux prints it: `0-3,8`.
impl fmt::Display for CpuMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut separator = "";
        while let Some(start) = cpus.next() {
            let mut end = start;
            while let Some(next) = cpus.next_if(|c| c.0 == end.0 + 1) {
                end = next;
            }
            if start == end {
                write!(f, "{separator}{start}")?;
            } else {
                write!(f, "{separator}{start}-{end}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for CpuMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

/// A set to which CPUs are added many times between two looks at it.
#[derive(Debug, Default)]
pub(crate) struct CellMask([Cell<u64>; WORDS]);

impl CellMask {
    /// Adds `cpu`.
    #[inline(always)]
    pub fn insert(&self, cpu: CpuId) {
        let word = &self.0[cpu.index() / 64];
        word.set(word.get() | 1 << (cpu.index() % 64));
    }

    /// Takes those out that were added, the lowest first. Whom `visit` adds again stays.
    pub fn drain(&self, mut visit: impl FnMut(CpuId)) {
        for (number, word) in self.0.iter().enumerate() {
            let mut rest = word.take();
            while rest != 0 {
                visit(CpuId((number * 64) as u16 + rest.trailing_zeros() as u16));
                rest &= rest - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    fn mask(cpus: &[u16]) -> CpuMask {
        cpus.iter().map(|c| CpuId(*c)).collect()
    }

    #[test]
    fn prints_as_a_cpu_list() {
        assert_eq!(format!("{}", mask(&[0, 1, 2, 3, 8, 130, 131])), "0-3,8,130-131");
        assert_eq!(format!("{}", CpuMask::EMPTY), "");
    }

    #[test]
    fn scans_across_words() {
        let m = mask(&[3, 64, 511]);
        assert_eq!(m.first(), Some(CpuId(3)));
        assert_eq!(m.next_after(CpuId(3)), Some(CpuId(64)));
        assert_eq!(m.next_after(CpuId(511)), None);
        assert_eq!(m.next_wrapping(CpuId(511)), Some(CpuId(3)));
        let around = |start| m.around(CpuId(start)).map(|c| c.0).collect::<Vec<_>>();
        assert_eq!([around(64), around(65), around(511)], [[511, 3, 64], [511, 3, 64], [3, 64, 511]]);
        assert_eq!(CpuMask::EMPTY.around(CpuId(5)).count(), 0);
        assert_eq!(m.iter().count() as u32, m.weight());
    }

    #[test]
    fn who_is_added_while_others_are_taken_out_stays() {
        let set = CellMask::default();
        [70, 3, 71].into_iter().for_each(|cpu| set.insert(CpuId(cpu)));
        let drained = || {
            let mut seen = Vec::new();
            set.drain(|cpu| seen.push(cpu.0));
            seen
        };
        set.drain(|cpu| {
            if cpu.0 != 70 {
                set.insert(cpu)
            }
        });
        assert_eq!(drained(), [3, 71]);
        assert!(drained().is_empty());
    }

    #[test]
    fn algebra() {
        let (a, b) = (mask(&[1, 2, 70]), mask(&[2, 70, 71]));
        assert_eq!(a.and(&b), mask(&[2, 70]));
        assert_eq!(a.or(&b), mask(&[1, 2, 70, 71]));
        assert_eq!(a.without(&b), mask(&[1]));
        assert!(a.intersects(&b) && !mask(&[0]).intersects(&a));
        assert!(mask(&[2]).is_subset(&a) && !a.is_subset(&b));
    }
}
