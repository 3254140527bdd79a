//! Deadline tasks: what they asked for, and what became of it (deadline-groups A13).

use serde::{Deserialize, Serialize};

use crate::figures::figures;
use crate::{Better, Field, Figure, Fold};

/// Tasks of any load that are deadline tasks, because somebody says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeadlineText {
    /// A name, a pattern of names or a pid; the name is that with which a task begins.
    pub task: String,
    /// Run time in each period (`sched_runtime`), nanoseconds.
    pub runtime_ns: u64,
    /// From the begin of a period to when it is to be done (`sched_deadline`), nanoseconds.
    pub deadline_ns: u64,
    /// The period (`sched_period`), nanoseconds.
    pub period_ns: u64,
    /// Whether it also uses what others leave (SCHED_FLAG_RECLAIM).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reclaims: bool,
}

/// What a deadline task asked for, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeadlineResult {
    /// Run time in each period (`sched_runtime`), nanoseconds.
    pub runtime_ns: u64,
    /// From the begin of a period to when it is to be done (`sched_deadline`), nanoseconds.
    pub deadline_ns: u64,
    /// The period (`sched_period`), nanoseconds.
    pub period_ns: u64,
    /// Whether it also uses what others leave (SCHED_FLAG_RECLAIM).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reclaims: bool,
    /// Its jobs and its budget.
    pub stat: DeadlineStat,
}

figures! {
    /// Jobs and budgets of a deadline task. A job lasts from a wakeup to the next sleep or sched_yield(), or
    /// from when it was due if the one before took longer than that. Times in nanoseconds.
    DeadlineStat:

    /// Jobs that were done.
    sum jobs: u64, Neutral "jobs", metric 0;

    /// Jobs that took longer than the deadline that the task had asked for.
    sum missed: u64, Lower "missed deadlines", metric 1 headline;

    /// The longest job. Its lateness is what this is above the deadline.
    max longest_response_ns: u64, Lower "longest response", metric 2;

    /// Times at which it had used up its run time and had to wait for its next period.
    sum throttles: u64, Lower "times throttled", metric 3;

    /// How long it waited for that, asleep or not.
    sum throttled_ns: u64, Lower "throttled time", metric 4;

    /// Budgets that it was given when it had used up one, or had given it back.
    sum replenishments: u64, Neutral "replenishments", metric 5;
}
