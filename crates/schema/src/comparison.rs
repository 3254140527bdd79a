//! Schema `schedlab-compare/1`: the answer of a comparison.

use serde::{Deserialize, Serialize};

use crate::{CompareSchema, ExperimentText, Kernel, Machine, Metric, ReplayFidelity, Window, json};

/// The answer of a comparison, from `schedlab compare --format json`. All numbers that are not counted are
/// rounded to nine digits, so that the JSON is the same on every machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Always `"schedlab-compare/1"`.
    pub schema: CompareSchema,
    /// The command line that made this, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Version of schedlab.
    pub version: String,
    /// The loads of the base as they were given.
    pub loads: Vec<String>,
    /// Simulated time of the base's first run, nanoseconds.
    pub simulated_ns: u64,
    /// The stretch of each run (`--from`, `--to`) to which the figures are limited, as it was in the base's
    /// first run. What the loads report is of a whole run and left out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// The seeds, ascending; every configuration was run with each.
    pub seeds: Vec<u64>,
    /// How intervals and verdicts were found.
    pub method: Method,
    /// What the variants are compared with.
    pub base: Configuration,
    /// One for each variant, in the order given.
    pub variants: Vec<VariantComparison>,
    /// How close the base's first run came to each replayed trace; empty when the base is not what the trace
    /// was recorded on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay: Vec<ReplayFidelity>,
    /// Why figures may mean something else than a reader expects: warnings of the first run of each
    /// configuration; those that the base does not have begin with the name of the variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The notes of these runs, likewise.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Leaves out the figures of the machine as a whole, which say nothing of single tasks.
    pub fn leave_out_machine(&mut self) {
        let of_machine =
            |key: &str| ["totals.", "cpus.", "rq_lock."].iter().any(|prefix| key.starts_with(prefix));
        for variant in &mut self.variants {
            variant.metrics.retain(|metric| !of_machine(&metric.metric.key));
            variant.only_in_base.retain(|key| !of_machine(key));
            variant.only_in_variant.retain(|key| !of_machine(key));
        }
    }

    /// The answer as indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// A range that holds the true value with the [`Method::confidence`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// The interval of a value that is known exactly.
    #[must_use]
    pub fn point(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// True when `value` is not ruled out.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// How an [`Interval`] was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum IntervalMethod {
    /// One value: no interval.
    #[serde(rename = "none")]
    None,
    /// Student's t on the differences: 2 to 7 seeds.
    #[serde(rename = "student-t")]
    StudentT,
    /// BCa bootstrap of the mean difference: from 8 seeds on.
    #[serde(rename = "bca-bootstrap")]
    BcaBootstrap,
}

/// How intervals and verdicts were found.
///
/// Every seed is run under each configuration with the same random streams, so each seed gives one
/// difference. Their mean has a Student's t interval below eight seeds and a BCa bootstrap interval (2000
/// resamples from a fixed stream) from eight on. p-values are Student's t on the differences. Differences
/// closer together than the metric's `resolution` are given the spread of rounding, `resolution`/√6; a
/// difference that is the same for every seed and larger than that explains is called changed, without an
/// interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// How the intervals were found.
    pub interval: IntervalMethod,
    /// The share of intervals that hold the true value.
    pub confidence: f64,
    /// The expected share of chance among the figures called changed (Benjamini-Hochberg).
    pub false_discovery_rate: f64,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// What to call it.
    pub name: String,
    /// Its first run, as in the result of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<ExperimentText>,
    /// Its loads as they were given: those of the base unless it says otherwise.
    pub loads: Vec<String>,
    /// Its machine.
    pub machine: Machine,
    /// Its scheduler.
    pub kernel: Kernel,
}

/// A variant beside the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VariantComparison {
    /// The variant.
    pub configuration: Configuration,
    /// True when several seeds gave the same figures under both configurations: the load draws nothing at
    /// random. The differences are those of the model, which may be wrong.
    pub exact: bool,
    /// True when it is the base under another name: the same loads, machine and settings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_as_base: bool,
    /// Every figure that both have: those that changed first, the largest relative change first; then
    /// untested ones likewise; then the rest in the order of the figures.
    pub metrics: Vec<MetricComparison>,
    /// Keys of figures that only the base has, for any seed.
    pub only_in_base: Vec<String>,
    /// Keys of figures that only the variant has, for any seed.
    pub only_in_variant: Vec<String>,
}

impl VariantComparison {
    /// How many figures have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.metrics.iter().filter(|metric| metric.verdict == verdict).count()
    }
}

/// One figure under the base and under a variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MetricComparison {
    /// Which figure.
    pub metric: Metric,
    /// Its place in the order of figures.
    pub rank: u32,
    /// Seeds for which both have the figure.
    pub pairs: u32,
    /// Mean under the base.
    pub base: f64,
    /// Mean under the variant.
    pub variant: f64,
    /// Mean of variant less base, seed by seed.
    pub difference: f64,
    /// 95 % interval of the difference; absent for one seed, and where the difference is the same under every
    /// seed: no spread shows then, and how far the model is off does not either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// How often chance alone would give such a difference; absent for one seed and for exact differences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// The larger mean over the smaller, at least 1; absent when one of them is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<f64>,
    /// Half the width of the 95 % interval of `times`; absent for one seed, and where no seed makes a
    /// difference to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_plus_minus: Option<f64>,
    /// Whether it changed.
    pub verdict: Verdict,
    /// What the base's own figure lacks of the truth, in the metric's unit, negative where it is too large:
    /// it is taken to be off by the factor by which its replays were off on the recorded machine, in the mean
    /// over the seeds. Absent where no recording has the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_error: Option<f64>,
    /// Whether the replay is too far from the recording in this figure, or its verdict on these tasks is poor
    /// in this question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub poor: bool,
    /// Whether it is about the recorded command or its descendants.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_command: bool,
}

impl MetricComparison {
    /// True when it changes by a smaller factor than the replay itself is off by.
    #[must_use]
    pub fn is_within_replays_error(&self) -> bool {
        self.error_factor().is_some_and(|error| self.factor(self.variant) < error)
    }

    /// True unless it changes by much more than the replay is off.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        /// How many times the error would have to be made to explain it.
        const MUCH: i32 = 4;
        self.error_factor().is_some_and(|error| self.factor(self.variant) < error.powi(MUCH))
    }

    fn error_factor(&self) -> Option<f64> {
        Some(self.factor(self.base + self.replay_error?))
    }

    /// How many times the larger of the base and another value is the other, as [`times_in_steps`] has it.
    #[must_use]
    pub fn factor(&self, other: f64) -> f64 {
        times_in_steps(self.base, other, self.metric.resolution as f64)
    }
}

/// How many times the larger of two values is the other. One step of what can be told apart is added to both,
/// so that "0 instead of 1" does not come before "100 instead of 400", and nothing is no infinity.
#[must_use]
pub fn times_in_steps(one: f64, other: f64, step: f64) -> f64 {
    (one.max(other) + step) / (one.min(other) + step)
}

/// Whether a figure changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It did: the interval excludes 0, and the finding survives Benjamini-Hochberg over all figures.
    Changed,
    /// It differs, and whether by chance cannot be told: there is one seed, or of recordings too few
    /// latencies for an interval (fewer than 20 for a mean or median, than 200 for a p99).
    Untested,
    /// It differs for some seeds, but not more than by chance.
    NotSignificant,
    /// It is equal under every seed.
    Identical,
}
