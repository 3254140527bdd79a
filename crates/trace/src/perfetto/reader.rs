//! The packets of a trace.

use super::bundle::Bundles;
use super::wire::{Field, Fields, Value, take_varint};
use crate::builder::TraceBuilder;
use crate::error::ReadError;
use crate::input::{Source, Stream, unpacked_limit};
use crate::model::{Format, Pid, Trace};
use crate::notes::{NoteKind, Position};
use crate::read::check_switches;

/// Field of the trace: a packet. With its kind (bytes) it makes the first byte of the file.
const PACKET: u64 = 1;
/// Fields of a packet.
const FTRACE_EVENTS: u64 = 1;
const PROCESS_TREE: u64 = 2;
const SYSTEM_INFO: u64 = 45;
const COMPRESSED_PACKETS: u64 = 50;
/// No recorder writes longer packets than this; the largest hold a bundle of a whole ring buffer.
const MAX_PACKET: u64 = 256 << 20;
/// Compressed packets may grow to this many times their length, and a mebibyte more.
const PACKED_RATIO: usize = 256;
const PACKED_FREE: usize = 1 << 20;
/// The longest head of a packet: the byte that says that it is one, and ten of its length.
const PACKET_HEAD: usize = 11;

/// Whether a file is a trace of Perfetto, which has no magic number: its beginning must read as packets, up
/// to eight of them, each with a field that can be. `head` is the beginning, `len` the length of the file.
pub(crate) fn is_perfetto(head: &[u8], len: u64) -> bool {
    let mut rest = head;
    let mut packets = 0;
    while packets < 8 && !rest.is_empty() {
        let at = (head.len() - rest.len()) as u64;
        let Ok(packet) = Packet::read(rest, len - at) else { break };
        rest = rest.get(packet.head..).unwrap_or_default();
        let inside = &rest[..rest.len().min(packet.len as usize)];
        let first = Fields::new(inside).next().map(|field| field.number);
        // A field that is cut by the end of `head` cannot be judged.
        let whole = inside.len() as u64 == packet.len;
        if whole && packet.len > 0 && first.is_none_or(|number| number > 10_000) {
            return false;
        }
        packets += 1;
        if !whole {
            break;
        }
        rest = &rest[packet.len as usize..];
    }
    // A single packet that is not whole proves nothing but by what it says of its first field.
    packets > 0 && (packets > 1 || head.len() as u64 == len || long_packet(head))
}

/// Whether `head` begins with a packet that is longer than itself and begins with a field of bytes, as
/// bundles do.
fn long_packet(head: &[u8]) -> bool {
    let Ok(packet) = Packet::read(head, u64::MAX) else { return false };
    let mut inside = head.get(packet.head..).unwrap_or_default();
    let tag = take_varint(&mut inside).unwrap_or(0);
    let plausible = tag >> 3 > 0 && tag >> 3 < 10_000 && matches!(tag & 7, 0 | 2);
    plausible && head.contains(&0)
}

/// The head of a packet.
struct Packet {
    /// Bytes before the packet's own.
    head: usize,
    /// Its own.
    len: u64,
}

/// Why there is no further packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Cut,
    Broken,
}

impl Packet {
    /// From the next bytes of a file of which `left` bytes are left.
    fn read(bytes: &[u8], left: u64) -> Result<Self, End> {
        let mut rest = bytes;
        let cut = if (rest.len() as u64) < left { End::Broken } else { End::Cut };
        let tag = take_varint(&mut rest).ok_or(cut)?;
        if tag != PACKET << 3 | 2 {
            return Err(End::Broken);
        }
        let len = take_varint(&mut rest).ok_or(cut)?;
        if len > MAX_PACKET {
            return Err(End::Broken);
        }
        let head = bytes.len() - rest.len();
        if head as u64 + len > left { Err(End::Cut) } else { Ok(Packet { head, len }) }
    }
}

/// Reads a file for which [`is_perfetto`] holds.
pub(crate) fn read(source: &Source<'_>) -> Result<Trace, ReadError> {
    let mut builder = TraceBuilder::new(0);
    builder.meta.format = Format::Perfetto;
    builder.meta.tool = Some("Perfetto".to_owned());
    let mut reader = Reader { builder, bundles: Bundles::default(), budget: unpacked_limit(source.len()) };
    let mut stream = Stream::new(source, 0, u64::MAX);
    while stream.remaining() > 0 {
        let (at, left) = (stream.offset(), stream.remaining());
        let packet = match Packet::read(stream.peek(PACKET_HEAD)?, left) {
            Ok(packet) => packet,
            Err(end) => {
                reader.note_end(end, at);
                break;
            }
        };
        stream.skip(packet.head as u64);
        let bytes = stream.peek(packet.len as usize)?;
        reader.packet(&bytes[..bytes.len().min(packet.len as usize)], at, Depth::File);
        stream.skip(packet.len);
    }
    reader.finish()
}

/// Where a packet stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Depth {
    File,
    /// In a packet that holds compressed ones, and that cannot hold such packets itself.
    Compressed,
}

struct Reader {
    builder: TraceBuilder,
    bundles: Bundles,
    /// How much more compressed packets may grow to.
    budget: u64,
}

