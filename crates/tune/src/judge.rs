//! What settings do, by paired seeds: the same statistics as those of a comparison.

use crate::error::Error;
use crate::goal::{Constraint, Goal};
use crate::trials::{Candidate, Made, Sample};
use report::stats::{MeanDifference, mean, nine_digits};
use schema::comparison::Interval;
use schema::{Metric, TuneEffect, TuneFigure, TuneHeld, TuneState, TuneTrial};

/// From so many seeds on, that all differences are the same is no chance: as in a comparison.
const TELLING_SEEDS: usize = 6;
/// The share of findings by chance that one test allows.
const CHANCE: f64 = 0.05;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// What is to become better.
    pub goal: Goal,
    /// Its figure.
    pub metric: Metric,
    /// What has to hold besides.
    pub constraints: Vec<Constraint>,
}

impl Question {
    /// Keys of the figures of a [`Sample`].
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let constraints = self.constraints.iter().map(|constraint| constraint.metric.key.clone());
        std::iter::once(self.metric.key.clone()).chain(constraints).collect()
    }
}

/// Settings against the base.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub candidate: Candidate,
    pub trial: TuneTrial,
    /// Mean difference in the goal, below zero where it is better.
    pub toward: f64,
    /// Of each constraint: by how much less than the base these settings are beyond it, and how often chance
    /// alone would do that.
    pub repairs: Vec<Repair>,
    /// By how much the mean is beyond each constraint.
    pub beyond: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Repair {
    pub helps: bool,
    pub p_value: Option<f64>,
}

impl Judged {
    /// The worst of the constraints.
    pub fn state(&self) -> TuneState {
        self.trial.constraints.iter().map(|held| held.state).max().unwrap_or(TuneState::Met)
    }

    pub fn has_run(&self) -> bool {
        !matches!(self.trial.effect, TuneEffect::Failed | TuneEffect::Inert)
    }
}

/// What was paired of one figure.
struct Pairs {
    base: Vec<f64>,
    with: Vec<f64>,
}

impl Pairs {
    fn figure(&self, difference: &MeanDifference) -> TuneFigure {
        let interval = difference.interval.filter(|interval| interval.low < interval.high);
        TuneFigure {
            base: nine_digits(mean(&self.base)),
            with: nine_digits(mean(&self.with)),
            difference: nine_digits(difference.mean),
            interval: interval
                .map(|Interval { low, high }| Interval { low: nine_digits(low), high: nine_digits(high) }),
        }
    }
}

