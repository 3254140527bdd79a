//! How long something takes: distributions of durations, in integers, drawn from the task's own stream.

use machine::Rng;
use scheduler::Nanos;
use std::rc::Rc;

/// A distribution of durations. Cheap to clone and to draw from; made by its constructors, which check it.
#[derive(Clone, Debug)]
pub struct Dist(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Constant(Nanos),
    Uniform { low: Nanos, high: Nanos },
    Exponential { offset: Nanos, mean: Nanos },
    Normal { mean: Nanos, sd: Nanos },
    Samples(Rc<[Nanos]>),
    Histogram(Rc<Cumulative<Bucket>>),
    Mixture(Rc<Cumulative<Dist>>),
}

/// One bucket of a measured distribution: durations from `low` to `high`, both included, equally likely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Shortest.
    pub low: Nanos,
    /// Longest, at least `low`.
    pub high: Nanos,
    /// How often it was seen.
    pub count: u64,
}

/// One part of a mixture.
#[derive(Clone, Debug)]
pub struct Part {
    /// How often this part is chosen, relative to the others.
    pub weight: u64,
    /// What is drawn then.
    pub dist: Dist,
}

/// A distribution that cannot be drawn from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DistError {
    /// Lower bound above the upper one.
    #[error("lowest duration {low} s is above the highest, {high} s")]
    Reversed {
        /// Lower bound.
        low: Nanos,
        /// Upper bound.
        high: Nanos,
    },
    /// No sample, or every weight zero.
    #[error("a distribution needs at least one duration with a weight above zero")]
    Empty,
    /// The weights do not fit 64 bits.
    #[error("the weights of a distribution add up to more than 2^64")]
    TooHeavy,
}

impl Dist {
    /// Always the same.
    pub const fn constant(duration: Nanos) -> Dist {
        Dist(Kind::Constant(duration))
    }

    /// Uniform in `low..=high`.
    pub fn uniform(low: Nanos, high: Nanos) -> Result<Dist, DistError> {
        if low > high {
            Err(DistError::Reversed { low, high })
        } else {
            Ok(Dist(Kind::Uniform { low, high }))
        }
    }

    /// `shortest`, or up to `spread` more, each equally likely; a constant without spread.
    pub const fn up_to_longer(shortest: Nanos, spread: Nanos) -> Dist {
        match spread.0 {
            0 => Dist::constant(shortest),
            _ => Dist(Kind::Uniform { low: shortest, high: shortest.saturating_add(spread) }),
        }
    }

    /// `offset` plus an exponentially distributed span of this mean (fair-class 13.4 writes `0.4 +
    /// Exp(1.5)`).
    pub const fn exponential(offset: Nanos, mean: Nanos) -> Dist {
        Dist(Kind::Exponential { offset, mean })
    }

    /// Normal with this mean and standard deviation, cut off at zero.
    pub const fn normal(mean: Nanos, sd: Nanos) -> Dist {
        Dist(Kind::Normal { mean, sd })
    }

    /// One of these durations, each equally likely.
    pub fn samples(durations: impl Into<Rc<[Nanos]>>) -> Result<Dist, DistError> {
        let durations = durations.into();
        if durations.is_empty() { Err(DistError::Empty) } else { Ok(Dist(Kind::Samples(durations))) }
    }

    /// A bucket by its count, then uniform within the bucket.
    pub fn histogram(buckets: &[Bucket]) -> Result<Dist, DistError> {
        if let Some(b) = buckets.iter().find(|b| b.low > b.high) {
            return Err(DistError::Reversed { low: b.low, high: b.high });
        }
        let parts = Cumulative::new(buckets.iter().map(|b| (b.count, *b)))?;
        Ok(Dist(Kind::Histogram(Rc::new(parts))))
    }

    /// One of the parts by its weight, then a draw from that part.
    pub fn mixture(parts: impl IntoIterator<Item = Part>) -> Result<Dist, DistError> {
        let parts = Cumulative::new(parts.into_iter().map(|p| (p.weight, p.dist)))?;
        Ok(Dist(Kind::Mixture(Rc::new(parts))))
    }
    /// The next duration. A constant draws nothing from `rng`.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> Nanos {
        match &self.0 {
            Kind::Constant(d) => *d,
            Kind::Uniform { low, high } => rng.between(*low, *high),
            Kind::Exponential { offset, mean } => offset.saturating_add(rng.exponential(*mean)),
            Kind::Normal { mean, sd } => rng.normal(*mean, *sd),
            Kind::Samples(durations) => durations[rng.below(durations.len() as u64) as usize],
            Kind::Histogram(buckets) => {
                let bucket = buckets.pick(rng);
                rng.between(bucket.low, bucket.high)
            }
            Kind::Mixture(parts) => parts.pick(rng).draw(rng),
        }
    }
}

