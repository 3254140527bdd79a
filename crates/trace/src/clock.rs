//! Times that cannot be: one flipped bit in a recording shifts an event, or the rest of a page, by up to
//! centuries.
//!
//! A CPU's clock does not go back. Where it seems to, by more than disorder explains, the recording falls
//! into pieces, and
//! [`misplaced`] finds those that have to go so that the rest goes forward: as few events as possible.
//!
//! A clock that leaps forward and stays there proves nothing: the machine may have been idle all night. But a
//! machine on which nothing at all happens for days, or for an hour while a task runs, does not exist;
//! [`Silences`] finds the longest stretch of a trace without such a hole.
//!
//! What is left is wrong by at most some seconds, or by no more than the rest of the trace takes and at most
//! a minute; or a note says that more than that passed in silence.

use std::ops::Range;

use crate::events::Events;
use crate::model::{Event, EventKind, Pid};

/// Events of one CPU may be out of order by this much, ns: nested interrupts write theirs late, and so do
/// recorders.
pub(crate) const MAX_DISORDER_NS: u64 = 1_000_000_000;
/// A machine on which nothing happens for longer than this is worth a note, ns.
const LONG_SILENCE_NS: u64 = 60 * 1_000_000_000;
/// If that is longer than all the rest of the trace, for longer than this, ns.
const LONG_FOR_THE_REST_NS: u64 = 5 * 1_000_000_000;
/// Nothing happens on an idle machine for at most this long, ns: two days.
const MAX_SILENCE_NS: u64 = 48 * 3600 * 1_000_000_000;
/// While a task runs on any of its CPUs, for at most this long, ns: an hour.
const MAX_BUSY_SILENCE_NS: u64 = 3600 * 1_000_000_000;

/// Events of a CPU whose times follow each other closely.
#[derive(Clone, Debug)]
struct Piece {
    /// Positions.
    events: Range<usize>,
    /// Earliest time, ns.
    from_ns: u64,
    /// Latest time, ns.
    to_ns: u64,
}

/// Positions of the events of one CPU, given as they were recorded, that have to be left out so that no time
/// goes back by more than [`MAX_DISORDER_NS`]. Of all ways to do so this leaves out the fewest events. None
/// where the clock is not damaged here and there, but makes no sense at all.
pub(crate) fn misplaced(events: &Events) -> Vec<Range<usize>> {
    let Some(pieces) = pieces(events) else { return Vec::new() };
    // What the best choice of pieces that ends with this one keeps, and the piece before it in that choice.
    let mut best: Vec<Choice> = Vec::with_capacity(pieces.len());
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|n| pieces[*n].to_ns);
    let mut table = Table::new(&order);
    for (n, piece) in pieces.iter().enumerate() {
        let ends_before =
            order.partition_point(|n| pieces[*n].to_ns <= piece.from_ns.saturating_add(MAX_DISORDER_NS));
        let before = table.best(ends_before, &best);
        let kept = piece.events.len() + before.map_or(0, |before| best[before].kept);
        best.push(Choice { kept, before });
        table.add(n, &best);
    }
    let mut kept = vec![false; pieces.len()];
    let mut last = (0..pieces.len()).max_by_key(|n| best[*n].kept);
    while let Some(n) = last {
        kept[n] = true;
        last = best[n].before;
    }
    pieces.into_iter().zip(kept).filter(|(_, kept)| !kept).map(|(piece, _)| piece.events).collect()
}

/// The events but those at these positions.
pub(crate) fn without<'a>(
    events: &'a Events,
    positions: &'a [Range<usize>],
) -> impl Iterator<Item = &'a Event> {
    let mut left_out = positions.iter().peekable();
    let kept = events.iter().enumerate().filter(move |(n, _)| {
        while left_out.next_if(|range| range.end <= *n).is_some() {}
        left_out.peek().is_none_or(|range| !range.contains(n))
    });
    kept.map(|(_, event)| event)
}

/// From the earliest event to the latest, ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    from_ns: u64,
    to_ns: u64,
}

impl Span {
    /// `None` where there are no events.
    pub(crate) fn of<'a>(events: impl Iterator<Item = &'a Event>) -> Option<Self> {
        events.fold(None, |span, event| {
            let span = span.unwrap_or(Span { from_ns: event.time_ns, to_ns: event.time_ns });
            Some(Span { from_ns: span.from_ns.min(event.time_ns), to_ns: span.to_ns.max(event.time_ns) })
        })
    }

    /// Whether a time lies in it, or not further away than disorder explains.
    pub(crate) fn reaches(&self, time_ns: u64) -> bool {
        time_ns >= self.from_ns.saturating_sub(MAX_DISORDER_NS)
            && time_ns <= self.to_ns.saturating_add(MAX_DISORDER_NS)
    }
}

