//! What a fit found: part of schema `schedlab-reproduce/1`.

use serde::{Deserialize, Serialize};

use crate::reproduction::RowUnit;

/// Free parameters chosen by the published figures of fitted variants, from `schedlab reproduce --fit`. The
/// procedure stands in the experiment file, so that whoever repeats it gets the same values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Why it is done so, in words.
    pub about: String,
    /// What came of it, in words, if somebody has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Seeds of each set of values.
    pub seeds: u64,
    /// Simulated time of a run with the values that were found.
    pub simulated_ns: u64,
    /// What was chosen.
    pub parameters: Vec<FittedParameter>,
    /// By what it was chosen.
    pub figures: Vec<FitFigure>,
    /// Published figures of all other variants, by which nothing was chosen; as long as the reproduction.
    pub predicted: Vec<FitFigure>,
    /// How far the figures are off in the middle of all ranges, where the search begins: the mean of
    /// |ln(simulated / published)|.
    pub loss_at_start: f64,
    /// The same, with the values in the files.
    pub loss_in_files: f64,
    /// The same, with the values that were found.
    pub loss_fitted: f64,
    /// The same of what was predicted, with the values in the files; absent where nothing else was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_loss_in_files: Option<f64>,
    /// The same, with the values that were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_loss_fitted: Option<f64>,
    /// Where the search went: its beginning, and each set of values that was better than the one before.
    pub steps: Vec<FitStep>,
    /// Sets of values that were tried.
    pub tried: u64,
}

/// A parameter that was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FittedParameter {
    /// Its name.
    pub name: String,
    /// Why it may be chosen.
    pub why: String,
    /// The values among which it was chosen, ascending.
    pub values: Vec<f64>,
    /// Where the search began.
    pub start: f64,
    /// The value that was found.
    pub fitted: f64,
    /// The figures that it stands for.
    pub places: Vec<FittedPlace>,
}

/// A figure in a file that is the parameter, times something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FittedPlace {
    /// The place in the machine's file (`costs.line.same_node.ns`), or the name of a parameter of the
    /// experiment file in braces (`{work}`).
    pub place: String,
    /// What stands there.
    pub in_file: f64,
    /// What would stand there with the value that was found.
    pub fitted: f64,
}

/// A published figure beside simulated ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FitFigure {
    /// Name of its variant.
    pub variant: String,
    /// What it is.
    pub what: String,
    /// The value of the sweep, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What the document says; of one that cuts its figures the middle of what is cut to it.
    pub published: f64,
    /// In the middle of all ranges; absent of predictions, which are not looked at there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_start: Option<f64>,
    /// With the values in the files.
    pub in_files: f64,
    /// With the values that were found.
    pub fitted: f64,
    /// Unit of all four.
    pub unit: RowUnit,
}

/// A set of values that was the best so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FitStep {
    /// One for each parameter, in their order.
    pub values: Vec<f64>,
    /// How far the figures are off with them.
    pub loss: f64,
}

impl Fit {
    /// Whether the files hold what was found.
    #[must_use]
    pub fn is_in_files(&self) -> bool {
        let mut places = self.parameters.iter().flat_map(|parameter| &parameter.places);
        places.all(|place| place.in_file == place.fitted)
    }
}
