//! The kernel's ring-buffer pages, as trace.dat stores them unchanged.
//!
//! A page begins with the time of its first event and a word whose low bits tell how much of the page is
//! filled. Events follow: a four-byte header with 5 bits of type or length and 27 bits of time since the
//! event before, then the record. Four types are not events: padding, a time extension for gaps of 2^27 ns
//! and more, an absolute time, and a record with its length in a word of its own. (Kernel documentation:
//! ring-buffer design; `man 5 trace-cmd.dat`.)

use crate::error::ReadError;
use crate::records::header_page_field;

const TYPE_PADDING: u32 = 29;
const TYPE_TIME_EXTEND: u32 = 30;
const TYPE_TIME_STAMP: u32 = 31;
const DELTA_BITS: u32 = 27;
/// Low bits of the commit word: bytes used behind the page header.
const COMMIT_LENGTH: u64 = (1 << 27) - 1;
/// Events were lost before this page.
const COMMIT_LOST: u64 = 1 << 31;
/// Their number follows the data.
const COMMIT_LOST_STORED: u64 = 1 << 30;
/// An absolute time stamp has 59 bits; the five above come from the time before it.
const STAMP_BITS: u32 = 59;

/// Where things are in a page: the file's `header_page` description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PageLayout {
    /// Offset of the page's time, eight bytes.
    timestamp: usize,
    /// Offset of the commit word.
    commit: usize,
    /// Size of the commit word: the kernel's `long`, 4 or 8.
    long: usize,
    /// Offset of the first event.
    data: usize,
}

impl PageLayout {
    /// Reads the text of `events/header_page`, found at offset `at` of the file.
    pub(super) fn parse(text: &[u8], at: u64) -> Result<Self, ReadError> {
        let text = String::from_utf8_lossy(text);
        let field = |name: &str| {
            header_page_field(&text, name).ok_or_else(|| ReadError::Corrupt {
                what: format!("header_page describes no field {name}"),
                at,
            })
        };
        let (timestamp, _) = field("timestamp")?;
        let (commit, long) = field("commit")?;
        let (data, _) = field("data")?;
        let layout = PageLayout { timestamp, commit, long, data };
        let fits = matches!(long, 4 | 8) && commit + long <= data && timestamp + 8 <= data && data <= 64;
        if fits {
            Ok(layout)
        } else {
            Err(ReadError::Corrupt { what: "header_page makes no sense".into(), at })
        }
    }

    /// The smallest page that can hold anything.
    pub(super) fn header_len(&self) -> usize {
        self.data
    }
}

/// Events lost before a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lost {
    Nothing,
    /// Their number is not known.
    Some,
    Counted(u64),
}

/// An event record: the bytes that the event's `format` describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record<'a> {
    pub(super) time: u64,
    pub(super) data: &'a [u8],
}

/// The records of one page. Ends at the page's end or at the first contradiction.
#[derive(Clone, Debug)]
pub(super) struct Page<'a> {
    /// Lost before this page.
    pub(super) lost: Lost,
    data: &'a [u8],
    pos: usize,
    time: u64,
    corrupt: bool,
}

impl<'a> Page<'a> {
    /// `page` is the whole page, or what is left of it in a file that ends too early.
    pub(super) fn new(layout: &PageLayout, page: &'a [u8]) -> Self {
        let mut this = Page { lost: Lost::Nothing, data: &[], pos: 0, time: 0, corrupt: true };
        if page.len() < layout.data {
            return this;
        }
        this.time = word(page, layout.timestamp, 8);
        let commit = word(page, layout.commit, layout.long);
        let len = (commit & COMMIT_LENGTH) as usize;
        let body = &page[layout.data..];
        this.corrupt = len > body.len();
        this.data = &body[..len.min(body.len())];
        if commit & COMMIT_LOST != 0 {
            let stored = commit & COMMIT_LOST_STORED != 0 && len + layout.long <= body.len();
            this.lost = if stored { Lost::Counted(word(body, len, layout.long)) } else { Lost::Some };
        }
        this
    }

    /// Whether the page's own numbers contradict each other. To be asked when the records are exhausted.
    pub(super) fn is_corrupt(&self) -> bool {
        self.corrupt
    }

