//! Schema `schedlab-tune/1`: which settings serve a load best.

use serde::{Deserialize, Serialize};

use crate::comparison::{Comparison, Configuration, Interval};
use crate::{Metric, TuneSchema, json};

/// Which settings serve a load best, from `schedlab tune --format json`. All numbers that are not counted are
/// rounded to nine digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TuneResult {
    /// Always `"schedlab-tune/1"`.
    pub schema: TuneSchema,
    /// The command line that made this, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Version of schedlab.
    pub version: String,
    /// What everything is compared with: its first run.
    pub base: Configuration,
    /// What is to become better.
    pub goal: TuneGoal,
    /// What has to hold besides.
    pub constraints: Vec<TuneConstraint>,
    /// What may be set.
    pub knobs: Vec<TuneKnob>,
    /// Number of runs that were made.
    pub runs: u64,
    /// Each value of each knob alone, against the base, over the first seeds.
    pub screen: Vec<TuneTrial>,
    /// Combinations of the values that helped, round by round; each with more seeds than the one before, and
    /// with the better half of its combinations.
    pub rounds: Vec<TuneRound>,
    /// What came of it.
    pub verdict: TuneVerdict,
    /// What to set, as words of `schedlab compare --with`, or as the command line of a load in place of
    /// another; empty where nothing helps.
    pub chosen: Vec<String>,
    /// The chosen ones against the base, over seeds that nothing was chosen by; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<TuneTrial>,
    /// The same, figure by figure: what it costs elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// How to set it on a machine with this kernel.
    pub how_to: Vec<TuneStep>,
    /// What the model's own error makes of the answer, in sentences.
    pub trust: Vec<String>,
    /// What a reader should know besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl TuneResult {
    /// The answer as indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// What is to become better.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TuneGoal {
    /// As it was given: `p99(cyclictest)`.
    pub text: String,
    /// Where to.
    pub direction: TuneDirection,
    /// The figure that it means.
    pub metric: Metric,
}

/// Where a figure is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TuneDirection {
    /// Down.
    Minimize,
    /// Up.
    Maximize,
}

/// What has to hold besides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TuneConstraint {
    /// As it was given: `hackbench time < 1.05 x base`.
    pub text: String,
    /// The figure that it is about.
    pub metric: Metric,
}

/// Something that may be set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TuneKnob {
    /// Its name.
    pub name: String,
    /// Its values, without that of the base.
    pub values: Vec<String>,
}

/// Combinations that were run with the same seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TuneRound {
    /// Number of seeds.
    pub seeds: u64,
    /// The combinations, the best first.
    pub trials: Vec<TuneTrial>,
}

/// Some settings against the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TuneTrial {
    /// The settings.
    pub settings: Vec<String>,
    /// The seeds with which both were run, ascending.
    pub seeds: Vec<u64>,
    /// The figure of the goal, where both have it under every seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<TuneFigure>,
    /// How often chance alone would give such a difference in the goal; absent where there is none to judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// What these settings do to the goal.
    pub effect: TuneEffect,
    /// Whether each constraint holds, in their order; empty where nothing was run.
    pub constraints: Vec<TuneHeld>,
    /// Why it could not be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A figure under the base and with settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TuneFigure {
    /// Mean under the base, in the metric's unit.
    pub base: f64,
    /// Mean with the settings.
    pub with: f64,
    /// Mean of the differences, seed by seed.
    pub difference: f64,
    /// 95 % interval of the difference; absent where the difference is the same under every seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// What settings do to the goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TuneEffect {
    /// They bring it nearer.
    Helps,
    /// They take it further away.
    Harms,
    /// Not more than chance could explain.
    NotTold,
    /// No figure of any of the runs changed.
    Inert,
    /// They could not be run.
    Failed,
}

/// Whether a constraint holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TuneHeld {
    /// Its figure.
    pub figure: TuneFigure,
    /// The most, or the least, that the figure may be: the mean over the seeds, in the metric's unit.
    pub bound: f64,
    /// Whether it holds.
    pub state: TuneState,
}

/// Whether a constraint holds: by the 95 % interval of what the figure is beyond its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TuneState {
    /// It does: all of the interval is within the bound.
    Met,
    /// The bound is within the interval.
    Open,
    /// It does not: all of the interval is beyond the bound.
    Broken,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TuneVerdict {
    /// Settings that help, on seeds that nothing was chosen by, too, and meet every constraint.
    Found,
    /// No value of any knob helps by itself.
    NothingHelps,
    /// What helps breaks a constraint.
    BreaksConstraints,
    /// What seemed to help, or to meet the constraints, does not under fresh seeds.
    NotConfirmed,
}

/// How to set one thing on a real machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TuneStep {
    /// The setting.
    pub setting: String,
    /// Lines for a root shell; empty where no running kernel can be told.
    pub commands: Vec<String>,
    /// What to know of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
