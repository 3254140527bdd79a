//! A table that grows without moving what it holds.

use alloc::boxed::Box;
use core::cell::{Cell, OnceCell};

/// log2 of the size of the first chunk.
const FIRST_LOG2: u32 = 6;
/// Chunks double in size; these hold more slots than pids exist.
const CHUNKS: usize = 24;

/// Slots numbered from 0, made with their default value. A reference to one stays good while others are added.
#[derive(Debug)]
pub(crate) struct Chunks<T> {
    chunks: [OnceCell<Box<[T]>>; CHUNKS],
    len: Cell<u32>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Chunks<T> {
        Chunks { chunks: [const { OnceCell::new() }; CHUNKS], len: Cell::new(0) }
    }
}

impl<T: Default> Chunks<T> {
    /// The slot with this number.
    ///
    /// # Panics
    /// If [`Chunks::grow`] never returned the number.
    #[inline]
    pub fn get(&self, index: u32) -> &T {
        // Chunk k holds 2^(6+k) slots and starts at slot 2^(6+k) - 2^6.
        let shifted = index + (1 << FIRST_LOG2);
        let log2 = 31 - shifted.leading_zeros();
        let chunk = self.chunks[(log2 - FIRST_LOG2) as usize].get();
        &chunk.expect("the slot's number comes from grow")[(shifted - (1 << log2)) as usize]
    }

    /// Adds a slot and returns its number.
    pub fn grow(&self) -> u32 {
        let index = self.len.get();
        self.len.set(index + 1);
        let log2 = 31 - (index + (1 << FIRST_LOG2)).leading_zeros();
        self.chunks[(log2 - FIRST_LOG2) as usize]
            .get_or_init(|| (0..1u32 << log2).map(|_| T::default()).collect());
        index
    }

    /// Number of slots; all numbers are below it.
    pub fn len(&self) -> u32 {
        self.len.get()
    }
}
