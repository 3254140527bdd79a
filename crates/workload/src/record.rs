//! What programs write down while they run: latencies, and flags that stop each other.

use crate::max_series::MaxSeries;
use scheduler::Nanos;
use std::cell::{Cell, Ref, RefCell};
use std::rc::Rc;

/// Sub-buckets of each power of two in [`LatencyStats`]; quantiles are at most 1/16 too high.
const SUB_BUCKETS: usize = 16;
/// Values from here on share the last bucket: 2⁴⁰ ns are 18 minutes.
const LARGEST_OCTAVE: usize = 40;
const LOG_BUCKETS: usize = (LARGEST_OCTAVE - 3) * SUB_BUCKETS;

/// Latencies of one thread, shared between its program and whoever reads the result.
#[derive(Clone, Debug)]
pub struct Recorder {
    stats: Rc<RefCell<LatencyStats>>,
    series: Option<MaxSeries>,
}

impl Recorder {
    /// Nothing recorded yet, no histogram, no limit.
    pub fn new() -> Recorder {
        Recorder::of(LatencyStats::new())
    }

    /// As [`Recorder::new`], with a histogram of `buckets` whole microseconds, 0 to `buckets` − 1.
    pub fn with_histogram(buckets: usize) -> Recorder {
        let mut stats = LatencyStats::new();
        stats.histogram = Some(UsHistogram { counts: vec![0; buckets], ..UsHistogram::default() });
        Recorder::of(stats)
    }

    /// As [`Recorder::new`], counting the samples above `limit` (a deadline).
    pub fn with_limit(limit: Nanos) -> Recorder {
        let mut stats = LatencyStats::new();
        stats.limit = Some(limit);
        Recorder::of(stats)
    }

    fn of(stats: LatencyStats) -> Recorder {
        Recorder { stats: Rc::new(RefCell::new(stats)), series: None }
    }

    /// The samples also go into this series.
    pub fn also_into(mut self, series: &MaxSeries) -> Recorder {
        self.series = Some(series.clone());
        self
    }

    /// Adds one sample; a series has no place for it, because it does not say when it was taken.
    #[inline]
    pub fn record(&self, latency: Nanos) {
        self.stats.borrow_mut().record(latency);
    }

    /// Adds one sample, taken at this time of the run.
    #[inline]
    pub fn record_at(&self, at: Nanos, latency: Nanos) {
        self.record(latency);
        if let Some(series) = &self.series {
            series.record(at, latency);
        }
    }

    /// What was recorded so far.
    pub fn stats(&self) -> Ref<'_, LatencyStats> {
        self.stats.borrow()
    }
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder::new()
    }
}

/// Summary of many latencies in constant space.
#[derive(Clone, Debug)]
pub struct LatencyStats {
    count: u64,
    sum_ns: u64,
    min: Nanos,
    max: Nanos,
    last: Nanos,
    limit: Option<Nanos>,
    over_limit: u64,
    histogram: Option<UsHistogram>,
    log: Box<[u64; LOG_BUCKETS]>,
}

/// Counts by whole microseconds, as cyclictest's `-h` prints them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UsHistogram {
    /// Count of the latencies from i to i + 1 microseconds, at index i.
    pub counts: Vec<u64>,
    /// Latencies beyond the last bucket.
    pub overflows: u64,
    /// Numbers of the cycles, from 0, of these; as many as there are buckets, like the real tool.
    pub overflow_cycles: Vec<u64>,
}

impl LatencyStats {
    fn new() -> LatencyStats {
        LatencyStats {
            count: 0,
            sum_ns: 0,
            min: Nanos::NEVER,
            max: Nanos::ZERO,
            last: Nanos::ZERO,
            limit: None,
            over_limit: 0,
            histogram: None,
            log: Box::new([0; LOG_BUCKETS]),
        }
    }

