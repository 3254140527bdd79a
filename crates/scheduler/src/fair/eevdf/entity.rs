//! What is kept of an entity under EEVDF (eevdf-class 2.1).

use super::tree::Place;
use crate::Nanos;
use crate::shared::Kept;

/// A task's fields of this discipline; the run-queue lock protects them.
#[derive(Debug, Default)]
pub struct EevdfEntity {
    /// Virtual time by which its request should have been served, in ns; wraps around. While `rel_deadline`
    /// is set, the distance from its virtual runtime.
    pub deadline: Kept<u64>,
    /// Length of its requests.
    pub slice: Kept<Nanos>,
    /// The slice was chosen by sched_setattr.
    pub custom_slice: Kept<bool>,
    /// How far left of the zero-lag point it was when it last left its queue, in virtual ns; positive: it is
    /// owed service.
    pub vlag: Kept<i64>,
    /// Virtual time up to which the running entity is protected; under `protection=deadline` the deadline
    /// that it was picked with.
    pub vprot: Kept<u64>,
    /// It left its queue without going to sleep: see `deadline`.
    pub rel_deadline: Kept<bool>,
    /// It sleeps, and stays in its queue until it has worked off its debt (3.7).
    pub sched_delayed: Kept<bool>,
    /// It competes. The running entity does, until it blocks.
    pub on_rq: Kept<bool>,
    /// Number of its arrival among those that wait.
    pub(crate) arrival: Kept<u64>,
}

impl EevdfEntity {
    /// State of a new task.
    pub(in crate::fair) fn reset(&self) {
        self.deadline.set(0);
        self.slice.set(Nanos::ZERO);
        self.custom_slice.set(false);
        self.vlag.set(0);
        self.vprot.set(0);
        self.rel_deadline.set(false);
        self.sched_delayed.set(false);
        self.on_rq.set(false);
    }

    /// A child asks for slices as long as its parent's, if that chose them.
    pub(crate) fn inherit(&self, parent: &EevdfEntity) {
        self.slice.set(parent.slice.get());
        self.custom_slice.set(parent.custom_slice.get());
    }

    /// Where it stands while it waits.
    pub(super) fn place(&self) -> Place {
        Place { deadline: self.deadline.get(), arrival: self.arrival.get() }
    }
}
