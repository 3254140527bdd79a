//! What a trace's events cannot say: decisions and their reasons, waits, queue lengths, on named tracks of
//! their own.

use crate::model::Pid;
use crate::strings::{StrId, Strings};

/// A track for slices and instants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TrackId(usize);

/// A track for one number over time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CounterId(usize);

/// What a track belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum TrackKind {
    /// Slices and instants under a name of its own.
    Named,
    /// Slices and instants of a task, shown with it.
    Task(Pid),
    /// Values, with their unit.
    Counter { unit: String },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Track {
    pub(super) name: String,
    pub(super) parent: Option<usize>,
    pub(super) kind: TrackKind,
}

/// A further particular of a slice or instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Detail<T> {
    pub(super) name: T,
    pub(super) value: T,
}

/// Which particulars a slice or instant has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Details {
    first: u32,
    count: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Slice {
    pub(super) track: usize,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) name: StrId,
    pub(super) details: Details,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Instant {
    pub(super) track: usize,
    pub(super) at_ns: u64,
    pub(super) name: StrId,
    pub(super) details: Details,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    pub(super) track: usize,
    pub(super) at_ns: u64,
    pub(super) value: i64,
}

/// Slices, instants and counters to write beside a trace. Times are those of the trace's events, ns.
#[derive(Clone, Debug, Default)]
pub struct Annotations {
    /// Names and particulars repeat: millions of decisions have a few dozen reasons.
    pub(super) strings: Strings,
    details: Vec<Detail<StrId>>,
    pub(super) tracks: Vec<Track>,
    pub(super) slices: Vec<Slice>,
    pub(super) instants: Vec<Instant>,
    pub(super) values: Vec<Value>,
}

impl Annotations {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a track, inside of another one if `parent` is given.
    pub fn track(&mut self, name: &str, parent: Option<TrackId>) -> TrackId {
        TrackId(self.add(name, parent, TrackKind::Named))
    }

    /// Adds a track that is shown with a task.
    pub fn task_track(&mut self, pid: Pid) -> TrackId {
        TrackId(self.add("", None, TrackKind::Task(pid)))
    }

    /// Adds a counter, inside of a track if `parent` is given. The unit is shown as it is.
    pub fn counter(&mut self, name: &str, unit: &str, parent: Option<TrackId>) -> CounterId {
        CounterId(self.add(name, parent, TrackKind::Counter { unit: unit.to_owned() }))
    }

    /// Something that lasts. Slices of a track lie inside each other or apart; where one reaches beyond the
    /// one in which it began, the writer cuts it there and counts that. `details` are pairs of name and
    /// value, shown on demand.
    pub fn slice(
        &mut self,
        track: TrackId,
        start_ns: u64,
        end_ns: u64,
        name: &str,
        details: &[(&str, &str)],
    ) {
        let end_ns = end_ns.max(start_ns);
        let (name, details) = (self.strings.intern(name), self.keep(details));
        self.slices.push(Slice { track: track.0, start_ns, end_ns, name, details });
    }

    /// Something that happens, e.g. a decision with its reason.
    pub fn instant(&mut self, track: TrackId, at_ns: u64, name: &str, details: &[(&str, &str)]) {
        let (name, details) = (self.strings.intern(name), self.keep(details));
        self.instants.push(Instant { track: track.0, at_ns, name, details });
    }

    /// A counter's value from this time on.
    pub fn value(&mut self, counter: CounterId, at_ns: u64, value: i64) {
        self.values.push(Value { track: counter.0, at_ns, value });
    }

    fn add(&mut self, name: &str, parent: Option<TrackId>, kind: TrackKind) -> usize {
        self.tracks.push(Track { name: name.to_owned(), parent: parent.map(|parent| parent.0), kind });
        self.tracks.len() - 1
    }

    fn keep(&mut self, details: &[(&str, &str)]) -> Details {
        let first = self.details.len() as u32;
        for (name, value) in details {
            let detail = Detail { name: self.strings.intern(name), value: self.strings.intern(value) };
            self.details.push(detail);
        }
        Details { first, count: details.len() as u32 }
    }

    pub(super) fn details(&self, of: Details) -> impl Iterator<Item = Detail<&str>> {
        let details = &self.details[of.first as usize..][..of.count as usize];
        details.iter().map(|of| Detail { name: &self.strings[of.name], value: &self.strings[of.value] })
    }
}
