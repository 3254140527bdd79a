//! Where importers get their bytes: from memory, or from a file a piece at a time, so that a long recording
//! is never in memory as a whole.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};

use crate::error::ReadError;

/// A recording that can be read at any offset.
pub(crate) struct Source<'a> {
    data: Data<'a>,
    len: u64,
}

enum Data<'a> {
    Memory(Cow<'a, [u8]>),
    Elsewhere(&'a dyn AnyPlace),
}

/// What can be read at any place.
pub(crate) trait AnyPlace {
    /// Appends the `len` bytes from `at` on to `out`, or as many as there are.
    fn append(&self, at: u64, len: usize, out: &mut Vec<u8>) -> io::Result<()>;
}

impl<R: Read + Seek> AnyPlace for RefCell<R> {
    fn append(&self, at: u64, len: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let input = &mut *self.borrow_mut();
        input.seek(SeekFrom::Start(at))?;
        out.reserve_exact(len);
        input.take(len as u64).read_to_end(out).map(drop)
    }
}

impl<'a> Source<'a> {
    pub(crate) fn memory(bytes: &'a [u8]) -> Self {
        Source { len: bytes.len() as u64, data: Data::Memory(Cow::Borrowed(bytes)) }
    }

    /// `len` bytes that are elsewhere.
    pub(crate) fn elsewhere(input: &'a dyn AnyPlace, len: u64) -> Self {
        Source { len, data: Data::Elsewhere(input) }
    }
}

impl Source<'static> {
    /// Bytes that are nowhere else.
    pub(crate) fn owned(bytes: Vec<u8>) -> Self {
        Source { len: bytes.len() as u64, data: Data::Memory(Cow::Owned(bytes)) }
    }
}

impl Source<'_> {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The bytes from `at` on, `len` of them or as many as there are.
    pub(crate) fn load(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>, ReadError> {
        let end = at.saturating_add(len).min(self.len);
        let start = at.min(end);
        match &self.data {
            Data::Memory(bytes) => Ok(Cow::Borrowed(&bytes[start as usize..end as usize])),
            Data::Elsewhere(_) => {
                let mut bytes = Vec::new();
                self.append(start, (end - start) as usize, &mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// The `len` bytes of `what` from `at` on.
    pub(crate) fn load_whole(
        &self,
        at: u64,
        len: u64,
        what: &'static str,
    ) -> Result<Cow<'_, [u8]>, ReadError> {
        let bytes = self.load(at, len)?;
        match len - bytes.len() as u64 {
            0 => Ok(bytes),
            missing => Err(ReadError::Truncated { what, at, missing }),
        }
    }

    /// Appends the `len` bytes from `at` on to `out`, or as many as there are.
    fn append(&self, at: u64, len: usize, out: &mut Vec<u8>) -> Result<(), ReadError> {
        match &self.data {
            Data::Memory(bytes) => {
                let start = at.min(self.len) as usize;
                out.extend_from_slice(&bytes[start..start.saturating_add(len).min(bytes.len())]);
                Ok(())
            }
            Data::Elsewhere(input) => Ok(input.append(at, len, out)?),
        }
    }
}

/// How much of a file is fetched at once.
const STEP: usize = 256 << 10;

/// The bytes of a source from one offset to another, in order.
pub(crate) struct Stream<'a> {
    source: &'a Source<'a>,
    /// Offset of the next byte.
    at: u64,
    end: u64,
    /// Bytes fetched from a file; `at` is at `buffer[pos]`.
    buffer: Vec<u8>,
    pos: usize,
}

impl<'a> Stream<'a> {
    /// Offsets beyond the source's end count as its end.
    pub(crate) fn new(source: &'a Source<'a>, start: u64, end: u64) -> Self {
        let end = end.min(source.len());
        Stream { source, at: start.min(end), end, buffer: Vec::new(), pos: 0 }
    }

    /// Offset in the source of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.at
    }

    /// How many bytes are left.
    pub(crate) fn remaining(&self) -> u64 {
        self.end - self.at
    }

    /// The next bytes, without going on: at least `len`, if there are as many. What is asked for is fetched
    /// whole, so callers limit `len`.
    pub(crate) fn peek(&mut self, len: usize) -> Result<&[u8], ReadError> {
        if let Data::Memory(bytes) = &self.source.data {
            return Ok(&bytes[self.at as usize..self.end as usize]);
        }
        let wanted = len.min(usize::try_from(self.remaining()).unwrap_or(usize::MAX));
        let have = self.buffer.len() - self.pos;
        if have < wanted {
            self.buffer.drain(..self.pos);
            self.pos = 0;
            let from = self.at + have as u64;
            let more = (wanted - have).max(STEP).min((self.end - from) as usize);
            self.source.append(from, more, &mut self.buffer)?;
            if self.buffer.len() < wanted {
                // The file has become shorter since it was opened.
                self.end = self.at + self.buffer.len() as u64;
            }
        }
        Ok(&self.buffer[self.pos..])
    }

    /// Goes on by `len` bytes, at most to the end.
    pub(crate) fn skip(&mut self, len: u64) {
        let len = len.min(self.remaining());
        self.at += len;
        if matches!(self.source.data, Data::Elsewhere(_)) {
            self.pos = self.pos.saturating_add(len as usize);
            if self.pos >= self.buffer.len() {
                self.buffer.clear();
                self.pos = 0;
            }
        }
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.peek(out.len()).map_err(io::Error::other)?;
        let len = bytes.len().min(out.len());
        out[..len].copy_from_slice(&bytes[..len]);
        self.skip(len as u64);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_memory_give_the_same_bytes() {
        let bytes: Vec<u8> = (0..3 * STEP as u32 + 17).map(|n| ((n * 31) >> 3) as u8).collect();
        let input = RefCell::new(io::Cursor::new(&bytes));
        let (memory, file) = (Source::memory(&bytes), Source::elsewhere(&input, bytes.len() as u64));
        assert_eq!(memory.len(), file.len());
        for (at, len) in [(0, 10), (5, STEP as u64 * 2), (bytes.len() as u64 - 3, 10), (u64::MAX, 4)] {
            assert_eq!(memory.load(at, len).expect("memory"), file.load(at, len).expect("a file"));
        }
        let (mut a, mut b) = (Stream::new(&memory, 3, u64::MAX), Stream::new(&file, 3, u64::MAX));
        for step in [1, 7, STEP, STEP + 1, 4, 2 * STEP] {
            assert_eq!(a.offset(), b.offset());
            let left = a.remaining() as usize;
            assert_eq!(
                a.peek(step).expect("memory")[..step.min(left)],
                b.peek(step).expect("a file")[..step.min(left)]
            );
            a.skip(step as u64);
            b.skip(step as u64);
        }
        assert_eq!((a.remaining(), b.remaining()), (0, 0));
        assert!(a.peek(1).expect("memory").is_empty() && b.peek(1).expect("a file").is_empty());
    }

    #[test]
    fn skipping_over_what_was_not_fetched_is_no_reading() {
        let input = RefCell::new(io::Cursor::new([7; 100]));
        let file = Source::elsewhere(&input, 100);
        let mut stream = Stream::new(&file, 0, 90);
        assert_eq!(stream.peek(4).expect("a file")[0], 7);
        stream.skip(80);
        assert_eq!((stream.offset(), stream.remaining()), (80, 10));
        assert_eq!(stream.peek(20).expect("a file").len(), 10);
    }
}
