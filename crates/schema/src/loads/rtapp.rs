//! What an rt-app file reports: the columns of rt-app's log, summed up over the loops of each thread.

use serde::{Deserialize, Serialize};

/// Results of an rt-app file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RtappResult {
    /// The load as it was given.
    pub load: String,
    /// The threads: those of the file in its order, then the forked ones.
    pub threads: Vec<RtappThread>,
}

/// One thread of an rt-app file. A loop is what makes a line of rt-app's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RtappThread {
    /// Number of the thread within the load.
    pub t: u32,
    /// Task id; absent if it never ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Name of the task in the file, and the number of the thread.
    pub name: String,
    /// Completed loops.
    pub loops: u64,
    /// Work done, in thousands of calibration loops; absent where the file gives no number for `calibration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perf: Option<u64>,
    /// What the run events of all loops ask for, nanoseconds.
    pub c_duration_ns: u64,
    /// What the timer events of all loops ask for, nanoseconds.
    pub c_period_ns: u64,
    /// Time on the clock that the run events of a loop took, preemptions included.
    pub run_ns: RtappColumn,
    /// Time on the clock that a loop took.
    pub period_ns: RtappColumn,
    /// Loops with negative slack; absent without timers, as the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Time left when the last timer of a loop was reached; negative if it was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack_ns: Option<RtappColumn>,
    /// From the end of a timer to the thread's running on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wu_lat_ns: Option<RtappColumn>,
}

/// A column of the log, nanoseconds; all zero without a loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RtappColumn {
    /// Smallest.
    pub min: i64,
    /// Mean, cut to whole nanoseconds.
    pub mean: i64,
    /// Largest.
    pub max: i64,
}
