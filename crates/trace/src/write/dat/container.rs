//! The container of a trace.dat, version 6: everything in one fixed order (`man 5 trace-cmd.dat.v6`).
//!
//! A recorder copies into it what the kernel gives out, a simulator what it makes up in the same form.

use std::io::{self, Read, Write};

/// Descriptions of the events of one system, each as the event's `format`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatSystem {
    /// E.g. `sched`.
    pub name: String,
    /// Texts of `events/SYSTEM/*/format`.
    pub formats: Vec<String>,
}

/// What a trace.dat says beside its events; texts are as tracefs has them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DatHeader {
    /// `events/header_page`.
    pub header_page: String,
    /// `events/header_event`.
    pub header_event: String,
    /// `events/ftrace/*/format`.
    pub ftrace_formats: Vec<String>,
    /// The other systems' events.
    pub systems: Vec<DatSystem>,
    /// As `/proc/kallsyms`; may be empty.
    pub symbols: String,
    /// As `printk_formats`; may be empty.
    pub printk_formats: String,
    /// As `saved_cmdlines`: a pid and a name a line.
    pub cmdlines: String,
    /// Bytes of a ring-buffer page.
    pub page_size: u32,
    /// As `trace_clock`: all clocks, the chosen one in brackets.
    pub clock: String,
    /// As `uname -a` without the host's name: system, release, version, machine.
    pub uname: Option<String>,
    /// The recording program and its version.
    pub tool: Option<String>,
    /// Texts of `per_cpu/cpuN/stats`.
    pub cpu_stats: Vec<String>,
}

/// The pages of one CPU.
#[derive(Debug)]
pub struct DatPages<R> {
    /// Bytes, a multiple of the page size.
    pub len: u64,
    /// Gives as many.
    pub pages: R,
}

const OPTION_CPUSTAT: u16 = 2;
const OPTION_TRACECLOCK: u16 = 4;
const OPTION_UNAME: u16 = 5;
const OPTION_CPUCOUNT: u16 = 8;
const OPTION_VERSION: u16 = 9;

/// Writes a trace.dat of version 6, little-endian, for a 64-bit kernel. `cpus` are the pages of each CPU from
/// 0 on.
///
/// # Errors
/// Those of `out` and of the pages' readers; a reader that gives other than the announced number of bytes; a
/// text of 4 GB and more.
pub fn write_dat_container<R: Read>(
    header: &DatHeader,
    cpus: Vec<DatPages<R>>,
    mut out: impl Write,
) -> io::Result<()> {
    let mut head = Head { bytes: Vec::new() };
    head.bytes.extend_from_slice(b"\x17\x08\x44tracing6\0");
    head.bytes.extend_from_slice(&[0, 8]);
    head.u32(header.page_size);
    head.bytes.extend_from_slice(b"header_page\0");
    head.sized_u64(&header.header_page);
    head.bytes.extend_from_slice(b"header_event\0");
    head.sized_u64(&header.header_event);
    head.formats(&header.ftrace_formats)?;
    head.u32(small(header.systems.len())?);
    for system in &header.systems {
        head.bytes.extend_from_slice(system.name.as_bytes());
        head.bytes.push(0);
        head.formats(&system.formats)?;
    }
    head.sized_u32(&header.symbols)?;
    head.sized_u32(&header.printk_formats)?;
    head.sized_u64(&header.cmdlines);
    let count = small(cpus.len())?;
    head.u32(count);
    head.bytes.extend_from_slice(b"options  \0");
    head.option(OPTION_CPUCOUNT, &count.to_le_bytes())?;
    head.text_option(OPTION_TRACECLOCK, &header.clock)?;
    if let Some(uname) = &header.uname {
        head.text_option(OPTION_UNAME, uname)?;
    }
    if let Some(tool) = &header.tool {
        head.text_option(OPTION_VERSION, tool)?;
    }
    for stats in &header.cpu_stats {
        head.text_option(OPTION_CPUSTAT, stats)?;
    }
    head.bytes.extend_from_slice(&0u16.to_le_bytes());
    head.bytes.extend_from_slice(b"flyrecord\0");

    let page = u64::from(header.page_size.max(1));
    let table_end = head.bytes.len() as u64 + 16 * u64::from(count);
    let mut offset = table_end.next_multiple_of(page);
    let padding = offset - table_end;
    for cpu in &cpus {
        head.u64(offset);
        head.u64(cpu.len);
        offset += cpu.len.next_multiple_of(page);
    }
    out.write_all(&head.bytes)?;
    zeros(&mut out, padding)?;
    for cpu in cpus {
        let copied = io::copy(&mut cpu.pages.take(cpu.len), &mut out)?;
        if copied != cpu.len {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the pages of a CPU are incomplete"));
        }
        zeros(&mut out, cpu.len.next_multiple_of(page) - cpu.len)?;
    }
    out.flush()
}

fn zeros(out: &mut impl Write, count: u64) -> io::Result<()> {
    io::copy(&mut io::repeat(0).take(count), out).map(drop)
}

fn small(len: usize) -> io::Result<u32> {
    u32::try_from(len).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "too long for a trace.dat"))
}

/// Everything before the pages.
struct Head {
    bytes: Vec<u8>,
}

impl Head {
    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn sized_u64(&mut self, text: &str) {
        self.u64(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn sized_u32(&mut self, text: &str) -> io::Result<()> {
        self.u32(small(text.len())?);
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn formats(&mut self, formats: &[String]) -> io::Result<()> {
        self.u32(small(formats.len())?);
        for format in formats {
            self.sized_u64(format);
        }
        Ok(())
    }

    fn option(&mut self, id: u16, data: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(&id.to_le_bytes());
        self.u32(small(data.len())?);
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// Readers expect the NUL behind a text.
    fn text_option(&mut self, id: u16, text: &str) -> io::Result<()> {
        self.option(id, &[text.as_bytes(), b"\0"].concat())
    }
}
