//! The records: samples become events, the rest tells who the threads are and what was lost.

use super::attr::{Attributes, u32_at, u64_at};
use super::header::Section;
use super::names::{Change, Names};
use super::zstd::Zstd;
use crate::builder::TraceBuilder;
use crate::error::ReadError;
use crate::input::{Failure, Source, Stream, unpacked_limit};
use crate::model::{Cpu, Pid};
use crate::notes::{NoteKind, Position};
use crate::records::Decoder;

const LOST: u32 = 2;
const COMM: u32 = 3;
const THROTTLE: u32 = 5;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const LOST_SAMPLES: u32 = 13;
const AUXTRACE: u32 = 71;
const COMPRESSED: u32 = 81;
const COMPRESSED_PADDED: u32 = 83;
/// Records that say nothing about scheduling: mappings, counters, cgroups, perf's own book-keeping.
const OTHER_KERNEL: std::ops::RangeInclusive<u32> = 1..=21;
const OTHER_TOOL: std::ops::RangeInclusive<u32> = 64..=83;
/// Bytes of a record's header.
const HEADER: usize = 8;

/// A record's header.
struct Header {
    kind: u32,
    /// Bytes of the record, the header included.
    size: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let size = u16::from_le_bytes(*bytes.get(6..)?.first_chunk()?);
        Some(Header { kind: u32_at(bytes, 0)?, size: size.into() })
    }
}

/// Why the records end.
enum End {
    /// There is less left than a record.
    Cut,
    /// A record has a length that none can have.
    Broken,
}

/// Reads the records of one file.
pub(super) struct Reader {
    builder: TraceBuilder,
    decoder: Decoder,
    attributes: Attributes,
    names: Names,
}

impl Reader {
    pub(super) fn new(builder: TraceBuilder, decoder: Decoder, attributes: Attributes) -> Self {
        Reader { builder, decoder, attributes, names: Names::default() }
    }

    /// Reads the section of records.
    pub(super) fn read(&mut self, source: &Source<'_>, data: &Section) -> Result<(), ReadError> {
        let mut stream = Stream::new(source, data.offset, data.end());
        let mut unpacked = Unpacked { zstd: Zstd::new(unpacked_limit(source.len())), records: Vec::new() };
        while stream.remaining() > 0 {
            let at = stream.offset();
            let left = stream.remaining();
            let size = match next(stream.peek(HEADER)?, left) {
                Ok(header) => header.size,
                Err(end) => {
                    self.note_end(&end, at);
                    break;
                }
            };
            let bytes = stream.peek(size)?;
            let (Some(header), Some(body)) = (Header::read(bytes), bytes.get(HEADER..size)) else { break };
            let mut following = 0;
            match header.kind {
                COMPRESSED => self.compressed(&mut unpacked, body, at),
                COMPRESSED_PADDED => {
                    let len = u64_at(body, 0).and_then(|len| usize::try_from(len).ok());
                    match len.and_then(|len| body.get(8..)?.get(..len)) {
                        Some(body) => self.compressed(&mut unpacked, body, at),
                        None => self.builder.notes.add(NoteKind::CorruptRecord, Position::Byte(at)),
                    }
                }
                AUXTRACE => following = u64_at(body, 0).unwrap_or(0),
                kind => self.record(kind, body, at),
            }
            stream.skip(size as u64);
            stream.skip(following);
        }
        self.end_of_compressed(&mut unpacked, data.end());
        Ok(())
    }

    /// The builder with everything in it, and the number of samples.
    pub(super) fn finish(mut self) -> (TraceBuilder, u64) {
        self.names.finish(&mut self.builder);
        self.decoder.finish(&mut self.builder);
        (self.builder, self.decoder.records)
    }

    fn compressed(&mut self, unpacked: &mut Unpacked, body: &[u8], at: u64) {
        let result = unpacked.zstd.push(body, &mut unpacked.records);
        self.unpacked_records(&mut unpacked.records, at);
        if let Err(failure) = result {
            self.note_failure(failure, at);
            unpacked.zstd = Zstd::new(0);
        }
    }

    /// What a stream that nobody ended still held back.
    fn end_of_compressed(&mut self, unpacked: &mut Unpacked, at: u64) {
        let result = unpacked.zstd.finish(&mut unpacked.records);
        self.unpacked_records(&mut unpacked.records, at);
        match result {
            Ok(true) if unpacked.records.is_empty() => {}
            Ok(_) => self.note_end(&End::Cut, at),
            Err(failure) => self.note_failure(failure, at),
        }
    }

