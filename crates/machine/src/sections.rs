//! Work with short critical sections under user-space spinlocks, as one step.

use crate::objects::SpinlockId;
use scheduler::Nanos;

/// Work that is cut by critical sections: `first`, a section, `part`, a section, …, `part`. The same as a
/// sequence of
/// [`crate::Step::Compute`], [`crate::Step::SpinLock`], [`crate::Step::Compute`], [`crate::Step::SpinUnlock`]
/// and so on, but the machine need not look around at each of them while nobody else wants the locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sections {
    locks: [SpinlockId; Sections::MOST],
    number: u8,
    /// CPU time before the first section.
    pub first: Nanos,
    /// CPU time after each section.
    pub part: Nanos,
    /// CPU time of each section.
    pub hold: Nanos,
}

impl Sections {
    /// Sections that one step can have.
    pub const MOST: usize = 8;

    /// A section under each of these locks, in order.
    ///
    /// # Panics
    /// With more locks than [`Sections::MOST`].
    #[must_use]
    pub fn new(
        locks: impl IntoIterator<Item = SpinlockId>,
        first: Nanos,
        part: Nanos,
        hold: Nanos,
    ) -> Sections {
        let mut sections = Sections { locks: [SpinlockId(0); Sections::MOST], number: 0, first, part, hold };
        for lock in locks {
            sections.locks[usize::from(sections.number)] = lock;
            sections.number += 1;
        }
        sections
    }

    /// The locks in the order in which they are taken.
    #[must_use]
    pub fn locks(&self) -> &[SpinlockId] {
        &self.locks[..usize::from(self.number)]
    }
}