#[derive(Clone, Copy, Debug)]
struct Choice {
    /// Events.
    kept: usize,
    before: Option<usize>,
}

/// The best choice among those that end early: a Fenwick tree over the pieces by their ends.
struct Table {
    /// Place of each piece in the order of ends.
    rank: Vec<usize>,
    tree: Vec<Option<usize>>,
}

impl Table {
    fn new(order: &[usize]) -> Self {
        let mut rank = vec![0; order.len()];
        for (place, piece) in order.iter().enumerate() {
            rank[*piece] = place;
        }
        Table { rank, tree: vec![None; order.len() + 1] }
    }

    fn add(&mut self, piece: usize, best: &[Choice]) {
        let mut at = self.rank[piece] + 1;
        while at < self.tree.len() {
            if self.tree[at].is_none_or(|known| best[known].kept < best[piece].kept) {
                self.tree[at] = Some(piece);
            }
            at += at & at.wrapping_neg();
        }
    }

    /// The best among the first `places`.
    fn best(&self, places: usize, best: &[Choice]) -> Option<usize> {
        let (mut at, mut found) = (places, None);
        while at > 0 {
            found = found.into_iter().chain(self.tree[at]).max_by_key(|n: &usize| best[*n].kept);
            at &= at - 1;
        }
        found
    }
}

/// `None` for more pieces than an idle machine makes of its recording: they would take as much memory as the
/// events.
fn pieces(events: &Events) -> Option<Vec<Piece>> {
    let most = events.len() / 4 + 64;
    let mut pieces: Vec<Piece> = Vec::new();
    let mut last_ns = 0;
    for (n, event) in events.iter().enumerate() {
        let time_ns = event.time_ns;
        let goes_on = time_ns.abs_diff(last_ns) <= MAX_DISORDER_NS;
        last_ns = time_ns;
        if let Some(piece) = pieces.last_mut().filter(|_| goes_on) {
            piece.events.end = n + 1;
            piece.from_ns = piece.from_ns.min(time_ns);
            piece.to_ns = piece.to_ns.max(time_ns);
            continue;
        }
        if pieces.len() == most {
            return None;
        }
        pieces.push(Piece { events: n..n + 1, from_ns: time_ns, to_ns: time_ns });
    }
    Some(pieces)
}

/// Stretches of time in which no CPU has an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Silences {
    /// Positions of the events between impossible silences, of which these are the most.
    pub(crate) believed: Range<usize>,
    /// Silences among them that are long by themselves, or for a trace of this length.
    pub(crate) long: u64,
    /// The first of these, and the longest.
    pub(crate) first_ns: u64,
    pub(crate) longest_ns: u64,
}

impl Silences {
    /// Of all events of a machine with `cpus` CPUs, in order of time.
    pub(crate) fn find(events: &Events, cpus: u32) -> Self {
        let nobody = Silences { believed: 0..0, long: 0, first_ns: 0, longest_ns: 0 };
        let (mut best, mut current) = (nobody.clone(), nobody);
        let mut busy = Busy { cpus: vec![false; cpus as usize], count: 0 };
        let mut last_ns = events.first().map_or(0, |event| event.time_ns);
        let span_ns = events.last().map_or(0, |event| event.time_ns) - last_ns;
        for (n, event) in events.iter().enumerate() {
            let silence_ns = event.time_ns - last_ns;
            let most_ns = if busy.count > 0 { MAX_BUSY_SILENCE_NS } else { MAX_SILENCE_NS };
            if silence_ns > most_ns {
                best = best.or_longer(current);
                current = Silences { believed: n..n, long: 0, first_ns: 0, longest_ns: 0 };
            } else if silence_ns > LONG_SILENCE_NS
                || silence_ns > LONG_FOR_THE_REST_NS && silence_ns > span_ns - silence_ns
            {
                if current.long == 0 {
                    current.first_ns = last_ns;
                }
                current.long += 1;
                current.longest_ns = current.longest_ns.max(silence_ns);
            }
            current.believed.end = n + 1;
            busy.observe(event);
            last_ns = event.time_ns;
        }
        best.or_longer(current)
    }

    fn or_longer(self, other: Self) -> Self {
        if other.believed.len() > self.believed.len() { other } else { self }
    }
}

/// Which CPUs run a task, as far as their last switch tells.
struct Busy {
    cpus: Vec<bool>,
    count: u32,
}

