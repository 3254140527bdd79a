//! The one histogram: counts of durations in little space, with exact extremes and an exact mean.

use std::borrow::Cow;

use hdrhistogram::Histogram as Buckets;

use crate::{InspectBucket, LatencySummary};

/// As many wait to be counted. Most tasks have fewer, and buckets take some 15 KB; and where one is recorded
/// at each switch between many tasks, that touches one line of memory, and the buckets seldom.
const NEWEST: usize = 32;

/// Longer durations share the last bucket: 2⁶³ ns are 292 years.
const LONGEST_NS: u64 = i64::MAX as u64;

/// How finely a [`Histogram`] tells durations apart. There are two, because published results with figures of
/// both are stored and have to stay the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Two significant digits: a percentile may be high by up to 1/128. What the machine measures.
    TwoDigits,
    /// One: it may be high by up to 1/16. What loads measure, and what a trace holds.
    OneDigit,
}

impl Precision {
    fn digits(self) -> u8 {
        match self {
            Self::TwoDigits => 2,
            Self::OneDigit => 1,
        }
    }
}

/// Durations in nanoseconds: number, smallest, largest and mean are exact, percentiles as its precision says.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    precision: Precision,
    newest: Vec<u64>,
    counted: Option<Box<Counted>>,
}

/// The durations that have been counted.
#[derive(Debug, Clone, PartialEq)]
struct Counted {
    buckets: Buckets<u64>,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
}

impl Counted {
    fn new(precision: Precision, durations: &[u64]) -> Self {
        let longest = durations.iter().copied().max().unwrap_or_default().clamp(2, LONGEST_NS);
        let mut buckets = Buckets::new_with_max(longest, precision.digits())
            .expect("one or two significant digits and lengths from 2 ns are allowed");
        buckets.auto(true);
        let mut counted = Self { buckets, min_ns: u64::MAX, max_ns: 0, sum_ns: 0 };
        counted.extend(durations);
        counted
    }

    fn extend(&mut self, durations: &[u64]) {
        let (mut min_ns, mut max_ns, mut sum_ns) = (self.min_ns, self.max_ns, self.sum_ns);
        for ns in durations.iter().copied() {
            add(&mut self.buckets, ns);
            min_ns = min_ns.min(ns);
            max_ns = max_ns.max(ns);
            sum_ns += u128::from(ns);
        }
        (self.min_ns, self.max_ns, self.sum_ns) = (min_ns, max_ns, sum_ns);
    }
}

impl Histogram {
    /// Without a duration.
    #[must_use]
    pub fn new(precision: Precision) -> Self {
        Self { precision, newest: Vec::new(), counted: None }
    }

    /// Adds one.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        if self.newest.len() == NEWEST {
            self.count_newest();
        }
        self.newest.push(ns);
    }

    fn count_newest(&mut self) {
        match &mut self.counted {
            Some(counted) => counted.extend(&self.newest),
            counted => *counted = Some(Box::new(Counted::new(self.precision, &self.newest))),
        }
        self.newest.clear();
    }

    /// All of them, counted.
    fn counted(&self) -> Cow<'_, Counted> {
        match self.counted.as_deref() {
            Some(counted) if self.newest.is_empty() => Cow::Borrowed(counted),
            Some(counted) => {
                let mut counted = counted.clone();
                counted.extend(&self.newest);
                Cow::Owned(counted)
            }
            None => Cow::Owned(Counted::new(self.precision, &self.newest)),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.newest.len() as u64 + self.counted.as_ref().map_or(0, |counted| counted.buckets.len())
    }

    /// The shortest; 0 without any.
    #[must_use]
    pub fn min_ns(&self) -> u64 {
        let counted = self.counted.iter().map(|counted| counted.min_ns);
        counted.chain(self.newest.iter().copied()).min().unwrap_or(0)
    }

    /// The longest; 0 without any.
    #[must_use]
    pub fn max_ns(&self) -> u64 {
        let counted = self.counted.iter().map(|counted| counted.max_ns);
        counted.chain(self.newest.iter().copied()).max().unwrap_or(0)
    }

    /// The arithmetic mean, rounded down; 0 without any.
    #[must_use]
    pub fn mean_ns(&self) -> u64 {
        let counted = self.counted.as_ref().map_or(0, |counted| counted.sum_ns);
        let newest: u128 = self.newest.iter().copied().map(u128::from).sum();
        (counted + newest).checked_div(self.count().into()).unwrap_or(0) as u64
    }

    /// The duration that `per_mille` thousandths of all do not exceed, as precisely as [`Precision`] says and
    /// never above the longest; 0 without any.
    #[must_use]
    pub fn quantile_ns(&self, per_mille: u32) -> u64 {
        self.quantiles_ns([per_mille])[0]
    }

    fn quantiles_ns<const N: usize>(&self, per_mille: [u32; N]) -> [u64; N] {
        let counted = self.counted();
        per_mille.map(|per_mille| {
            counted.buckets.value_at_quantile(f64::from(per_mille) / 1000.0).min(counted.max_ns)
        })
    }

    /// The figures that results tell of it.
    #[must_use]
    pub fn summary(&self) -> LatencySummary {
        let [p50, p90, p99, p999] = self.quantiles_ns([500, 900, 990, 999]);
        LatencySummary {
            count: self.count(),
            min: self.min_ns(),
            mean: self.mean_ns(),
            p50,
            p90,
            p99,
            p999,
            max: self.max_ns(),
        }
    }

    /// How many there are between one power of two and the next, from the shortest duration to the longest;
    /// empty ones in between are not left out.
    #[must_use]
    pub fn powers_of_two(&self) -> Vec<InspectBucket> {
        // Every bucket lies between two powers of two: both precisions divide that stretch evenly.
        let mut counts = [0; u64::BITS as usize];
        let mut count = |ns: u64, times| counts[(u64::BITS - ns.leading_zeros()) as usize] += times;
        for bucket in self.counted().buckets.iter_recorded() {
            count(bucket.value_iterated_to(), bucket.count_at_value());
        }
        let all = counts.iter().enumerate().map(|(bits, count)| {
            let from_ns = if bits == 0 { 0 } else { 1 << (bits - 1) };
            InspectBucket { from_ns, to_ns: 1 << bits, count: *count }
        });
        let first = counts.iter().position(|count| *count > 0).unwrap_or(counts.len());
        let last = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        all.take(last).skip(first).collect()
    }
}