    /// A 32-bit word at the current position.
    fn take_word(&mut self) -> Option<u32> {
        if self.data.len() - self.pos < 4 {
            self.corrupt = true;
            return None;
        }
        self.pos += 4;
        Some(word(self.data, self.pos - 4, 4) as u32)
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        if len > self.data.len() - self.pos {
            self.corrupt = true;
            return None;
        }
        self.pos += len;
        Some(&self.data[self.pos - len..self.pos])
    }
}

impl<'a> Iterator for Page<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        while self.pos < self.data.len() {
            let header = self.take_word()?;
            let (kind, delta) = (header & 31, u64::from(header >> 5));
            match kind {
                TYPE_PADDING if delta == 0 => return None,
                TYPE_PADDING => {
                    self.time = self.time.saturating_add(delta);
                    // An event that was discarded, or the rest of a page: the length counts its own four
                    // bytes.
                    let len = self.take_word()?.wrapping_sub(4) as usize;
                    self.take(len)?;
                }
                TYPE_TIME_EXTEND => {
                    let high = u64::from(self.take_word()?);
                    self.time = self.time.saturating_add((high << DELTA_BITS) + delta);
                }
                TYPE_TIME_STAMP => {
                    let high = u64::from(self.take_word()?);
                    self.time = absolute((high << DELTA_BITS) + delta, self.time);
                }
                0 => {
                    self.time = self.time.saturating_add(delta);
                    // The length counts its own four bytes; records are padded to four.
                    let len = self.take_word()?.wrapping_sub(4) as usize;
                    let data = self.take(len.min(self.data.len() + 1).next_multiple_of(4))?;
                    return Some(Record { time: self.time, data: &data[..len] });
                }
                words => {
                    self.time = self.time.saturating_add(delta);
                    return Some(Record { time: self.time, data: self.take(4 * words as usize)? });
                }
            }
        }
        None
    }
}

/// The time meant by a stamp of 59 bits: the first one at or after `before` with those low bits, unless the
/// stamp has all its bits or goes back by a little.
fn absolute(stamp: u64, before: u64) -> u64 {
    let low = (1 << STAMP_BITS) - 1;
    let stamp = (stamp & low) | (before & !low);
    let wrapped = before > stamp && before - stamp > low / 2;
    if wrapped { stamp.saturating_add(1 << STAMP_BITS) } else { stamp }
}

