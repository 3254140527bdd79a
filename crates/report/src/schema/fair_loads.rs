//! What the loads of the fair-class documents report.

use serde::{Deserialize, Serialize};

use super::{LatencySummary, Seconds};

/// Results of wakeup-latency, the program of seed 003 (fair-class 13.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[serde(rename_all = "snake_case")]
pub enum WakeupLatencyMode {
    /// A new thread for each (SIGEV_THREAD).
    SigevThread,
    /// One thread that sleeps (`-x`).
    Nanosleep,
}

/// Results of fork_storm (fair-class 13.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForkStormResult {
    /// The load as it was given.
    pub load: String,
    /// Jobs that may live at one time (`-j`).
    pub jobs: u32,
    /// Processes that the storm created.
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

/// Results of keyrepeat, the second test of seed 003 (fair-class 13.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyrepeatResult {
    /// The load as it was given.
    pub load: String,
    /// Time between two keys, nanoseconds.
    pub period_ns: u64,
    /// Keys that were drawn.
    pub frames: u64,
    /// Time between two drawings.
    pub between_ns: LatencySummary,
    /// Standard deviation of these times, nanoseconds: 0 for a cursor that moves evenly.
    pub spread_ns: u64,
    /// Times the cursor stood still for more than two periods.
    pub stops: u64,
    /// From a key to its drawing.
    pub response_ns: LatencySummary,
}

/// Results of vmark (fair-class 12.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VmarkResult {
    /// The load as it was given.
    pub load: String,
    /// Chat rooms.
    pub rooms: u32,
    /// Users of each room.
    pub users: u32,
    /// Messages that clients sent.
    pub sent: u64,
    /// Messages that clients received.
    pub received: u64,
    /// From the start signal to the last message; absent when the run ended before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Seconds>,
}

impl VmarkResult {
    /// Sent and received messages a second, as the benchmark counts them; `None` when the run ended before.
    #[must_use]
    pub fn messages_per_second(&self) -> Option<u64> {
        self.seconds.and_then(|seconds| per_second(self.sent + self.received, seconds.as_ns()))
    }
}

/// Results of oltp (fair-class 12.3), without the warm-up unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OltpResult {
    /// The load as it was given.
    pub load: String,
    /// Database server.
    pub db: OltpDb,
    /// Connections.
    pub clients: u32,
    /// Time before counting, nanoseconds.
    pub warmup_ns: u64,
    /// Time of counting, nanoseconds.
    pub counted_ns: u64,
    /// Answered reads.
    pub reads: u64,
    /// Answered BEGINs and COMMITs.
    pub others: u64,
    /// Committed transactions.
    pub transactions: u64,
    /// Answered requests of all kinds, those of the warm-up included.
    pub all_requests: u64,
    /// From BEGIN to the answer of COMMIT.
    pub latency_ns: LatencySummary,
}

impl OltpResult {
    /// Read/write requests a second, the unit of seed 004.
    #[must_use]
    pub fn requests_per_second(&self) -> u64 {
        per_second(self.reads, self.counted_ns).unwrap_or(0)
    }
}

/// Database servers of oltp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OltpDb {
    /// PostgreSQL.
    Pgsql,
    /// MySQL.
    Mysql,
}

fn per_second(number: u64, ns: u64) -> Option<u64> {
    (u128::from(number) * 1_000_000_000).checked_div(u128::from(ns)).map(|rate| rate as u64)
}
