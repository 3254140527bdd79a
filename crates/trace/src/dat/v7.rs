//! The container of version 7: sections anywhere, found through a chain of option lists, most of them
//! compressed (`man 5 trace-cmd.dat.v7`). The manual describes a compressed section as its data; in the file
//! two lengths come first.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::contents::{self, Buffer, Contents, CpuData, Options, text};
use crate::error::ReadError;
use crate::input::{Cursor, Decompressor, Failure, Source};
use crate::model::Cpu;
use crate::notes::{ImportNotes, NoteKind, Position};
use crate::records::{Symbols, read_ftrace_formats, read_system_formats};

const OPTION_DONE: u16 = 0;
const OPTION_BUFFER: u16 = 3;
const OPTION_BUFFER_TEXT: u16 = 22;
const SECTION_OPTIONS: u16 = 0;
const SECTION_BUFFER: u16 = 3;
const SECTION_HEADER_INFO: u16 = 16;
const SECTION_FTRACE_EVENTS: u16 = 17;
const SECTION_EVENT_FORMATS: u16 = 18;
const SECTION_KALLSYMS: u16 = 19;
const SECTION_CMDLINES: u16 = 21;
const FLAG_COMPRESSED: u16 = 1;
/// Bytes of a section's header.
const SECTION_HEADER: u64 = 16;
/// Bytes of the two lengths before compressed data.
const COMPRESSED_HEADER: u64 = 8;
const OPTIONS: &str = "an option list";

/// A section's header.
struct Section {
    id: u16,
    compressed: bool,
    size: u64,
    /// Offset of what follows the header.
    data_at: u64,
}

/// Where the option lists say that things are.
#[derive(Default)]
struct Index {
    options: Options,
    /// Offsets of sections by their ids, which are those of the options that announce them.
    sections: Vec<(u16, u64)>,
    buffers: Vec<Buffer>,
}

/// Reads the file; `options_at` is the offset of the first option list.
pub(super) fn read(
    source: &Source<'_>,
    options_at: u64,
    decompressor: &mut Decompressor,
    notes: &mut ImportNotes,
) -> Result<Contents, ReadError> {
    let mut index = Index::default();
    let mut loader = Loader { source, decompressor, bytes_left: source.len() };
    let end = loader.read_chain(options_at, &mut index, notes);
    // Where the chain is cut, what was announced before may still suffice; if not, the cut is the reason.
    let contents = loader.contents(index);
    match (contents, end) {
        (Err(_), Err(cut)) => Err(cut),
        (contents, Err(cut)) => {
            notes.add_detailed(NoteKind::Truncated, Position::Byte(source.len()), || cut.to_string());
            contents
        }
        (contents, Ok(())) => contents,
    }
}

/// Fetches sections.
struct Loader<'a, 'd> {
    source: &'a Source<'a>,
    decompressor: &'d mut Decompressor,
    /// How much may still be fetched: sections do not overlap, so all of them are no longer than the file.
    bytes_left: u64,
}

