//! What a trace.dat holds, whichever version wrote it: the common result of the two container readers.

use super::page::PageLayout;
use crate::error::ReadError;
use crate::input::Cursor;
use crate::model::Cpu;
use crate::records::{EventFormat, Symbols};

/// Where the pages of one CPU are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CpuData {
    pub(super) cpu: Cpu,
    /// Offset in the file.
    pub(super) offset: u64,
    /// Bytes in the file.
    pub(super) size: u64,
}

/// A ring buffer: the top one, or that of a trace instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Buffer {
    /// Instance name, empty for the top buffer.
    pub(super) name: String,
    /// Trace clock, empty where it is not given with the buffer.
    pub(super) clock: String,
    pub(super) page_size: u32,
    pub(super) cpus: Vec<CpuData>,
    /// CPU data are chunks to decompress.
    pub(super) compressed: bool,
}

/// Conversion of x86 time-stamp counts to ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TscToNs {
    pub(super) multiplier: u32,
    pub(super) shift: u32,
}

/// The entries of the option list that we use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Options {
    pub(super) clock: Option<String>,
    pub(super) uname: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) cpus: u32,
    /// Texts of `per_cpu/cpuN/stats`.
    pub(super) cpu_stats: Vec<String>,
    /// To add to every time, ns.
    pub(super) offset_ns: i64,
    pub(super) tsc: Option<TscToNs>,
    /// Further instances that the reader did not look into.
    pub(super) skipped_buffers: u64,
}

const OPTION_CPUSTAT: u16 = 2;
const OPTION_TRACECLOCK: u16 = 4;
const OPTION_UNAME: u16 = 5;
const OPTION_OFFSET: u16 = 7;
const OPTION_CPUCOUNT: u16 = 8;
const OPTION_VERSION: u16 = 9;
const OPTION_TSC2NSEC: u16 = 14;

impl Options {
    /// Takes in an option that both versions have; others are left alone.
    pub(super) fn take(&mut self, id: u16, mut data: Cursor<'_>) -> Result<(), ReadError> {
        const WHAT: &str = "an option";
        match id {
            OPTION_CPUSTAT => self.cpu_stats.push(text(data.rest())),
            OPTION_TRACECLOCK => self.clock = selected_clock(&text(data.rest())),
            OPTION_UNAME => self.uname = Some(text(data.rest())),
            OPTION_OFFSET => {
                let at = data.offset();
                let offset = text(data.rest());
                let damaged =
                    || ReadError::Corrupt { what: format!("time offset '{offset}' is not a number"), at };
                self.offset_ns = offset.trim().parse().map_err(|_| damaged())?;
            }
            OPTION_CPUCOUNT => self.cpus = data.u32(WHAT)?,
            OPTION_VERSION => self.tool = Some(tool(text(data.rest()).trim())),
            OPTION_TSC2NSEC => {
                self.tsc = Some(TscToNs { multiplier: data.u32(WHAT)?, shift: data.u32(WHAT)? })
            }
            _ => {}
        }
        Ok(())
    }
}

/// Who wrote the file: trace-cmd gives no name, only its version.
fn tool(version: &str) -> String {
    if version.starts_with(|c: char| c.is_ascii_digit()) {
        format!("trace-cmd {version}")
    } else {
        version.to_owned()
    }
}

/// The clock in brackets in the text of `trace_clock`: `local global [mono] boot`.
fn selected_clock(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(clock, _)| clock.to_owned())
}

/// Bytes up to a NUL or the end, as text.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The whole file but the events themselves.
pub(super) struct Contents {
    pub(super) layout: PageLayout,
    pub(super) formats: Vec<EventFormat>,
    /// Where the first of the formats is.
    pub(super) formats_at: u64,
    /// Names of kernel functions.
    pub(super) symbols: Symbols,
    /// Text of `saved_cmdlines`: a pid and a name a line.
    pub(super) cmdlines: Vec<u8>,
    pub(super) options: Options,
    /// The top buffer first.
    pub(super) buffers: Vec<Buffer>,
}

/// Reads the two header descriptions and returns the layout of pages.
pub(super) fn read_header_info(cursor: &mut Cursor<'_>) -> Result<PageLayout, ReadError> {
    const WHAT: &str = "the header descriptions";
    cursor.expect(b"header_page\0", WHAT)?;
    let len = cursor.u64(WHAT)?;
    let at = cursor.offset();
    let layout = PageLayout::parse(cursor.bytes(len, WHAT)?, at)?;
    cursor.expect(b"header_event\0", WHAT)?;
    let len = cursor.u64(WHAT)?;
    cursor.bytes(len, WHAT)?;
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_the_one_in_brackets() {
        assert_eq!(selected_clock("local global [mono] boot\n").as_deref(), Some("mono"));
        assert_eq!(selected_clock("local global"), None);
    }

    #[test]
    fn options_are_read_and_damaged_ones_are_errors() {
        let mut options = Options::default();
        assert!(options.take(OPTION_OFFSET, Cursor::at(b"-125\0", 0)).is_ok());
        assert!(options.take(OPTION_CPUCOUNT, Cursor::at(&[4, 0, 0, 0], 0)).is_ok());
        assert!(options.take(OPTION_CPUCOUNT, Cursor::at(&[4, 0], 0)).is_err());
        assert!(options.take(OPTION_OFFSET, Cursor::at(b"soon\0", 0)).is_err());
        assert!(options.take(999, Cursor::at(b"", 0)).is_ok());
        assert_eq!((options.offset_ns, options.cpus), (-125, 4));
    }
}