/// A little-endian number of `len` (at most 8) bytes, which must lie within `bytes`.
fn word(bytes: &[u8], at: usize, len: usize) -> u64 {
    let mut word = [0; 8];
    word[..len].copy_from_slice(&bytes[at..at + len]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: PageLayout = PageLayout { timestamp: 0, commit: 8, long: 8, data: 16 };

    /// A page of time 1000 with the given words and commit flags.
    fn page(flags: u64, words: &[u32]) -> Vec<u8> {
        let mut page = 1000u64.to_le_bytes().to_vec();
        page.extend((flags | (4 * words.len() as u64)).to_le_bytes());
        page.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        page
    }

    fn header(kind: u32, delta: u32) -> u32 {
        (delta << 5) | kind
    }

    /// Times and first words of the records, and whether the page is corrupt.
    fn check(page: &[u8]) -> (Vec<(u64, u32)>, bool) {
        let mut records = Page::new(&LAYOUT, page);
        let read = records.by_ref().map(|r| (r.time, word(r.data, 0, 4) as u32)).collect();
        (read, records.is_corrupt())
    }

    #[test]
    fn short_records_have_their_length_in_the_header() {
        let page = page(0, &[header(1, 5), 7, header(2, 10), 8, 9]);
        assert_eq!(check(&page), (vec![(1005, 7), (1015, 8)], false));
    }

    #[test]
    fn long_records_have_a_word_for_it() {
        let page = page(0, &[header(0, 5), 12, 7, 8, header(1, 1), 9]);
        assert_eq!(check(&page), (vec![(1005, 7), (1006, 9)], false));
    }

    #[test]
    fn a_time_extension_adds_and_a_stamp_replaces() {
        let page = page(0, &[header(30, 3), 2, header(1, 1), 7, header(31, 50), 1, header(1, 1), 8]);
        assert_eq!(check(&page), (vec![(1000 + (2 << 27) + 3 + 1, 7), ((1 << 27) + 50 + 1, 8)], false));
    }

    #[test]
    fn a_stamp_takes_its_upper_bits_from_the_time_before() {
        let before = (3 << STAMP_BITS) + 10;
        assert_eq!(absolute(20, before), (3 << STAMP_BITS) + 20);
        assert_eq!(absolute(5, before), (3 << STAMP_BITS) + 5);
        assert_eq!(absolute(5, (4 << STAMP_BITS) - 1), (4 << STAMP_BITS) + 5);
    }

    #[test]
    fn padding_with_time_is_skipped_and_without_ends_the_page() {
        let page = page(0, &[header(29, 4), 8, 99, header(1, 1), 7, header(29, 0), header(1, 1), 8]);
        assert_eq!(check(&page), (vec![(1005, 7)], false));
    }

    #[test]
    fn padding_counts_its_own_length_at_the_end_of_a_page_and_in_the_middle() {
        // As 6.18 leaves it: 56 bytes to the end, of which the length is 52.
        let mut words = vec![header(1, 5), 7, header(29, 1), 52];
        words.resize(2 + 56 / 4, 0);
        assert_eq!(check(&page(0, &words)), (vec![(1005, 7)], false));
        assert_eq!(
            check(&page(0, &[header(1, 5), 7, header(29, 1), 4])),
            (vec![(1005, 7)], false),
            "nothing but itself"
        );
        // A discarded event of three words, and one of a length in a word of its own.
        for (len, rest) in [(12, 2), (100, 24)] {
            let mut words = vec![header(1, 5), 7, header(29, 3), len];
            words.resize(4 + rest, 99);
            words.extend([header(1, 1), 8]);
            assert_eq!(check(&page(0, &words)), (vec![(1005, 7), (1009, 8)], false), "{len}");
        }
        for len in [0, 3, 8, u32::MAX] {
            let page = page(0, &[header(1, 5), 7, header(29, 1), len]);
            assert_eq!(check(&page), (vec![(1005, 7)], true), "a length of {len}");
        }
    }

    #[test]
    fn lost_events_are_flagged_and_counted_where_the_count_is_stored() {
        let plain = page(0, &[header(1, 5), 7]);
        assert_eq!(Page::new(&LAYOUT, &plain).lost, Lost::Nothing);
        let mut lost = page(COMMIT_LOST, &[header(1, 5), 7]);
        assert_eq!(Page::new(&LAYOUT, &lost).lost, Lost::Some);
        lost[11] |= 0x40;
        assert_eq!(Page::new(&LAYOUT, &lost).lost, Lost::Some, "no room for the count");
        lost.extend(42u64.to_le_bytes());
        assert_eq!(Page::new(&LAYOUT, &lost).lost, Lost::Counted(42));
        assert_eq!(check(&lost), (vec![(1005, 7)], false));
    }

    #[test]
    fn lengths_that_do_not_fit_make_the_page_corrupt() {
        assert_eq!(check(&page(0, &[header(1, 5), 7, header(9, 1), 8])), (vec![(1005, 7)], true));
        assert_eq!(check(&page(0, &[header(0, 5), 2, 7])), (vec![], true));
        assert_eq!(check(&page(0, &[header(0, 5), u32::MAX, 7])), (vec![], true));
        assert_eq!(check(&page(0, &[header(30, 5)])), (vec![], true));
        let mut short = page(0, &[header(1, 5), 7, header(1, 5), 8]);
        short.truncate(16 + 8);
        assert_eq!(check(&short), (vec![(1005, 7)], true), "what is there is read");
        assert_eq!(check(&short[..10]), (vec![], true));
    }

    #[test]
    fn a_32_bit_kernel_has_a_shorter_header() {
        let text = b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
            \tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n\
            \tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";
        let layout = PageLayout::parse(text, 0).ok();
        assert_eq!(layout, Some(PageLayout { timestamp: 0, commit: 8, long: 4, data: 12 }));
    }
}
