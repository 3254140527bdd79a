//! Two samples that have nothing to do with each other: how far apart are their means or quantiles, and how
//! sure is that?
//!
//! Each figure gets its own 95 % interval: of a mean the BCa bootstrap up to [`BOOTSTRAP_UP_TO`] values,
//! Student's t beyond, where both agree; of a quantile the order statistics that hold it. The two intervals
//! then give that of the difference (Zou and Donner 2008, "method of variance estimates recovery"): nothing
//! is assumed of the shape of either sample.

use schema::comparison::Interval;
use statrs::distribution::{ContinuousCDF, Normal};

use super::student_t::t_quantile;
use super::{CONFIDENCE, bca_mean_interval, mean, mean_interval, p_value_of_mean, standard_deviation};

/// Samples of more values than this are not resampled.
pub const BOOTSTRAP_UP_TO: usize = 2_000;

/// A figure of one sample and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The range that holds the true one with [`CONFIDENCE`].
    pub interval: Interval,
    /// How many values it rests on.
    pub count: usize,
}

impl Estimate {
    /// The mean of at least two values that were measured in steps of `resolution`.
    #[must_use]
    pub fn of_mean(sample: &[f64], resolution: f64) -> Self {
        let (value, count) = (mean(sample), sample.len());
        let interval = if count <= BOOTSTRAP_UP_TO {
            bca_mean_interval(sample)
        } else {
            mean_interval(value, standard_deviation(sample), count)
        };
        // Values that agree still have been rounded; a uniform error of one step has this deviation.
        let rounding = mean_interval(value, resolution / 12f64.sqrt(), count);
        Self { value, interval: widest(interval, rounding), count }
    }

    /// The smallest value that `permille` thousandths of the ascending values (at least two) do not exceed.
    /// Its interval lies between the two whose ranks are 1.96 binomial deviations away, and is no narrower
    /// than `resolution`.
    #[must_use]
    pub fn of_quantile(ascending: &[f64], permille: u32, resolution: f64) -> Self {
        let (count, share) = (ascending.len(), f64::from(permille) / 1e3);
        let at = |rank: f64| ascending[(rank.max(1.0) as usize).min(count) - 1];
        let rank = count as f64 * share;
        let reach = Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0)
            * (count as f64 * share * (1.0 - share)).sqrt();
        let value = at(rank.ceil());
        let interval = Interval { low: at((rank - reach).floor()), high: at((rank + reach).ceil() + 1.0) };
        let rounding = Interval { low: value - resolution / 2.0, high: value + resolution / 2.0 };
        Self { value, interval: widest(interval, rounding), count }
    }
}

/// The difference of two independent figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The second less the first.
    pub value: f64,
    /// 95 % interval.
    pub interval: Interval,
    /// How often chance alone gives one as far from 0: Student's t with the freedom of the smaller sample and
    /// the spread of the interval's side towards 0, so that it is below 5 % where the interval excludes 0.
    pub p_value: f64,
}

impl Difference {
    /// Between two independent figures.
    #[must_use]
    pub fn between(first: &Estimate, second: &Estimate) -> Self {
        let below = |estimate: &Estimate| estimate.value - estimate.interval.low;
        let above = |estimate: &Estimate| estimate.interval.high - estimate.value;
        let value = second.value - first.value;
        let (down, up) = (above(first).hypot(below(second)), below(first).hypot(above(second)));
        let towards_zero = if value > 0.0 { down } else { up };
        let count = first.count.min(second.count).max(2);
        let p_value = match towards_zero > 0.0 {
            _ if value == 0.0 => 1.0,
            // A deviation of this sample size that gives the same half of an interval.
            true => p_value_of_mean(value, towards_zero / t_quantile(count) * (count as f64).sqrt(), count),
            false => 0.0,
        };
        Self { value, interval: Interval { low: value - down, high: value + up }, p_value }
    }
}

fn widest(one: Interval, other: Interval) -> Interval {
    Interval { low: one.low.min(other.low), high: one.high.max(other.high) }
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::*;

    fn exponential(stream: &mut SplitMix64, count: usize, mean: f64) -> Vec<f64> {
        let uniform = |stream: &mut SplitMix64| (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut sample: Vec<f64> = (0..count).map(|_| -mean * (1.0 - uniform(stream)).ln()).collect();
        sample.sort_by(f64::total_cmp);
        sample
    }

    /// Of exponential samples with means 1 and 3, the differences of means and medians are 2 and 2 ln 2.
    #[test]
    fn intervals_hold_the_true_difference_about_as_often_as_they_say() {
        let mut stream = SplitMix64::new(11);
        let (mut means, mut medians) = (0, 0);
        for _ in 0..200 {
            let first = exponential(&mut stream, 60, 1.0);
            let second = exponential(&mut stream, 60, 3.0);
            let mean = Difference::between(&Estimate::of_mean(&first, 0.0), &Estimate::of_mean(&second, 0.0));
            means += u32::from(mean.interval.contains(2.0));
            let median = |sample: &[f64]| Estimate::of_quantile(sample, 500, 0.0);
            let median = Difference::between(&median(&first), &median(&second));
            medians += u32::from(median.interval.contains(2.0 * std::f64::consts::LN_2));
        }
        // 190 are expected; three binomial deviations are 9. Order statistics are a little too careful.
        assert!((179..=199).contains(&means), "{means} of 200");
        assert!((181..=200).contains(&medians), "{medians} of 200");
    }

    #[test]
    fn samples_of_one_kind_seldom_differ_and_the_p_value_agrees_with_the_interval() {
        let mut stream = SplitMix64::new(3);
        let mut false_alarms = 0;
        for _ in 0..200 {
            let [first, second] = [1.0, 1.0].map(|mean| exponential(&mut stream, 20, mean));
            let found =
                Difference::between(&Estimate::of_mean(&first, 0.0), &Estimate::of_mean(&second, 0.0));
            assert_eq!(found.p_value < 0.05, !found.interval.contains(0.0), "{found:?}");
            false_alarms += u32::from(found.p_value < 0.05);
        }
        assert!(false_alarms <= 25, "{false_alarms} of 200");
    }

    #[test]
    fn on_many_values_it_is_students_t() {
        // A textbook's standard error of a difference: the root of the sum of the squares.
        let mut stream = SplitMix64::new(5);
        let [first, second] = [1.0, 2.0].map(|mean| exponential(&mut stream, 5_000, mean));
        let found = Difference::between(&Estimate::of_mean(&first, 0.0), &Estimate::of_mean(&second, 0.0));
        let error = |sample: &[f64]| standard_deviation(sample) / 5_000f64.sqrt();
        let half = 1.960_44 * error(&first).hypot(error(&second));
        assert!((found.interval.high - found.value - half).abs() < 1e-5 * half, "{found:?} {half}");
    }

    #[test]
    fn one_step_of_resolution_is_no_difference_and_many_are() {
        let of = |value: f64| Estimate::of_quantile(&[value; 50], 500, 1_000.0);
        assert!(Difference::between(&of(5_000.0), &of(5_500.0)).interval.contains(0.0));
        let far = Difference::between(&of(5_000.0), &of(9_000.0));
        assert!(!far.interval.contains(0.0) && far.p_value < 0.001, "{far:?}");
        let same = Estimate::of_mean(&[4.0; 20], 1.0);
        assert_eq!(Difference::between(&same, &same).p_value, 1.0);
    }
}
