//! The attributes of the recorded events: they say which fields a record has, and in which order that makes
//! them.

use super::header::{Header, Section};
use crate::error::ReadError;
use crate::input::{Cursor, Source};
use crate::model::Cpu;

/// Bits of `sample_type`, in the order in which the fields stand in a sample. Each takes eight bytes.
const FIXED: [u64; 9] = [IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD];
/// Those of them that other records have at their end, in that order.
const TRAILER: [u64; 6] = [TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER];
const IP: u64 = 1;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDR: u64 = 1 << 3;
const READ: u64 = 1 << 4;
const CALLCHAIN: u64 = 1 << 5;
const ID: u64 = 1 << 6;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const STREAM_ID: u64 = 1 << 9;
const RAW: u64 = 1 << 10;
const IDENTIFIER: u64 = 1 << 16;
/// Bits of `read_format`.
const READ_TIMES: [u64; 2] = [1, 2];
const READ_ID: u64 = 4;
const READ_GROUP: u64 = 8;
const READ_LOST: u64 = 16;
/// Bits of the attribute's flags.
const SAMPLE_ID_ALL: u64 = 1 << 18;
const USE_CLOCKID: u64 = 1 << 25;
/// More events than anybody records at once: five thousand on each of two hundred CPUs.
const MAX_IDS: usize = 1 << 20;

/// What a sample says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sample<'a> {
    pub(super) time: u64,
    pub(super) cpu: Cpu,
    /// The kernel's own record.
    pub(super) raw: &'a [u8],
}

/// When and where a record that is no sample was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WrittenAt {
    pub(super) time: u64,
    pub(super) cpu: Cpu,
}

/// Which fields the records of an event have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    sample_type: u64,
    read_format: u64,
    sample_id_all: bool,
}

impl Layout {
    /// Offset of a field in a sample.
    fn offset(&self, field: u64) -> Option<usize> {
        let before = FIXED.iter().take_while(|bit| **bit != field);
        let len = before.filter(|bit| self.sample_type & **bit != 0).count() * 8;
        (self.sample_type & field != 0).then_some(len)
    }

    /// Offset of a field from a record's end, for records that are no samples.
    fn offset_from_end(&self, field: u64) -> Option<usize> {
        let from = TRAILER.iter().skip_while(|bit| **bit != field);
        let len = from.filter(|bit| self.sample_type & **bit != 0).count() * 8;
        (self.sample_id_all && self.sample_type & field != 0).then_some(len)
    }
}

/// Offsets in samples of one layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fields {
    layout: Layout,
    time: Option<usize>,
    cpu: Option<usize>,
    /// Where the fields of variable length begin.
    fixed_len: usize,
}

impl Fields {
    fn new(layout: Layout) -> Self {
        let fixed_len = FIXED.iter().filter(|bit| layout.sample_type & **bit != 0).count() * 8;
        Fields { layout, time: layout.offset(TIME), cpu: layout.offset(CPU), fixed_len }
    }

    /// Whether samples say when and where, and hold the kernel's record.
    pub(super) fn suffices(&self) -> bool {
        self.time.is_some() && self.cpu.is_some() && self.layout.sample_type & RAW != 0
    }

    /// Reads the body of a sample; `None` if it is too short or this layout does not suffice.
    pub(super) fn sample<'a>(&self, body: &'a [u8]) -> Option<Sample<'a>> {
        let (time, cpu) = (u64_at(body, self.time?)?, u32_at(body, self.cpu?)?);
        let mut at = self.fixed_len;
        let sample_type = self.layout.sample_type;
        if sample_type & READ != 0 {
            at = self.end_of_read(body, at)?;
        }
        if sample_type & CALLCHAIN != 0 {
            at = skip_words(at + 8, u64_at(body, at)?)?;
        }
        if sample_type & RAW == 0 {
            return None;
        }
        let len = u32_at(body, at)? as usize;
        Some(Sample { time, cpu: Cpu(cpu), raw: body.get(at + 4..)?.get(..len)? })
    }

    /// Where the counter values end that begin at `at`.
    fn end_of_read(&self, body: &[u8], at: usize) -> Option<usize> {
        let format = self.layout.read_format;
        let has = |bit: u64| u64::from(format & bit != 0);
        let times: u64 = READ_TIMES.iter().map(|bit| has(*bit)).sum();
        let each = 1 + has(READ_ID) + has(READ_LOST);
        if format & READ_GROUP != 0 {
            let counters = u64_at(body, at)?;
            skip_words(at, counters.checked_mul(each)?.checked_add(1 + times)?)
        } else {
            skip_words(at, each + times)
        }
    }

    /// Reads the end of a record that is no sample; `None` if this layout does not say when and where.
    pub(super) fn place(&self, body: &[u8]) -> Option<WrittenAt> {
        let at = |field| body.len().checked_sub(self.layout.offset_from_end(field)?);
        Some(WrittenAt { time: u64_at(body, at(TIME)?)?, cpu: Cpu(u32_at(body, at(CPU)?)?) })
    }
}

