//! trace.dat, the file of trace-cmd: versions 6 and 7.
//!
//! [`v6`] and [`v7`] read the container and give the same [`contents`]: how pages are laid out, what events
//! look like, where the pages of each CPU are. From there on there is one way: [`reader`] fetches the pages,
//! [`page`] cuts them into records, [`Decoder`](crate::records::Decoder) makes events of these.

mod contents;
mod page;
mod reader;
mod v6;
mod v7;

use contents::Contents;

use crate::error::ReadError;
use crate::input::{Algorithm, Cursor, Decompressor, Source};
use crate::model::Trace;
use crate::notes::ImportNotes;

/// The first bytes of every trace.dat.
pub(crate) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// Reads a file that begins with [`MAGIC`].
pub(crate) fn read(source: &Source<'_>) -> Result<Trace, ReadError> {
    let mut notes = ImportNotes::new();
    // Where the metadata end is known only when they have been read; most are shorter than this.
    let mut len = 4 << 20;
    let (version, contents, mut decompressor) = loop {
        let head = source.load(0, len)?;
        match read_metadata(source, &head, &mut notes) {
            Err(ReadError::Truncated { .. }) if len < source.len() => {
                (len, notes) = (len * 4, ImportNotes::new())
            }
            metadata => break metadata?,
        }
    };
    reader::read_buffers(source, version, &contents, &mut decompressor, notes)
}

/// Everything but the events; `head` is the file's beginning.
fn read_metadata(
    source: &Source<'_>,
    head: &[u8],
    notes: &mut ImportNotes,
) -> Result<(u8, Contents, Decompressor), ReadError> {
    const HEADER: &str = "the initial header";
    let mut cursor = Cursor::at(head, 0);
    cursor.expect(MAGIC, HEADER)?;
    let version_at = cursor.offset();
    let version = match cursor.cstr(HEADER)? {
        b"6" => 6,
        b"7" => 7,
        other => {
            let what =
                format!("trace.dat version '{}'", String::from_utf8_lossy(&other[..other.len().min(20)]));
            let advice = "convert it with trace-cmd convert --file-version 7";
            return Err(ReadError::Unsupported { what, at: version_at, advice });
        }
    };
    let endian_at = cursor.offset();
    if cursor.u8(HEADER)? != 0 {
        let advice = "only recordings of little-endian machines can be read";
        return Err(ReadError::Unsupported { what: "big-endian data".into(), at: endian_at, advice });
    }
    cursor.u8(HEADER)?;
    let page_size = cursor.u32(HEADER)?;
    if version == 6 {
        let contents = v6::read(&mut cursor, page_size, notes)?;
        return Ok((version, contents, Decompressor::new(Algorithm::None, source.len())));
    }
    let at = cursor.offset();
    let algorithm = match cursor.cstr(HEADER)? {
        b"none" => Algorithm::None,
        b"zlib" => Algorithm::Zlib,
        b"zstd" => Algorithm::Zstd,
        other => {
            let what = format!("compression '{}'", String::from_utf8_lossy(&other[..other.len().min(20)]));
            let advice = "convert it with trace-cmd convert --compression none";
            return Err(ReadError::Unsupported { what, at, advice });
        }
    };
    cursor.cstr(HEADER)?;
    let mut decompressor = Decompressor::new(algorithm, source.len());
    let contents = v7::read(source, cursor.u64(HEADER)?, &mut decompressor, notes)?;
    Ok((version, contents, decompressor))
}
