//! cyclictest of rt-tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::Reports;
use crate::{Better, Figures, LatencySummary, Phase, RunResult, percentile_step};

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

impl Reports for CyclictestResult {
    fn figures(&self, run: &RunResult, figures: &mut Figures) {
        self.latencies(figures);
        self.phases(&run.phases(), figures);
    }
}

impl CyclictestResult {
    fn latencies(&self, figures: &mut Figures) {
        let latencies: Vec<(&CyclictestThread, ThreadLatency)> =
            self.threads.iter().filter_map(|t| Some((t, ThreadLatency::of(t)?))).collect();
        let resolution = latencies.iter().map(|(_, latency)| latency.resolution).max().unwrap_or(1);
        let p99_resolution = latencies.iter().map(|(_, latency)| latency.p99_resolution).max().unwrap_or(1);
        if let Some(worst) = latencies.iter().map(|(_, latency)| latency.max).max() {
            figures
                .nanos("worst_latency", "worst latency", Better::Lower, worst)
                .in_steps_of(resolution)
                .headline();
        }
        let p99: Option<Vec<u64>> = latencies.iter().map(|(_, latency)| latency.p99).collect();
        if let Some(worst) = p99.and_then(|all| all.into_iter().max()) {
            figures
                .nanos("p99_latency", "p99 of worst thread", Better::Lower, worst)
                .in_steps_of(p99_resolution)
                .headline();
        }
        if let Some(p999) = p999_of_all_us(&self.threads) {
            figures.nanos("p999_of_all", "p99.9 of all threads", Better::Lower, p999 * US).in_steps_of(US);
        }
        let cycles: u128 = latencies.iter().map(|(thread, _)| u128::from(thread.cycles)).sum();
        let sum: u128 = latencies
            .iter()
            .map(|(thread, latency)| u128::from(thread.cycles) * u128::from(latency.mean))
            .sum();
        if let Some(mean) = sum.checked_div(cycles) {
            figures.nanos("mean_latency", "mean latency", Better::Lower, mean as u64).in_steps_of(resolution);
        }
        figures.count("cycles", "cycles", Better::Higher, self.threads.iter().map(|t| t.cycles).sum());
        if latencies.len() < 2 {
            return;
        }
        for (thread, latency) in &latencies {
            let (key, label) = (format!("t{}", thread.t), format!("T{}", thread.t));
            let mut one = |figure: &str, value: u64| {
                let (key, label) = (format!("{key}.{figure}"), format!("{label} {figure}"));
                figures.nanos(&key, &label, Better::Lower, value).in_steps_of(latency.resolution);
            };
            one("min", latency.min);
            one("max", latency.max);
            one("avg", latency.mean);
            if let Some(p99) = latency.p99 {
                let (key, label) = (format!("{key}.p99"), format!("{label} p99"));
                figures.nanos(&key, &label, Better::Lower, p99).in_steps_of(latency.p99_resolution);
            }
        }
    }

    /// Where settings changed in the middle of the run: the worst latency before and after.
    fn phases(&self, phases: &[Phase], figures: &mut Figures) {
        if phases.len() < 2 {
            return;
        }
        for (number, phase) in (1..).zip(phases) {
            if let Some(max) = self.max_over_time.between_ns(phase.from_ns, phase.to_ns) {
                let (key, label) =
                    (format!("phase{number}.worst_latency"), format!("phase {number} worst latency"));
                figures.nanos(&key, &label, Better::Lower, max);
            }
        }
    }
}

/// Nanoseconds of cyclictest's own resolution, a microsecond.
const US: u64 = 1_000;

/// The latencies of one cyclictest thread in nanoseconds, from the finest source it has.
struct ThreadLatency {
    min: u64,
    mean: u64,
    /// Absent when a histogram with a limit cannot tell.
    p99: Option<u64>,
    max: u64,
    /// Step of mean and maximum.
    resolution: u64,
    /// Step of the percentile.
    p99_resolution: u64,
}

impl ThreadLatency {
    fn of(thread: &CyclictestThread) -> Option<Self> {
        if thread.cycles == 0 {
            return None;
        }
        if let Some(ns) = &thread.latency_ns {
            let p99_resolution = percentile_step(ns.p99);
            return Some(Self {
                min: ns.min,
                mean: ns.mean,
                p99: Some(ns.p99),
                max: ns.max,
                resolution: 1,
                p99_resolution,
            });
        }
        Some(Self {
            min: thread.min_us * US,
            mean: thread.avg_us * US,
            p99: p99_us(thread).map(|us| us * US),
            max: thread.max_us * US,
            resolution: US,
            p99_resolution: US,
        })
    }
}

/// The 99.9th percentile of all threads together, where all have a histogram (`-h`); `None` when it lies
/// beyond the last bucket. Those of single threads cannot be added up.
fn p999_of_all_us(threads: &[CyclictestThread]) -> Option<u64> {
    let mut all = UsHistogram::default();
    let mut samples = 0;
    for thread in threads {
        samples += thread.histogram.total() + thread.overflows;
        for (us, count) in &thread.histogram.counts {
            *all.counts.entry(*us).or_default() += count;
        }
    }
    let cycles: u64 = threads.iter().map(|thread| thread.cycles).sum();
    let rank = samples - samples / 1_000;
    let mut counted = 0;
    all.counts.iter().filter(|_| samples == cycles).find_map(|(&us, &count)| {
        counted += count;
        (counted >= rank).then_some(us)
    })
}

/// The 99th percentile in a histogram; `None` when it lies beyond the last bucket.
fn p99_us(thread: &CyclictestThread) -> Option<u64> {
    let samples = thread.histogram.total() + thread.overflows;
    let rank = samples - samples / 100;
    let mut counted = 0;
    thread.histogram.counts.iter().find_map(|(&us, &count)| {
        counted += count;
        (counted >= rank).then_some(us)
    })
}
