//! A histogram of latencies with exact extremes and sum.

use hdrhistogram::Histogram;
use scheduler::Nanos;

/// Latencies in nanoseconds: quantiles to two significant digits, everything else exact.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Histogram<u64>,
    min: Nanos,
    max: Nanos,
    sum: Nanos,
}

impl Default for Latency {
    fn default() -> Latency {
        let histogram = Histogram::new(2).expect("two significant digits are allowed");
        Latency { histogram, min: Nanos::NEVER, max: Nanos::ZERO, sum: Nanos::ZERO }
    }
}

impl Latency {
    /// Adds one.
    pub fn record(&mut self, latency: Nanos) {
        self.histogram.record(latency.0).expect("a resizing histogram takes every value below 2⁶³");
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        self.sum += latency;
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Smallest; zero if none was recorded.
    pub fn min(&self) -> Nanos {
        if self.count() == 0 { Nanos::ZERO } else { self.min }
    }

    /// Largest; zero if none was recorded.
    pub fn max(&self) -> Nanos {
        self.max
    }

    /// Sum of all.
    pub fn sum(&self) -> Nanos {
        self.sum
    }

    /// The value that `per_mille` thousandths of all do not exceed, to two significant digits and never above the
    /// maximum.
    pub fn quantile(&self, per_mille: u32) -> Nanos {
        Nanos(self.histogram.value_at_quantile(f64::from(per_mille) / 1000.0)).min(self.max)
    }

    /// The recorded distribution.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_and_sum_are_exact() {
        let mut latency = Latency::default();
        assert_eq!((latency.min(), latency.max(), latency.count()), (Nanos(0), Nanos(0), 0));
        for ns in [123_457, 1, 999_999_999] {
            latency.record(Nanos(ns));
        }
        assert_eq!((latency.min(), latency.max()), (Nanos(1), Nanos(999_999_999)));
        assert_eq!(latency.sum(), Nanos(123_457 + 1 + 999_999_999));
        assert!(latency.quantile(500).0.abs_diff(123_457) < 1_235);
    }
}
