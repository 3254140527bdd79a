//! Fetches the pages of each CPU of a buffer, and has their records decoded.

use super::contents::{Buffer, Contents, CpuData, Options, TscToNs};
use super::page::{Lost, Page, PageLayout};
use crate::builder::TraceBuilder;
use crate::error::ReadError;
use crate::input::{Decompressor, Failure, Source, Stream};
use crate::model::{Cpu, Format, Gap, MAX_CPUS, Pid, Trace};
use crate::notes::{ImportNotes, NoteKind, Position};
use crate::read::check_switches;
use crate::records::Decoder;

/// Clocks that do not count time, or not in a unit that the file tells.
const UNUSABLE_CLOCKS: [&str; 5] = ["counter", "uptime", "x86-tsc", "ppc-tb", "s390-tod"];

/// Reads the first buffer that holds `sched_switch`; in most files that is the top buffer, the only one.
pub(super) fn read_buffers(
    source: &Source<'_>,
    version: u8,
    contents: &Contents,
    decompressor: &mut Decompressor,
    notes: ImportNotes,
) -> Result<Trace, ReadError> {
    let mut first_error = None;
    // No two CPUs' data overlap, so all of them together are no longer than the file.
    let mut bytes_left = source.len();
    let others = contents.buffers.len() as u64 - 1 + contents.options.skipped_buffers;
    for buffer in &contents.buffers {
        let mut builder = new_builder(version, &contents.options, buffer, &contents.cmdlines);
        builder.notes = notes.clone();
        if others > 0 {
            builder.notes.add_many(NoteKind::OtherBuffers, others, Position::Whole);
        }
        let clock = Clock::new(&contents.options, &mut builder);
        let decoder =
            Decoder::new(&contents.formats, contents.formats_at, contents.symbols.clone(), &mut builder)?;
        let page_size = buffer.page_size as usize;
        if page_size < contents.layout.header_len() {
            return Err(ReadError::Corrupt { what: format!("a page cannot have {page_size} bytes"), at: 0 });
        }
        let layout = contents.layout;
        let mut reader = BufferReader { source, builder, clock, decoder, layout, page_size, bytes_left };
        reader.read(buffer, decompressor)?;
        reader.note_stats(&contents.options.cpu_stats);
        reader.decoder.finish(&mut reader.builder);
        bytes_left = reader.bytes_left;
        match check_switches(reader.builder.finish_recording(), reader.decoder.records) {
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
    source: &'a Source<'a>,
    builder: TraceBuilder,
    clock: Clock,
    decoder: Decoder,
    layout: PageLayout,
    page_size: usize,
    /// How much CPU data may still be read.
    bytes_left: u64,
}

impl<'a> BufferReader<'a> {
    fn read(&mut self, buffer: &Buffer, decompressor: &mut Decompressor) -> Result<(), ReadError> {
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
                let stream = self.cpu_bytes(&CpuData { size, ..*data });
                self.chunks(data.cpu, stream, decompressor)?;
            } else {
                let stream = self.cpu_bytes(data);
                self.pages(data.cpu, stream)?;
            }
        }
        Ok(())
    }

    /// What the file has of a CPU's data.
    fn cpu_bytes(&mut self, data: &CpuData) -> Stream<'a> {
        let file_len = self.source.len();
        let available = file_len.saturating_sub(data.offset).min(self.bytes_left);
        let size = data.size.min(available);
        if size < data.size {
            let missing = data.size - size;
            let detail = || format!("{missing} bytes of the pages of CPU {} are missing", data.cpu);
            self.builder.notes.add_detailed(NoteKind::Truncated, Position::Byte(file_len), detail);
        }
        self.bytes_left -= size;
        Stream::new(self.source, data.offset, data.offset.saturating_add(size))
    }

    /// Decompresses the chunks of one CPU and reads their pages.
    fn chunks(
        &mut self,
        cpu: Cpu,
        mut stream: Stream<'a>,
        decompressor: &mut Decompressor,
    ) -> Result<(), ReadError> {
        let mut pages = Vec::new();
        let mut left = match word(stream.peek(4)?, 0) {
            Some(count) => count,
            None => return Ok(()),
        };
        stream.skip(4);
        while left > 0 {
            let at = stream.offset();
            let header = stream.peek(8)?;
            let lengths = word(header, 0).zip(word(header, 4));
            let chunk = lengths.filter(|(compressed, _)| u64::from(*compressed) + 8 <= stream.remaining());
            let Some((compressed, len)) = chunk else {
                let detail = || format!("{left} chunks of the compressed pages of CPU {cpu} are missing");
                self.builder.notes.add_detailed(NoteKind::Truncated, Position::Byte(at), detail);
                return Ok(());
            };
            stream.skip(8);
            let bytes = stream.peek(compressed as usize)?;
            let block = &bytes[..bytes.len().min(compressed as usize)];
            match decompressor.block(block, len, &mut pages) {
                Ok(()) => pages.chunks(self.page_size).for_each(|page| self.page(cpu, page, at)),
                Err(Failure::Damaged) => self.builder.notes.add(NoteKind::Decompression, Position::Byte(at)),
                Err(Failure::TooLarge) => {
                    self.builder.notes.add(NoteKind::DecompressionLimit, Position::Byte(at));
                    return Ok(());
                }
            }
            stream.skip(compressed.into());
            left -= 1;
        }
        Ok(())
    }

    /// Reads whole pages, and what there is of a last one that is cut.
    fn pages(&mut self, cpu: Cpu, mut stream: Stream<'a>) -> Result<(), ReadError> {
        while stream.remaining() > 0 {
            let at = stream.offset();
            let bytes = stream.peek(self.page_size)?;
            let page = &bytes[..bytes.len().min(self.page_size)];
            self.page(cpu, page, at);
            stream.skip(self.page_size as u64);
        }
        Ok(())
    }

    /// Reads a page; `at` is its offset in the file, or that of the chunk from which it was decompressed.
    fn page(&mut self, cpu: Cpu, bytes: &[u8], at: u64) {
        let mut page = Page::new(&self.layout, bytes);
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

/// The little-endian word at `at`, if `bytes` reach so far.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}
