//! perf.data, the file of `perf record`, as far as `perf sched record` uses it.
//!
//! The file is a header, the attributes of the recorded events, the records, and behind these a table
//! of *features*: facts about the machine, and the kernel's event descriptions in the form that trace.dat
//! has. (Source: perf's documentation, `perf.data-file-format.txt`, and the manual page perf_event_open(2).)
//!
//! The container is read by hand because the crate for it, linux-perf-data, allocates whatever lengths a file
//! names, gives up at the first damaged record, and needs a C compiler for zstd.

mod attr;
mod features;
mod header;
mod names;
mod records;
mod zstd;

use crate::builder::TraceBuilder;
use crate::error::ReadError;
use crate::input::Source;
use crate::model::{Format, Trace};
use crate::read::check_switches;
use crate::records::Decoder;

/// The first bytes of a perf.data of a little-endian machine.
pub(crate) const MAGIC: &[u8] = b"PERFILE2";
/// Those of a big-endian one.
pub(crate) const MAGIC_BIG_ENDIAN: &[u8] = b"2ELIFREP";

/// Reads a file that begins with [`MAGIC`].
pub(crate) fn read(source: &Source<'_>) -> Result<Trace, ReadError> {
    let header = header::read(source)?;
    let mut builder = TraceBuilder::new(0);
    builder.meta.format = Format::PerfData;
    let descriptions = features::read(source, &header, &mut builder)?;
    let attributes = attr::read(source, &header)?;
    builder.meta.clock = Some(attributes.clock().to_owned());
    let decoder = Decoder::new(&descriptions.formats, descriptions.at, descriptions.symbols, &mut builder)?;
    let mut reader = records::Reader::new(builder, decoder, attributes);
    reader.read(source, &header.data)?;
    let (builder, records) = reader.finish();
    check_switches(builder.finish_recording(), records)
}