fn skip_words(at: usize, words: u64) -> Option<usize> {
    at.checked_add(usize::try_from(words).ok()?.checked_mul(8)?)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

/// All attributes of a file.
#[derive(Clone, Debug)]
pub(super) struct Attributes {
    /// The distinct layouts, with their offsets.
    fields: Vec<Fields>,
    /// Event id and position in `fields`, by id. Needed only where there is more than one layout.
    by_id: Vec<(u64, usize)>,
    clock: Option<i32>,
}

impl Attributes {
    /// The layout of a sample, by the event id with which it begins.
    pub(super) fn of_sample(&self, body: &[u8]) -> Option<&Fields> {
        match &self.fields[..] {
            [only] => Some(only),
            _ => self.find(u64_at(body, 0)?),
        }
    }

    /// The layout of another record, by the event id with which it ends.
    pub(super) fn of_other(&self, body: &[u8]) -> Option<&Fields> {
        match &self.fields[..] {
            [only] => Some(only),
            _ => self.find(u64_at(body, body.len().checked_sub(8)?)?),
        }
    }

    fn find(&self, id: u64) -> Option<&Fields> {
        let n = self.by_id.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.fields.get(self.by_id[n].1)
    }

    /// The name of the clock: perf's own if the recording chose no other.
    pub(super) fn clock(&self) -> &'static str {
        match self.clock {
            None => "perf",
            Some(0) => "realtime",
            Some(1) => "mono",
            Some(4) => "mono_raw",
            Some(7) => "boot",
            Some(11) => "tai",
            Some(_) => "another",
        }
    }
}

const WHAT: &str = "the attributes of the events";

pub(super) fn read(source: &Source<'_>, header: &Header) -> Result<Attributes, ReadError> {
    let at = header.attrs.offset;
    let corrupt = |what: &str| ReadError::Corrupt { what: what.into(), at };
    // The first version of the attribute had 64 bytes; the size has grown with each kernel, but not to pages.
    if !(64 + Section::LEN..=4096).contains(&header.attr_size) {
        return Err(corrupt("the attributes of the events have an impossible size"));
    }
    let count = header.attrs.size / header.attr_size;
    if count == 0 {
        return Err(corrupt("the file describes no events"));
    }
    if count as usize > MAX_IDS {
        return Err(corrupt("the file describes more events than anybody records"));
    }
    let bytes = source.load_whole(at, count * header.attr_size, WHAT)?;
    let mut attributes = Attributes { fields: Vec::new(), by_id: Vec::new(), clock: None };
    for (n, attr) in bytes.chunks_exact(header.attr_size as usize).enumerate() {
        let attr_at = at + n as u64 * header.attr_size;
        let (attr, ids) = attr.split_at(attr.len() - Section::LEN as usize);
        let (layout, clock) = read_attr(attr, attr_at)?;
        attributes.clock = attributes.clock.or(clock);
        let fields = Fields::new(layout);
        let position = attributes.fields.iter().position(|known| *known == fields);
        let position = position.unwrap_or_else(|| {
            attributes.fields.push(fields);
            attributes.fields.len() - 1
        });
        let section = Section::read(&mut Cursor::at(ids, attr_at), WHAT)?;
        if section.size / 8 > (MAX_IDS - attributes.by_id.len()) as u64 {
            return Err(corrupt("the file describes more events than anybody records"));
        }
        let ids = source.load_whole(section.offset, section.size, "the ids of the events")?;
        attributes
            .by_id
            .extend((0..ids.len()).step_by(8).filter_map(|at| Some((u64_at(&ids, at)?, position))));
    }
    let told_apart = attributes.fields.iter().all(|fields| fields.layout.sample_type & IDENTIFIER != 0);
    if attributes.fields.len() > 1 && !told_apart {
        let advice = "record with perf sched record";
        let what = "a perf.data whose records do not tell their events apart".into();
        return Err(ReadError::Unsupported { what, at, advice });
    }
    attributes.by_id.sort_unstable();
    Ok(attributes)
}

