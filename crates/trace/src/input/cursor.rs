//! Reads little-endian numbers and strings from a byte slice, and says where it was when the slice ends too
//! early.

use crate::error::ReadError;

/// A position in a slice of the file, or of something decompressed from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    data: &'a [u8],
    pos: usize,
    /// Offset in the file of the slice's first byte.
    base: u64,
    /// The slice was decompressed: every position in it is reported as `base`.
    decompressed: bool,
}

impl<'a> Cursor<'a> {
    /// At the start of `data`, which lies at offset `base` of the file.
    pub(crate) fn at(data: &'a [u8], base: u64) -> Self {
        Cursor { data, pos: 0, base, decompressed: false }
    }

    /// At the start of what the block at offset `base` of the file decompressed to.
    pub(crate) fn decompressed(data: &'a [u8], base: u64) -> Self {
        Cursor { data, pos: 0, base, decompressed: true }
    }

    /// Offset in the file.
    pub(crate) fn offset(&self) -> u64 {
        if self.decompressed { self.base } else { self.base.saturating_add(self.pos as u64) }
    }

    /// How many bytes are left.
    pub(crate) fn remaining(&self) -> usize {
        self.data.len() - self.pos
    }

    /// The next `len` bytes of `what`.
    pub(crate) fn bytes(&mut self, len: u64, what: &'static str) -> Result<&'a [u8], ReadError> {
        let left = self.remaining() as u64;
        if len > left {
            return Err(ReadError::Truncated { what, at: self.offset(), missing: len - left });
        }
        let start = self.pos;
        self.pos += len as usize;
        Ok(&self.data[start..self.pos])
    }

    /// The next `len` bytes of `what` as a cursor of their own.
    pub(crate) fn part(&mut self, len: u64, what: &'static str) -> Result<Cursor<'a>, ReadError> {
        let base = self.offset();
        let data = self.bytes(len, what)?;
        Ok(Cursor { data, pos: 0, base, decompressed: self.decompressed })
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ReadError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N as u64, what)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, ReadError> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, ReadError> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, ReadError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, ReadError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Bytes up to a NUL, which is skipped.
    pub(crate) fn cstr(&mut self, what: &'static str) -> Result<&'a [u8], ReadError> {
        let rest = &self.data[self.pos..];
        let Some(len) = rest.iter().position(|b| *b == 0) else {
            return Err(ReadError::Truncated { what, at: self.offset(), missing: 1 });
        };
        self.pos += len + 1;
        Ok(&rest[..len])
    }

    /// Skips `expected`, which must come next.
    pub(crate) fn expect(&mut self, expected: &[u8], what: &'static str) -> Result<(), ReadError> {
        let at = self.offset();
        if self.bytes(expected.len() as u64, what)? == expected {
            return Ok(());
        }
        Err(ReadError::Corrupt { what: format!("{what} does not begin as it must"), at })
    }

    /// All bytes that are left.
    pub(crate) fn rest(self) -> &'a [u8] {
        &self.data[self.pos..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_slice_is_an_error_with_its_place() {
        let file = [1, 0, 2, 0, 0, 0, b'a', b'b', 0, 9];
        let mut cursor = Cursor::at(&file, 0);
        assert_eq!(cursor.u16("n").ok(), Some(1));
        assert_eq!(cursor.u32("n").ok(), Some(2));
        assert_eq!(cursor.cstr("s").ok(), Some(&b"ab"[..]));
        let error = cursor.u32("a number").err().map(|e| e.to_string());
        let expected =
            "byte 9: the file ends inside a number: at least 3 bytes are missing; copy or record it again";
        assert_eq!(error.as_deref(), Some(expected));
    }

    #[test]
    fn a_huge_offset_and_a_huge_length_do_no_harm() {
        let mut cursor = Cursor::at(&[0; 4], u64::MAX);
        assert!(cursor.u32("n").is_ok() && cursor.u8("n").is_err());
        let mut cursor = Cursor::at(&[0; 4], 2);
        assert!(cursor.bytes(u64::MAX, "n").is_err());
        assert_eq!(cursor.remaining(), 4);
    }
}
