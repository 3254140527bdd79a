//! How durations are distributed, by powers of two: enough to see a shape, in memory that does not grow.

/// Counts of durations in ns: those of 0, then those from 2^n up to 2^(n+1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DurationHistogram {
    /// Number of durations by number of bits.
    counts: [u64; 65],
    sum_ns: u128,
    max_ns: u64,
}

/// The durations from `from_ns` up to, but not including, `to_ns`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// The shortest that can be in it, ns.
    pub from_ns: u64,
    /// The shortest that is too long for it, ns.
    pub to_ns: u64,
    /// How many there are.
    pub count: u64,
}

impl Default for DurationHistogram {
    fn default() -> Self {
        DurationHistogram { counts: [0; 65], sum_ns: 0, max_ns: 0 }
    }
}

impl DurationHistogram {
    /// Counts a duration.
    pub fn add(&mut self, ns: u64) {
        self.counts[(u64::BITS - ns.leading_zeros()) as usize] += 1;
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The arithmetic mean, ns, rounded down; `None` if there is no duration.
    pub fn mean_ns(&self) -> Option<u64> {
        self.sum_ns.checked_div(self.count().into()).and_then(|mean| u64::try_from(mean).ok())
    }

    /// The longest, ns; `None` if there is no duration.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max_ns)
    }

    /// All buckets from the first to the last that is not empty, the shortest durations first.
    pub fn buckets(&self) -> Vec<Bucket> {
        let all = self.counts.iter().enumerate().map(|(bits, count)| {
            let from_ns = if bits == 0 { 0 } else { 1 << (bits - 1) };
            Bucket { from_ns, to_ns: 1u64.checked_shl(bits as u32).unwrap_or(u64::MAX), count: *count }
        });
        let first = self.counts.iter().position(|count| *count > 0).unwrap_or(self.counts.len());
        let last = self.counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        all.take(last).skip(first).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fall_between_powers_of_two() {
        let mut histogram = DurationHistogram::default();
        assert_eq!((histogram.mean_ns(), histogram.max_ns(), histogram.buckets()), (None, None, vec![]));
        for ns in [2, 3, 4, 9] {
            histogram.add(ns);
        }
        let buckets: Vec<_> = histogram.buckets().iter().map(|b| (b.from_ns, b.to_ns, b.count)).collect();
        assert_eq!(buckets, [(2, 4, 2), (4, 8, 1), (8, 16, 1)]);
        assert_eq!((histogram.count(), histogram.mean_ns(), histogram.max_ns()), (4, Some(4), Some(9)));
        histogram.add(0);
        histogram.add(u64::MAX);
        let buckets = histogram.buckets();
        assert_eq!((buckets.len(), buckets[0].to_ns, buckets[64].to_ns), (65, 1, u64::MAX));
    }
}
