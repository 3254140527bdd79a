//! keyrepeat, the second test of seed 003 (fair-class 13.7).

use serde::{Deserialize, Serialize};

use crate::LatencySummary;

/// Results of keyrepeat, the second test of seed 003 (fair-class 13.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KeyrepeatResult {
    /// The load as it was given.
    pub load: String,
    /// Time between two keys, nanoseconds.
    pub period_ns: u64,
    /// Keys that were drawn.
    pub frames: u64,
    /// Time between two drawings.
    pub between_ns: LatencySummary,
    /// Standard deviation of these times, nanoseconds: 0 for a cursor that moves evenly.
    pub spread_ns: u64,
    /// Times the cursor stood still for more than two periods.
    pub stops: u64,
    /// From a key to its drawing.
    pub response_ns: LatencySummary,
}
