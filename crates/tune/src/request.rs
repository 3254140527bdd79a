//! A whole tuning: from what is asked to the answer.

use crate::advice::how_to;
use crate::default_knobs::default_knobs;
use crate::error::Error;
use crate::goal::{Constraint, Goal};
use crate::judge::Question;
use crate::keeping::Keeping;
use crate::knob::{Knob, KnobValue};
use crate::knobs_file::KnobsFile;
use crate::lab_trials::{LabTrials, Told, Words};
use crate::procedure::{Found, Tuning};
use crate::trials::Candidate;
use crate::trust::trust;
use lab::{Experiment, ExperimentText, Release, RunResult, Settings, Sources};
use schema::comparison::Configuration;
use schema::{Metric, TuneConstraint, TuneGoal, TuneKnob, TuneResult, TuneSchema, TuneState, TuneVerdict};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use sweep::Folder;

/// What is asked.
#[derive(Clone)]
pub struct Request<'r> {
    /// The experiment.
    pub words: Words<'r>,
    /// What is to become better.
    pub goal: Goal,
    /// What has to hold besides: `hackbench time < 1.05 x base`.
    pub subject_to: &'r [String],
    /// What may be set; `None`: whatever the kernel has.
    pub knobs: Option<&'r KnobsFile>,
    /// Seeds of the screen, six at least; the rounds after it take up to four times as many.
    pub seeds: u32,
    /// Where runs are kept, so that a tuning that was stopped or killed goes on where it was; those of sweeps
    /// may be there, too.
    pub folder: Option<&'r dyn Folder>,
}

/// Finds which settings serve the goal best. `told` is called after each run, from any thread. The
/// answer does not depend on the number of threads.
///
/// # Errors
/// An unknown figure, a constraint that is none, knobs that cannot be; a run of the base that fails; a
/// constraint that nothing meets; a folder that does not take runs, or has a damaged file;
/// [`Error::Stopped`], when the experiment's `stop` is set.
pub fn tune(
    request: &Request<'_>,
    files: &dyn Sources,
    told: &(dyn Fn(Told) + Sync),
) -> Result<TuneResult, Error> {
    let words = &request.words;
    let mut plan = words.plan(&[], 1, files)?;
    plan.experiment.fidelity = false;
    let first = plan.run(&plan.base, plan.experiment.seed).map_err(|error| match words.is_stopped() {
        true => Error::Stopped { made: 0, known: 1, is_kept: request.folder.is_some() },
        false => error.into(),
    })?;
    let metrics: Vec<Metric> =
        report::compare::measure(&first).into_iter().map(|figure| figure.metric).collect();
    let metric = request.goal.metric(&metrics)?;
    let constraints = request.subject_to.iter().map(|text| Constraint::parse(text, &metrics));
    let question =
        Question { goal: request.goal.clone(), metric, constraints: constraints.collect::<Result<_, _>>()? };
    let release = plan.base.kernel.named().nearest_release();
    let knobs = knobs(request, &first, release, files)?;
    let texts = |knob: &Knob| knob.values.iter().map(|value| value.text().to_owned()).collect();
    let tuning = Tuning {
        knobs: knobs.iter().map(texts).collect(),
        first_seed: plan.experiment.seed,
        seeds: request.seeds,
        question,
    };
    let keys = tuning.question.keys();
    let keeping = request.folder.map(|folder| Keeping::open(folder, &keys)).transpose()?;
    let trials = LabTrials {
        words,
        files,
        knobs: &knobs,
        keys,
        fresh: tuning.fresh_seeds(),
        whole: RefCell::new(BTreeMap::new()),
        keeping,
        told,
        done: AtomicU64::new(0),
        reused: AtomicU64::new(0),
    };
    let found = tuning.run(&trials)?;
    answer(&tuning, &trials, found, first, release)
}

