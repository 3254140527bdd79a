//! wakeup-latency, the program of seed 003 (fair-class 13.2).

use serde::{Deserialize, Serialize};

use super::Reports;
use crate::{Better, Figures, LatencySummary, RunResult, percentile_step};

/// Results of wakeup-latency, the program of seed 003 (fair-class 13.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WakeupLatencyResult {
    /// The load as it was given.
    pub load: String,
    /// Who serves the expiries.
    pub mode: WakeupLatencyMode,
    /// Period of the timer, nanoseconds.
    pub period_ns: u64,
    /// From the intended time of an expiry to the clock read by its callback.
    pub latency_ns: LatencySummary,
    /// Expiries that passed while the signal of an earlier one was pending.
    pub missed: u64,
}

/// Who serves the expiries of wakeup-latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WakeupLatencyMode {
    /// A new thread for each (SIGEV_THREAD).
    SigevThread,
    /// One thread that sleeps (`-x`).
    Nanosleep,
}

impl Reports for WakeupLatencyResult {
    fn figures(&self, _run: &RunResult, figures: &mut Figures) {
        let latency = &self.latency_ns;
        figures.count("events", "events", Better::Higher, latency.count);
        figures.count("missed", "missed timer events", Better::Lower, self.missed);
        if latency.count == 0 {
            return;
        }
        figures.nanos("max", "maximum latency", Better::Lower, latency.max).headline();
        figures.nanos("avg", "average latency", Better::Lower, latency.mean).headline();
        figures
            .nanos("p99", "p99 latency", Better::Lower, latency.p99)
            .in_steps_of(percentile_step(latency.p99));
    }
}
