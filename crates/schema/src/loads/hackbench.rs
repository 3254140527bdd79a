//! hackbench of rt-tests.

use serde::{Deserialize, Serialize};

use super::Reports;
use crate::{Better, Figures, RunResult, Seconds};

/// Results of hackbench.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HackbenchResult {
    /// The load as it was given.
    pub load: String,
    /// Whether the tasks are processes or threads.
    pub mode: HackbenchMode,
    /// Number of groups (`-g`).
    pub groups: u32,
    /// File descriptors of each group, twice `-f`.
    pub fds_per_group: u32,
    /// Tasks of all groups together.
    pub tasks: u32,
    /// Messages that each sender passes (`-l`).
    pub loops: u64,
    /// Size of a message in bytes (`-s`).
    pub data_size_bytes: u64,
    /// From the start signal to the end of the last task; absent when the run ended before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_s: Option<Seconds>,
}

/// What hackbench's tasks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HackbenchMode {
    /// Processes (`-P`, the default).
    Process,
    /// Threads (`-T`).
    Thread,
}

impl Reports for HackbenchResult {
    fn figures(&self, _run: &RunResult, figures: &mut Figures) {
        if let Some(time) = self.time_s {
            figures.nanos("time", "time", Better::Lower, time.as_ns()).headline();
        }
    }
}
