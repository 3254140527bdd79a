//! The replay of a trace.

use serde::{Deserialize, Serialize};

use super::Reports;
use crate::{Better, Figures, RunResult, Seconds};

/// Results of the replay of a trace. How close it came to the recording is in [`crate::ReplayFidelity`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayResult {
    /// The load as it was given: the trace's file name.
    pub load: String,
    /// Tasks that were replayed.
    pub tasks: u32,
    /// CPU bursts in the trace.
    pub bursts: u64,
    /// Of these, how many were run to their end.
    pub bursts_completed: u64,
    /// Length of the recording.
    pub recorded_s: Seconds,
    /// From the start to the end of the last burst of any task, kernel threads included; absent when the run
    /// ended before, or when some tasks could not go on (a note names them).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Seconds>,
    /// When what was recorded is done; absent if nothing in the recording exits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<ReplayFinish>,
}

/// When what was recorded is done: the last exit among the recorded command and its descendants, and where
/// the trace does not show a command, among all tasks that exit in the recording, kernel threads left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayFinish {
    /// Name of the recorded command; absent where the trace shows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comm: Option<String>,
    /// Tasks that exit.
    pub tasks: u32,
    /// Whether its tasks seem to end when the time is up, not when their work is done: then no replay tells
    /// when they would be done on another machine, and the verdict gives no answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_clock: bool,
    /// Whether its tasks end at one moment after equal work, so that the clock may end them as well as their
    /// work: the verdict gives no answer then, either.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub perhaps_by_clock: bool,
    /// Whether not all of the machine's CPUs were recorded: what its tasks did on the others is missing, and
    /// the verdict gives no answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_some_cpus: bool,
    /// The last exit in the recording, from its start; absent for a workload file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_s: Option<Seconds>,
    /// The last exit in the replay, from the start of the recording; absent if some task had not exited when
    /// the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Seconds>,
}

impl ReplayFinish {
    /// Whether it is an answer for other machines: all work was recorded, and is known to end it.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        !self.by_clock && !self.perhaps_by_clock && !self.of_some_cpus
    }
}

impl Reports for ReplayResult {
    fn figures(&self, _run: &RunResult, figures: &mut Figures) {
        if let Some(finish) = &self.finish
            && let Some(time) = finish.seconds
        {
            let label =
                finish.comm.as_ref().map_or("last exit".to_owned(), |name| format!("of {name} finished"));
            figures.nanos("finish", &label, Better::Lower, time.as_ns()).headline();
        }
        if let Some(time) = self.seconds {
            // Often that of a thread of the kernel, which nobody waits for.
            figures.nanos("time", "last burst", Better::Lower, time.as_ns());
        }
        // Threads of the kernel that a smaller machine does not have take theirs with them.
        figures.count("bursts_completed", "bursts completed", Better::Neutral, self.bursts_completed);
    }
}
