//! The lists of event descriptions, which trace.dat and perf.data hold in the same form.

use super::format::EventFormat;
use crate::error::ReadError;
use crate::input::Cursor;

/// Reads the descriptions of ftrace's own events, `print` among them.
pub(crate) fn read_ftrace_formats(
    cursor: &mut Cursor<'_>,
    formats: &mut Vec<EventFormat>,
) -> Result<(), ReadError> {
    let count = cursor.u32(FORMATS)?;
    read_formats(cursor, count, formats)
}

/// Reads the descriptions of all systems' events.
pub(crate) fn read_system_formats(
    cursor: &mut Cursor<'_>,
    formats: &mut Vec<EventFormat>,
) -> Result<(), ReadError> {
    for _ in 0..cursor.u32(FORMATS)? {
        cursor.cstr(FORMATS)?;
        let count = cursor.u32(FORMATS)?;
        read_formats(cursor, count, formats)?;
    }
    Ok(())
}

const FORMATS: &str = "the event descriptions";

fn read_formats(
    cursor: &mut Cursor<'_>,
    count: u32,
    formats: &mut Vec<EventFormat>,
) -> Result<(), ReadError> {
    for _ in 0..count {
        let len = cursor.u64(FORMATS)?;
        let text = String::from_utf8_lossy(cursor.bytes(len, FORMATS)?);
        formats.extend(EventFormat::parse(&text));
    }
    Ok(())
}
