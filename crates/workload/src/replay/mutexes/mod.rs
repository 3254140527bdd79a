//! Mutexes with priority inheritance, where a trace shows them.
//!
//! `sched_pi_setprio` in the context of a task that asks for a mutex names the mutex's owner: both use such
//! mutexes. Among users, a wakeup is a hand-over, the owner's unlock and the sleeper's lock (`evidence`),
//! unless the sleeper outranks the waker and lent it nothing: who waits for a mutex lends.
//!
//! From hand-overs follow the stretches for which each user had a mutex (`holds`). Locks and unlocks for
//! which nobody waited do not show; what is assumed of them:
//!
//! - A task has one mutex at a time, and none while it sleeps for something else.
//! - It has it as long as it usually does, from as soon after its last sleep as usual.
//! - Who nearly always takes a mutex between two sleeps took one where it had not to wait, too.
//! - Stretches that follow each other by hand-overs are of one mutex; of the others as few as will do, so
//!   that no two have one at the same time (`naming`).
//!
//! A replay with the mutexes in place of the wakeups (`edits`) can come to them in another order: whoever is
//! first has one, and the others spin, lend their priority and sleep.
//!
//! That is one way to see a recording, [`Locks::Inferred`]; the other takes every wait as it was recorded. A
//! recording that is replayed where it was made comes back better as it was recorded, in its CPU time above
//! all: spinning is part of that, and who spins for how long depends on the order to the microsecond.

mod edits;
mod evidence;
mod holds;
mod naming;

pub(super) use edits::{Edit, one_at_a_time};
pub(super) use evidence::Evidence;

use super::recording::TaskIndex;
use super::track::Track;
use edits::Edits;
use holds::Holds;
use machine::{MutexKind, MutexSpec};

/// What waits for locks are in a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Locks {
    /// Each that was recorded lasts until its waker gets there, and no other arises; priorities are lent as
    /// they were.
    #[default]
    Recorded,
    /// Mutexes with priority inheritance are inferred where they show: whoever comes first has one.
    Inferred,
}

/// Fewer hand-overs than this do not show whether who waits spins.
const ENOUGH_TO_SEE_SPINNING: usize = 20;
/// Where nobody spins, a hand-over finds its taker on the CPU still if it has only begun to wait.
const SPINS_SO_OFTEN: usize = 10;

/// The mutexes of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Mutexes {
    /// How many there are.
    pub count: u32,
    /// How often one was handed over.
    pub handed_over: u64,
    /// How often one was taken although nobody had waited for it then.
    pub uncontended: u64,
    /// Whether the first in line spins while the owner runs, if that shows.
    pub spins: Option<bool>,
    edits: Edits,
}

impl Mutexes {
    /// Finds the mutexes, if there are any.
    pub fn find(tasks: &[Track], evidence: &Evidence) -> Mutexes {
        let handovers = evidence.handovers();
        let holds = Holds::find(tasks, &handovers);
        let named = naming::name(&holds.all);
        let spun = handovers.iter().filter(|handover| handover.spun).count();
        let enough = handovers.len() >= ENOUGH_TO_SEE_SPINNING;
        Mutexes {
            count: named.iter().map(|mutex| mutex.0 + 1).max().unwrap_or(0),
            handed_over: handovers.len() as u64,
            uncontended: holds.all.iter().filter(|hold| hold.is_uncontended()).count() as u64,
            spins: enough.then(|| spun * SPINS_SO_OFTEN >= handovers.len()),
            edits: Edits::new(tasks, &holds, &named),
        }
    }

    /// What becomes of a drafted step.
    pub fn edit(&self, task: TaskIndex, step: usize) -> Option<&Edit> {
        self.edits.of(task, step)
    }

    /// What they are like.
    pub fn specs(&self) -> Vec<MutexSpec> {
        (0..self.count).map(|n| MutexSpec { name: format!("inferred {n}"), kind: MutexKind::Pi }).collect()
    }
}
