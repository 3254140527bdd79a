//! Loads that are only threads in a loop: hog, periodic.

use serde::{Deserialize, Serialize};

use crate::LatencySummary;

/// Results of a load that is only threads in a loop: hog, periodic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThreadsResult {
    /// The load as it was given.
    pub load: String,
    /// The threads, in the order of the load.
    pub threads: Vec<ThreadResult>,
}

/// One thread of a [`ThreadsResult`]. Its CPU time and switches stand in `tasks` under the same pid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThreadResult {
    /// Number of the thread within the load.
    pub t: u32,
    /// Task id.
    pub pid: u32,
    /// Command name.
    pub name: String,
    /// Completed cycles.
    pub cycles: u64,
    /// Cycles that ended after their deadline; absent for a load without deadlines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_misses: Option<u64>,
    /// From the release of a cycle to its end, nanoseconds; absent for a load without releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<LatencySummary>,
}
