//! What an rt-app file reports: the columns of rt-app's log, summed up over the loops of each thread.

use serde::{Deserialize, Serialize};

use super::Reports;
use crate::{Better, Figures, RunResult};

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

impl Reports for RtappResult {
    // Slack may be negative, which no figure can be; late loops tell of it.
    fn figures(&self, _run: &RunResult, figures: &mut Figures) {
        let threads = &self.threads;
        figures.count("loops", "loops", Better::Higher, threads.iter().map(|t| t.loops).sum()).headline();
        let late: Vec<u64> = threads.iter().filter_map(|t| t.late).collect();
        if !late.is_empty() {
            figures.count("late", "late loops", Better::Lower, late.iter().sum()).headline();
        }
        let most = |column: Option<RtappColumn>| column.map_or(0, |c| c.max.unsigned_abs());
        if let Some(worst) = threads.iter().filter(|t| t.wu_lat_ns.is_some()).map(|t| most(t.wu_lat_ns)).max()
        {
            figures.nanos("worst_wu_lat", "worst wu_lat", Better::Lower, worst).headline();
        }
        if threads.len() < 2 {
            return;
        }
        for t in threads {
            let (key, name) = (format!("t{}", t.t), &t.name);
            figures.count(&format!("{key}.loops"), &format!("{name} loops"), Better::Higher, t.loops);
            if let Some(late) = t.late {
                figures.count(&format!("{key}.late"), &format!("{name} late"), Better::Lower, late);
            }
            let longest = most(Some(t.run_ns));
            figures.nanos(&format!("{key}.run"), &format!("{name} longest run"), Better::Lower, longest);
            if t.wu_lat_ns.is_some() {
                let worst = most(t.wu_lat_ns);
                figures.nanos(
                    &format!("{key}.wu_lat"),
                    &format!("{name} worst wu_lat"),
                    Better::Lower,
                    worst,
                );
            }
        }
    }
}
