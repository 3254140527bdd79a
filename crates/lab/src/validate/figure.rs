//! One figure: how it is measured, what was recorded, how close is close enough.

use super::band::Band;
use super::measure::Measure;
use super::recorded::RecordedFile;
use report::validate::median;
use schema::validation::{Claim, ValidatedFigure};
use serde::Deserialize;

/// A figure as a file says it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureFile {
    pub what: String,
    /// Of all its numbers; none where things are counted.
    #[serde(default)]
    pub unit: String,
    /// How it is measured in a simulated run.
    pub measure: Measure,
    /// What was recorded.
    pub recorded: Option<RecordedFile>,
    /// What is wanted.
    #[serde(flatten)]
    pub band: Band,
    /// Task whose figure it is, where it counts as one of a task.
    pub task: Option<String>,
    /// Whether that is a real-time task.
    #[serde(default)]
    pub realtime: bool,
    /// With which others it counts.
    pub family: Option<String>,
    /// Where the recorded figure comes from.
    pub source: Option<String>,
    /// Input, where a parameter was chosen by it.
    pub claim: Option<Claim>,
    /// Why it is known not to be as wanted.
    pub unreached: Option<String>,
}

impl FigureFile {
    pub fn check(&self) -> Result<(), String> {
        let place = |problem: &str| Err(format!("figure `{}`: {problem}", self.what));
        if self.recorded.is_none() && self.band.is_relative() {
            return place("a tolerance needs what was `recorded`");
        }
        if self.recorded.is_none() && self.family.is_some() {
            return place("figures of a `family` are judged by what was `recorded`");
        }
        if self.unreached.is_some() && !self.band.wants_something() {
            return place("`unreached` says why it is not as wanted, and nothing is wanted of it alone");
        }
        self.measure.check().and_then(|()| self.band.check()).or_else(|problem| place(&problem))
    }

    /// Beside what was recorded, which may have been repeated, what the simulation gave with each seed.
    pub fn judged(
        &self,
        recorded: &[f64],
        simulated: &[f64],
        claim: Claim,
        source: Option<&String>,
    ) -> ValidatedFigure {
        let middle = median(simulated.to_vec()).unwrap_or(0.0);
        let known = median(recorded.to_vec());
        let several = |of: fn(f64, f64) -> f64| {
            recorded.iter().copied().reduce(of).filter(|_| recorded.len() > 1).map(digits)
        };
        ValidatedFigure {
            what: self.what.clone(),
            task: self.task.clone(),
            realtime: self.realtime,
            claim: self.claim.unwrap_or(claim),
            unit: self.unit.clone(),
            recorded: known.map(digits),
            recorded_low: several(f64::min),
            recorded_high: several(f64::max),
            simulated: digits(middle),
            low: digits(simulated.iter().copied().fold(f64::INFINITY, f64::min)),
            high: digits(simulated.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            off: known.filter(|known| *known != 0.0).map(|known| digits(middle / known - 1.0)),
            band: self.band.words(recorded),
            within: self.band.holds(recorded, middle),
            family: self.family.clone(),
            source: self.source.as_ref().or(source).cloned(),
            unreached: self.unreached.clone(),
        }
    }
}

/// One simulated value beside a recorded one that is not 0: a figure that counts with others of its kind,
/// before it is said which figure it is.
pub(super) fn beside(recorded: f64, simulated: f64) -> ValidatedFigure {
    let simulated = digits(simulated);
    ValidatedFigure {
        what: String::new(),
        task: None,
        realtime: false,
        claim: Claim::Inference,
        unit: String::new(),
        recorded: Some(digits(recorded)),
        recorded_low: None,
        recorded_high: None,
        simulated,
        low: simulated,
        high: simulated,
        off: Some(digits(simulated / recorded - 1.0)),
        band: None,
        within: None,
        family: None,
        source: None,
        unreached: None,
    }
}

/// As it is printed: nothing may depend on the last bit of a calculation.
pub(super) fn digits(value: f64) -> f64 {
    report::numbers::nine_digits(value)
}