/// The layout and the clock of one attribute (`struct perf_event_attr`).
fn read_attr(attr: &[u8], at: u64) -> Result<(Layout, Option<i32>), ReadError> {
    const CLOCKID: usize = 92;
    let mut cursor = Cursor::at(attr, at);
    // Kind, size, the event's number, period.
    cursor.bytes(4 + 4 + 8 + 8, WHAT)?;
    let (sample_type, read_format, flags) = (cursor.u64(WHAT)?, cursor.u64(WHAT)?, cursor.u64(WHAT)?);
    let clock = u32_at(attr, CLOCKID).filter(|_| flags & USE_CLOCKID != 0).map(|clock| clock as i32);
    Ok((Layout { sample_type, read_format, sample_id_all: flags & SAMPLE_ID_ALL != 0 }, clock))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn fields(sample_type: u64, read_format: u64) -> Fields {
        Fields::new(Layout { sample_type, read_format, sample_id_all: true })
    }

    /// A raw field of four bytes behind the given words.
    fn with_raw(before: &[u64]) -> Vec<u8> {
        let mut body = words(before);
        body.extend([4, 0, 0, 0]);
        body.extend(*b"rawx");
        body
    }

    #[test]
    fn a_sample_of_perf_sched_record() {
        let fields = fields(IDENTIFIER | IP | TID | TIME | CPU | PERIOD | RAW, 0);
        let body = with_raw(&[9, 0xffff, 7, 1000, 3, 1]);
        assert_eq!(fields.sample(&body), Some(Sample { time: 1000, cpu: Cpu(3), raw: b"rawx" }));
        assert_eq!(fields.sample(&body[..body.len() - 1]), None, "the raw data are cut");
        assert_eq!(fields.place(&words(&[1, 2, 7, 1000, 3, 9])), Some(WrittenAt { time: 1000, cpu: Cpu(3) }));
        assert_eq!(fields.place(&words(&[3, 9])), None);
    }

    #[test]
    fn fields_of_variable_length_are_passed_over() {
        let kind = TIME | CPU | READ | CALLCHAIN | RAW;
        let one = with_raw(&[1000, 3, 5, 6, 7, 2, 0xa, 0xb]);
        assert_eq!(fields(kind, READ_ID | READ_LOST).sample(&one).map(|s| s.raw), Some(&b"rawx"[..]));
        let group = with_raw(&[1000, 3, 2, 99, 5, 6, 5, 6, 1, 0xa]);
        assert_eq!(fields(kind, READ_GROUP | READ_ID | 1).sample(&group).map(|s| s.raw), Some(&b"rawx"[..]));
        let absurd = with_raw(&[1000, 3, u64::MAX, 99]);
        assert_eq!(fields(kind, READ_GROUP | READ_ID).sample(&absurd), None);
        assert_eq!(fields(TIME | CPU | CALLCHAIN | RAW, 0).sample(&with_raw(&[1, 2, u64::MAX])), None);
    }

    #[test]
    fn a_sample_without_time_cpu_or_record_is_of_no_use() {
        assert!(fields(TIME | CPU | RAW, 0).suffices());
        for bit in [TIME, CPU, RAW] {
            assert!(!fields((TIME | CPU | RAW) & !bit, 0).suffices());
            assert_eq!(fields((TIME | CPU | RAW) & !bit, 0).sample(&with_raw(&[1, 2, 3])), None);
        }
    }
}
