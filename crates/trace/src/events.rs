//! A list of events in pieces: it grows without copying, and what has been taken from its front is free
//! again. A vector would need twice its memory each time it grows, and again to be put in order.

use std::iter::Flatten;
use std::ops::Index;
use std::{slice, vec};

use crate::model::Event;

/// Events in a piece: 64 KiB.
const PIECE: usize = 1024;

/// Events in order. Like a vector, except that it cannot be sliced.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// All but the last are full.
    pieces: Vec<Vec<Event>>,
}

impl Events {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event at the end.
    pub fn push(&mut self, event: Event) {
        match self.pieces.last_mut() {
            Some(piece) if piece.len() < PIECE => piece.push(event),
            Some(_) => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(event);
                self.pieces.push(piece);
            }
            // Many CPUs have few events: the first piece grows.
            None => self.pieces.push(vec![event]),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pieces.last().map_or(0, |last| (self.pieces.len() - 1) * PIECE + last.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The event number `n`, from 0.
    pub fn get(&self, n: usize) -> Option<&Event> {
        self.pieces.get(n / PIECE)?.get(n % PIECE)
    }

    /// The first one.
    pub fn first(&self) -> Option<&Event> {
        self.get(0)
    }

    /// The last one.
    pub fn last(&self) -> Option<&Event> {
        self.pieces.last()?.last()
    }

    /// All of them in order.
    pub fn iter(&self) -> Flatten<slice::Iter<'_, Vec<Event>>> {
        self.pieces.iter().flatten()
    }

    /// Puts them in order of time; those of the same time stay as they are.
    pub(crate) fn sort_by_time(&mut self) {
        let mut all: Vec<Event> = std::mem::take(self).into_iter().collect();
        all.sort_by_key(|event| event.time_ns);
        self.extend(all);
    }

    /// Takes them from the front.
    pub(crate) fn into_front(self) -> Front {
        let mut pieces = self.pieces.into_iter();
        Front { piece: pieces.next().unwrap_or_default(), taken: 0, pieces }
    }
}

/// The front of a list that is being used up. Pieces that have been taken are freed.
#[derive(Debug)]
pub(crate) struct Front {
    piece: Vec<Event>,
    /// Taken from `piece`.
    taken: usize,
    pieces: vec::IntoIter<Vec<Event>>,
}

impl Front {
    /// The next event.
    pub(crate) fn peek(&self) -> Option<&Event> {
        self.piece.get(self.taken)
    }

    /// Moves events to the end of `out` as long as `wanted` holds of them.
    pub(crate) fn take_while(&mut self, out: &mut Events, wanted: impl Fn(&Event) -> bool) {
        loop {
            let rest = &self.piece[self.taken..];
            let len = rest.iter().position(|event| !wanted(event)).unwrap_or(rest.len());
            out.extend(rest[..len].iter().copied());
            self.taken += len;
            if self.taken < self.piece.len() {
                return;
            }
            let Some(next) = self.pieces.next() else { return };
            (self.piece, self.taken) = (next, 0);
        }
    }
}

impl Extend<Event> for Events {
    fn extend<T: IntoIterator<Item = Event>>(&mut self, events: T) {
        events.into_iter().for_each(|event| self.push(event));
    }
}

impl FromIterator<Event> for Events {
    fn from_iter<T: IntoIterator<Item = Event>>(events: T) -> Self {
        let mut list = Events::new();
        list.extend(events);
        list
    }
}

impl Index<usize> for Events {
    type Output = Event;

    /// # Panics
    /// If there are not so many events.
    fn index(&self, n: usize) -> &Event {
        &self.pieces[n / PIECE][n % PIECE]
    }
}

impl<'a> IntoIterator for &'a Events {
    type Item = &'a Event;
    type IntoIter = Flatten<slice::Iter<'a, Vec<Event>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Events {
    type Item = Event;
    type IntoIter = Flatten<vec::IntoIter<Vec<Event>>>;

    /// Pieces that have been used up are freed.
    fn into_iter(self) -> Self::IntoIter {
        self.pieces.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Context, Cpu, EventKind, NeedResched, Pid};
    use crate::strings::Strings;

    fn event(time_ns: u64) -> Event {
        let kind = EventKind::Marker(Strings::new().intern("x"));
        let need_resched = NeedResched::Unknown;
        Event { time_ns, cpu: Cpu(0), pid: Pid(1), context: Context::Task, need_resched, kind }
    }

    #[test]
    fn a_list_of_several_pieces() {
        let list: Events = (0..2 * PIECE as u64 + 5).map(event).collect();
        assert_eq!((list.len(), list.pieces.len()), (2 * PIECE + 5, 3));
        assert!(list.iter().map(|event| event.time_ns).eq(0..list.len() as u64));
        assert_eq!((list[PIECE].time_ns, list[PIECE - 1].time_ns), (PIECE as u64, PIECE as u64 - 1));
        assert_eq!(list.first().map(|e| e.time_ns), Some(0));
        assert_eq!(list.last().map(|e| e.time_ns), Some(list.len() as u64 - 1));
        assert!(list.get(list.len()).is_none() && Events::new().last().is_none() && Events::new().is_empty());
    }

    #[test]
    fn the_front_is_taken_as_far_as_wanted() {
        let list: Events = (0..PIECE as u64 + 3).map(event).collect();
        let (mut front, mut out) = (list.into_front(), Events::new());
        front.take_while(&mut out, |event| event.time_ns < 2);
        assert_eq!((out.len(), front.peek().map(|e| e.time_ns)), (2, Some(2)));
        front.take_while(&mut out, |_| true);
        assert_eq!((out.len(), front.peek()), (PIECE + 3, None));
        front.take_while(&mut out, |_| true);
        assert!(out.iter().map(|event| event.time_ns).eq(0..PIECE as u64 + 3));
        assert_eq!(Events::new().into_front().peek(), None);
    }
}
