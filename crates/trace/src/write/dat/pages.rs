//! Records into the kernel's ring-buffer pages. What they look like is told where they are read, in
//! `dat/page.rs`.

/// Bytes of a page, as on x86.
pub(super) const PAGE_SIZE: usize = 4096;
/// Time of the page and the commit word.
const PAGE_HEADER: usize = 16;
/// Bytes of a page that records may use.
const ROOM: usize = PAGE_SIZE - PAGE_HEADER;
/// The largest record: it needs a header, a word for its length and one for the time.
pub(super) const MAX_RECORD: usize = ROOM - 16;
/// Records up to this length have it in their header, in words.
const MAX_SHORT: usize = 28 * 4;
const TYPE_TIME_EXTEND: u32 = 30;
/// Low bits of a time; what is longer needs a word of its own.
const DELTA_BITS: u32 = 27;
/// Flag of the commit word: events were lost before this page.
const LOST: u64 = 1 << 31;
/// Flag of the commit word: their number follows the data.
const LOST_STORED: u64 = 1 << 30;
/// Room for that number.
const LOST_COUNT: usize = 8;

/// What is missing before the next page.
#[derive(Clone, Copy, Debug)]
struct Loss {
    events: Option<u64>,
}

/// The pages of one CPU.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    bytes: Vec<u8>,
    /// Where the page under way begins; `None` if there is none.
    page: Option<usize>,
    /// Loss that the page under way tells.
    told: Option<Loss>,
    /// Loss that the next page will tell.
    untold: Option<Loss>,
    last_ns: u64,
}

impl Pages {
    /// Adds a record, at most [`MAX_RECORD`] bytes in whole words. Times of a CPU do not go back.
    pub(super) fn push(&mut self, time_ns: u64, record: &[u8]) {
        debug_assert!(record.len().is_multiple_of(4) && !record.is_empty() && record.len() <= MAX_RECORD);
        let long = record.len() > MAX_SHORT;
        let mut delta = time_ns.saturating_sub(self.last_ns);
        let extended = delta >> DELTA_BITS != 0;
        let needed = 4 + 4 * usize::from(long) + 8 * usize::from(extended) + record.len();
        if self.page.is_none() || self.used() + needed > self.room() {
            self.begin(time_ns);
            delta = 0;
        } else if extended {
            let low = (delta & ((1 << DELTA_BITS) - 1)) as u32;
            self.word(TYPE_TIME_EXTEND | (low << 5));
            self.word((delta >> DELTA_BITS) as u32);
            delta = 0;
        }
        let delta = (delta as u32) << 5;
        if long {
            self.word(delta);
            self.word(record.len() as u32 + 4);
        } else {
            self.word(delta | (record.len() / 4) as u32);
        }
        self.bytes.extend_from_slice(record);
        self.last_ns = self.last_ns.max(time_ns);
    }

    /// Events are missing before the next record.
    pub(super) fn gap(&mut self, events: Option<u64>) {
        self.end();
        self.untold = Some(Loss { events });
    }

    /// Whole pages.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.end();
        self.bytes
    }

    fn used(&self) -> usize {
        self.page.map_or(0, |start| self.bytes.len() - start - PAGE_HEADER)
    }

    fn room(&self) -> usize {
        let counted = self.told.is_some_and(|loss| loss.events.is_some());
        if counted { ROOM - LOST_COUNT } else { ROOM }
    }

    fn word(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    fn begin(&mut self, time_ns: u64) {
        self.end();
        self.page = Some(self.bytes.len());
        self.told = self.untold.take();
        // A clock that went back cannot be shown inside of a page, so no event of one is earlier than those
        // before it.
        let start_ns = time_ns.max(self.last_ns);
        self.bytes.extend_from_slice(&start_ns.to_le_bytes());
        self.bytes.extend_from_slice(&[0; PAGE_HEADER - 8]);
    }

    fn end(&mut self) {
        let used = self.used();
        let Some(start) = self.page.take() else { return };
        let mut commit = used as u64;
        if let Some(loss) = self.told.take() {
            commit |= LOST;
            if let Some(events) = loss.events {
                commit |= LOST_STORED;
                self.bytes.extend_from_slice(&events.to_le_bytes());
            }
        }
        self.bytes[start + 8..start + PAGE_HEADER].copy_from_slice(&commit.to_le_bytes());
        self.bytes.resize(start + PAGE_SIZE, 0);
    }
}
