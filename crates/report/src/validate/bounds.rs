//! Which figures have to come how close: `validation/bounds.toml`.

use schema::Question;
use schema::validation::{Claim, ValidatedFigure, ValidatedRun, ValidationMode};
use serde::Deserialize;

use crate::numbers::digits3;
use crate::replay::limits;

/// What is wanted of many figures together.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// Which figures, in words.
    pub what: String,
    /// The question that they answer.
    pub question: String,
    /// Figures of runs of this mode only.
    pub mode: Option<ValidationMode>,
    /// Of this class of machines only.
    pub class: Option<String>,
    /// Of recorded machines with so many CPUs at most.
    pub cpus_at_most: Option<u64>,
    /// Of tasks that are real-time, or not.
    pub realtime: Option<bool>,
    /// Figures of this claim only.
    pub claim: Option<Claim>,
    /// Figures of these names only; empty: of all.
    #[serde(default)]
    pub figures: Vec<String>,
    /// Figures of this family only.
    pub family: Option<String>,
    /// Figures above this only, in their unit.
    pub recorded_above: Option<f64>,
    /// How close is close.
    pub within: Within,
    /// The share of them that has to be so close, 0 to 1.
    pub share: f64,
    /// Why it is known not to be met.
    pub unreached: Option<String>,
}

/// How close is close.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Within {
    /// At most so many per cent off.
    Percent(f64),
    /// At most larger or smaller by this factor.
    Factor(f64),
    /// As an answer about this that is called good.
    Good(Question),
    /// As an answer about this that is called fair.
    Fair(Question),
    /// A change: on the same side of 1.
    Side,
}

impl Within {
    /// In words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Within::Factor(factor) => format!("a factor of {factor}"),
            Within::Side => "the same direction".to_owned(),
            _ => format!("{} %", 100.0 * self.share()),
        }
    }

    fn share(self) -> f64 {
        match self {
            Within::Percent(percent) => percent / 100.0,
            Within::Good(question) => limits(question).good_permille as f64 / 1_000.0,
            Within::Fair(question) => limits(question).fair_permille as f64 / 1_000.0,
            Within::Factor(factor) => factor - 1.0,
            Within::Side => 0.0,
        }
    }

    /// Whether the simulated figure is so close to the recorded one, which is above 0.
    #[must_use]
    pub fn holds(self, recorded: f64, simulated: f64) -> bool {
        match self {
            Within::Factor(factor) => simulated <= recorded * factor && recorded <= simulated * factor,
            Within::Side => (recorded > 1.0) == (simulated > 1.0) && simulated != 1.0,
            _ => (simulated / recorded - 1.0).abs() <= self.share(),
        }
    }
}

impl Bound {
    /// Whether this figure is one of those that it is about.
    #[must_use]
    pub fn is_about(&self, run: &ValidatedRun, figure: &ValidatedFigure) -> bool {
        let is = |wanted: &Option<String>, found: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| found == Some(wanted))
        };
        // Whether a recorded change has a direction is another matter below a few per cent.
        const LEAST_CHANGE: f64 = 0.05;
        let changes = |recorded: f64| (recorded - 1.0).abs() >= LEAST_CHANGE;
        self.mode.is_none_or(|mode| mode == run.mode)
            && is(&self.class, Some(&run.class))
            && self.cpus_at_most.is_none_or(|most| run.cpus <= most)
            && self.realtime.is_none_or(|realtime| realtime == figure.realtime)
            && self.claim.is_none_or(|claim| claim == figure.claim)
            && (self.figures.is_empty() || self.figures.contains(&figure.what))
            && is(&self.family, figure.family.as_ref())
            && figure.recorded.is_some_and(|recorded| {
                recorded > self.recorded_above.unwrap_or(0.0)
                    && (self.within != Within::Side || changes(recorded))
            })
    }
}

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Limits of the verdict on a replay; those of the program count.
    #[serde(default)]
    thresholds: toml::Table,
    /// What is wanted, in order.
    #[serde(default)]
    pub bound: Vec<Bound>,
}

impl Bounds {
    /// Reads a file of bounds.
    ///
    /// # Errors
    /// No TOML, unknown or missing fields; a share that is none, a family of figures that nobody can be in.
    pub fn parse(text: &str) -> Result<Bounds, BoundsError> {
        let bounds: Bounds = toml::from_str(text).map_err(|error| BoundsError {
            span: error.span(),
            problem: suggest::in_words(error.message()),
        })?;
        match bounds.bound.iter().find(|bound| !(0.0..=1.0).contains(&bound.share)) {
            None => Ok(bounds),
            Some(Bound { what, share, .. }) => Err(BoundsError {
                span: None,
                problem: format!("bound `{what}`: `share` is {}, and goes from 0 to 1", digits3(*share)),
            }),
        }
    }
}

/// Why a file is none of bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct BoundsError {
    /// Where, if it has a place.
    pub span: Option<std::ops::Range<usize>>,
    /// What is wrong.
    pub problem: String,
}