    fn record(&mut self, latency: Nanos) {
        if let Some(h) = &mut self.histogram {
            match h.counts.get_mut((latency.0 / 1_000) as usize) {
                Some(bucket) => *bucket += 1,
                None => {
                    h.overflows += 1;
                    if h.overflow_cycles.len() < h.counts.len() {
                        h.overflow_cycles.push(self.count);
                    }
                }
            }
        }
        self.count += 1;
        self.sum_ns += latency.0;
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        self.last = latency;
        self.over_limit += u64::from(self.limit.is_some_and(|limit| latency > limit));
        self.log[log_bucket(latency.0)] += 1;
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest sample; zero without one.
    pub fn min(&self) -> Nanos {
        if self.count == 0 { Nanos::ZERO } else { self.min }
    }

    /// Largest sample; zero without one.
    pub fn max(&self) -> Nanos {
        self.max
    }

    /// Latest sample; zero without one.
    pub fn last(&self) -> Nanos {
        self.last
    }

    /// Mean, rounded down; zero without a sample.
    pub fn mean(&self) -> Nanos {
        Nanos(self.sum_ns.checked_div(self.count).unwrap_or(0))
    }

    /// Samples above the limit of [`Recorder::with_limit`]; `None` without a limit.
    pub fn over_limit(&self) -> Option<u64> {
        self.limit.map(|_| self.over_limit)
    }

    /// The histogram of [`Recorder::with_histogram`].
    pub fn histogram(&self) -> Option<&UsHistogram> {
        self.histogram.as_ref()
    }

    /// A value that `per_mille` of 1000 samples do not exceed: exact below 32 ns, else at most 1/16 too high,
    /// and never above the largest sample. Zero without a sample.
    pub fn quantile(&self, per_mille: u64) -> Nanos {
        let wanted = (u128::from(self.count) * u128::from(per_mille)).div_ceil(1_000).max(1);
        let mut seen = 0;
        for (bucket, count) in self.log.iter().enumerate() {
            seen += u128::from(*count);
            if seen >= wanted {
                return Nanos(largest_in(bucket)).min(self.max);
            }
        }
        self.max
    }
}

/// Bucket of a value: exact below 16, then sixteen to a power of two.
fn log_bucket(value: u64) -> usize {
    let octave = (value | 8).ilog2() as usize;
    if octave < 4 {
        return value as usize;
    }
    let octave = octave.min(LARGEST_OCTAVE - 1);
    let sub = ((value >> (octave - 4)) as usize - SUB_BUCKETS).min(SUB_BUCKETS - 1);
    (octave - 3) * SUB_BUCKETS + sub
}

/// Largest value of a bucket. The last bucket has none: callers cap it at the maximum.
fn largest_in(bucket: usize) -> u64 {
    if bucket < SUB_BUCKETS {
        return bucket as u64;
    }
    if bucket == LOG_BUCKETS - 1 {
        return u64::MAX;
    }
    let shift = bucket / SUB_BUCKETS - 1;
    ((((bucket % SUB_BUCKETS + SUB_BUCKETS) as u64) + 1) << shift) - 1
}

/// Something that one task tells others through memory, such as "stop"; off at first.
#[derive(Clone, Debug, Default)]
pub struct Flag(Rc<Cell<bool>>);

impl Flag {
    /// Turns it on.
    pub fn raise(&self) {
        self.0.set(true);
    }

    /// Whether it is on.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_buckets_are_contiguous_and_narrow() {
        let mut value = 0u64;
        for bucket in 0..LOG_BUCKETS - 1 {
            assert_eq!(log_bucket(value), bucket, "first value {value}");
            let largest = largest_in(bucket);
            assert_eq!(log_bucket(largest), bucket, "last value {largest}");
            assert!(largest - value <= value / 16);
            value = largest + 1;
        }
        assert_eq!(log_bucket(u64::MAX), LOG_BUCKETS - 1);
    }

    #[test]
    fn summary_of_one_to_a_thousand_microseconds() {
        let recorder = Recorder::with_limit(Nanos::from_micros(990));
        (1..=1_000).rev().for_each(|us| recorder.record(Nanos::from_micros(us)));
        let stats = recorder.stats();
        assert_eq!((stats.count(), stats.over_limit()), (1_000, Some(10)));
        assert_eq!((stats.min(), stats.max()), (Nanos::from_micros(1), Nanos::from_micros(1_000)));
        assert_eq!((stats.mean(), stats.last()), (Nanos(500_500), Nanos::from_micros(1)));
        let p50 = stats.quantile(500).0;
        assert!((500_000..=532_000).contains(&p50), "{p50}");
        assert_eq!(stats.quantile(1_000), Nanos::from_micros(1_000));
    }

    #[test]
    fn an_empty_summary_is_zero() {
        let recorder = Recorder::new();
        let stats = recorder.stats();
        assert_eq!((stats.min(), stats.mean(), stats.quantile(500)), (Nanos(0), Nanos(0), Nanos(0)));
        assert_eq!(stats.over_limit(), None);
    }

    #[test]
    fn a_histogram_cuts_to_microseconds_and_counts_what_lies_beyond() {
        let recorder = Recorder::with_histogram(3);
        for ns in [999, 1_000, 2_999, 3_000, 1_999] {
            recorder.record(Nanos(ns));
        }
        let stats = recorder.stats();
        let expected = UsHistogram { counts: vec![1, 2, 1], overflows: 1, overflow_cycles: vec![3] };
        assert_eq!(stats.histogram(), Some(&expected));
    }
}
