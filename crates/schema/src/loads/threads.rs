//! Loads that are only threads in a loop: hog, periodic.

use serde::{Deserialize, Serialize};

use super::Reports;
use crate::{Better, Figures, LatencySummary, RunResult, percentile_step};

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

/// One thread of a load that goes in a loop, or of one of somebody's own. Its CPU time and switches stand in
/// `tasks` under the same pid.
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
    /// By how much the latest cycle ended after its deadline, nanoseconds; absent where `deadline_misses` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_lateness_ns: Option<u64>,
    /// From the release of a cycle to its end, nanoseconds; absent for a load without releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<LatencySummary>,
}

impl Reports for ThreadsResult {
    fn figures(&self, _run: &RunResult, figures: &mut Figures) {
        let cycles = self.threads.iter().map(|t| t.cycles).sum();
        figures.count("cycles", "cycles", Better::Higher, cycles).headline();
        let misses: Vec<u64> = self.threads.iter().filter_map(|t| t.deadline_misses).collect();
        if !misses.is_empty() {
            figures
                .count("deadline_misses", "missed deadlines", Better::Lower, misses.iter().sum())
                .headline();
        }
        if let Some(latest) = self.threads.iter().filter_map(|t| t.longest_lateness_ns).max() {
            figures.nanos("longest_lateness", "longest lateness", Better::Lower, latest);
        }
        let response_max = self.threads.iter().filter_map(|t| Some(t.response_ns.as_ref()?.max)).max();
        if let Some(worst) = response_max {
            figures.nanos("worst_response", "worst response", Better::Lower, worst).headline();
        }
        of_threads(&self.threads, figures);
    }
}

/// What each of several threads did; of one alone the sums have told.
pub(super) fn of_threads(threads: &[ThreadResult], figures: &mut Figures) {
    if threads.len() < 2 {
        return;
    }
    for t in threads {
        let (key, label) = (format!("t{}", t.t), format!("T{}", t.t));
        figures.count(&format!("{key}.cycles"), &format!("{label} cycles"), Better::Higher, t.cycles);
        if let Some(misses) = t.deadline_misses {
            figures.count(
                &format!("{key}.deadline_misses"),
                &format!("{label} missed"),
                Better::Lower,
                misses,
            );
        }
        if let Some(response) = &t.response_ns {
            let (p99_key, p99_label) = (format!("{key}.p99"), format!("{label} response p99"));
            figures
                .nanos(&p99_key, &p99_label, Better::Lower, response.p99)
                .in_steps_of(percentile_step(response.p99));
            let (max_key, max_label) = (format!("{key}.max"), format!("{label} response max"));
            figures.nanos(&max_key, &max_label, Better::Lower, response.max);
        }
    }
}
