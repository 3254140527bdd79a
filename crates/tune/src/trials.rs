//! Runs of candidates, whoever makes them.

use crate::error::Error;
use std::collections::BTreeMap;

/// A combination of values: of each knob that is set, its number and that of its value, in ascending order.
/// The base is the empty one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Candidate(Vec<(usize, usize)>);

impl Candidate {
    /// Nothing is set.
    #[must_use]
    pub fn base() -> Candidate {
        Candidate::default()
    }

    /// One value of one knob.
    #[must_use]
    pub fn single(knob: usize, value: usize) -> Candidate {
        Candidate(vec![(knob, value)])
    }

    /// Both together; `None` where both set the same knob.
    #[must_use]
    pub fn and(&self, other: &Candidate) -> Option<Candidate> {
        let mut all = self.0.clone();
        all.extend(&other.0);
        all.sort_unstable();
        let is_one_each = all.windows(2).all(|two| two[0].0 != two[1].0);
        is_one_each.then_some(Candidate(all))
    }

    /// The same with one setting fewer, for each of its settings.
    pub fn with_one_fewer(&self) -> impl Iterator<Item = Candidate> {
        (0..self.0.len()).map(|left_out| {
            let mut rest = self.0.clone();
            rest.remove(left_out);
            Candidate(rest)
        })
    }

    /// What is set: knob and value by their numbers.
    #[must_use]
    pub fn settings(&self) -> &[(usize, usize)] {
        &self.0
    }
}

/// What is kept of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The figure of the goal, then those of the constraints; `None` for one that this run has not got.
    pub figures: Vec<Option<u64>>,
    /// Of all figures of the run: two runs of which it is the same did the same.
    pub fingerprint: u128,
}

/// Whoever makes runs.
pub trait Trials {
    /// One result for each candidate and seed, in this order. The same pair always gives the same.
    ///
    /// # Errors
    /// No more runs can be made: somebody stopped it, or they cannot be kept.
    fn run(&self, trials: &[(Candidate, u64)]) -> Result<Vec<Result<Sample, lab::Error>>, Error>;
}

/// All runs that were made, each once.
pub(crate) struct Made<'t> {
    trials: &'t dyn Trials,
    samples: BTreeMap<(Candidate, u64), Result<Sample, lab::Error>>,
}

impl<'t> Made<'t> {
    pub fn new(trials: &'t dyn Trials) -> Made<'t> {
        Made { trials, samples: BTreeMap::new() }
    }

    /// Makes those of these runs that have not been made.
    ///
    /// # Errors
    /// Those of [`Trials::run`].
    pub fn make<'c>(
        &mut self,
        candidates: impl IntoIterator<Item = &'c Candidate>,
        seeds: &[u64],
    ) -> Result<(), Error> {
        let mut work: Vec<(Candidate, u64)> = Vec::new();
        for candidate in candidates {
            for seed in seeds {
                let one = (candidate.clone(), *seed);
                if !self.samples.contains_key(&one) && !work.contains(&one) {
                    work.push(one);
                }
            }
        }
        let made = self.trials.run(&work)?;
        self.samples.extend(work.into_iter().zip(made));
        Ok(())
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.samples.len() as u64
    }

    /// A run that was made.
    pub fn get(&self, candidate: &Candidate, seed: u64) -> Option<&Result<Sample, lab::Error>> {
        self.samples.get(&(candidate.clone(), seed))
    }

    /// Takes the first run out that failed.
    pub fn take_failure(&mut self, candidate: &Candidate, seeds: &[u64]) -> Option<lab::Error> {
        let failed = |seed: &&u64| matches!(self.get(candidate, **seed), Some(Err(_)));
        let seed = *seeds.iter().find(failed)?;
        self.samples.remove(&(candidate.clone(), seed))?.err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knob_has_one_value_at_a_time() {
        let (a, b) = (Candidate::single(2, 0), Candidate::single(1, 3));
        assert_eq!(a.and(&b).expect("two knobs").settings(), [(1, 3), (2, 0)]);
        assert_eq!(a.and(&Candidate::single(2, 1)), None);
        let fewer: Vec<Candidate> = a.and(&b).expect("two knobs").with_one_fewer().collect();
        assert_eq!(fewer, [a, b]);
    }
}