/// These settings against the base, over seeds under which both were run.
pub(crate) fn judge(
    question: &Question,
    settings: Vec<String>,
    made: &Made<'_>,
    candidate: &Candidate,
    seeds: &[u64],
) -> Judged {
    let failed = |error: String| {
        let trial = TuneTrial {
            settings: settings.clone(),
            seeds: seeds.to_vec(),
            goal: None,
            p_value: None,
            effect: TuneEffect::Failed,
            constraints: Vec::new(),
            error: Some(error),
        };
        let candidate = candidate.clone();
        Judged { candidate, trial, toward: f64::INFINITY, repairs: Vec::new(), beyond: Vec::new() }
    };
    let mut samples: Vec<(&Sample, &Sample)> = Vec::new();
    for seed in seeds {
        match (made.get(&Candidate::base(), *seed), made.get(candidate, *seed)) {
            (Some(Ok(base)), Some(Ok(with))) => samples.push((base, with)),
            (_, Some(Err(error))) => return failed(error.to_string()),
            _ => return failed(format!("seed {seed} was not run")),
        }
    }
    let pairs = |place: usize| {
        let of = |pick: fn(&(&Sample, &Sample)) -> Sample| {
            let values = samples.iter().map(|both| pick(both).figures[place].map(|value| value as f64));
            values.collect::<Option<Vec<f64>>>()
        };
        Some(Pairs { base: of(|both| both.0.clone())?, with: of(|both| both.1.clone())? })
    };
    let all: Option<Vec<Pairs>> = (0..=question.constraints.len()).map(pairs).collect();
    let Some(all) = all else {
        return failed("a figure of the goal or of a constraint is missing under some seed".to_owned());
    };
    let differences: Vec<f64> =
        all[0].with.iter().zip(&all[0].base).map(|(with, base)| with - base).collect();
    let found = MeanDifference::of(&differences, question.metric.resolution as f64);
    let toward = question.goal.signed(found.mean);
    let is_inert = samples.iter().all(|(base, with)| base.fingerprint == with.fingerprint);
    let effect = match is_real(&differences, &found) {
        _ if is_inert => TuneEffect::Inert,
        true if toward < 0.0 => TuneEffect::Helps,
        true => TuneEffect::Harms,
        false => TuneEffect::NotTold,
    };
    let mut judged = Judged {
        candidate: candidate.clone(),
        trial: TuneTrial {
            settings,
            seeds: seeds.to_vec(),
            goal: Some(all[0].figure(&found)),
            p_value: found.p_value.map(nine_digits),
            effect,
            constraints: Vec::new(),
            error: None,
        },
        toward,
        repairs: Vec::new(),
        beyond: Vec::new(),
    };
    for (constraint, pairs) in question.constraints.iter().zip(&all[1..]) {
        hold(&mut judged, constraint, pairs);
    }
    judged
}

/// Whether a difference in the goal is more than chance.
fn is_real(differences: &[f64], found: &MeanDifference) -> bool {
    let no_spread = differences.iter().all(|difference| *difference == differences[0]);
    let may_be_chance = no_spread && differences.len() < TELLING_SEEDS;
    let excluded = found.interval.is_some_and(|interval| !interval.contains(0.0));
    !may_be_chance && excluded && found.p_value.is_some_and(|p| p <= CHANCE)
}

fn hold(judged: &mut Judged, constraint: &Constraint, pairs: &Pairs) {
    let step = constraint.metric.resolution as f64;
    let both = || pairs.base.iter().zip(&pairs.with);
    let beyond: Vec<f64> = both().map(|(base, with)| constraint.beyond(*base, *with)).collect();
    let found = MeanDifference::of(&beyond, step);
    let interval = found.interval.unwrap_or(Interval::point(found.mean));
    let state = if constraint.allows(interval.high) {
        TuneState::Met
    } else if constraint.allows(interval.low) {
        TuneState::Open
    } else {
        TuneState::Broken
    };
    let differences: Vec<f64> = both().map(|(base, with)| with - base).collect();
    let bounds: Vec<f64> = pairs.base.iter().map(|base| constraint.bound(*base)).collect();
    judged.trial.constraints.push(TuneHeld {
        figure: pairs.figure(&MeanDifference::of(&differences, step)),
        bound: nine_digits(mean(&bounds)),
        state,
    });
    let less: Vec<f64> = both()
        .map(|(base, with)| constraint.beyond(*base, *with) - constraint.beyond(*base, *base))
        .collect();
    let repair = MeanDifference::of(&less, step);
    let helps = repair.mean < 0.0 && is_real(&less, &repair);
    judged.repairs.push(Repair { helps, p_value: repair.p_value });
    judged.beyond.push(found.mean);
}

/// Makes sure that the base has every figure that is asked for.
///
/// # Errors
/// The first that it has not.
pub(crate) fn base_has_all(question: &Question, made: &Made<'_>, seeds: &[u64]) -> Result<(), Error> {
    for seed in seeds {
        let Some(Ok(sample)) = made.get(&Candidate::base(), *seed) else { continue };
        let missing = sample.figures.iter().zip(question.keys()).find(|(figure, _)| figure.is_none());
        if let Some((_, key)) = missing {
            return Err(Error::Missing { key, seed: *seed });
        }
    }
    Ok(())
}
