//! What has been run before: a simulation that comes again, under another name or for another question, is
//! not run again.

use super::{all_figures, run};
use crate::error::Error;
use crate::experiment::{Experiment, Simulation};
use report::reproduce::Figures;
use scheduler::Nanos;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The runs of several reproductions. Variants that differ in a name only, a quick run and the unchanged one
/// beside sensitivities: each simulation runs once with each seed and length, also when many threads ask.
#[derive(Debug, Default)]
pub struct RunsSoFar(Mutex<Vec<(Key, Place)>>);

/// Empty until its run is done; locked while it runs.
type Place = Arc<Mutex<Option<Ran>>>;

#[derive(PartialEq, Debug)]
struct Key {
    seed: u64,
    duration: Option<Nanos>,
    simulation: Simulation,
}

/// What a reproduction wants to know of a run.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub simulated: Nanos,
    pub events: u64,
    pub figures: Figures,
}

/// A run, now or before.
pub(super) struct Told {
    pub ran: Ran,
    /// Whether it was run for this question.
    pub now: bool,
}

impl RunsSoFar {
    /// Runs an experiment that tells of all tasks from start to end, as those of published experiments do, or
    /// takes what an equal one told.
    pub(super) fn run(&self, configuration: &str, experiment: &Experiment) -> Result<Told, Error> {
        let place = experiment.simulation().map(|simulation| self.place(experiment, simulation));
        let Some(place) = place else { return Ok(Told { ran: ran(configuration, experiment)?, now: true }) };
        let mut before = unpoisoned(&place);
        if let Some(ran) = &*before {
            return Ok(Told { ran: ran.clone(), now: false });
        }
        let ran = ran(configuration, experiment)?;
        *before = Some(ran.clone());
        Ok(Told { ran, now: true })
    }

    fn place(&self, experiment: &Experiment, simulation: Simulation) -> Place {
        let key = Key { seed: experiment.seed, duration: experiment.duration, simulation };
        let mut places = unpoisoned(&self.0);
        if let Some((_, place)) = places.iter().find(|(known, _)| *known == key) {
            return place.clone();
        }
        let place = Place::default();
        places.push((key, Arc::clone(&place)));
        place
    }
}

fn ran(configuration: &str, experiment: &Experiment) -> Result<Ran, Error> {
    let result = run(configuration, experiment)?;
    let (simulated, events) = (Nanos(result.engine.simulated_ns), result.engine.events);
    Ok(Ran { simulated, events, figures: all_figures(&result) })
}

/// A run that panics leaves its place empty, which is a state as any other.
fn unpoisoned<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
