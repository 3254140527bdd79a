//! fork_storm (fair-class 13.6).

use serde::{Deserialize, Serialize};

use super::Reports;
use crate::{Better, Figures, RunResult};

/// Results of fork_storm (fair-class 13.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ForkStormResult {
    /// The load as it was given.
    pub load: String,
    /// Jobs that may live at one time (`-j`).
    pub jobs: u32,
    /// Processes, or threads, that the storm created.
    pub forks: u64,
    /// Jobs that came to their end.
    pub finished: u64,
    /// Hogs beside the storm.
    pub hogs: u32,
    /// CPU time of all hogs, nanoseconds.
    pub hog_cpu_ns: u64,
    /// How long that took, nanoseconds.
    pub elapsed_ns: u64,
}

impl ForkStormResult {
    /// CPU time of all hogs over the time it took, thousandths of one CPU.
    #[must_use]
    pub fn hog_share_permille(&self) -> u64 {
        let share = u128::from(self.hog_cpu_ns) * 1_000 + u128::from(self.elapsed_ns) / 2;
        share.checked_div(u128::from(self.elapsed_ns)).unwrap_or(0) as u64
    }
}

impl Reports for ForkStormResult {
    fn figures(&self, _run: &RunResult, figures: &mut Figures) {
        if self.hogs > 0 {
            let share = self.hog_share_permille();
            figures.count("hog_share_permille", "hogs' share (permille)", Better::Higher, share).headline();
        }
        figures.count("forks", "forks", Better::Higher, self.forks);
        figures.count("finished", "jobs done", Better::Higher, self.finished).headline();
    }
}
