//! The features: a table behind the records says where each of them is.

use super::header::{Header, Section};
use crate::builder::TraceBuilder;
use crate::error::ReadError;
use crate::input::{Cursor, Source};
use crate::notes::{NoteKind, Position};
use crate::records::{EventFormat, Symbols, read_ftrace_formats, read_system_formats};

const TRACING_DATA: u32 = 1;
const OSRELEASE: u32 = 4;
const VERSION: u32 = 5;
const ARCH: u32 = 6;
const NRCPUS: u32 = 7;
/// A longer text is none.
const MAX_TEXT: u64 = 4096;
/// Event descriptions of all of a kernel's events take a few megabytes.
const MAX_DESCRIPTIONS: u64 = 64 << 20;

/// What the events look like.
pub(super) struct Descriptions {
    pub(super) formats: Vec<EventFormat>,
    /// Names of kernel functions; recent versions of perf leave them out.
    pub(super) symbols: Symbols,
    /// Where the descriptions are.
    pub(super) at: u64,
}

/// Reads what we use of the features: the machine into `builder`, and the event descriptions.
pub(super) fn read(
    source: &Source<'_>,
    header: &Header,
    builder: &mut TraceBuilder,
) -> Result<Descriptions, ReadError> {
    const TABLE: &str = "the table of features, which stands behind the records of a perf.data";
    let missing = |why: &str| ReadError::Format { event: "sched_switch".into(), why: why.into() };
    if header.data.size == 0 {
        return Err(missing("perf record was broken off before it wrote the descriptions"));
    }
    let bits = (0..256u32).filter(|bit| header.features[*bit as usize / 64] >> (bit % 64) & 1 == 1);
    let bits: Vec<u32> = bits.collect();
    let at = header.data.end();
    if at > source.len() {
        let missing = at - source.len();
        return Err(ReadError::Truncated { what: TABLE, at: source.len(), missing });
    }
    let table = source.load_whole(at, bits.len() as u64 * Section::LEN, TABLE)?;
    let mut cursor = Cursor::at(&table, at);
    let (mut release, mut arch, mut descriptions) = (None, None, None);
    for bit in bits {
        let section = Section::read(&mut cursor, TABLE)?;
        if section.end() > source.len() {
            builder.notes.add(NoteKind::Truncated, Position::Byte(source.len()));
        }
        let result = match bit {
            TRACING_DATA => {
                descriptions = Some(read_descriptions(source, section)?);
                Ok(())
            }
            OSRELEASE => text(source, section).map(|text| release = Some(text)),
            VERSION => text(source, section).map(|text| builder.meta.tool = Some(format!("perf {text}"))),
            ARCH => text(source, section).map(|text| arch = Some(text)),
            NRCPUS => online_cpus(source, section).map(|cpus| builder.declare_cpus(cpus)),
            _ => Ok(()),
        };
        if let Err(error) = result {
            let at = Position::Byte(section.offset);
            builder.notes.add_detailed(NoteKind::DamagedOption, at, || error.to_string());
        }
    }
    builder.meta.kernel = release.map(|release| match arch {
        Some(arch) => format!("Linux {release} {arch}"),
        None => format!("Linux {release}"),
    });
    descriptions.ok_or_else(|| missing("the file holds no event descriptions"))
}

/// The event descriptions: what trace-cmd puts at the head of a trace.dat of version 6.
fn read_descriptions(source: &Source<'_>, section: Section) -> Result<Descriptions, ReadError> {
    const WHAT: &str = "the event descriptions";
    const TRACING_MAGIC: &[u8] = b"\x17\x08\x44tracing";
    if section.size > MAX_DESCRIPTIONS {
        let what = format!("event descriptions of {} bytes cannot be", section.size);
        return Err(ReadError::Corrupt { what, at: section.offset });
    }
    let bytes = source.load_whole(section.offset, section.size, WHAT)?;
    let mut cursor = Cursor::at(&bytes, section.offset);
    cursor.expect(TRACING_MAGIC, WHAT)?;
    cursor.cstr(WHAT)?;
    let at = cursor.offset();
    if cursor.u8(WHAT)? != 0 {
        let advice = "only recordings of little-endian machines can be read";
        return Err(ReadError::Unsupported { what: "big-endian data".into(), at, advice });
    }
    cursor.u8(WHAT)?;
    cursor.u32(WHAT)?;
    for header in [&b"header_page\0"[..], b"header_event\0"] {
        cursor.expect(header, WHAT)?;
        let len = cursor.u64(WHAT)?;
        cursor.bytes(len, WHAT)?;
    }
    let at = cursor.offset();
    let mut formats = Vec::new();
    read_ftrace_formats(&mut cursor, &mut formats)?;
    read_system_formats(&mut cursor, &mut formats)?;
    let len = cursor.u32(WHAT)?;
    let symbols = Symbols::parse(cursor.bytes(len.into(), WHAT)?);
    Ok(Descriptions { formats, symbols, at })
}

/// A length, and so many bytes of text and padding.
fn text(source: &Source<'_>, section: Section) -> Result<String, ReadError> {
    const WHAT: &str = "a text about the machine";
    let bytes = source.load_whole(section.offset, section.size.min(MAX_TEXT), WHAT)?;
    let mut cursor = Cursor::at(&bytes, section.offset);
    let len = cursor.u32(WHAT)?;
    let text = cursor.bytes(len.into(), WHAT)?;
    let text = text.split(|byte| *byte == 0).next().unwrap_or(text);
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// The number of CPUs that the machine could have, and of those that it had. The latter counts.
fn online_cpus(source: &Source<'_>, section: Section) -> Result<u32, ReadError> {
    const WHAT: &str = "the number of CPUs";
    let bytes = source.load_whole(section.offset, 8, WHAT)?;
    let mut cursor = Cursor::at(&bytes, section.offset);
    cursor.u32(WHAT)?;
    cursor.u32(WHAT)
}
