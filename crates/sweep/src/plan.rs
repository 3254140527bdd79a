//! From axes to runs. A run is a number: experiments are made of it when they are needed, so a plan of a
//! million runs is small.

use crate::axis::Axis;
use crate::error::Error;
use crate::inputs::{Inputs, hash};
use crate::template::Template;
use crate::work::Work;
use lab::{Experiment, ExperimentText, Sources};

/// As many runs can a sweep have.
const MOST_RUNS: u32 = 10_000_000;
/// So many combinations are tried before a value is called impossible.
const TRIED: usize = 16;

/// All runs of a sweep, numbered from 0: the seed varies fastest, then the last axis.
#[derive(Debug)]
pub struct Plan {
    /// For people.
    pub title: Option<String>,
    /// Keys of the metrics to sum up; empty: the main ones of the first run.
    pub metrics: Vec<String>,
    template: Template,
    /// Without the seed's.
    axes: Vec<Axis>,
    seeds: Vec<u64>,
    /// The experiment of each combination of values, with the content of its files.
    points: Vec<ExperimentText>,
    hashes: Vec<u128>,
}

impl Plan {
    /// The runs of an experiment along these axes. Their files are read, to know their content.
    ///
    /// # Errors
    /// Two axes of one name, an axis that changes nothing, a place without an axis, words that are none, too
    /// many runs, a file that cannot be read.
    pub fn new(template: Template, mut axes: Vec<Axis>, files: &dyn Sources) -> Result<Plan, Error> {
        for (n, axis) in axes.iter().enumerate() {
            if axes[..n].iter().any(|other| other.name == axis.name) {
                let problem = "there are two of this name; put the values of both into one".to_owned();
                return Err(Error::Axis { name: axis.name.clone(), problem });
            }
        }
        template.check(&axes)?;
        let runs = axes.iter().fold(1u128, |runs, axis| runs.saturating_mul(axis.values.len() as u128));
        if runs > u128::from(MOST_RUNS) {
            return Err(Error::TooMany { runs, most: MOST_RUNS });
        }
        let of_seeds = axes.iter().position(|axis| axis.name == "seed").map(|n| axes.remove(n));
        let seeds = of_seeds.and_then(|axis| axis.numbers()).unwrap_or_else(|| vec![template.base.seed]);
        let mut plan = Plan {
            title: None,
            metrics: Vec::new(),
            template,
            axes,
            seeds,
            points: Vec::new(),
            hashes: Vec::new(),
        };
        let mut inputs = Inputs::default();
        for point in 0..plan.point_count() {
            let mut text = plan.template.with(&plan.values(point), files)?;
            let beside = inputs.settle(&mut text, files)?;
            for seed in &plan.seeds {
                text.seed = *seed;
                plan.hashes.push(hash(&text, &beside));
            }
            plan.points.push(text);
        }
        Ok(plan)
    }

    /// How many runs there are.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.point_count() * self.seeds.len()
    }

    /// The axes, without that of the seeds.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The seeds with which each combination of values is run.
    #[must_use]
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// The experiment with its places for values.
    #[must_use]
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// What runs in this run: its experiment and the hash of that.
    #[must_use]
    pub fn work(&self, run: usize) -> Work {
        let mut experiment = self.points[self.point_of(run)].clone();
        experiment.seed = self.seed_of(run);
        Work { run: self.name(run), experiment }
    }

    /// The hash of all that decides the run, 32 hexadecimal digits.
    #[must_use]
    pub fn name(&self, run: usize) -> String {
        format!("{:032x}", self.hashes[run])
    }

    /// The hashes of all runs, in their order.
    pub(crate) fn hashes(&self) -> &[u128] {
        &self.hashes
    }

    /// How many combinations of values there are, seeds aside.
    pub(crate) fn point_count(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// The combination of a run.
    pub(crate) fn point_of(&self, run: usize) -> usize {
        run / self.seeds.len()
    }

    pub(crate) fn seed_of(&self, run: usize) -> u64 {
        self.seeds[run % self.seeds.len()]
    }

    /// Which value of each axis a combination has.
    pub(crate) fn places(&self, point: usize) -> Vec<usize> {
        let mut rest = point;
        let mut places = vec![0; self.axes.len()];
        for (place, axis) in places.iter_mut().zip(&self.axes).rev() {
            *place = rest % axis.values.len();
            rest /= axis.values.len();
        }
        places
    }

    /// The combination with these values.
    pub(crate) fn point_at(&self, places: &[usize]) -> usize {
        places.iter().zip(&self.axes).fold(0, |point, (place, axis)| point * axis.values.len() + place)
    }

    fn values(&self, point: usize) -> Vec<(&Axis, &str)> {
        let axes = self.axes.iter().zip(self.places(point));
        axes.map(|(axis, place)| (axis, axis.values[place].as_str())).collect()
    }

    /// Makes sure that something can be run with each value of each axis, of those that these runs have: a
    /// misspelt kernel is told before the sweep begins. That two values do not go together is told by the
    /// runs that have both.
    pub(crate) fn check(&self, runs: &[usize], files: &dyn Sources) -> Result<(), Error> {
        let open = |point: usize| Experiment::open(&self.points[point], files);
        let mut points: Vec<usize> = runs.iter().map(|run| self.point_of(*run)).collect();
        points.dedup();
        let mut opened = vec![None; self.point_count()];
        if self.axes.is_empty() && !points.is_empty() {
            open(0)?;
        }
        for (number, axis) in self.axes.iter().enumerate() {
            for (place, value) in axis.values.iter().enumerate() {
                let with: Vec<usize> =
                    points.iter().copied().filter(|point| self.places(*point)[number] == place).collect();
                let step = with.len().div_ceil(TRIED).max(1);
                let mut tried = with.iter().step_by(step);
                let works = tried.any(|&at| *opened[at].get_or_insert_with(|| open(at).is_ok()));
                let failed = with.first().filter(|_| !works).map(|first| open(*first));
                if let Some(Err(error)) = failed {
                    let (axis, value) = (axis.name.clone(), value.clone());
                    return Err(Error::OfValue { axis, value, source: Box::new(error.into()) });
                }
            }
        }
        Ok(())
    }
}
