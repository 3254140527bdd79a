//! Soft interrupts that a timer raises, as a setup asks for them, and what became of them (deadline-groups
//! D2).

use scheduler::{CpuId, Nanos};
use std::cell::Cell;
use std::rc::Rc;

/// A pass longer than this is a soft lock-up: the kernel's watchdog reports it, as nothing else has run.
pub const SOFT_LOCKUP: Nanos = Nanos::from_secs(20);

/// A high-resolution timer of a CPU that puts work (a tasklet) into the list of that CPU's soft interrupt at
/// each expiry. The list is worked off on the way out of the interrupt, before any task goes on: with
/// interrupts on, and without a look at who asks to run.
#[derive(Clone, Debug)]
pub struct SoftirqSpec {
    /// Whose timer it is.
    pub cpu: CpuId,
    /// When it expires first.
    pub at: Nanos,
    /// And then again and again.
    pub gap: SoftirqGap,
    /// What each expiry puts into the list, CPU time at full speed.
    pub work: Nanos,
    /// Counts what becomes of it.
    pub tally: SoftirqTally,
}

/// The time from one expiry of the timer of a [`SoftirqSpec`] to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SoftirqGap {
    /// Always the same.
    Every(Nanos),
    /// Exponentially distributed with this mean, as of packets that come independently of each other (a
    /// Poisson process); each timer draws from a stream of its own.
    Exponential(Nanos),
}

/// Counts what became of the work of a [`SoftirqSpec`], while the run goes on.
#[derive(Clone, Debug, Default)]
pub struct SoftirqTally(Rc<Cell<SoftirqCounts>>);

impl SoftirqTally {
    /// What it has come to so far.
    pub fn counts(&self) -> SoftirqCounts {
        self.0.get()
    }

    pub(crate) fn raised(&self) {
        self.change(|counts| counts.raised += 1);
    }

    /// A piece of work is done.
    pub(crate) fn done(&self, piece: Piece) {
        let Piece { pass_began, began, ended, visits } = piece;
        let (took, pass) = (ended.saturating_sub(began), ended.saturating_sub(pass_began));
        self.change(|counts| {
            counts.done += 1;
            counts.service += took;
            counts.longest_service = counts.longest_service.max(took);
            counts.longest_pass = counts.longest_pass.max(pass);
            let before = pass.saturating_sub(took);
            let lockups = pass.0 / SOFT_LOCKUP.0 - before.0 / SOFT_LOCKUP.0;
            if lockups > 0 && counts.lockups == 0 {
                counts.first_lockup = Some(pass_began + SOFT_LOCKUP);
            }
            counts.lockups += lockups;
            counts.visits.number += visits.number;
            counts.visits.took += visits.took;
            counts.in_softirq += ended.saturating_sub(pass_began.max(counts.until));
            counts.until = ended;
        });
    }

    fn change(&self, change: impl FnOnce(&mut SoftirqCounts)) {
        let mut counts = self.0.get();
        change(&mut counts);
        self.0.set(counts);
    }
}

/// A piece of work, from its begin to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// When the soft interrupt got the CPU.
    pub pass_began: Nanos,
    pub began: Nanos,
    pub ended: Nanos,
    /// By whom it was interrupted.
    pub visits: Visits,
}

/// Interrupts that asked a CPU to push (RT_PUSH_IPI) while it worked in its soft interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Visits {
    /// How many.
    pub number: u64,
    /// What they took of it, from entry to exit, with others that were served on the way.
    pub took: Nanos,
}

/// What became of the work of a [`SoftirqSpec`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SoftirqCounts {
    /// Pieces of work that the timer put into the list.
    pub raised: u64,
    /// Of these, those that are done.
    pub done: u64,
    /// From their begin to their end, summed: what interrupts took of it is in it.
    pub service: Nanos,
    /// The longest of them.
    pub longest_service: Nanos,
    /// The longest time for which the soft interrupt kept its CPU, up to the last piece that was done.
    pub longest_pass: Nanos,
    /// How often it had kept its CPU for another [`SOFT_LOCKUP`]: reports of the kernel's watchdog.
    pub lockups: u64,
    /// When that was for the first time.
    pub first_lockup: Option<Nanos>,
    /// Push interrupts that came into the work; none where a thread does it.
    pub visits: Visits,
    /// Time that the soft interrupt had its CPU, up to the last piece that was done.
    pub in_softirq: Nanos,
    /// When that was done.
    pub until: Nanos,
}
