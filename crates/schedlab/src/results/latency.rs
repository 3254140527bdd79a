//! Latencies, as the machine and as the loads record them.

use machine::Latency;
use schema::LatencySummary;
use workload::record::LatencyStats;

/// From wakeup to run, of a task that may never have been woken.
pub fn of_machine(latency: Option<&Latency>) -> LatencySummary {
    let Some(latency) = latency.filter(|l| l.count() > 0) else { return LatencySummary::default() };
    LatencySummary {
        count: latency.count(),
        min: latency.min().0,
        mean: latency.sum().0 / latency.count(),
        p50: latency.quantile(500).0,
        p90: latency.quantile(900).0,
        p99: latency.quantile(990).0,
        p999: latency.quantile(999).0,
        max: latency.max().0,
    }
}

/// What a load measured itself.
pub fn of_load(stats: &LatencyStats) -> LatencySummary {
    LatencySummary {
        count: stats.count(),
        min: stats.min().0,
        mean: stats.mean().0,
        p50: stats.quantile(500).0,
        p90: stats.quantile(900).0,
        p99: stats.quantile(990).0,
        p999: stats.quantile(999).0,
        max: stats.max().0,
    }
}
