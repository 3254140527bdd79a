//! keyrepeat, the second test of seed 003 (fair-class 13.7).

use serde::{Deserialize, Serialize};

use super::Reports;
use crate::{Better, Figures, LatencySummary, RunResult};

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

impl Reports for KeyrepeatResult {
    fn figures(&self, _run: &RunResult, figures: &mut Figures) {
        figures.count("frames", "keys drawn", Better::Higher, self.frames);
        if self.between_ns.count == 0 {
            return;
        }
        figures.nanos("spread", "spread between drawings", Better::Lower, self.spread_ns).headline();
        figures.nanos("longest", "longest between drawings", Better::Lower, self.between_ns.max).headline();
        figures.count("stops", "stops of the cursor", Better::Lower, self.stops).headline();
        figures.nanos("response", "mean from key to screen", Better::Lower, self.response_ns.mean).headline();
        figures.nanos("response_max", "longest from key to screen", Better::Lower, self.response_ns.max);
    }
}
