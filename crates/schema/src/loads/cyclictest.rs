//! cyclictest of rt-tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::LatencySummary;

/// Results of cyclictest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CyclictestResult {
    /// The load as it was given.
    pub load: String,
    /// Number of one-microsecond buckets asked for with `-h`; absent without it. Buckets are 0 to this less
    /// one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram_us: Option<u64>,
    /// The measuring threads, by number.
    pub threads: Vec<CyclictestThread>,
    /// Largest latency of all threads in the course of the run.
    pub max_over_time: MaxOverTime,
}

/// Largest value of each interval of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MaxOverTime {
    /// Length of an interval, nanoseconds. The first begins at time 0. 100 ms, longer in runs of more than
    /// 100 s.
    pub interval_ns: u64,
    /// Largest of each interval, nanoseconds; 0 where nothing came.
    pub max_ns: Vec<u64>,
}

impl MaxOverTime {
    /// Largest of the intervals that lie wholly between two times of the run; `None` if none does.
    #[must_use]
    pub fn between_ns(&self, from_ns: u64, to_ns: u64) -> Option<u64> {
        let starts = (0..).map(|i: u64| i * self.interval_ns);
        let within = |start: u64| from_ns <= start && start + self.interval_ns <= to_ns;
        self.max_ns.iter().zip(starts).filter(|(_, start)| within(*start)).map(|(max, _)| *max).max()
    }
}

/// One measuring thread of cyclictest. Latency = time read after waking up, less the time the timer was set
/// to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CyclictestThread {
    /// Number of the thread.
    pub t: u32,
    /// Task id.
    pub pid: u32,
    /// Real-time priority.
    pub prio: u32,
    /// Interval, microseconds.
    pub interval_us: u64,
    /// Completed cycles.
    pub cycles: u64,
    /// Smallest latency, whole microseconds (cut, not rounded, as the real tool does).
    pub min_us: u64,
    /// Last latency.
    pub act_us: u64,
    /// Mean latency.
    pub avg_us: u64,
    /// Largest latency.
    pub max_us: u64,
    /// The same latencies in nanoseconds, finer than the real tool tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<LatencySummary>,
    /// Count by latency in whole microseconds; buckets that are empty are left out.
    pub histogram: UsHistogram,
    /// Latencies beyond the last bucket.
    pub overflows: u64,
    /// Numbers of the first cycles that fell beyond the last bucket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overflow_cycles: Vec<u64>,
}

/// Counts by whole microseconds. In JSON an object `{"5": 1, "6": 1165}`, as rt-tests writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct UsHistogram {
    /// Count of each latency in microseconds.
    pub counts: BTreeMap<u64, u64>,
}

impl UsHistogram {
    /// Adds one sample.
    pub fn record_us(&mut self, us: u64) {
        *self.counts.entry(us).or_insert(0) += 1;
    }

    /// Number of samples in the buckets.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Count of one bucket.
    #[must_use]
    pub fn count_at(&self, us: u64) -> u64 {
        self.counts.get(&us).copied().unwrap_or(0)
    }
}

impl<'de> Deserialize<'de> for UsHistogram {
    // By hand, because serde cannot read integer keys inside a tagged enum.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = BTreeMap::<String, u64>::deserialize(deserializer)?;
        let mut counts = BTreeMap::new();
        for (key, count) in raw {
            let us = key.parse().map_err(|_| {
                serde::de::Error::custom(format!("histogram key {key:?} is not a number of microseconds"))
            })?;
            counts.insert(us, count);
        }
        Ok(Self { counts })
    }
}
