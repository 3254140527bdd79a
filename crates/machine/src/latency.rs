//! A histogram of latencies with exact extremes and sum.

use hdrhistogram::Histogram;
use scheduler::Nanos;

/// As many are kept one by one: most tasks have few, and a histogram takes some 15 KB.
const FEW: usize = 32;

/// Latencies in nanoseconds: quantiles to two significant digits, everything else exact.
#[derive(Clone, Debug)]
pub struct Latency {
    recorded: Recorded,
    min: Nanos,
    max: Nanos,
    sum: Nanos,
}

#[derive(Clone, Debug)]
enum Recorded {
    Few(Vec<Nanos>),
    Many(Histogram<u64>),
}

impl Default for Latency {
    fn default() -> Latency {
        Latency { recorded: Recorded::Few(Vec::new()), min: Nanos::NEVER, max: Nanos::ZERO, sum: Nanos::ZERO }
    }
}

impl Latency {
    /// Adds one.
    pub fn record(&mut self, latency: Nanos) {
        if let Recorded::Few(few) = &self.recorded
            && few.len() == FEW
        {
            self.recorded = Recorded::Many(histogram(few));
        }
        match &mut self.recorded {
            Recorded::Few(few) => few.push(latency),
            Recorded::Many(histogram) => add(histogram, latency),
        }
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        self.sum += latency;
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        match &self.recorded {
            Recorded::Few(few) => few.len() as u64,
            Recorded::Many(histogram) => histogram.len(),
        }
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

    /// The value that `per_mille` thousandths of all do not exceed, to two significant digits and never above
    /// the maximum.
    pub fn quantile(&self, per_mille: u32) -> Nanos {
        let of = |histogram: &Histogram<u64>| histogram.value_at_quantile(f64::from(per_mille) / 1000.0);
        let value = match &self.recorded {
            Recorded::Few(few) => of(&histogram(few)),
            Recorded::Many(histogram) => of(histogram),
        };
        Nanos(value).min(self.max)
    }
}

fn histogram(latencies: &[Nanos]) -> Histogram<u64> {
    let mut histogram = Histogram::new(2).expect("two significant digits are allowed");
    // The largest first, so that it grows once.
    add(&mut histogram, latencies.iter().copied().max().unwrap_or_default());
    histogram.reset();
    for latency in latencies {
        add(&mut histogram, *latency);
    }
    histogram
}

fn add(histogram: &mut Histogram<u64>, latency: Nanos) {
    histogram.record(latency.0).expect("a resizing histogram takes every value below 2⁶³");
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

    #[test]
    fn quantiles_do_not_depend_on_how_the_latencies_are_kept() {
        let latencies: Vec<Nanos> = (0..2 * FEW as u64).map(|n| Nanos(1_000 + n * n * 977)).collect();
        let mut latency = Latency::default();
        for (n, next) in latencies.iter().enumerate() {
            latency.record(*next);
            assert_eq!(latency.count(), n as u64 + 1);
            let whole = histogram(&latencies[..=n]);
            for per_mille in [0, 500, 990, 1000] {
                let expected = whole.value_at_quantile(f64::from(per_mille) / 1000.0).min(next.0);
                assert_eq!(latency.quantile(per_mille), Nanos(expected), "{per_mille} of {}", n + 1);
            }
        }
    }
}
