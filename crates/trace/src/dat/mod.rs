//! trace.dat, the file of trace-cmd: versions 6 and 7.
//!
//! [`v6`] and [`v7`] read the container and give the same [`contents`]: how pages are laid out, what events look like, where
//! the pages of each CPU are. From there on there is one way: [`reader`] fetches the pages, [`page`] cuts them into
//! records, [`decode`] makes events of these.

mod compress;
mod contents;
mod cursor;
mod decode;
mod format;
mod layout;
mod page;
mod reader;
mod state_bits;
mod v6;
mod v7;

use compress::{Algorithm, Decompressor};
use cursor::Cursor;

use crate::error::ReadError;
use crate::model::Trace;
use crate::notes::ImportNotes;

/// The first bytes of every trace.dat.
pub(crate) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// Reads a file that begins with [`MAGIC`].
pub(crate) fn read(file: &[u8]) -> Result<Trace, ReadError> {
    const HEADER: &str = "the initial header";
    let mut cursor = Cursor::at(file, 0);
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
    let mut notes = ImportNotes::new();
    let mut decompressor = Decompressor::new(Algorithm::None, file.len());
    let contents = if version == 6 {
        v6::read(&mut cursor, page_size, &mut notes)?
    } else {
        let at = cursor.offset();
        let algorithm = match cursor.cstr(HEADER)? {
            b"none" => Algorithm::None,
            b"zlib" => Algorithm::Zlib,
            b"zstd" => Algorithm::Zstd,
            other => {
                let what =
                    format!("compression '{}'", String::from_utf8_lossy(&other[..other.len().min(20)]));
                let advice = "convert it with trace-cmd convert --compression none";
                return Err(ReadError::Unsupported { what, at, advice });
            }
        };
        cursor.cstr(HEADER)?;
        decompressor = Decompressor::new(algorithm, file.len());
        v7::read(file, cursor.u64(HEADER)?, &mut decompressor, &mut notes)?
    };
    reader::read_buffers(file, version, &contents, &mut decompressor, notes)
}
