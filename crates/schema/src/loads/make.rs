//! `make -jN`.

use serde::{Deserialize, Serialize};

use super::Reports;
use crate::{Better, Figures, RunResult, Seconds};

/// Results of `make -jN`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MakeResult {
    /// The load as it was given.
    pub load: String,
    /// Jobs at one time (`-j`).
    pub jobs: u32,
    /// Objects that were built.
    pub objects: u64,
    /// From start to the last object; absent when the run ended before all were built.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Seconds>,
}

impl Reports for MakeResult {
    fn figures(&self, _run: &RunResult, figures: &mut Figures) {
        if let Some(time) = self.seconds {
            figures.nanos("time", "time", Better::Lower, time.as_ns()).headline();
        }
        figures.count("objects", "objects", Better::Higher, self.objects).headline();
    }
}
