//! Schema `schedlab-search/1`: the worst case on purpose.

use serde::{Deserialize, Serialize};

use crate::{ExperimentText, Metric, SearchSchema, TuneDirection, json};

/// The run that is worst in a figure, of those that were searched, from `schedlab search --format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchResult {
    /// Always `"schedlab-search/1"`.
    pub schema: SearchSchema,
    /// The command line that made this, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Version of schedlab.
    pub version: String,
    /// The loads as they were given.
    pub loads: Vec<String>,
    /// The figure as it was given: `max(cyclictest/0)`.
    pub goal: String,
    /// Where it was to go.
    pub direction: TuneDirection,
    /// The figure that it means.
    pub metric: Metric,
    /// How runs were chosen.
    pub method: SearchMethod,
    /// Number of runs that were made.
    pub runs: u64,
    /// Whether somebody stopped it after so many. A search of that many runs finds the same.
    #[serde(default)]
    pub stopped: bool,
    /// Number of those that failed.
    pub failed: u64,
    /// Each run that went beyond all before it, in their order; the last is the worst.
    pub records: Vec<SearchRecord>,
    /// The figure of the first run that reached the wanted value, and of which number it was; absent where
    /// none was wanted, or none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<SearchRecord>,
    /// The worst run, which `schedlab run` repeats from a file of its own.
    pub experiment: ExperimentText,
}

impl SearchResult {
    /// The answer as indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// The worst run as a file for `schedlab run`.
    #[must_use]
    pub fn scenario(&self) -> String {
        json(&self.experiment)
    }
}

/// How runs are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchMethod {
    /// Most of them are as one of the worst so far up to a moment before its worst, and draw anew from there.
    Guided,
    /// Every run has a seed of its own, and nothing else.
    Random,
}

/// A run that went beyond all before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchRecord {
    /// Its number, from 1 on.
    pub run: u64,
    /// Its figure, in the metric's unit.
    pub value: u64,
    /// How often random numbers were drawn anew in the course of it.
    pub redraws: u64,
}
