//! Runs of candidates by the laboratory.

use crate::error::Error;
use crate::keeping::{Keeping, sample};
use crate::knob::{Knob, KnobValue};
use crate::trials::{Candidate, Sample, Trials};
use lab::{
    Arm, CompareWords, Comparison, Experiment, ExperimentText, LoadSpec, NamedMachine, Plan, Reading,
    RunResult, Sources,
};
use rayon::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use sweep::{Outcome, Row, Work};

/// An experiment in words.
#[derive(Clone, Debug)]
pub struct Words<'w> {
    /// The experiment as text.
    pub text: ExperimentText,
    /// The same, opened.
    pub experiment: Experiment,
    /// How loads are read that a value names in place of the experiment's.
    pub reading: &'w Reading,
    /// The machine on which recordings were made, if somebody says so.
    pub recorded_on: Option<NamedMachine>,
    /// Settings of the base, on top of the experiment; may be empty.
    pub base: &'w str,
}

impl Words<'_> {
    /// Whether somebody stopped the experiment, or its runs.
    pub(crate) fn is_stopped(&self) -> bool {
        self.experiment.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// The base, and a variant with these settings on top of it.
    ///
    /// # Errors
    /// Words that are none; what a kernel has not got; a task that no recording has; a load that is none.
    pub(crate) fn plan(
        &self,
        values: &[&KnobValue],
        repeat: u32,
        files: &dyn Sources,
    ) -> Result<Plan, lab::Error> {
        let words: Vec<&str> = values
            .iter()
            .filter_map(|value| match value {
                KnobValue::Words(words) => Some(words.as_str()),
                KnobValue::Load { .. } => None,
            })
            .collect();
        let mut plan = Plan::of_words(
            CompareWords {
                text: self.text.clone(),
                experiment: self.experiment.clone(),
                reading: self.reading,
                recorded_on: self.recorded_on.clone(),
                base: self.base,
                with: &[words.join(" ")],
                repeat,
            },
            files,
        )?;
        for value in values {
            if let KnobValue::Load { of, instead } = value {
                let other = LoadSpec::open_as(instead, self.reading, files)?;
                for load in plan.variants[0].loads.iter_mut().filter(|load| load.text() == of) {
                    *load = other.clone();
                }
            }
        }
        let texts: Vec<&str> = values.iter().map(|value| value.text()).collect();
        plan.variants[0].name = texts.join(", ");
        Ok(plan)
    }
}

/// Runs them on all cores.
pub(crate) struct LabTrials<'l> {
    pub words: &'l Words<'l>,
    pub files: &'l dyn Sources,
    pub knobs: &'l [Knob],
    /// Keys of the figures to keep.
    pub keys: Vec<String>,
    /// The seeds whose results are kept whole, for a comparison.
    pub fresh: Vec<u64>,
    pub whole: RefCell<BTreeMap<(Candidate, u64), RunResult>>,
    /// Where the others are kept, if anywhere.
    pub keeping: Option<Keeping<'l>>,
    /// Called after each run, from any thread.
    pub told: &'l (dyn Fn(Told) + Sync),
    pub done: AtomicU64,
    pub reused: AtomicU64,
}

/// How far a tuning is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// Runs that have ended.
    pub done: u64,
    /// Runs that are known to be needed.
    pub known: u64,
    /// Runs that were there before.
    pub reused: u64,
}

/// A candidate under a seed.
type Trial = (Candidate, u64);
/// The plan of a candidate, or why there is none; whether it is to be confirmed.
type Plans<'t> = BTreeMap<(&'t Candidate, bool), Result<Plan, String>>;

impl LabTrials<'_> {
    /// The plan of a candidate; its seeds are the fresh ones if it is to be confirmed.
    fn plan(&self, candidate: &Candidate, confirm: bool) -> Result<Plan, lab::Error> {
        let mut plan =
            self.words.plan(&values(self.knobs, candidate), self.fresh.len() as u32, self.files)?;
        match confirm {
            true => plan.experiment.seed = self.fresh[0],
            // How close a replay comes to its recording is of no use in a screen.
            false => plan.experiment.fidelity = false,
        }
        Ok(plan)
    }

    /// The runs of the base and of a candidate that were kept whole, side by side.
    pub fn comparison(&self, candidate: &Candidate) -> Result<Comparison, Error> {
        let plan = self.plan(candidate, true)?;
        let mut whole = self.whole.borrow_mut();
        let mut take = |one: &Candidate| -> Vec<RunResult> {
            self.fresh.iter().filter_map(|seed| whole.remove(&(one.clone(), *seed))).collect()
        };
        let (base, with) = (take(&Candidate::base()), take(candidate));
        let runs = [base, with].concat();
        Ok(lab::compare_runs(&plan, &runs)?)
    }

    /// Under which names these runs are kept; none of those of which a comparison is made, as that wants all
    /// of them.
    fn names(&self, trials: &[Trial], plans: &Plans<'_>) -> Result<Vec<Option<Work>>, Error> {
        let Some(keeping) = &self.keeping else { return Ok(vec![None; trials.len()]) };
        let name = |(candidate, seed): &Trial| match plans.get(&(candidate, self.fresh.contains(seed))) {
            Some(Ok(plan)) if !self.fresh.contains(seed) => {
                let of_arm = plan.of_arm(arm(plan, candidate));
                keeping.work(Experiment { seed: *seed, ..of_arm }.text(), self.files)
            }
            _ => Ok(None),
        };
        trials.iter().map(name).collect()
    }
}

