//! The container of version 6: everything in one fixed order (`man 5 trace-cmd.dat.v6`).

use super::contents::{self, Buffer, Contents, CpuData, Options};
use crate::error::ReadError;
use crate::input::Cursor;
use crate::model::Cpu;
use crate::notes::{ImportNotes, NoteKind, Position};
use crate::records::{Symbols, read_ftrace_formats, read_system_formats};

/// An instance's buffer; we read the top one only.
const OPTION_BUFFER: u16 = 3;

/// Reads what follows the initial header.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    page_size: u32,
    notes: &mut ImportNotes,
) -> Result<Contents, ReadError> {
    let layout = contents::read_header_info(cursor)?;
    let formats_at = cursor.offset();
    let mut formats = Vec::new();
    read_ftrace_formats(cursor, &mut formats)?;
    read_system_formats(cursor, &mut formats)?;
    let len = cursor.u32("the kernel symbols")?;
    let symbols = Symbols::parse(cursor.bytes(len.into(), "the kernel symbols")?);
    let len = cursor.u32("the printk formats")?;
    cursor.bytes(len.into(), "the printk formats")?;
    let len = cursor.u64("the saved command lines")?;
    let cmdlines = cursor.bytes(len, "the saved command lines")?.to_vec();
    let cpus = cursor.u32(CPU_TABLE)?;
    let mut options = Options { cpus, ..Options::default() };
    let buffer = loop {
        let at = cursor.offset();
        match cursor.bytes(10, CPU_TABLE)? {
            b"options  \0" => read_options(cursor, &mut options, notes)?,
            b"flyrecord\0" => break read_cpu_table(cursor, cpus, page_size)?,
            b"latency  \0" => {
                let advice = "write it as text with trace-cmd report and read that";
                return Err(ReadError::Unsupported {
                    what: "a trace.dat of a latency tracer".into(),
                    at,
                    advice,
                });
            }
            _ => {
                return Err(ReadError::Corrupt { what: "neither options nor CPU buffers follow".into(), at });
            }
        }
    };
    Ok(Contents { layout, formats, formats_at, symbols, cmdlines, options, buffers: vec![buffer] })
}

const CPU_TABLE: &str = "the table of CPU buffers";

fn read_options(
    cursor: &mut Cursor<'_>,
    options: &mut Options,
    notes: &mut ImportNotes,
) -> Result<(), ReadError> {
    loop {
        let id = cursor.u16("the options")?;
        if id == 0 {
            return Ok(());
        }
        let len = cursor.u32("the options")?;
        let data = cursor.part(len.into(), "the options")?;
        let at = Position::Byte(data.offset());
        if id == OPTION_BUFFER {
            options.skipped_buffers += 1;
        } else if let Err(error) = options.take(id, data) {
            notes.add_detailed(NoteKind::DamagedOption, at, || error.to_string());
        }
    }
}

fn read_cpu_table(cursor: &mut Cursor<'_>, count: u32, page_size: u32) -> Result<Buffer, ReadError> {
    let mut cpus = Vec::new();
    for cpu in 0..count {
        cpus.push(CpuData { cpu: Cpu(cpu), offset: cursor.u64(CPU_TABLE)?, size: cursor.u64(CPU_TABLE)? });
    }
    Ok(Buffer { name: String::new(), clock: String::new(), page_size, cpus, compressed: false })
}