impl From<Nanos> for Dist {
    fn from(duration: Nanos) -> Dist {
        Dist::constant(duration)
    }
}

/// Weighted choices, with the running sum of the weights up to and with each one.
#[derive(Debug)]
struct Cumulative<T> {
    ends: Vec<u64>,
    choices: Vec<T>,
}

impl<T> Cumulative<T> {
    fn new(weighted: impl Iterator<Item = (u64, T)>) -> Result<Cumulative<T>, DistError> {
        let (mut ends, mut choices, mut sum) = (Vec::new(), Vec::new(), 0u64);
        for (weight, choice) in weighted.filter(|(weight, _)| *weight > 0) {
            sum = sum.checked_add(weight).ok_or(DistError::TooHeavy)?;
            ends.push(sum);
            choices.push(choice);
        }
        if choices.is_empty() { Err(DistError::Empty) } else { Ok(Cumulative { ends, choices }) }
    }

    fn pick(&self, rng: &mut Rng) -> &T {
        let ticket = rng.below(self.ends[self.ends.len() - 1]);
        &self.choices[self.ends.partition_point(|end| *end <= ticket)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Purpose;

    fn rng() -> Rng {
        Rng::keyed(1, Purpose::Load, 0)
    }

    fn us(n: u64) -> Nanos {
        Nanos::from_micros(n)
    }

    #[test]
    fn a_constant_leaves_the_stream_alone() {
        let mut drawn_from = rng();
        assert_eq!(Dist::from(us(5)).draw(&mut drawn_from), us(5));
        assert_eq!(drawn_from, rng());
    }

    #[test]
    fn uniform_and_exponential_stay_in_their_range() {
        let mut rng = rng();
        let uniform = Dist::uniform(us(3), us(5)).unwrap();
        let exponential = Dist::exponential(us(400), us(1500));
        let mut sum = 0;
        for _ in 0..20_000 {
            assert!((us(3)..=us(5)).contains(&uniform.draw(&mut rng)));
            let drawn = exponential.draw(&mut rng);
            assert!(drawn >= us(400));
            sum += drawn.0;
        }
        assert!((sum / 20_000).abs_diff(1_900_000) < 40_000, "mean {}", sum / 20_000);
    }

    #[test]
    fn a_histogram_draws_its_buckets_by_their_counts() {
        let buckets = [
            Bucket { low: us(1), high: us(2), count: 3 },
            Bucket { low: us(7), high: us(8), count: 0 },
            Bucket { low: us(10), high: us(10), count: 1 },
        ];
        let dist = Dist::histogram(&buckets).unwrap();
        let mut rng = rng();
        let mut last_bucket = 0;
        for _ in 0..8_000 {
            let d = dist.draw(&mut rng);
            assert!((us(1)..=us(2)).contains(&d) || d == us(10), "{d:?}");
            last_bucket += u32::from(d == us(10));
        }
        assert!(last_bucket.abs_diff(2_000) < 150, "{last_bucket}");
    }

    #[test]
    fn a_mixture_draws_its_parts_by_their_weights() {
        let dist = Dist::mixture([
            Part { weight: 9, dist: us(1).into() },
            Part { weight: 1, dist: Dist::samples([us(100), us(200)]).unwrap() },
        ])
        .unwrap();
        let mut rng = rng();
        let long = (0..10_000).filter(|_| dist.draw(&mut rng) >= us(100)).count();
        assert!(long.abs_diff(1_000) < 120, "{long}");
    }

    #[test]
    fn what_cannot_be_drawn_from_is_refused() {
        assert_eq!(Dist::uniform(us(2), us(1)).unwrap_err(), DistError::Reversed { low: us(2), high: us(1) });
        assert_eq!(Dist::samples([]).unwrap_err(), DistError::Empty);
        assert_eq!(
            Dist::histogram(&[Bucket { low: us(1), high: us(2), count: 0 }]).unwrap_err(),
            DistError::Empty
        );
        let heavy = || Part { weight: u64::MAX, dist: us(1).into() };
        assert_eq!(Dist::mixture([heavy(), heavy()]).unwrap_err(), DistError::TooHeavy);
    }
}
