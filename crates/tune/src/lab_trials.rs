//! Runs of candidates by the laboratory.

use crate::error::Error;
use crate::knob::{Knob, KnobValue};
use crate::trials::{Candidate, Sample, Trials};
use lab::{
    Arm, CompareWords, Comparison, Experiment, ExperimentText, LoadSpec, NamedMachine, Plan, Reading,
    RunResult, Sources,
};
use rayon::prelude::*;
use schema::Measurement;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::Xxh3Default;

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
    pub kept: RefCell<BTreeMap<(Candidate, u64), RunResult>>,
    /// Called after each run, from any thread, with the number of runs that have ended and of those that are
    /// known to be needed.
    pub told: &'l (dyn Fn(u64, u64) + Sync),
    pub done: AtomicU64,
}

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

    /// The kept runs of the base and of a candidate side by side.
    pub fn comparison(&self, candidate: &Candidate) -> Result<Comparison, Error> {
        let plan = self.plan(candidate, true)?;
        let mut kept = self.kept.borrow_mut();
        let mut take = |one: &Candidate| -> Vec<RunResult> {
            self.fresh.iter().filter_map(|seed| kept.remove(&(one.clone(), *seed))).collect()
        };
        let (base, with) = (take(&Candidate::base()), take(candidate));
        let runs = [base, with].concat();
        Ok(lab::compare_runs(&plan, &runs)?)
    }
}

fn values<'k>(knobs: &'k [Knob], candidate: &Candidate) -> Vec<&'k KnobValue> {
    candidate.settings().iter().map(|(knob, value)| &knobs[*knob].values[*value]).collect()
}

fn sample(keys: &[String], run: &RunResult) -> Sample {
    let figures = report::compare::measure(run);
    let value = |key: &String| figures.iter().find(|figure| figure.metric.key == *key).map(|f| f.value);
    Sample { figures: keys.iter().map(value).collect(), fingerprint: fingerprint(&figures) }
}

fn fingerprint(figures: &[Measurement]) -> u128 {
    let mut hash = Xxh3Default::new();
    for figure in figures {
        hash.update(figure.metric.key.as_bytes());
        hash.update(&figure.value.to_le_bytes());
    }
    hash.digest128()
}

impl Trials for LabTrials<'_> {
    fn run(&self, work: &[(Candidate, u64)]) -> Vec<Result<Sample, lab::Error>> {
        let planned = self.done.load(Ordering::Relaxed) + work.len() as u64;
        // Files are read on this thread; a plan may be that of many seeds.
        let mut plans: BTreeMap<(&Candidate, bool), Result<Plan, String>> = BTreeMap::new();
        for (candidate, seed) in work {
            let confirm = self.fresh.contains(seed);
            let plan = || self.plan(candidate, confirm).map_err(|error| error.to_string());
            plans.entry((candidate, confirm)).or_insert_with(plan);
        }
        // What is not needed there stays on this thread.
        let LabTrials { knobs, keys, fresh, told, done, .. } = self;
        let run = |(candidate, seed): &(Candidate, u64)| {
            let confirm = fresh.contains(seed);
            let refused = |problem: &str| lab::Error::Settings {
                word: values(knobs, candidate).iter().map(|value| value.text()).collect::<Vec<_>>().join(" "),
                problem: problem.to_owned(),
            };
            let ran = match plans.get(&(candidate, confirm)) {
                Some(Ok(plan)) => plan.run(arm(plan, candidate), *seed),
                Some(Err(problem)) => Err(refused(problem)),
                None => Err(refused("it was not planned")),
            };
            told(done.fetch_add(1, Ordering::Relaxed) + 1, planned);
            ran.map(|run| (sample(keys, &run), confirm.then_some(run)))
        };
        let ran: Vec<_> = work.par_iter().map(run).collect();
        let mut kept = self.kept.borrow_mut();
        let mut samples = Vec::with_capacity(work.len());
        for (one, ran) in work.iter().zip(ran) {
            samples.push(ran.map(|(sample, whole)| {
                kept.extend(whole.map(|whole| (one.clone(), whole)));
                sample
            }));
        }
        samples
    }
}

fn arm<'p>(plan: &'p Plan, candidate: &Candidate) -> &'p Arm {
    if *candidate == Candidate::base() { &plan.base } else { &plan.variants[0] }
}
