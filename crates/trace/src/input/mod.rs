//! Bytes for the importers: where they come from, numbers in them, and decompression.

mod compress;
mod cursor;
mod gzip;
mod source;

pub(crate) use compress::{Algorithm, Decompressor, Failure, unpacked_limit};
pub(crate) use cursor::Cursor;
pub(crate) use gzip::{Cut, GZIP_MAGIC, Gzip};
pub(crate) use source::{Source, Stream};
