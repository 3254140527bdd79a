//! Recorded latencies, from single samples to a [`LatencySummary`].

use hdrhistogram::Histogram;

use crate::schema::LatencySummary;

/// Significant decimal digits of the percentiles.
const SIGNIFICANT_DIGITS: u8 = 2;

/// A histogram of latencies in nanoseconds that grows as needed. Percentiles are good to two significant digits;
/// minimum, maximum and mean are exact.
#[derive(Debug, Clone)]
pub struct LatencyHistogram {
    buckets: Histogram<u64>,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        let buckets = Histogram::new(SIGNIFICANT_DIGITS).expect("two digits are within the library's 0 to 5");
        Self { buckets, min_ns: u64::MAX, max_ns: 0, sum_ns: 0 }
    }
}

impl LatencyHistogram {
    /// Adds one sample.
    pub fn record_ns(&mut self, ns: u64) {
        self.record_many_ns(ns, 1);
    }

    /// Adds `count` samples of the same latency.
    pub fn record_many_ns(&mut self, ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.buckets.record_n(ns, count).expect("an auto-resizing histogram holds every u64");
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.sum_ns += u128::from(ns) * u128::from(count);
    }

    /// Adds all samples of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.add(&other.buckets).expect("an auto-resizing histogram takes in any other");
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns += other.sum_ns;
    }

    /// Number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// The latency that a share `quantile` (0.0 to 1.0) of the samples do not exceed, nanoseconds; high by at
    /// most 1 %, never beyond the largest sample. 0 without samples.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        if self.count() == 0 {
            return 0;
        }
        // A bucket answers with its upper end, which may lie beyond every sample.
        self.buckets.value_at_quantile(quantile).clamp(self.min_ns, self.max_ns)
    }

    /// The figures that results are reported in.
    #[must_use]
    pub fn summary(&self) -> LatencySummary {
        let count = self.count();
        if count == 0 {
            return LatencySummary::default();
        }
        let samples = u128::from(count);
        LatencySummary {
            count,
            min: self.min_ns,
            // The mean lies between two u64, so it is one.
            mean: ((self.sum_ns + samples / 2) / samples) as u64,
            p50: self.quantile_ns(0.5),
            p90: self.quantile_ns(0.9),
            p99: self.quantile_ns(0.99),
            p999: self.quantile_ns(0.999),
            max: self.max_ns,
        }
    }
}

impl Extend<u64> for LatencyHistogram {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, samples_ns: I) {
        for ns in samples_ns {
            self.record_ns(ns);
        }
    }
}

impl FromIterator<u64> for LatencyHistogram {
    fn from_iter<I: IntoIterator<Item = u64>>(samples_ns: I) -> Self {
        let mut histogram = Self::default();
        histogram.extend(samples_ns);
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: impl IntoIterator<Item = u64>) -> LatencySummary {
        samples.into_iter().collect::<LatencyHistogram>().summary()
    }

    #[test]
    fn no_sample_is_all_zero() {
        assert_eq!(of([]), LatencySummary::default());
        assert_eq!(LatencyHistogram::default().quantile_ns(0.99), 0);
    }

    #[test]
    fn one_sample_is_every_figure_exactly() {
        for ns in [0, 1, 117_003, u64::MAX] {
            let all =
                LatencySummary { count: 1, min: ns, mean: ns, p50: ns, p90: ns, p99: ns, p999: ns, max: ns };
            assert_eq!(of([ns]), all);
        }
    }

    #[test]
    fn percentiles_of_one_to_a_million_are_within_one_percent_above() {
        let summary = of(1..=1_000_000);
        assert_eq!((summary.min, summary.max, summary.mean), (1, 1_000_000, 500_001));
        for (found, exact) in
            [(summary.p50, 500_000), (summary.p90, 900_000), (summary.p99, 990_000), (summary.p999, 999_000)]
        {
            assert!((exact..=exact + exact / 100).contains(&found), "{found} for {exact}");
        }
    }

    #[test]
    fn the_extremes_stay_exact_whatever_the_range() {
        let summary = of([3, 123_456_789_012_345, 999]);
        assert_eq!((summary.min, summary.max), (3, 123_456_789_012_345));
    }

    #[test]
    fn the_mean_of_huge_samples_does_not_overflow() {
        assert_eq!(of([u64::MAX, u64::MAX, u64::MAX - 3]).mean, u64::MAX - 1);
    }

    #[test]
    fn merging_equals_recording_together() {
        let (mut low, high): (LatencyHistogram, LatencyHistogram) =
            ((0..500).collect(), (400..90_000).collect());
        low.merge(&high);
        assert_eq!(low.summary(), of((0..500).chain(400..90_000)));
        low.merge(&LatencyHistogram::default());
        assert_eq!(low.summary(), of((0..500).chain(400..90_000)));
    }

    #[test]
    fn recording_many_equals_recording_each() {
        let mut many = LatencyHistogram::default();
        many.record_many_ns(2_500, 4);
        many.record_many_ns(7, 0);
        assert_eq!(many.summary(), of([2_500; 4]));
    }
}
