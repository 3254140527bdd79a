//! What has been run before: a simulation that comes again, under another name or for another question, is
//! not run again.

use super::{all_figures, run};
use crate::error::Error;
use crate::experiment::{Experiment, Simulation};
use report::reproduce::Figures;
use scheduler::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::xxh3_128;

/// The runs of several reproductions. Variants that differ in a name only, a quick run and the unchanged one
/// beside sensitivities: each simulation runs once with each seed and length, also when many threads ask.
#[derive(Debug, Default)]
pub struct RunsSoFar {
    places: Mutex<Vec<(Key, Place)>>,
    kept: Option<Box<dyn KeptRuns>>,
}

/// Runs that outlive the program, so that a reproduction which was killed can go on.
pub trait KeptRuns: Debug + Send + Sync {
    /// What this run told, if it has been made.
    fn find(&self, run: RunHash) -> Option<RunFigures>;

    /// Keeps what it told.
    ///
    /// # Errors
    /// Whatever it is kept in does not take it.
    fn keep(&self, run: RunHash, ran: &RunFigures) -> Result<(), Error>;
}

/// Of all that decides a run: its loads, the content of their files, the machine, the kernel's settings, the
/// groups, seed and length. (Which program makes it is left to [`KeptRuns`].)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RunHash(pub u128);

/// Empty until its run is done; locked while it runs.
type Place = Arc<Mutex<Option<RunFigures>>>;

#[derive(PartialEq, Debug)]
struct Key {
    seed: u64,
    duration: Option<Nanos>,
    simulation: Simulation,
}

impl Key {
    /// `None`: nobody can write down what one of its loads is.
    fn hash(&self) -> Option<RunHash> {
        let Key { seed, duration, simulation } = self;
        let text = format!("{seed} {duration:?} {}", simulation.written()?);
        Some(RunHash(xxh3_128(text.as_bytes())))
    }
}

/// What a reproduction wants to know of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunFigures {
    /// Simulated time.
    pub simulated_ns: u64,
    /// Events of the simulation.
    pub events: u64,
    /// All its figures.
    pub figures: Figures,
}

/// A run, now or before.
pub(super) struct Told {
    pub ran: RunFigures,
    /// Whether it was run for this question.
    pub now: bool,
}

impl RunsSoFar {
    /// None yet but those that are kept.
    #[must_use]
    pub fn kept_in(kept: Box<dyn KeptRuns>) -> RunsSoFar {
        RunsSoFar { kept: Some(kept), ..RunsSoFar::default() }
    }

    /// Runs an experiment that tells of all tasks from start to end, as those of published experiments do, or
    /// takes what an equal one told.
    pub(super) fn run(&self, configuration: &str, experiment: &Experiment) -> Result<Told, Error> {
        let Some(simulation) = experiment.simulation() else {
            return Ok(Told { ran: ran(configuration, experiment)?, now: true });
        };
        let key = Key { seed: experiment.seed, duration: experiment.duration, simulation };
        let kept = self.kept.as_ref().and_then(|kept| Some((kept, key.hash()?)));
        let place = self.place(key);
        let mut before = unpoisoned(&place);
        if let Some(ran) = &*before {
            return Ok(Told { ran: ran.clone(), now: false });
        }
        if let Some(ran) = kept.and_then(|(kept, run)| kept.find(run)) {
            *before = Some(ran.clone());
            return Ok(Told { ran, now: false });
        }
        let ran = ran(configuration, experiment)?;
        if let Some((kept, run)) = kept {
            kept.keep(run, &ran)?;
        }
        *before = Some(ran.clone());
        Ok(Told { ran, now: true })
    }

    fn place(&self, key: Key) -> Place {
        let mut places = unpoisoned(&self.places);
        if let Some((_, place)) = places.iter().find(|(known, _)| *known == key) {
            return place.clone();
        }
        let place = Place::default();
        places.push((key, Arc::clone(&place)));
        place
    }
}

fn ran(configuration: &str, experiment: &Experiment) -> Result<RunFigures, Error> {
    let result = run(configuration, experiment)?;
    let (simulated_ns, events) = (result.engine.simulated_ns, result.engine.events);
    Ok(RunFigures { simulated_ns, events, figures: all_figures(&result) })
}

/// A run that panics leaves its place empty, which is a state as any other.
fn unpoisoned<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
