//! Statistics of paired runs: each seed is run under two configurations, and each figure of a run gives one
//! difference per seed. What is the mean difference, how sure are we, and which of many figures really
//! changed?
//!
//! - Interval of the mean difference: **Student's t** below [`BOOTSTRAP_FROM`] seeds, where a bootstrap has
//!   too few values to draw from; the **BCa bootstrap** (bias-corrected and accelerated, Efron 1987) from
//!   there on, because latencies are skewed; none for a single seed.
//! - p-value: Student's t on the differences, at every number of seeds. A bootstrap or a permutation of few
//!   seeds cannot give a p-value small enough to survive a correction for hundreds of figures.
//! - Which figures changed: **Benjamini-Hochberg** at [`FALSE_DISCOVERY_RATE`] over all figures of one
//!   comparison. Of what is called changed, about one in twenty is expected to be chance. Holm's method would
//!   promise that none is, at the price of missing most real changes among hundreds of figures that depend on
//!   each other.
//! - Two recordings, whose samples are not paired: [`Difference`], from the intervals of both.
//! - The largest figure of many more runs than were made: **generalised extreme value** distribution, fitted
//!   by L-moments.
//! - Figures are whole numbers. Differences that agree more closely than a figure can show have no variance
//!   to calculate with, so their standard deviation is taken as that of rounding twice: resolution / √6. When
//!   this rules out chance, a difference that is the same in every pair is reported as the certain value it
//!   is.
//!
//! Resampling draws from a fixed stream, so the same values give the same interval.

mod bootstrap;
mod digits;
mod extreme;
mod false_discovery;
mod ratio;
mod sample;
mod splitmix;
mod student_t;
mod unpaired;

use schema::comparison::{Interval, IntervalMethod};

pub use bootstrap::bca_mean_interval;
pub use digits::nine_digits;
pub use extreme::{ExtremeValue, largest_interval};
pub use false_discovery::benjamini_hochberg;
pub use ratio::paired_ratio;
pub use sample::{mean, standard_deviation};
pub use splitmix::SplitMix64;
pub use student_t::{mean_interval, p_value_of_mean};
#[cfg(feature = "text")]
pub use unpaired::BOOTSTRAP_UP_TO;
pub use unpaired::{Difference, Estimate};

/// The share of intervals that hold the true value.
pub const CONFIDENCE: f64 = 0.95;

/// The expected share of chance among the figures that are called changed.
pub const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// From this number of seeds on, intervals are bootstrapped.
pub const BOOTSTRAP_FROM: usize = 8;

/// The method for this number of seeds.
#[must_use]
pub fn method_for_seeds(seeds: usize) -> IntervalMethod {
    match seeds {
        0 | 1 => IntervalMethod::None,
        2..BOOTSTRAP_FROM => IntervalMethod::StudentT,
        _ => IntervalMethod::BcaBootstrap,
    }
}

/// A mean of paired differences and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanDifference {
    /// The mean.
    pub mean: f64,
    /// 95 % interval of the mean; `None` for a single difference.
    pub interval: Option<Interval>,
    /// How often chance alone gives a mean as far from 0; `None` for a single difference.
    pub p_value: Option<f64>,
}

impl MeanDifference {
    /// From the differences of the pairs (at least one), in a figure whose smallest step is `resolution`.
    #[must_use]
    pub fn of(differences: &[f64], resolution: f64) -> Self {
        let mean = mean(differences);
        if differences.len() < 2 {
            return Self { mean, interval: None, p_value: None };
        }
        if differences.iter().all(|&difference| difference == 0.0) {
            return Self { mean, interval: Some(Interval::point(0.0)), p_value: Some(1.0) };
        }
        let rounding = resolution / 6f64.sqrt();
        let spread = standard_deviation(differences);
        let deviation = spread.max(rounding);
        let constant = differences.iter().all(|&difference| difference == differences[0]);
        let mut interval = match method_for_seeds(differences.len()) {
            IntervalMethod::BcaBootstrap if spread > rounding => bca_mean_interval(differences),
            _ => mean_interval(mean, deviation, differences.len()),
        };
        if constant && !interval.contains(0.0) {
            interval = Interval::point(mean);
        }
        Self {
            mean,
            interval: Some(interval),
            p_value: Some(p_value_of_mean(mean, deviation, differences.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_difference_has_no_interval() {
        let one = MeanDifference::of(&[-3.0], 1.0);
        assert_eq!((one.mean, one.interval, one.p_value), (-3.0, None, None));
    }

    #[test]
    fn no_difference_in_any_pair_is_certainly_none() {
        let none = MeanDifference::of(&[0.0; 5], 1.0);
        assert_eq!((none.interval, none.p_value), (Some(Interval::point(0.0)), Some(1.0)));
    }

    #[test]
    fn the_same_difference_in_every_pair_is_certain() {
        for seeds in [2, 5, 20] {
            let shift = MeanDifference::of(&vec![1_000.0; seeds], 1.0);
            assert_eq!(shift.interval, Some(Interval::point(1_000.0)), "{seeds}");
            assert!(shift.p_value.expect("several pairs") < 0.001, "{seeds}");
        }
    }

    #[test]
    fn one_step_of_resolution_in_two_pairs_is_not_yet_a_change() {
        // Two runs that both count 1 more are no proof; eight are.
        assert!(MeanDifference::of(&[1.0, 1.0], 1.0).interval.expect("pairs").contains(0.0));
        assert!(!MeanDifference::of(&[1.0; 8], 1.0).interval.expect("pairs").contains(0.0));
    }

    #[test]
    fn differences_closer_than_the_resolution_keep_an_honest_width() {
        let nearly = MeanDifference::of(&[1_000.0, 1_000.0, 1_000.4], 1.0).interval.expect("pairs");
        assert!(nearly.high - nearly.low > 1.0, "{nearly:?}");
    }

    #[test]
    fn the_method_follows_the_number_of_seeds() {
        let methods = [1, 2, 7, 8].map(method_for_seeds);
        use IntervalMethod::{BcaBootstrap, None, StudentT};
        assert_eq!(methods, [None, StudentT, StudentT, BcaBootstrap]);
    }
}
