//! Requests to block devices: from `block_rq_issue` to `block_rq_complete`, and how many of them a device
//! served at once.

use super::causes::{Answer, NamedDevice};
use super::track::DraftStep;
use std::collections::BTreeMap;
use trace::{BlockDevice, BlockOperation, BlockRq, Strings};

/// Requests without a place on the device (flushes) have this sector when they complete, and 0 when they are
/// issued.
const NOWHERE: u64 = u64::MAX;

/// Where a request is, which tells its completion.
type Whereabouts = (BlockDevice, BlockOperation, u64);

/// A request that its device has not completed.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    asked: Option<Asked>,
    bytes: u32,
}

/// Who asked, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    pub place: DraftStep,
    pub at_ns: u64,
}

/// The requests of a trace while its events go by.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    in_flight: BTreeMap<Whereabouts, InFlight>,
    /// By device, how many are in flight.
    busy: BTreeMap<BlockDevice, u32>,
    /// By device, the most that were.
    most: BTreeMap<BlockDevice, u32>,
}

impl Blocks {
    /// A request is given to its device.
    pub fn issue(&mut self, rq: &BlockRq, strings: &Strings, asked: Option<Asked>) {
        let request = InFlight { asked, bytes: rq.bytes };
        if self.in_flight.insert(whereabouts(rq, strings), request).is_none() {
            let busy = self.busy.entry(rq.dev).or_default();
            *busy += 1;
            let most = self.most.entry(rq.dev).or_default();
            *most = (*most).max(*busy);
        }
    }

    /// A device has completed a request, or its first part: who had asked for it. `None` for requests that
    /// the trace does not show being issued.
    pub fn complete(&mut self, rq: &BlockRq, strings: &Strings) -> Option<Asked> {
        let (dev, operation, sector) = whereabouts(rq, strings);
        let request = self.in_flight.remove(&(dev, operation, sector))?;
        match request.bytes.checked_sub(rq.bytes) {
            Some(bytes @ 1..) => {
                let next = sector.saturating_add(rq.sectors().into());
                self.in_flight.insert((dev, operation, next), InFlight { bytes, ..request });
            }
            _ => {
                let busy = self.busy.entry(dev).or_default();
                *busy = busy.saturating_sub(1);
            }
        }
        request.asked
    }

    /// The most requests that the device had at once.
    pub fn at_once(&self, dev: BlockDevice) -> u32 {
        self.most.get(&dev).copied().unwrap_or(1)
    }
}

fn whereabouts(rq: &BlockRq, strings: &Strings) -> Whereabouts {
    let nowhere = rq.bytes == 0 && rq.sector == NOWHERE;
    let operation = BlockOperation::from_rwbs(&strings[rq.rwbs]);
    (rq.dev, operation, if nowhere { 0 } else { rq.sector })
}

impl Asked {
    /// It is done.
    pub fn answer(self, device: NamedDevice, now_ns: u64) -> Answer {
        Answer { asked: self.place, device, service_ns: now_ns.saturating_sub(self.at_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::recording::TaskIndex;

    const VDA: BlockDevice = BlockDevice(254 << 20);

    fn asked(at_ns: u64) -> Option<Asked> {
        Some(Asked { place: DraftStep { task: TaskIndex(0), step: at_ns as usize }, at_ns })
    }

    #[test]
    fn completions_find_their_requests_in_any_order_and_in_parts() {
        let mut strings = Strings::default();
        let mut rq =
            |letters: &str, sector, bytes| BlockRq { dev: VDA, sector, bytes, rwbs: strings.intern(letters) };
        let [first, second, flush] = [rq("WS", 100, 8192), rq("R", 900, 4096), rq("FF", 0, 0)];
        let [half, rest, flushed] = [rq("WS", 100, 4096), rq("WS", 108, 4096), rq("FF", NOWHERE, 0)];
        let unseen = rq("R", 5, 512);
        let mut blocks = Blocks::default();
        for (n, request) in [first, second, flush].iter().enumerate() {
            blocks.issue(request, &strings, asked(n as u64));
        }
        assert_eq!(blocks.complete(&second, &strings), asked(1));
        assert_eq!(blocks.complete(&flushed, &strings), asked(2));
        assert_eq!(blocks.complete(&half, &strings), asked(0));
        assert_eq!(blocks.complete(&rest, &strings), asked(0));
        assert_eq!(blocks.complete(&rest, &strings), None, "it has been completed");
        assert_eq!(blocks.complete(&unseen, &strings), None);
        blocks.issue(&first, &strings, None);
        assert_eq!(blocks.at_once(VDA), 3, "one after them adds nothing");
    }
}