impl<'a> Loader<'a, '_> {
    /// Follows the option lists to their end.
    fn read_chain(
        &mut self,
        start: u64,
        index: &mut Index,
        notes: &mut ImportNotes,
    ) -> Result<(), ReadError> {
        let mut visited = BTreeSet::new();
        let mut next = start;
        while next != 0 {
            if !visited.insert(next) {
                return Err(ReadError::Corrupt { what: "the option lists form a ring".into(), at: next });
            }
            let section = self.section(next, SECTION_OPTIONS)?;
            let bytes = self.fetch(section.data_at, section.size, OPTIONS)?;
            let mut list = Cursor::at(&bytes, section.data_at);
            next = 0;
            while list.remaining() > 0 {
                let (id, len) = (list.u16(OPTIONS)?, list.u32(OPTIONS)?);
                let mut data = list.part(len.into(), OPTIONS)?;
                if id == OPTION_DONE {
                    next = data.u64(OPTIONS)?;
                    break;
                }
                let at = Position::Byte(data.offset());
                if let Err(error) = self.take_option(index, id, data) {
                    notes.add_detailed(NoteKind::DamagedOption, at, || error.to_string());
                }
            }
        }
        Ok(())
    }

    fn take_option(&mut self, index: &mut Index, id: u16, mut data: Cursor<'_>) -> Result<(), ReadError> {
        match id {
            OPTION_BUFFER => index.buffers.push(self.read_buffer(&mut data)?),
            OPTION_BUFFER_TEXT => index.options.skipped_buffers += 1,
            SECTION_HEADER_INFO
            | SECTION_FTRACE_EVENTS
            | SECTION_EVENT_FORMATS
            | SECTION_KALLSYMS
            | SECTION_CMDLINES => {
                index.sections.push((id, data.u64(OPTIONS)?));
            }
            _ => index.options.take(id, data)?,
        }
        Ok(())
    }

    /// Reads a BUFFER option: where the pages of each CPU are.
    fn read_buffer(&mut self, data: &mut Cursor<'_>) -> Result<Buffer, ReadError> {
        const WHAT: &str = "the table of CPU buffers";
        let section_at = data.u64(WHAT)?;
        let name = text(data.cstr(WHAT)?);
        let clock = text(data.cstr(WHAT)?);
        let page_size = data.u32(WHAT)?;
        let mut cpus = Vec::new();
        for _ in 0..data.u32(WHAT)? {
            cpus.push(CpuData { cpu: Cpu(data.u32(WHAT)?), offset: data.u64(WHAT)?, size: data.u64(WHAT)? });
        }
        let section = self.section(section_at, SECTION_BUFFER)?;
        Ok(Buffer { name, clock, page_size, cpus, compressed: section.compressed })
    }

    /// Reads the section header at `at`.
    fn section(&mut self, at: u64, expected: u16) -> Result<Section, ReadError> {
        const WHAT: &str = "a section header";
        let end = self.source.len();
        if at > end {
            return Err(ReadError::Truncated { what: "the sections", at: end, missing: at - end });
        }
        let header = self.source.load_whole(at, SECTION_HEADER, WHAT)?;
        let mut cursor = Cursor::at(&header, at);
        let (id, flags) = (cursor.u16(WHAT)?, cursor.u16(WHAT)?);
        cursor.u32(WHAT)?;
        let size = cursor.u64(WHAT)?;
        if id != expected {
            return Err(ReadError::Corrupt {
                what: format!("section {expected} should be here, but it is {id}"),
                at,
            });
        }
        Ok(Section { id, compressed: flags & FLAG_COMPRESSED != 0, size, data_at: cursor.offset() })
    }

    /// Fetches a part of a section.
    fn fetch(&mut self, at: u64, len: u64, what: &'static str) -> Result<Cow<'a, [u8]>, ReadError> {
        let bytes = self.source.load_whole(at, len, what)?;
        self.bytes_left = self
            .bytes_left
            .checked_sub(len)
            .ok_or_else(|| ReadError::Corrupt { what: "the sections overlap".into(), at })?;
        Ok(bytes)
    }

    fn contents(&mut self, index: Index) -> Result<Contents, ReadError> {
        let find = |id: u16| index.sections.iter().find(|(section, _)| *section == id).map(|(_, at)| *at);
        let need = |id: u16, what: &str| {
            let missing = ReadError::Corrupt { what: format!("the file lacks {what}"), at: 0 };
            find(id).ok_or(missing)
        };
        let at = need(SECTION_HEADER_INFO, "the header descriptions")?;
        let data = self.load(at, SECTION_HEADER_INFO)?;
        let layout = contents::read_header_info(&mut Cursor::decompressed(&data, at))?;
        let mut formats = Vec::new();
        if let Some(at) = find(SECTION_FTRACE_EVENTS) {
            let data = self.load(at, SECTION_FTRACE_EVENTS)?;
            read_ftrace_formats(&mut Cursor::decompressed(&data, at), &mut formats)?;
        }
        let formats_at = need(SECTION_EVENT_FORMATS, "the event descriptions")?;
        let data = self.load(formats_at, SECTION_EVENT_FORMATS)?;
        read_system_formats(&mut Cursor::decompressed(&data, formats_at), &mut formats)?;
        let mut symbols = Symbols::default();
        if let Some(at) = find(SECTION_KALLSYMS) {
            let data = self.load(at, SECTION_KALLSYMS)?;
            let mut cursor = Cursor::decompressed(&data, at);
            let len = cursor.u32("the kernel symbols")?;
            symbols = Symbols::parse(cursor.bytes(len.into(), "the kernel symbols")?);
        }
        let mut cmdlines = Vec::new();
        if let Some(at) = find(SECTION_CMDLINES) {
            let data = self.load(at, SECTION_CMDLINES)?;
            let mut cursor = Cursor::decompressed(&data, at);
            let len = cursor.u64("the saved command lines")?;
            cmdlines = cursor.bytes(len, "the saved command lines")?.to_vec();
        }
        let mut buffers = index.buffers;
        if buffers.is_empty() {
            return Err(ReadError::Corrupt { what: "the file lacks the table of CPU buffers".into(), at: 0 });
        }
        buffers.sort_by_key(|buffer| !buffer.name.is_empty());
        Ok(Contents { layout, formats, formats_at, symbols, cmdlines, options: index.options, buffers })
    }

    /// The data of a section, decompressed.
    fn load(&mut self, at: u64, id: u16) -> Result<Cow<'a, [u8]>, ReadError> {
        const WHAT: &str = "a section";
        let section = self.section(at, id)?;
        if !section.compressed {
            return self.fetch(section.data_at, section.size, WHAT);
        }
        let lengths = self.fetch(section.data_at, COMPRESSED_HEADER, WHAT)?;
        let mut cursor = Cursor::at(&lengths, section.data_at);
        let (compressed, len) = (cursor.u32(WHAT)?, cursor.u32(WHAT)?);
        let block = self.fetch(cursor.offset(), compressed.into(), WHAT)?;
        let mut data = Vec::new();
        self.decompressor.block(&block, len, &mut data).map_err(|failure| {
            let how = match failure {
                Failure::Damaged => "does not decompress",
                Failure::TooLarge => "decompresses to far more than such sections do",
            };
            ReadError::Corrupt { what: format!("section {} {how}", section.id), at }
        })?;
        Ok(Cow::Owned(data))
    }
}
