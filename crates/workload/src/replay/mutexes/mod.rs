//! Mutexes, where a trace shows them.
//!
//! Wakeups from one user of a mutex to another are hand-overs, the owner's unlock and the sleeper's lock;
//! `inheritance` and `plain` find out which wakeups are, in very different ways.
//!
//! From hand-overs follow the stretches for which each user had a mutex (`holds`). Locks and unlocks for
//! which nobody waited do not show; what is assumed of them:
//!
//! - A task has one mutex at a time, and none while it sleeps for something else.
//! - It has it as long as it usually does, from as soon after its last sleep as usual.
//! - Who nearly always takes a mutex between two sleeps took one where it had not to wait, too.
//! - Stretches that follow each other by hand-overs are of one mutex; of the others as few as will do
//!   (`naming`).
//!
//! A replay with the mutexes in place of the wakeups (`edits`) can come to them in another order: whoever is
//! first has one, and the others sleep; at those with inheritance they spin and lend their priority.
//!
//! That is one way to see a recording; the other takes every wait as it was recorded. Which is better was
//! measured ([`RecordedLocks::Auto`]): at plain mutexes who waits, and for how long, follows from the
//! stretches, and a wait that vanished comes back as another. At those with inheritance, spinning is part of
//! the CPU time, and who spins for how long depends on the order to the microsecond.

mod circles;
mod edits;
mod holds;
mod inheritance;
mod naming;
mod plain;

pub(super) use edits::{Edit, one_at_a_time};
pub(super) use inheritance::Evidence;

use super::recording::TaskIndex;
use super::track::Track;
use edits::Edits;
use holds::{Hold, Holds};
use machine::{MutexKind, MutexSpec};
use schema::RecordedLocks;

/// Fewer hand-overs than this do not show whether who waits spins.
const ENOUGH_TO_SEE_SPINNING: usize = 20;
/// Where nobody spins, a hand-over finds its taker on the CPU still if it has only begun to wait.
const SPINS_SO_OFTEN: usize = 10;
/// A stretch for which nobody waited is a guess: that it was there, how long it was, and which mutex it was
/// about. More of these than this percentage, and a replay has waits that never were (measured: with a fifth
/// to a third of guesses tasks have up to 1.3 times the recorded switches, with a twentieth 0.9 to 1.1
/// times).
const GUESSED_PERCENT: usize = 10;

/// The mutexes of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Mutexes {
    kinds: Vec<MutexKind>,
    /// How often one was handed over.
    pub handed_over: u64,
    /// How often one was taken although nobody had waited for it then.
    pub uncontended: u64,
    /// How often one was handed over that is not here: too much of when it was had would be a guess.
    pub left: u64,
    /// Whether the first in line spins while the owner runs, if that shows.
    pub spins: Option<bool>,
    edits: Edits,
}

impl Mutexes {
    /// Finds the mutexes, if there are any.
    pub fn find(tasks: &[Track], inheritance: &Evidence, locks: RecordedLocks) -> Mutexes {
        let mut found = Mutexes::default();
        if locks == RecordedLocks::Inferred {
            let handovers = inheritance.handovers();
            let spun = handovers.iter().filter(|handover| handover.spun).count();
            let enough = handovers.len() >= ENOUGH_TO_SEE_SPINNING;
            found.spins = enough.then(|| spun * SPINS_SO_OFTEN >= handovers.len());
            found.add(MutexKind::Pi, tasks, &Holds::find(tasks, handovers));
        }
        if locks != RecordedLocks::Recorded {
            for holds in plain::find(tasks, inheritance.users()) {
                if locks == RecordedLocks::Inferred || few_are_guesses(&holds.all) {
                    found.add(MutexKind::Plain, tasks, &holds);
                } else {
                    found.left += holds.handovers.len() as u64;
                }
            }
        }
        found
    }

    fn add(&mut self, kind: MutexKind, tasks: &[Track], holds: &Holds) {
        if holds.handovers.is_empty() {
            return;
        }
        let first = self.kinds.len();
        let mutexes = naming::least(&holds.all);
        self.kinds.resize(first + mutexes, kind);
        self.handed_over += holds.handovers.len() as u64;
        self.uncontended += holds.all.iter().filter(|hold| hold.is_uncontended()).count() as u64;
        self.edits.add(tasks, holds, &naming::name(&holds.all, mutexes), first);
    }

    pub fn is_any(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// What becomes of a drafted step.
    pub fn edit(&self, task: TaskIndex, step: usize) -> Option<&Edit> {
        self.edits.of(task, step)
    }

    /// What they are like.
    pub fn specs(&self) -> Vec<MutexSpec> {
        let spec = |(n, kind): (usize, &MutexKind)| MutexSpec { name: format!("inferred {n}"), kind: *kind };
        self.kinds.iter().enumerate().map(spec).collect()
    }
}

/// Whether nearly all stretches show.
fn few_are_guesses(holds: &[Hold]) -> bool {
    let guesses = holds.iter().filter(|hold| hold.is_uncontended()).count();
    guesses * 100 <= holds.len() * GUESSED_PERCENT
}
