//! The header: where the parts of the file are.

use crate::error::ReadError;
use crate::input::{Cursor, Source};

/// A part of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Section {
    pub(super) offset: u64,
    pub(super) size: u64,
}

impl Section {
    /// Bytes of a section's place in the file.
    pub(super) const LEN: u64 = 16;

    pub(super) fn read(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Self, ReadError> {
        Ok(Section { offset: cursor.u64(what)?, size: cursor.u64(what)? })
    }

    /// Where it ends.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

/// What the header says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// Bytes of an attribute with the place of its ids.
    pub(super) attr_size: u64,
    pub(super) attrs: Section,
    pub(super) data: Section,
    /// A bit for each feature that the file has.
    pub(super) features: [u64; 4],
}

const WHAT: &str = "the header";
const LEN: u64 = 104;
/// Bytes of the header of a recording that went through a pipe.
const PIPE_LEN: u64 = 16;

pub(super) fn read(source: &Source<'_>) -> Result<Header, ReadError> {
    let bytes = source.load(0, LEN)?;
    let mut cursor = Cursor::at(&bytes, 0);
    cursor.expect(super::MAGIC, WHAT)?;
    let at = cursor.offset();
    match cursor.u64(WHAT)? {
        PIPE_LEN => {
            let advice = "record into a file with perf sched record -o FILE";
            return Err(ReadError::Unsupported { what: "a perf.data from a pipe".into(), at, advice });
        }
        len if len < LEN => {
            return Err(ReadError::Corrupt { what: format!("a header has no {len} bytes"), at });
        }
        _ => {}
    }
    let attr_size = cursor.u64(WHAT)?;
    let attrs = Section::read(&mut cursor, WHAT)?;
    let data = Section::read(&mut cursor, WHAT)?;
    Section::read(&mut cursor, WHAT)?;
    let mut features = [0; 4];
    for word in &mut features {
        *word = cursor.u64(WHAT)?;
    }
    Ok(Header { attr_size, attrs, data, features })
}
