//! Latencies that programs write down while they run.

use crate::max_series::MaxSeries;
use scheduler::Nanos;
use schema::{Histogram, Precision};
use std::cell::{Ref, RefCell};
use std::rc::Rc;

/// Latencies of one thread, shared between its program and whoever reads the result.
#[derive(Clone, Debug)]
pub struct LatencyRecorder {
    stats: Rc<RefCell<LatencyStats>>,
    series: Option<MaxSeries>,
}

impl LatencyRecorder {
    /// Nothing recorded yet, no histogram, no limit.
    pub fn new() -> LatencyRecorder {
        LatencyRecorder::of(LatencyStats::new())
    }

    /// As [`LatencyRecorder::new`], with a histogram of `buckets` whole microseconds, 0 to `buckets` − 1.
    pub fn with_histogram(buckets: usize) -> LatencyRecorder {
        let mut stats = LatencyStats::new();
        stats.histogram = Some(Box::new(UsHistogram { counts: vec![0; buckets], ..UsHistogram::default() }));
        LatencyRecorder::of(stats)
    }

    /// As [`LatencyRecorder::new`], counting the samples above `limit` (a deadline).
    pub fn with_limit(limit: Nanos) -> LatencyRecorder {
        let mut stats = LatencyStats::new();
        stats.limit = limit;
        LatencyRecorder::of(stats)
    }

    fn of(stats: LatencyStats) -> LatencyRecorder {
        LatencyRecorder { stats: Rc::new(RefCell::new(stats)), series: None }
    }

    /// The samples also go into this series.
    pub fn also_into(mut self, series: &MaxSeries) -> LatencyRecorder {
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

impl Default for LatencyRecorder {
    fn default() -> LatencyRecorder {
        LatencyRecorder::new()
    }
}

/// Latencies in constant space.
#[derive(Clone, Debug)]
pub struct LatencyStats {
    all: Histogram,
    last: Nanos,
    /// [`Nanos::NEVER`]: none.
    limit: Nanos,
    over_limit: u64,
    /// In a box, as most have none.
    histogram: Option<Box<UsHistogram>>,
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
            all: Histogram::new(Precision::OneDigit),
            last: Nanos::ZERO,
            limit: Nanos::NEVER,
            over_limit: 0,
            histogram: None,
        }
    }

    fn record(&mut self, latency: Nanos) {
        if let Some(h) = &mut self.histogram {
            match h.counts.get_mut((latency.0 / 1_000) as usize) {
                Some(bucket) => *bucket += 1,
                None => {
                    h.overflows += 1;
                    if h.overflow_cycles.len() < h.counts.len() {
                        h.overflow_cycles.push(self.all.count());
                    }
                }
            }
        }
        self.all.record(latency.0);
        self.last = latency;
        self.over_limit += u64::from(latency > self.limit);
    }

    /// All of them.
    pub fn all(&self) -> &Histogram {
        &self.all
    }

    /// Latest sample; zero without one.
    pub fn last(&self) -> Nanos {
        self.last
    }

    /// By how much the longest sample is above that limit, if it is; `None` without a limit.
    pub fn most_over_limit(&self) -> Option<Nanos> {
        (self.limit < Nanos::NEVER).then(|| Nanos(self.all.max_ns()).saturating_sub(self.limit))
    }

    /// Samples above the limit of [`LatencyRecorder::with_limit`]; `None` without a limit.
    pub fn over_limit(&self) -> Option<u64> {
        (self.limit < Nanos::NEVER).then_some(self.over_limit)
    }

    /// The histogram of [`LatencyRecorder::with_histogram`].
    pub fn histogram(&self) -> Option<&UsHistogram> {
        self.histogram.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_above_the_limit_are_counted() {
        let recorder = LatencyRecorder::with_limit(Nanos::from_micros(990));
        (1..=1_000).rev().for_each(|us| recorder.record(Nanos::from_micros(us)));
        let stats = recorder.stats();
        assert_eq!((stats.all().count(), stats.over_limit()), (1_000, Some(10)));
        assert_eq!(stats.most_over_limit(), Some(Nanos::from_micros(10)));
        assert_eq!((stats.all().mean_ns(), stats.last()), (500_500, Nanos::from_micros(1)));
        assert_eq!(LatencyRecorder::new().stats().over_limit(), None);
    }

    #[test]
    fn a_histogram_cuts_to_microseconds_and_counts_what_lies_beyond() {
        let recorder = LatencyRecorder::with_histogram(3);
        for ns in [999, 1_000, 2_999, 3_000, 1_999] {
            recorder.record(Nanos(ns));
        }
        let stats = recorder.stats();
        let expected = UsHistogram { counts: vec![1, 2, 1], overflows: 1, overflow_cycles: vec![3] };
        assert_eq!(stats.histogram(), Some(&expected));
    }
}