impl Busy {
    fn observe(&mut self, event: &Event) {
        let EventKind::SchedSwitch(switch) = &event.kind else { return };
        let busy = switch.next.pid != Pid::IDLE;
        let was_busy = std::mem::replace(&mut self.cpus[event.cpu.index()], busy);
        self.count = self.count + u32::from(busy) - u32::from(was_busy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Context, Cpu, NeedResched, Provenance, SchedSwitch, TaskRef};
    use crate::state::PrevState;
    use crate::strings::Strings;

    const SECOND: u64 = 1_000_000_000;
    const HOUR: u64 = 3600 * SECOND;

    /// Switches on CPU 0 to this task at these times.
    fn events(next: i32, times: &[u64]) -> Events {
        let comm = Strings::new().intern("a");
        let task = |pid| TaskRef { comm, pid: Pid(pid), prio: 120 };
        let kind = EventKind::SchedSwitch(SchedSwitch {
            prev: task(1),
            prev_state: PrevState::Interruptible,
            next: task(next),
            provenance: Provenance::Recorded,
        });
        let event = |time_ns: &u64| Event {
            time_ns: *time_ns,
            cpu: Cpu(0),
            pid: Pid(1),
            context: Context::Task,
            need_resched: NeedResched::No,
            kind,
        };
        times.iter().map(event).collect()
    }

    /// Times that have to go so that the rest goes forward.
    fn check(times: &[u64], expected: &[u64]) {
        let events = events(0, times);
        let found: Vec<u64> = misplaced(&events).into_iter().flatten().map(|n| events[n].time_ns).collect();
        assert_eq!(found, expected, "{times:?}");
    }

    #[test]
    fn what_was_shifted_goes_and_the_rest_stays() {
        let s = SECOND;
        check(&[s, 2 * s, 5 * s, 9 * s], &[]);
        check(&[s, s + 5, 1 << 60, s + 7, s + 9], &[1 << 60]);
        check(
            &[s, s + 5, (1 << 60) + 6, (1 << 60) + 7, s + 7, s + 9, s + 10],
            &[(1 << 60) + 6, (1 << 60) + 7],
        );
        check(&[90 * s, 91 * s, 1, 2, 92 * s], &[1, 2]);
        check(&[1 << 60, s, s + 1], &[1 << 60]);
        check(&[90 * s, 90 * s + 1, 3 * s], &[3 * s]);
        check(&[10 * s, 1 << 50, 11 * s, 1 << 61, 12 * s], &[1 << 50, 1 << 61]);
    }

    #[test]
    fn a_little_disorder_is_none() {
        let s = SECOND;
        check(&[5 * s, 4 * s, 5 * s + 1], &[]);
        check(&[5 * s, 3 * s, 5 * s + 1, 6 * s], &[3 * s]);
    }

    #[test]
    fn a_clock_without_any_sense_is_left_to_sorting() {
        let times: Vec<u64> = (0..1000).map(|n| (n * 7919 % 1000) * 10 * SECOND).collect();
        check(&times, &[]);
    }

    fn believed(next: i32, times: &[u64]) -> (Range<usize>, u64) {
        let silences = Silences::find(&events(next, times), 1);
        (silences.believed, silences.long)
    }

    #[test]
    fn a_night_of_silence_is_believed_and_a_century_is_not() {
        let night = 9 * HOUR;
        assert_eq!(believed(0, &[0, 1, night, night + 1]), (0..4, 1));
        assert_eq!(believed(0, &[0, 59 * SECOND, 118 * SECOND]), (0..3, 0));
        assert_eq!(believed(0, &[0, 1, 2, 1 << 61]), (0..3, 0));
        assert_eq!(believed(0, &[0, 1 << 61, (1 << 61) + 1]), (1..3, 0));
        assert_eq!(believed(0, &[]), (0..0, 0));
    }

    #[test]
    fn a_silence_of_seconds_in_a_trace_of_less_is_told() {
        assert_eq!(believed(0, &[0, 8 * SECOND, 8 * SECOND + 1]), (0..3, 1), "one bit of a page's time");
        assert_eq!(believed(0, &[0, 4 * SECOND, 4 * SECOND + 1]), (0..3, 0));
        assert_eq!(believed(0, &[0, 8 * SECOND, 16 * SECOND]), (0..3, 0));
    }

    #[test]
    fn nobody_runs_for_hours_without_any_event() {
        assert_eq!(believed(7, &[0, 1, HOUR]), (0..3, 1));
        assert_eq!(believed(7, &[0, 1, 9 * HOUR]), (0..2, 0));
    }
}
