//! What would have helped: the same run with one thing changed from just before the moment on.

use crate::Nanos;
use serde::Serialize;

/// What was tried against a latency: first what helps and costs nobody much, then what helps at the cost of
/// others, then the rest; of each kind the shortest latency first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Remedies {
    /// From when on things were changed, nanoseconds.
    #[serde(rename = "from_ns")]
    pub from: Nanos,
    /// The longest latency from then on of the tasks with this command name, without any change,
    /// nanoseconds.
    #[serde(rename = "worst_later_ns")]
    pub worst_later: Nanos,
    /// Of a wait in a recording, where it was tried; absent where that is the run itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<ReplayedWait>,
    /// Whether any of it helps.
    pub any_helps: bool,
    /// Each change.
    pub tried: Vec<Remedy>,
}

/// The wait in a replay that is most like one of the recording: of the same task, about as long, and
/// nearest to it in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReplayedWait {
    /// When it is due there, nanoseconds on the recording's clock.
    #[serde(rename = "due_ns")]
    pub due_at: Nanos,
    /// How long it takes without any change, nanoseconds.
    #[serde(rename = "latency_ns")]
    pub latency: Nanos,
}

/// A change, and what comes of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Remedy {
    /// What is changed: a setting as `--set` takes it, or a step in words.
    pub change: String,
    /// Why it was tried, a sentence.
    pub because: String,
    /// The latency of the same wakeup then, nanoseconds.
    #[serde(rename = "latency_ns")]
    pub latency: Nanos,
    /// The longest latency from then on of the tasks with this command name, nanoseconds. Any change shifts
    /// what comes later, so that the same wakeup may come off well by chance.
    #[serde(rename = "worst_later_ns")]
    pub worst_later: Nanos,
    /// Whether it helps: both are shorter by a tenth at least.
    pub helps: bool,
    /// Whether others pay for it: the longest latency of all other tasks is longer by a tenth at least, or
    /// their waiting time is, and by a hundredth of the time from the moment to the end of the run.
    pub costs_others: bool,
    /// What gets worse, or better, elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<RemedyCost>,
}

/// What a change does to others, from the moment on to the end of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemedyCost {
    /// Which figure, with its unit: `worst_latency_of_others_ns`, `waiting_time_of_others_ns`,
    /// `context_switches`.
    pub what: String,
    /// Without the change.
    pub before: u64,
    /// With it.
    pub after: u64,
}
