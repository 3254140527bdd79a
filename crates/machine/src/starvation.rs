//! Real-time tasks that wait while a CPU that they may use runs something lower, as a setup asks to watch for
//! (deadline-groups E4).

use scheduler::Nanos;
use std::cell::Cell;
use std::rc::Rc;

/// A task that has waited for so long beside something lower is starved (deadline-groups E4).
pub const STARVED_AFTER: Nanos = Nanos::from_millis(1);

/// A boosted task that has waited for so long behind higher ones alone is held up by these.
pub const HELD_UP_AFTER: Nanos = Nanos::from_millis(10);

/// Counts the waits of real-time tasks, while the run goes on.
#[derive(Clone, Debug, Default)]
pub struct WaitTally(Rc<Cell<WaitCounts>>);

impl WaitTally {
    /// What it has come to so far; of a wait that is not over at the end of the run, up to then.
    pub fn counts(&self) -> WaitCounts {
        self.0.get()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut WaitCounts)) {
        let mut counts = self.0.get();
        change(&mut counts);
        self.0.set(counts);
    }
}

/// What became of the waits of real-time tasks for a CPU. A wait is beside something lower for as long as
/// some CPU that the task may use runs a real-time task of lower priority, a fair one, or nothing. A CPU that
/// serves the budget of fair tasks, or on which that of real-time tasks is used up, runs nothing lower: it
/// would let no real-time task in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WaitCounts {
    /// The longest wait of a task that had inherited a priority.
    pub longest_boosted: Nanos,
    /// The longest stretch that a task waited beside something lower.
    pub longest_beside_lower: Nanos,
    /// Stretches of more than [`STARVED_AFTER`] beside something lower, by the cause of each.
    pub starved: StarvedCounts,
    /// Waits of boosted tasks of more than [`HELD_UP_AFTER`] behind higher ones alone (hypothesis H3).
    pub held_up: u64,
}

/// Stretches that tasks were starved, by cause (deadline-groups E4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StarvedCounts {
    /// It inherited a priority while it waited, and may run on all CPUs (hypothesis H1).
    pub boosted_anywhere: u64,
    /// It inherited a priority while it waited, and may run on some CPUs only (hypothesis H2).
    pub boosted_bound: u64,
    /// For most of the time, each CPU that ran something lower had been asked to reschedule, or was in a soft
    /// interrupt, and could not (hypothesis H4).
    pub not_rescheduled: u64,
    /// For most of the time its own CPU served the budget of fair tasks: it waits for the end of that, alone,
    /// and nobody looks for a task that is alone (deadline-groups A14, example 10).
    pub behind_server: u64,
    /// Any other.
    pub unboosted: u64,
}

impl StarvedCounts {
    /// All of them.
    pub fn sum(self) -> u64 {
        let StarvedCounts { boosted_anywhere, boosted_bound, not_rescheduled, behind_server, unboosted } =
            self;
        boosted_anywhere + boosted_bound + not_rescheduled + behind_server + unboosted
    }
}