impl Reader {
    fn packet(&mut self, packet: &[u8], at: u64, depth: Depth) {
        let mut fields = Fields::new(packet);
        for Field { number, value } in fields.by_ref() {
            match (number, value) {
                (FTRACE_EVENTS, Value::Bytes(bundle)) => self.bundles.read(&mut self.builder, bundle, at),
                (PROCESS_TREE, Value::Bytes(tree)) => self.process_tree(tree, at),
                (SYSTEM_INFO, Value::Bytes(info)) => self.system_info(info, at),
                (COMPRESSED_PACKETS, Value::Bytes(packed)) if depth == Depth::File => {
                    self.compressed(packed, at)
                }
                _ => {}
            }
        }
        self.note_broken(&fields, at);
    }

    /// Packets as zlib packed them, each with its head as in the file.
    fn compressed(&mut self, packed: &[u8], at: u64) {
        use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};
        let most = packed.len().saturating_mul(PACKED_RATIO).saturating_add(PACKED_FREE);
        let most = most.min(usize::try_from(self.budget).unwrap_or(usize::MAX));
        let bytes = match decompress_to_vec_zlib_with_limit(packed, most) {
            Ok(bytes) => bytes,
            Err(error) => {
                let kind = match error.status {
                    TINFLStatus::HasMoreOutput => NoteKind::DecompressionLimit,
                    _ => NoteKind::Decompression,
                };
                return self.builder.notes.add(kind, Position::Byte(at));
            }
        };
        self.budget -= bytes.len() as u64;
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match Packet::read(rest, rest.len() as u64) {
                Ok(packet) => {
                    let end = packet.head + packet.len as usize;
                    self.packet(&rest[packet.head..end], at, Depth::Compressed);
                    rest = &rest[end..];
                }
                Err(end) => return self.note_end(end, at),
            }
        }
    }

    /// Names of threads.
    fn process_tree(&mut self, tree: &[u8], at: u64) {
        const THREADS: u64 = 2;
        let mut fields = Fields::new(tree);
        for field in fields.by_ref().filter(|field| field.number == THREADS) {
            let Some(thread) = field.value.bytes() else { continue };
            let (mut tid, mut name, mut tgid) = (None, None, None);
            let mut inner = Fields::new(thread);
            for Field { number, value } in inner.by_ref() {
                match number {
                    1 => tid = value.int32(),
                    2 => name = value.bytes(),
                    3 => tgid = value.int32(),
                    _ => {}
                }
            }
            self.note_broken(&inner, at);
            if let (Some(tid @ 1..), Some(name)) = (tid, name) {
                let comm = self.builder.strings.intern_bytes(name);
                self.builder.thread(Pid(tid), comm, tgid.filter(|tgid| *tgid > 0).map(Pid));
            }
        }
        self.note_broken(&fields, at);
    }

    /// The kernel's names and the number of CPUs.
    fn system_info(&mut self, info: &[u8], at: u64) {
        const UTSNAME: u64 = 1;
        const NUM_CPUS: u64 = 8;
        let mut fields = Fields::new(info);
        for Field { number, value } in fields.by_ref() {
            match (number, value) {
                (UTSNAME, Value::Bytes(names)) => {
                    // System, version, release, machine; the version is the date of the build.
                    let name = |wanted: u64| {
                        let field = Fields::new(names).find(|field| field.number == wanted)?;
                        field.value.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
                    };
                    let words: Vec<String> = [1, 3, 4].into_iter().filter_map(name).collect();
                    self.builder.meta.kernel = Some(words.join(" ")).filter(|words| !words.is_empty());
                }
                (NUM_CPUS, Value::Number(cpus)) => {
                    self.builder.declare_cpus(u32::try_from(cpus).unwrap_or(u32::MAX));
                }
                _ => {}
            }
        }
        self.note_broken(&fields, at);
    }

    fn note_broken(&mut self, fields: &Fields<'_>, at: u64) {
        if fields.is_broken() {
            self.builder.notes.add(NoteKind::CorruptRecord, Position::Byte(at));
        }
    }

    fn note_end(&mut self, end: End, at: u64) {
        let kind = match end {
            End::Cut => NoteKind::Truncated,
            End::Broken => NoteKind::BrokenStream,
        };
        self.builder.notes.add(kind, Position::Byte(at));
    }

    fn finish(mut self) -> Result<Trace, ReadError> {
        let events = self.bundles.finish(&mut self.builder);
        check_switches(self.builder.finish_recording(), events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_known_by_its_first_packets() {
        // Three packets: a number, bytes, a number.
        let trace = [0x0a, 2, 0x50, 1, 0x0a, 4, 0x0a, 2, 1, 2, 0x0a, 2, 0x50, 1];
        assert!(is_perfetto(&trace, trace.len() as u64));
        assert!(is_perfetto(&trace[..6], 6), "cut behind the head of a packet");
        for text in ["\n# tracer: nop\n#\n", "\n\nab\n", "# tracer: nop\n", "", "{}"] {
            assert!(!is_perfetto(text.as_bytes(), text.len() as u64), "{text:?}");
        }
    }
}
