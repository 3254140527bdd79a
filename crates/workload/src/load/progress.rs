//! How far the tasks of a load have come.

use crate::program::Observer;
use machine::Env;
use scheduler::Nanos;
use std::cell::Cell;
use std::rc::Rc;

/// How many tasks of a load have not finished. As an observer at the end of a program, it counts that task
/// off.
#[derive(Clone, Debug)]
pub struct Remaining(Rc<Cell<u32>>);

impl Remaining {
    /// Of a load whose end `tasks` programs report.
    #[must_use]
    pub fn new(tasks: u32) -> Remaining {
        Remaining(Rc::new(Cell::new(tasks)))
    }

    /// How many have not finished.
    #[must_use]
    pub fn get(&self) -> u32 {
        self.0.get()
    }

    /// Whether all have finished.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.get() == 0
    }

    /// A task was forked.
    pub fn one_more(&self) {
        self.0.set(self.0.get() + 1);
    }

    /// A task has finished.
    pub fn one_less(&self) {
        self.0.set(self.0.get().saturating_sub(1));
    }

    /// The load is over for all of its tasks.
    pub fn none(&self) {
        self.0.set(0);
    }
}

impl Observer for Remaining {
    fn observe(&self, _: &Env<'_>, _: &[Nanos]) {
        self.one_less();
    }
}

/// Counts how often a program comes by.
#[derive(Clone, Debug, Default)]
pub struct Tally(Rc<Cell<u64>>);

impl Tally {
    /// How often one has come by.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.get()
    }
}

impl Observer for Tally {
    fn observe(&self, _: &Env<'_>, _: &[Nanos]) {
        self.0.set(self.0.get() + 1);
    }
}

/// When something first and last happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stopwatch(Rc<Cell<Option<Span>>>);

/// From the first to the last time.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: Nanos,
    last: Nanos,
}

impl Stopwatch {
    /// Between the first and the latest time that a program came by.
    pub fn elapsed(&self) -> Option<Nanos> {
        self.0.get().map(|span| span.last - span.first)
    }
}

impl Observer for Stopwatch {
    fn observe(&self, env: &Env<'_>, _: &[Nanos]) {
        // CPUs tell of their times in no particular order.
        let seen = self.0.get().unwrap_or(Span { first: env.now, last: env.now });
        self.0.set(Some(Span { first: seen.first.min(env.now), last: seen.last.max(env.now) }));
    }
}
