//! A table that grows without moving what it holds.

use alloc::boxed::Box;
use core::cell::{Cell, OnceCell};

/// log2 of the size of the first chunk.
const FIRST_LOG2: u32 = 6;
/// Chunks double in size; these hold more slots than pids exist.
const CHUNKS: usize = 24;

/// Slots numbered from 0, made with their default value. A reference to one stays good while others are
/// added.
#[derive(Debug)]
pub(crate) struct Chunks<T> {
    /// The slots that are known to be needed: most lookups end here, after one comparison.
    base: Box<[T]>,
    /// Those that come after them.
    chunks: [OnceCell<Box<[T]>>; CHUNKS],
    len: Cell<u32>,
}

/// A slot behind those of the base.
struct Place {
    chunk: usize,
    at: usize,
}

impl Place {
    /// Chunk k holds 2^(6+k) slots, of which the first is number 2^(6+k) - 2^6.
    fn of(number: usize) -> Place {
        let shifted = number + (1 << FIRST_LOG2);
        let log2 = shifted.ilog2();
        Place { chunk: (log2 - FIRST_LOG2) as usize, at: shifted - (1 << log2) }
    }
}

impl<T: Default> Default for Chunks<T> {
    fn default() -> Chunks<T> {
        Chunks::with_room_for(0)
    }
}

impl<T: Default> Chunks<T> {
    /// No slots, but room for `expected` ones.
    pub fn with_room_for(expected: usize) -> Chunks<T> {
        Chunks {
            base: (0..expected).map(|_| T::default()).collect(),
            chunks: [const { OnceCell::new() }; CHUNKS],
            len: Cell::new(0),
        }
    }

    /// The slot with this number.
    ///
    /// # Panics
    /// If [`Chunks::grow`] never returned the number.
    #[inline]
    pub fn get(&self, index: u32) -> &T {
        match self.in_base(index) {
            Some(slot) => slot,
            None => self.behind_base(index),
        }
    }

    /// The slot with this number, if it is one of those that were known to be needed.
    #[inline]
    pub fn in_base(&self, index: u32) -> Option<&T> {
        self.base.get(index as usize)
    }

    #[cold]
    #[inline(never)]
    pub fn behind_base(&self, index: u32) -> &T {
        let place = Place::of(index as usize - self.base.len());
        &self.chunks[place.chunk].get().expect("the slot's number comes from grow")[place.at]
    }

    /// Adds a slot and returns its number.
    pub fn grow(&self) -> u32 {
        let index = self.len.get();
        self.len.set(index + 1);
        if let Some(behind) = (index as usize).checked_sub(self.base.len()) {
            let chunk = Place::of(behind).chunk;
            self.chunks[chunk]
                .get_or_init(|| (0..1usize << (chunk as u32 + FIRST_LOG2)).map(|_| T::default()).collect());
        }
        index
    }

    /// Number of slots; all numbers are below it.
    pub fn len(&self) -> u32 {
        self.len.get()
    }
}