fn values<'k>(knobs: &'k [Knob], candidate: &Candidate) -> Vec<&'k KnobValue> {
    candidate.settings().iter().map(|(knob, value)| &knobs[*knob].values[*value]).collect()
}

fn row(work: &Work, run: &RunResult, figures: Vec<schema::Measurement>) -> Row {
    let (events, simulated_ns) = (run.engine.events, run.engine.simulated_ns);
    Row {
        run: work.run.clone(),
        experiment: serde_json::to_string(&work.experiment).unwrap_or_default(),
        outcome: Outcome::Ran { events, simulated_ns, figures },
    }
}

impl Trials for LabTrials<'_> {
    fn run(&self, trials: &[Trial]) -> Result<Vec<Result<Sample, lab::Error>>, Error> {
        let known = self.done.load(Ordering::Relaxed) + trials.len() as u64;
        // Files are read on this thread; a plan may be that of many seeds.
        let mut plans: Plans<'_> = BTreeMap::new();
        for (candidate, seed) in trials {
            let confirm = self.fresh.contains(seed);
            let plan = || self.plan(candidate, confirm).map_err(|error| error.to_string());
            plans.entry((candidate, confirm)).or_insert_with(plan);
        }
        let names = self.names(trials, &plans)?;
        // What is not needed there stays on this thread.
        let LabTrials { knobs, keys, fresh, keeping, told, done, reused, .. } = self;
        let run = |((candidate, seed), name): (&Trial, &Option<Work>)| {
            let confirm = fresh.contains(seed);
            let refused = |problem: &str| lab::Error::Settings {
                word: values(knobs, candidate).iter().map(|value| value.text()).collect::<Vec<_>>().join(" "),
                problem: problem.to_owned(),
            };
            let kept = keeping.as_ref().zip(name.as_ref());
            let ran = match (
                kept.and_then(|(keeping, work)| keeping.get(work)),
                plans.get(&(candidate, confirm)),
            ) {
                (Some(sample), _) => {
                    reused.fetch_add(1, Ordering::Relaxed);
                    Ok((sample.clone(), None))
                }
                (None, Some(Ok(plan))) => match plan.run(arm(plan, candidate), *seed) {
                    Ok(run) => {
                        let figures = report::compare::measure(&run);
                        let sample = sample(keys, &figures);
                        kept.map(|(keeping, work)| keeping.keep(row(work, &run, figures))).transpose()?;
                        Ok((sample, confirm.then_some(run)))
                    }
                    Err(error) => Err(error),
                },
                (None, Some(Err(problem))) => Err(refused(problem)),
                (None, None) => Err(refused("it was not planned")),
            };
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            told(Told { done, known, reused: reused.load(Ordering::Relaxed) });
            Ok(ran)
        };
        let ran: Result<Vec<_>, Error> = trials.par_iter().zip(&names).map(run).collect();
        let ran = ran?;
        keeping.as_ref().map(Keeping::finish).transpose()?;
        if self.words.is_stopped() {
            let made = known - ran.iter().filter(|ran| ran.is_err()).count() as u64;
            return Err(Error::Stopped { made, known, is_kept: keeping.is_some() });
        }
        let mut whole = self.whole.borrow_mut();
        let mut samples = Vec::with_capacity(trials.len());
        for (trial, ran) in trials.iter().zip(ran) {
            samples.push(ran.map(|(sample, run)| {
                whole.extend(run.map(|run| (trial.clone(), run)));
                sample
            }));
        }
        Ok(samples)
    }
}

fn arm<'p>(plan: &'p Plan, candidate: &Candidate) -> &'p Arm {
    if *candidate == Candidate::base() { &plan.base } else { &plan.variants[0] }
}