    /// Reads the whole records at the start of `bytes` and removes them.
    fn unpacked_records(&mut self, bytes: &mut Vec<u8>, at: u64) {
        let mut used = 0;
        while used < bytes.len() {
            let rest = &bytes[used..];
            match next(rest, rest.len() as u64) {
                Ok(header) => {
                    self.record(header.kind, &rest[HEADER..header.size], at);
                    used += header.size;
                }
                Err(End::Cut) => break,
                Err(end @ End::Broken) => {
                    self.note_end(&end, at);
                    used = bytes.len();
                }
            }
        }
        bytes.drain(..used);
    }

    fn note_end(&mut self, end: &End, at: u64) {
        let kind = match end {
            End::Cut => NoteKind::Truncated,
            End::Broken => NoteKind::BrokenStream,
        };
        self.builder.notes.add(kind, Position::Byte(at));
    }

    fn note_failure(&mut self, failure: Failure, at: u64) {
        let kind = match failure {
            Failure::Damaged => NoteKind::Decompression,
            Failure::TooLarge => NoteKind::DecompressionLimit,
        };
        self.builder.notes.add(kind, Position::Byte(at));
    }

    fn record(&mut self, kind: u32, body: &[u8], at: u64) {
        let known = match kind {
            SAMPLE => {
                self.sample(body, at);
                Some(())
            }
            COMM => self.comm(body),
            FORK => self.fork(body),
            LOST => u64_at(body, 8).map(|count| self.lost(body, Some(count), at)),
            LOST_SAMPLES => u64_at(body, 0).map(|count| self.lost(body, Some(count), at)),
            THROTTLE => {
                self.lost(body, None, at);
                Some(())
            }
            kind if OTHER_KERNEL.contains(&kind) || OTHER_TOOL.contains(&kind) => Some(()),
            kind => {
                let name = format!("perf record of kind {kind}");
                self.builder.notes.add_other_event(&name, 1, Position::Byte(at));
                Some(())
            }
        };
        if known.is_none() {
            self.builder.notes.add(NoteKind::CorruptRecord, Position::Byte(at));
        }
    }

    fn sample(&mut self, body: &[u8], at: u64) {
        let place = Position::Byte(at);
        let Some(fields) = self.attributes.of_sample(body) else {
            return self.builder.notes.add(NoteKind::UnknownEventId, place);
        };
        match fields.sample(body) {
            Some(sample) => {
                self.decoder.record(&mut self.builder, sample.time, sample.cpu, sample.raw, at);
            }
            None if fields.suffices() => self.builder.notes.add(NoteKind::CorruptRecord, place),
            None => {
                let detail = || "samples without time, CPU or raw data; record with perf sched record".into();
                self.builder.notes.add_detailed(NoteKind::UndecodableEvent, place, detail);
            }
        }
    }

    /// When and where a record that is no sample was written, as far as it says so.
    fn place(&self, body: &[u8]) -> Option<super::attr::WrittenAt> {
        self.attributes.of_other(body)?.place(body)
    }

    fn comm(&mut self, body: &[u8]) -> Option<()> {
        let (tgid, tid) = (pid_at(body, 0)?, pid_at(body, 4)?);
        let name = body.get(8..)?;
        let name = name.split(|byte| *byte == 0).next()?;
        let comm = self.builder.strings.intern_bytes(name);
        let time = self.place(body).map_or(0, |place| place.time);
        self.names.add(time, tid, tgid, Change::Comm(comm));
        Some(())
    }

    fn fork(&mut self, body: &[u8]) -> Option<()> {
        let (tgid, tid, parent) = (pid_at(body, 0)?, pid_at(body, 8)?, pid_at(body, 12)?);
        self.names.add(u64_at(body, 16)?, tid, tgid, Change::ForkedBy(parent));
        Some(())
    }

    fn lost(&mut self, body: &[u8], events: Option<u64>, at: u64) {
        match self.place(body) {
            Some(place) if place.cpu < Cpu(crate::MAX_CPUS) => {
                self.builder.lost(place.cpu, place.time, events, Position::Byte(at));
            }
            _ => self.builder.notes.add_many(NoteKind::LostEvents, events.unwrap_or(1), Position::Byte(at)),
        }
    }
}

/// A compressed part of the records.
struct Unpacked {
    zstd: Zstd,
    /// Decompressed and not yet read: the beginning of a record.
    records: Vec<u8>,
}

/// The header at the start of `bytes`, if it and its record fit into the `left` bytes that remain.
fn next(bytes: &[u8], left: u64) -> Result<Header, End> {
    let header = Header::read(bytes).ok_or(End::Cut)?;
    if header.size < HEADER {
        return Err(End::Broken);
    }
    if header.size as u64 > left { Err(End::Cut) } else { Ok(header) }
}

fn pid_at(bytes: &[u8], at: usize) -> Option<Pid> {
    u32_at(bytes, at).map(|pid| Pid(pid as i32))
}
