//! oltp (fair-class 12.3).

use serde::{Deserialize, Serialize};

use super::seed004::why;
use super::{Reports, per_second};
use crate::{Better, Figures, LatencySummary, RunResult};

/// Results of oltp (fair-class 12.3), without the warm-up unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OltpDb {
    /// PostgreSQL.
    Pgsql,
    /// MySQL.
    Mysql,
}

impl Reports for OltpResult {
    fn figures(&self, run: &RunResult, figures: &mut Figures) {
        let rate = self.requests_per_second();
        figures.count("requests_per_second", "requests per second", Better::Higher, rate).headline();
        figures.count("transactions", "transactions", Better::Higher, self.transactions);
        if self.latency_ns.count > 0 {
            figures.nanos("latency", "mean transaction", Better::Lower, self.latency_ns.mean);
            figures.nanos("latency_max", "longest transaction", Better::Lower, self.latency_ns.max);
        }
        why(run, self.all_requests, figures);
    }
}
