//! Schema `schedlab-why/1`: why tasks were late, in stretches that add up.

mod blame;
mod cause;
mod explanation;
mod recorded;
mod remedy;
mod tasks;

pub use blame::{Blame, BlameRow, LateBy};
pub use cause::{Budget, Cause, Handler, HandlerContext, HeldMutex, IrqsOffPath, Precedence};
pub use explanation::{Due, Explanation, WhyAlternative, WhyDecision, WhyShare, WhyStretch, WhyTask, Woken};
pub use recorded::{WhyLeft, WhyOrigin, WhyRecorded, WhyWaker};
pub use remedy::{Remedies, Remedy, RemedyCost, ReplayedWait};

use crate::{ExperimentText, WhySchema, json};
use serde::Serialize;

/// Why tasks were late, from `schedlab why --format json`: of a simulated run, or of a recording as it is.
/// Times of a run are nanoseconds since its start; those of a recording are on its own clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhyResult {
    /// Always `"schedlab-why/1"`.
    pub schema: WhySchema,
    /// The command line that made this, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Version of schedlab.
    pub version: String,
    /// What ran, of a simulated run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experiment: Option<ExperimentText>,
    /// The recording, as it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// How many wakeups of the tasks that were asked for there are.
    pub wakeups: u64,
    /// Those that are explained: the worst first, or that of the time that was asked for.
    pub explanations: Vec<Explanation>,
    /// What all wakeups are due to, if that was asked for; of the tasks that were late longest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blame: Vec<Blame>,
    /// What has to be known to read it, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl WhyResult {
    /// The result as indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}
