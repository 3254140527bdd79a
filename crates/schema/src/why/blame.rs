//! What the latencies of tasks are due to.

use super::Cause;
use crate::Nanos;
use serde::{Deserialize, Serialize};

/// What the latencies of the tasks of a command name are due to, over all of their wakeups.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Blame {
    /// Who was late: a command name.
    pub victim: Box<str>,
    /// How many tasks have it.
    pub tasks: u64,
    /// How often they were woken.
    pub wakeups: u64,
    /// All of their latencies together, nanoseconds.
    #[serde(rename = "total_ns")]
    pub total: Nanos,
    /// The latency that 99 of 100 do not exceed, nanoseconds.
    #[serde(rename = "p99_ns")]
    pub p99: Nanos,
    /// The longest, nanoseconds.
    #[serde(rename = "max_ns")]
    pub max: Nanos,
    /// Each cause with its culprit, the one that takes most first. Each column adds up.
    pub rows: Vec<BlameRow>,
}

/// One cause with one culprit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BlameRow {
    /// The cause and the culprit in words, the same in each run.
    pub due_to: String,
    /// The first time that it occurred.
    pub example: Cause,
    /// How many stretches it has.
    pub times: u64,
    /// How much of all latencies, nanoseconds.
    #[serde(rename = "all_ns")]
    pub all: Nanos,
    /// How much of the one latency that stands at the 99th percentile, nanoseconds.
    #[serde(rename = "p99_ns")]
    pub p99: Nanos,
    /// How much of the latencies above that, nanoseconds.
    #[serde(rename = "tail_ns")]
    pub tail: Nanos,
}

/// How much of the latencies of the tasks of a command name is due to a cause, in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LateBy {
    /// Who was late: a command name.
    pub victim: String,
    /// The cause and the culprit in words.
    pub due_to: String,
    /// How many stretches it has.
    pub times: u64,
    /// How much of all latencies, nanoseconds.
    pub total_ns: u64,
    /// How often the victims were woken, whatever they were late by.
    pub wakeups: u64,
}

impl LateBy {
    /// How much of the mean latency of a wakeup, nanoseconds.
    #[must_use]
    pub fn per_wakeup_ns(&self) -> u64 {
        (self.total_ns + self.wakeups / 2) / self.wakeups.max(1)
    }
}
