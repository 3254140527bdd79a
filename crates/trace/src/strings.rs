//! Interned strings: task names (comm), marker texts and file names.
//!
//! A trace repeats a few names millions of times; an event stores a four-byte [`StrId`] in their place. The
//! table is a plain open-addressing one because the standard library's hash map is not allowed here (its
//! order differs from run to run) and because a lookup per name is the reader's hottest step.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Index;

/// Number of a string in a [`Strings`] table; meaningless in any other table. An `Option` of it takes no more
/// room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StrId(
    /// From 1.
    NonZeroU32,
);

impl StrId {
    /// The id of the string number `n`, from 0.
    fn of(n: u32) -> Self {
        StrId(NonZeroU32::MIN.saturating_add(n))
    }

    /// The id in a slot of the table, which is 0 where there is none.
    fn in_slot(slot: u32) -> Option<Self> {
        NonZeroU32::new(slot).map(StrId)
    }
}

/// A table of distinct strings, numbered in the order in which they were first seen.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    /// All strings, one after the other.
    arena: String,
    /// Where each string ends in `arena`; it begins where the one before it ends.
    ends: Vec<usize>,
    /// Slots holding id + 1, or 0 for empty. The length is a power of two, at most half of it used.
    slots: Vec<u32>,
}

impl Strings {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of `text`, which is added if it is new.
    pub fn intern(&mut self, text: &str) -> StrId {
        if self.slots.len() < 2 * (self.ends.len() + 1) {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash(text.as_bytes()) as usize & mask;
        loop {
            match StrId::in_slot(self.slots[slot]) {
                None => break,
                Some(taken) if self[taken] == *text => return taken,
                Some(_) => slot = (slot + 1) & mask,
            }
        }
        let id = StrId::of(self.ends.len() as u32);
        self.arena.push_str(text);
        self.ends.push(self.arena.len());
        self.slots[slot] = id.0.get();
        id
    }

    /// As [`intern`](Self::intern), for bytes from a file. Bytes that are not UTF-8 become U+FFFD.
    pub fn intern_bytes(&mut self, bytes: &[u8]) -> StrId {
        match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => self.intern(text),
            Cow::Owned(text) => self.intern(&text),
        }
    }

    /// The id of `text` if the table holds it.
    pub fn find(&self, text: &str) -> Option<StrId> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = hash(text.as_bytes()) as usize & mask;
        while let Some(id) = StrId::in_slot(self.slots[slot]) {
            if self[id] == *text {
                return Some(id);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    /// The text of `id`, or `None` if the id is of another, longer table.
    pub fn get(&self, id: StrId) -> Option<&str> {
        let n = id.0.get() as usize - 1;
        let end = *self.ends.get(n)?;
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        Some(&self.arena[start..end])
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All strings in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (StrId, &str)> {
        (0..self.ends.len() as u32).map(|n| (StrId::of(n), &self[StrId::of(n)]))
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        self.slots = vec![0; size];
        for n in 0..self.ends.len() as u32 {
            let id = StrId::of(n);
            let mut slot = hash(self[id].as_bytes()) as usize & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = id.0.get();
        }
    }
}

impl Index<StrId> for Strings {
    type Output = str;

    /// # Panics
    /// If `id` is of another, longer table.
    fn index(&self, id: StrId) -> &str {
        self.get(id).expect("a StrId is used with the table that made it")
    }
}

/// Multiply-and-fold over eight bytes at a time: a comm takes two rounds.
fn hash(bytes: &[u8]) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut h = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        h = (h ^ u64::from_le_bytes(word)).wrapping_mul(K);
        h ^= h >> 29;
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_the_same_id_and_ids_count_up() {
        let mut strings = Strings::new();
        let ids: Vec<_> = (0..1000).map(|n| strings.intern(&format!("kworker/{n}:0"))).collect();
        for (n, id) in ids.iter().enumerate() {
            assert_eq!(strings[*id], format!("kworker/{n}:0"));
            assert_eq!(strings.intern(&format!("kworker/{n}:0")), *id);
            assert_eq!(strings.find(&format!("kworker/{n}:0")), Some(*id));
        }
        assert_eq!(strings.len(), 1000);
        assert_eq!(strings.find("absent"), None);
    }

    #[test]
    fn the_empty_string_is_a_string() {
        let mut strings = Strings::new();
        assert_eq!(strings.find(""), None);
        let empty = strings.intern("");
        assert_eq!(&strings[empty], "");
        assert_eq!(strings.intern(""), empty);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        let mut strings = Strings::new();
        let id = strings.intern_bytes(b"caf\xe9");
        assert_eq!(&strings[id], "caf\u{fffd}");
    }
}
