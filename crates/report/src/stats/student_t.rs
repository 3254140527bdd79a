//! Student's t: interval and p-value of the mean of a few values.

use schema::comparison::Interval;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::CONFIDENCE;

/// The 95 % interval of a mean of `count` (at least two) values with this standard deviation.
#[must_use]
pub fn mean_interval(mean: f64, deviation: f64, count: usize) -> Interval {
    let half = t_quantile(count) * standard_error(deviation, count);
    Interval { low: mean - half, high: mean + half }
}

/// How often `count` (at least two) values around 0 have a mean as far from 0 as this, on either side.
/// `deviation` must be above 0.
#[must_use]
pub fn p_value_of_mean(mean: f64, deviation: f64, count: usize) -> f64 {
    let t = (mean / standard_error(deviation, count)).abs();
    (2.0 * distribution(count).sf(t)).min(1.0)
}

/// How many standard errors a 95 % interval reaches to each side.
pub(super) fn t_quantile(count: usize) -> f64 {
    distribution(count).inverse_cdf(0.5 + CONFIDENCE / 2.0)
}

/// Standard error of a mean.
pub(super) fn standard_error(deviation: f64, count: usize) -> f64 {
    deviation / (count as f64).sqrt()
}

fn distribution(count: usize) -> StudentsT {
    let freedom = count.max(2) - 1;
    StudentsT::new(0.0, 1.0, freedom as f64).expect("one degree of freedom or more")
}

#[cfg(test)]
mod tests {
    use super::super::{MeanDifference, standard_deviation};
    use super::*;

    /// Student's own example (1908): hours of sleep gained by ten patients, second drug less first.
    const SLEEP: [f64; 10] = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];

    #[track_caller]
    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found}, expected {expected}");
    }

    #[test]
    fn quantiles_of_the_printed_table() {
        for (count, t) in
            [(2, 12.706), (3, 4.303), (5, 2.776), (7, 2.447), (11, 2.228), (31, 2.042), (121, 1.980)]
        {
            close(t_quantile(count), t, 0.0005);
        }
    }

    #[test]
    fn students_sleep_data() {
        let interval = mean_interval(1.58, standard_deviation(&SLEEP), SLEEP.len());
        close(interval.low, 0.700_114_2, 1e-6);
        close(interval.high, 2.459_885_8, 1e-6);
        close(p_value_of_mean(1.58, standard_deviation(&SLEEP), SLEEP.len()), 0.002_832_89, 1e-7);
    }

    #[test]
    fn few_seeds_use_the_t_interval() {
        let first_seven = &SLEEP[..7];
        let found = MeanDifference::of(first_seven, 0.1);
        let expected = mean_interval(found.mean, standard_deviation(first_seven), 7);
        assert_eq!(found.interval, Some(expected));
    }

    #[test]
    fn a_p_value_far_in_the_tail_stays_above_zero() {
        let p = p_value_of_mean(1_000.0, 1.0, 20);
        assert!(p > 0.0 && p < 1e-30, "{p}");
    }
}