#[inline]
fn add(buckets: &mut Buckets<u64>, ns: u64) {
    buckets.record(ns.min(LONGEST_NS)).expect("buckets grow up to the longest duration");
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Precision; 2] = [Precision::TwoDigits, Precision::OneDigit];

    fn of(precision: Precision, durations: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new(precision);
        durations.into_iter().for_each(|ns| histogram.record(ns));
        histogram
    }

    #[test]
    fn extremes_and_mean_are_exact() {
        for precision in BOTH {
            assert_eq!(Histogram::new(precision).summary(), LatencySummary::default());
            let histogram = of(precision, [123_457, 1, 999_999_999]);
            assert_eq!((histogram.count(), histogram.min_ns(), histogram.max_ns()), (3, 1, 999_999_999));
            assert_eq!(histogram.mean_ns(), (123_457 + 1 + 999_999_999) / 3);
        }
    }

    #[test]
    fn a_percentile_is_never_low_and_high_by_what_its_precision_says() {
        let mut durations: Vec<u64> = (0..3_000).map(|n| 7 + n * n * n * 31 % 1_000_003).collect();
        for (precision, part) in BOTH.into_iter().zip([128, 16]) {
            let histogram = of(precision, durations.iter().copied());
            durations.sort_unstable();
            for per_mille in [1, 500, 900, 990, 999, 1_000] {
                // The rank of a percentile: the smallest that so many do not exceed.
                let exact = durations[(durations.len() * per_mille as usize).div_ceil(1_000) - 1];
                let found = histogram.quantile_ns(per_mille);
                assert!(exact <= found && found - exact <= exact / part, "{found} for {exact}");
            }
        }
    }

    #[test]
    fn percentiles_do_not_depend_on_how_the_durations_are_kept() {
        let durations: Vec<u64> = (0..3 * NEWEST as u64).map(|n| 1_000 + n * n * 977).collect();
        for precision in BOTH {
            let mut histogram = Histogram::new(precision);
            for (n, next) in durations.iter().enumerate() {
                histogram.record(*next);
                assert_eq!(histogram.count(), n as u64 + 1);
                let Counted { buckets: whole, .. } = Counted::new(precision, &durations[..=n]);
                for per_mille in [0, 500, 990, 1000] {
                    let expected = whole.value_at_quantile(f64::from(per_mille) / 1000.0).min(*next);
                    assert_eq!(histogram.quantile_ns(per_mille), expected, "{per_mille} of {}", n + 1);
                }
            }
        }
    }

    #[test]
    fn durations_fall_between_powers_of_two() {
        let bounds = |histogram: &Histogram| -> Vec<(u64, u64, u64)> {
            histogram.powers_of_two().iter().map(|b| (b.from_ns, b.to_ns, b.count)).collect()
        };
        for precision in BOTH {
            assert_eq!(bounds(&Histogram::new(precision)), []);
            let few = [2, 3, 4, 9, 16];
            assert_eq!(bounds(&of(precision, few)), [(2, 4, 2), (4, 8, 1), (8, 16, 1), (16, 32, 1)]);
            // In buckets, all of them at the edges of a power of two.
            let many = (0..40).flat_map(|_| [1_023, 1_024, 2_047, 2_048]);
            assert_eq!(
                bounds(&of(precision, many)),
                [(512, 1_024, 40), (1_024, 2_048, 80), (2_048, 4_096, 40)]
            );
            let extremes = bounds(&of(precision, [0, u64::MAX]));
            assert_eq!((extremes.len(), extremes[0], extremes[63]), (64, (0, 1, 1), (1 << 62, 1 << 63, 1)));
        }
    }
}
