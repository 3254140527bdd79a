//! Fetches the pages of each CPU of a buffer, and has their records decoded.

use super::compress::{Decompressor, Failure};
use super::contents::{Buffer, Contents, CpuData, Options, TscToNs};
use super::cursor::Cursor;
use super::decode::Decoder;
use super::page::{Lost, Page, PageLayout};
use crate::builder::TraceBuilder;
use crate::error::ReadError;
use crate::model::{Cpu, Format, Gap, MAX_CPUS, Pid, Trace};
use crate::notes::{ImportNotes, NoteKind, Position};
use crate::read::check_switches;

/// Clocks that do not count time, or not in a unit that the file tells.
const UNUSABLE_CLOCKS: [&str; 5] = ["counter", "uptime", "x86-tsc", "ppc-tb", "s390-tod"];

/// Reads the first buffer that holds `sched_switch`; in most files that is the top buffer, the only one.
pub(super) fn read_buffers(
    file: &[u8],
    version: u8,
    contents: &Contents,
    decompressor: &mut Decompressor,
    notes: ImportNotes,
) -> Result<Trace, ReadError> {
    let mut first_error = None;
    // No two CPUs' data overlap, so all of them together are no longer than the file.
    let mut bytes_left = file.len() as u64;
    let others = contents.buffers.len() as u64 - 1 + contents.options.skipped_buffers;
    for buffer in &contents.buffers {
        let mut builder = new_builder(version, &contents.options, buffer, &contents.cmdlines);
        builder.notes = notes.clone();
        if others > 0 {
            builder.notes.add_many(NoteKind::OtherBuffers, others, Position::Whole);
        }
        let clock = Clock::new(&contents.options, &mut builder);
        let decoder = Decoder::new(&contents.formats, contents.formats_at, &mut builder)?;
        let page_size = buffer.page_size as usize;
        if page_size < contents.layout.header_len() {
            return Err(ReadError::Corrupt { what: format!("a page cannot have {page_size} bytes"), at: 0 });
        }
        let layout = contents.layout;
        let mut reader = BufferReader { file, builder, clock, decoder, layout, page_size, bytes_left };
        reader.read(buffer, decompressor);
        reader.note_stats(&contents.options.cpu_stats);
        reader.decoder.finish(&mut reader.builder);
        bytes_left = reader.bytes_left;
        match check_switches(reader.builder.finish(), reader.decoder.records) {
            Ok(trace) => return Ok(trace),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.unwrap_or(ReadError::Corrupt { what: "the file holds no buffer".into(), at: 0 }))
}

fn new_builder(version: u8, options: &Options, buffer: &Buffer, cmdlines: &[u8]) -> TraceBuilder {
    let mut builder = TraceBuilder::new(options.cpus);
    builder.meta.format = Format::TraceDat { version };
    builder.meta.kernel = options.uname.clone();
    builder.meta.tool = options.tool.clone();
    let own_clock = Some(&buffer.clock).filter(|clock| !clock.is_empty());
    builder.meta.clock = own_clock.or(options.clock.as_ref()).cloned();
    for line in cmdlines.split(|byte| *byte == b'\n') {
        let Some(blank) = line.iter().position(|byte| *byte == b' ') else { continue };
        let pid = std::str::from_utf8(&line[..blank]).ok().and_then(|pid| pid.parse().ok());
        if let Some(pid) = pid.filter(|pid| *pid >= 0) {
            let comm = builder.strings.intern_bytes(&line[blank + 1..]);
            builder.thread(Pid(pid), comm, None);
        }
    }
    builder
}

/// From the trace clock's units to ns.
#[derive(Clone, Copy, Debug)]
struct Clock {
    tsc: Option<TscToNs>,
    offset_ns: i64,
}

impl Clock {
    fn new(options: &Options, builder: &mut TraceBuilder) -> Self {
        let name = builder.meta.clock.as_deref().unwrap_or("local");
        if UNUSABLE_CLOCKS.contains(&name) && options.tsc.is_none() {
            let detail = || format!("clock '{}'", builder.meta.clock.as_deref().unwrap_or_default());
            builder.notes.add_detailed(NoteKind::UnusableClock, Position::Whole, detail);
        }
        Clock { tsc: options.tsc, offset_ns: options.offset_ns }
    }

    fn ns(&self, ticks: u64) -> u64 {
        let ns = match self.tsc {
            Some(TscToNs { multiplier, shift }) => {
                let product = u128::from(ticks) * u128::from(multiplier);
                u64::try_from(product.checked_shr(shift).unwrap_or(0)).unwrap_or(u64::MAX)
            }
            None => ticks,
        };
        ns.saturating_add_signed(self.offset_ns)
    }
}

/// Reads one buffer.
struct BufferReader<'a> {
    file: &'a [u8],
    builder: TraceBuilder,
    clock: Clock,
    decoder: Decoder,
    layout: PageLayout,
    page_size: usize,
    /// How much CPU data may still be read.
    bytes_left: u64,
}

impl<'a> BufferReader<'a> {
    fn read(&mut self, buffer: &Buffer, decompressor: &mut Decompressor) {
        for data in &buffer.cpus {
            if data.cpu.0 >= MAX_CPUS {
                let at = Position::Byte(data.offset);
                self.builder.notes.add_detailed(NoteKind::CpuOutOfRange, at, || format!("CPU {}", data.cpu));
                continue;
            }
            self.builder.declare_cpus(data.cpu.0 + 1);
            if buffer.compressed {
                // The table gives the length of the chunks alone, without the count of them that comes first.
                let size = if data.size == 0 { 0 } else { data.size.saturating_add(4) };
                let bytes = self.cpu_bytes(&CpuData { size, ..*data });
                self.chunks(data.cpu, bytes, decompressor);
            } else {
                let bytes = self.cpu_bytes(data);
                self.pages(data.cpu, bytes.rest(), data.offset, Offsets::InFile);
            }
        }
    }

