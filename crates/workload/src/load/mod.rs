//! The field's standard loads, named and optioned as on their real command lines.
//!
//! A quoted command line becomes a [`Load`] ([`parse`]); a load adds its tasks to a [`Setup`] and gives a
//! [`BuiltLoad`], which tells the load's own results during and after the run. A load holds no state of a
//! run, so one can be built many times, on many threads.

mod boosted_owner;
mod clamps;
mod command;
mod cyclictest;
mod deadline;
mod elsewhere;
mod error;
mod fibtest;
mod fork_storm;
mod hackbench;
mod hog;
mod ipi_storm;
mod keyrepeat;
mod make;
mod make_times;
mod oltp;
mod oltp_tasks;
mod own;
mod periodic;
mod pi_stress;
mod pro_audio;
mod pro_audio_member;
mod progress;
mod registry;
mod rounds;
mod rt_migrate;
mod rt_migrate_test;
mod schbench;
mod schbench_tasks;
mod shown;
mod spawn;
mod vmark;
mod wakeup_latency;

pub use elsewhere::Nearest;
pub use error::LoadError;
pub use own::OwnProgram;
pub use progress::{Remaining, Tally};
pub use registry::{Entry, OptionDoc, entries, find, parse};

pub(crate) use shown::{numbered, pid, seconds};

use crate::replay::Replayed;
use machine::Setup;
use scheduler::Nanos;
use schema::LoadResult;
use std::fmt::Debug;

/// Something that a machine can be loaded with.
pub trait Load: Debug + Send + Sync {
    /// How long it runs when nothing stops it.
    fn length(&self) -> Length;

    /// Why its figures may mean something else than a reader expects, a sentence each.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// What to add to the command line of an endless load so that it ends when its work is done; `None` where
    /// nothing does that.
    fn ends_with(&self) -> Option<&'static str> {
        None
    }

    /// What the user should know about how the command line was understood, a sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Adds its tasks to the setup; they start at time zero. What depends on the machine, such as one thread
    /// for each CPU, is decided here; an affinity without a CPU of the machine is an error.
    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError>;
}

/// When a load ends by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// Never: the run's own length decides.
    Endless,
    /// After this time, give or take a cycle.
    Time(Nanos),
    /// When its work is done; how long that takes is a result.
    Work,
}

/// A load whose tasks are in a setup.
#[derive(Debug)]
pub struct BuiltLoad {
    remaining: Remaining,
    lasts_until: Nanos,
    results: Box<dyn Results>,
}

impl BuiltLoad {
    /// A load whose programs count themselves off `remaining` when they end.
    pub fn new(remaining: Remaining, results: impl Results + 'static) -> BuiltLoad {
        BuiltLoad { remaining, lasts_until: Nanos::ZERO, results: Box::new(results) }
    }

    /// Its background goes on until then, whenever its tasks finish.
    #[must_use]
    pub fn lasting_until(self, time: Nanos) -> BuiltLoad {
        BuiltLoad { lasts_until: time, ..self }
    }

    /// It is not over before this time.
    pub fn lasts_until(&self) -> Nanos {
        self.lasts_until
    }

    /// Whether it has come to its end. Endless loads never have.
    pub fn is_finished(&self) -> bool {
        self.remaining.is_zero()
    }

    /// Its own results so far; `load` is what it was given as.
    pub fn result(&self, load: &str) -> LoadResult {
        self.results.result(load.to_owned())
    }

    /// What to know of these results, a sentence each.
    pub fn notes(&self, load: &str) -> Vec<String> {
        self.results.notes(load)
    }

    /// What a replay made of the recorded tasks; `None` of a load that is none.
    pub fn replayed(&self) -> Option<Replayed> {
        self.results.replayed()
    }
}

/// Gives a load's results from what its programs recorded.
pub trait Results: Debug {
    /// The results so far; `load` is what the load was given as.
    fn result(&self, load: String) -> LoadResult;

    /// What to know of them, a sentence each.
    fn notes(&self, _load: &str) -> Vec<String> {
        Vec::new()
    }

    /// What became of the recorded tasks; `None` for a load that is no replay.
    fn replayed(&self) -> Option<Replayed> {
        None
    }
}

#[cfg(test)]
mod tests;
