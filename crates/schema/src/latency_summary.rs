//! The figures in which latencies are reported.

use serde::{Deserialize, Serialize};

/// A distribution of latencies in nanoseconds. All zero when there was no sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencySummary {
    /// Number of samples.
    pub count: u64,
    /// Smallest, exact.
    pub min: u64,
    /// Arithmetic mean in whole nanoseconds; exact otherwise.
    pub mean: u64,
    /// Median. Percentiles come from buckets ([`Precision`](crate::Precision)): they may be high by up to
    /// 1/16, for wakeup latencies of tasks by up to 1/128, but never beyond `max`.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Largest, exact.
    pub max: u64,
}

/// The step of a percentile in a comparison: its bucket may be a sixteenth of its value wide
/// ([`LatencySummary::p50`]).
#[must_use]
pub fn percentile_step(percentile_ns: u64) -> u64 {
    (percentile_ns / 16).max(1)
}