fn answer(
    tuning: &Tuning,
    trials: &LabTrials<'_>,
    found: Found,
    first: RunResult,
    release: Release,
) -> Result<TuneResult, Error> {
    let Question { goal, metric, constraints } = &tuning.question;
    let chosen: Vec<&KnobValue> =
        found.chosen.settings().iter().map(|(knob, value)| &trials.knobs[*knob].values[*value]).collect();
    let is_something = found.chosen != Candidate::base();
    let comparison = is_something.then(|| trials.comparison(&found.chosen)).transpose()?;
    let notes = notes(&found, constraints);
    let gained = found.confirmed.as_ref().and_then(|trial| trial.goal.as_ref());
    Ok(TuneResult {
        schema: TuneSchema,
        command: None,
        version: first.engine.version.clone(),
        base: Configuration {
            name: "base".to_owned(),
            experiment: first.experiment,
            loads: first.loads.iter().map(|load| load.load().to_owned()).collect(),
            machine: first.machine,
            kernel: first.kernel,
        },
        goal: TuneGoal { text: goal.text.clone(), direction: goal.direction, metric: metric.clone() },
        constraints: constraints
            .iter()
            .map(|constraint| TuneConstraint {
                text: constraint.text.clone(),
                metric: constraint.metric.clone(),
            })
            .collect(),
        knobs: trials
            .knobs
            .iter()
            .zip(&tuning.knobs)
            .map(|(knob, values)| TuneKnob { name: knob.name.clone(), values: values.clone() })
            .collect(),
        runs: found.runs,
        how_to: if found.verdict == TuneVerdict::Found { how_to(&chosen, release) } else { Vec::new() },
        trust: if is_something { trust(&metric.key, gained) } else { Vec::new() },
        chosen: tuning.texts(&found.chosen),
        screen: found.screen,
        rounds: found.rounds,
        verdict: found.verdict,
        confirmed: found.confirmed,
        comparison,
        notes,
    })
}

/// What the answer rests on, and what rests on more.
const WITH_MORE_SEEDS: &str = "the answer is of this load, machine and kernel, and of the seeds above: a \
                               comparison with the base over 64 seeds is surer of small gains";

fn notes(found: &Found, constraints: &[Constraint]) -> Vec<String> {
    let mut notes = Vec::new();
    if found.verdict == TuneVerdict::BreaksConstraints
        && let Some(best) = found.rounds.last().and_then(|round| round.trials.first())
    {
        let broken = best.constraints.iter().zip(constraints);
        let broken: Vec<&str> = broken
            .filter(|(held, _)| held.state == TuneState::Broken)
            .map(|(_, of)| of.text.as_str())
            .collect();
        notes.push(format!(
            "the best of what helps, {}, breaks {}",
            best.settings.join(", "),
            broken.join(", ")
        ));
    }
    if found.verdict == TuneVerdict::Found {
        notes.push(WITH_MORE_SEEDS.to_owned());
    }
    notes
}

/// Those of the file, or those of the kernel.
fn knobs(
    request: &Request<'_>,
    first: &RunResult,
    release: Release,
    files: &dyn Sources,
) -> Result<Vec<Knob>, Error> {
    let words = &request.words;
    let settings = Settings::parse(words.base)?;
    // Without loads: whether a kernel has a setting does not depend on them.
    let kernel = settings.kernel.clone().unwrap_or_else(|| words.experiment.kernel.named().asked.clone());
    let below = settings.over(&ExperimentText { loads: Vec::new(), ..words.text.clone() });
    let below = ExperimentText {
        kernel: Some(kernel),
        machine: schema::MachineText::default(),
        groups: Vec::new(),
        members: Vec::new(),
        dumps: Vec::new(),
        tasks: Vec::new(),
        ..below
    };
    let takes = |setting: &str| -> Result<(), lab::Error> {
        let own = Settings::parse(setting)?;
        let own = Settings { groups: Vec::new(), members: Vec::new(), ..own };
        Experiment::open(&own.over(&below), files).map(drop)
    };
    let Some(file) = request.knobs else {
        let knobs = default_knobs(&first.kernel, release, |setting| takes(setting).is_ok());
        return if knobs.is_empty() { Err(Error::NoKnob) } else { Ok(knobs) };
    };
    let loads: Vec<&str> = first.loads.iter().map(|load| load.load()).collect();
    let is_on = |feature: &str| first.kernel.features.get(feature).copied().unwrap_or(false);
    let knobs = file.knobs(is_on, &loads)?;
    for knob in &knobs {
        for value in &knob.values {
            let checked = match value {
                KnobValue::Words(setting) => takes(setting),
                KnobValue::Load { .. } => Ok(()),
            };
            checked
                .and_then(|()| words.plan(&[value], 1, files).map(drop))
                .map_err(|error| Error::Knob { name: knob.name.clone(), problem: error.to_string() })?;
        }
    }
    Ok(knobs)
}
