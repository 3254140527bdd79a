//! Schema `schedlab-sweep/1`: what a sweep comes to.

use serde::{Deserialize, Serialize};

use crate::{Better, Metric, SweepSchema, Unit, json};

/// What a sweep comes to, from `schedlab sweep --format json`: the figures of each combination of values over
/// the seeds. Every run is a row of `results.parquet` in its folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SweepResult {
    /// Always `"schedlab-sweep/1"`.
    pub schema: SweepSchema,
    /// The command line that made this, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Version of schedlab.
    pub version: String,
    /// What the file calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The loads, with the places of their parameters.
    pub loads: Vec<String>,
    /// What was varied, in the order of the file.
    pub axes: Vec<SweepAxis>,
    /// The seeds with which each combination of values was run.
    pub seeds: Vec<u64>,
    /// Number of runs: combinations times seeds.
    pub runs: u64,
    /// How many of them failed.
    pub failed: u64,
    /// The figures that are summed up.
    pub metrics: Vec<SweepMetric>,
    /// Every combination of values, that of the last axis varying fastest.
    pub points: Vec<SweepPoint>,
    /// How far the replays may be trusted, if recordings are among the loads: a sentence for each, of its
    /// replay as it was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<String>,
}

impl SweepResult {
    /// The result as indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// What a figure is. (How finely it can be told depends on its value, so that no one resolution holds for all
/// runs.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SweepMetric {
    /// Name for programs: `cyclictest.worst_latency`, `tasks.cc1.wait`.
    pub key: String,
    /// Name for people.
    pub label: String,
    /// Its unit.
    pub unit: Unit,
    /// In which direction it improves.
    pub better: Better,
}

impl From<&Metric> for SweepMetric {
    fn from(metric: &Metric) -> SweepMetric {
        let Metric { key, label, unit, better, .. } = metric.clone();
        SweepMetric { key, label, unit, better }
    }
}

/// Something that is varied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SweepAxis {
    /// `kernel`, `cpus`, `machine`, `settings`, or the name of a parameter.
    pub name: String,
    /// Its values, in the order of the file.
    pub values: Vec<String>,
}

/// A combination of values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SweepPoint {
    /// The value of each axis.
    pub values: Vec<String>,
    /// Number of its runs, one for each seed.
    pub runs: u64,
    /// How many of them failed.
    pub failed: u64,
    /// Why the first of those failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The figures that any of its runs has, in the order of `metrics`.
    pub figures: Vec<SweepFigure>,
}

/// A figure of a combination of values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SweepFigure {
    /// Key of its metric.
    pub key: String,
    /// Number of runs that have it.
    pub runs: u64,
    /// Mean of these, in the unit of the metric, rounded to nine digits.
    pub mean: f64,
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
}