    /// What the file has of a CPU's data.
    fn cpu_bytes(&mut self, data: &CpuData) -> Cursor<'a> {
        let file_len = self.file.len() as u64;
        let available = file_len.saturating_sub(data.offset).min(self.bytes_left);
        let size = data.size.min(available);
        if size < data.size {
            let missing = data.size - size;
            let detail = || format!("{missing} bytes of the pages of CPU {} are missing", data.cpu);
            self.builder.notes.add_detailed(NoteKind::Truncated, Position::Byte(file_len), detail);
        }
        self.bytes_left -= size;
        Cursor::at(&self.file[..(data.offset.saturating_add(size)).min(file_len) as usize], data.offset)
    }

    /// Decompresses the chunks of one CPU and reads their pages.
    fn chunks(&mut self, cpu: Cpu, mut bytes: Cursor<'a>, decompressor: &mut Decompressor) {
        if bytes.remaining() == 0 {
            return;
        }
        let mut pages = Vec::new();
        let mut left = bytes.u32(CHUNKS).unwrap_or(0);
        while left > 0 {
            let chunk = match next_chunk(&mut bytes) {
                Ok(chunk) => chunk,
                Err(error) => {
                    let at = Position::Byte(bytes.offset());
                    return self.builder.notes.add_detailed(NoteKind::Truncated, at, || error.to_string());
                }
            };
            match decompressor.block(chunk.block, chunk.len, &mut pages) {
                Ok(()) => self.pages(cpu, &pages, chunk.at, Offsets::OfChunk),
                Err(Failure::Damaged) => {
                    self.builder.notes.add(NoteKind::Decompression, Position::Byte(chunk.at))
                }
                Err(Failure::TooLarge) => {
                    return self.builder.notes.add(NoteKind::DecompressionLimit, Position::Byte(chunk.at));
                }
            }
            left -= 1;
        }
    }

    /// Reads whole pages, and what there is of a last one that is cut.
    fn pages(&mut self, cpu: Cpu, bytes: &[u8], start: u64, offsets: Offsets) {
        for (n, page) in bytes.chunks(self.page_size).enumerate() {
            let at = match offsets {
                Offsets::InFile => start + (n * self.page_size) as u64,
                Offsets::OfChunk => start,
            };
            let mut page = Page::new(&self.layout, page);
            let mut lost = page.lost;
            for record in page.by_ref() {
                let time_ns = self.clock.ns(record.time);
                self.note_lost(cpu, std::mem::replace(&mut lost, Lost::Nothing), time_ns, at);
                self.decoder.record(&mut self.builder, time_ns, cpu, record.data, at);
            }
            self.note_lost(cpu, lost, self.builder.last_ns(cpu), at);
            if page.is_corrupt() {
                self.builder.notes.add(NoteKind::CorruptPage, Position::Byte(at));
            }
        }
    }

    fn note_lost(&mut self, cpu: Cpu, lost: Lost, before_ns: u64, at: u64) {
        match lost {
            Lost::Nothing => {}
            Lost::Some => self.builder.lost(cpu, before_ns, None, Position::Byte(at)),
            Lost::Counted(count) => self.builder.lost(cpu, before_ns, Some(count), Position::Byte(at)),
        }
    }

    /// Takes in the kernel's own counts of events that never reached the file.
    fn note_stats(&mut self, stats: &[String]) {
        for text in stats {
            let value = |key: &str| -> Option<u64> {
                let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
                line.trim().parse().ok()
            };
            let Some(cpu) = value("CPU").and_then(|cpu| u32::try_from(cpu).ok()).map(Cpu) else { continue };
            if self.builder.meta.gaps.iter().any(|gap| gap.cpu == cpu) {
                // The pages have said already where these events are missing.
                continue;
            }
            match value("overrun") {
                Some(count) if count > 0 && cpu.0 < MAX_CPUS => {
                    self.builder.notes.add_many(NoteKind::Overwritten, count, Position::Whole);
                    self.builder.meta.gaps.push(Gap { cpu, before_ns: 0, events: Some(count) });
                }
                _ => {}
            }
            if let Some(count) = value("dropped events").filter(|count| *count > 0) {
                self.builder.notes.add_many(NoteKind::LostEvents, count, Position::Whole);
            }
        }
    }
}

/// How positions of pages are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Offsets {
    /// Pages lie in the file one after the other.
    InFile,
    /// Pages were decompressed; their position is that of the chunk.
    OfChunk,
}

const CHUNKS: &str = "the compressed pages of a CPU";

/// A compressed run of pages.
struct Chunk<'a> {
    at: u64,
    /// Length when decompressed.
    len: u32,
    block: &'a [u8],
}

fn next_chunk<'a>(bytes: &mut Cursor<'a>) -> Result<Chunk<'a>, ReadError> {
    let at = bytes.offset();
    let (compressed, len) = (bytes.u32(CHUNKS)?, bytes.u32(CHUNKS)?);
    Ok(Chunk { at, len, block: bytes.bytes(compressed.into(), CHUNKS)? })
}
