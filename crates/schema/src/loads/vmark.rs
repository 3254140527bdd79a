//! vmark (fair-class 12.6).

use serde::{Deserialize, Serialize};

use super::seed004::why;
use super::{Reports, per_second};
use crate::{Better, Figures, RunResult, Seconds};

/// Results of vmark (fair-class 12.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VmarkResult {
    /// The load as it was given.
    pub load: String,
    /// Chat rooms.
    pub rooms: u32,
    /// Users of each room.
    pub users: u32,
    /// Messages that clients sent.
    pub sent: u64,
    /// Messages that clients received.
    pub received: u64,
    /// From the start signal to the last message; absent when the run ended before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Seconds>,
}

impl VmarkResult {
    /// Sent and received messages a second, as the benchmark counts them; `None` when the run ended before.
    #[must_use]
    pub fn messages_per_second(&self) -> Option<u64> {
        self.seconds.and_then(|seconds| per_second(self.sent + self.received, seconds.as_ns()))
    }
}

impl Reports for VmarkResult {
    fn figures(&self, run: &RunResult, figures: &mut Figures) {
        if let Some(rate) = self.messages_per_second() {
            figures.count("messages_per_second", "messages per second", Better::Higher, rate).headline();
        }
        figures.count("received", "messages received", Better::Higher, self.received);
        why(run, self.sent + self.received, figures);
    }
}
