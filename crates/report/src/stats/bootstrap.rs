//! The BCa bootstrap: an interval of a mean that makes no assumption on the shape of the sample.

use schema::comparison::Interval;
use statrs::distribution::{ContinuousCDF, Normal};

use super::{CONFIDENCE, SplitMix64, mean};

/// Resamples. The 2.5 % tail then rests on fifty of them.
const RESAMPLES: usize = 2_000;

/// Seed of the resampling stream: any constant would do.
const SEED: u64 = 0x5ced_1ab0_0000_0001;

/// The 95 % BCa interval (Efron 1987) of the mean of a sample of at least two values.
///
/// Means of resamples drawn with replacement show how the mean varies. Their plain percentiles are then
/// shifted by two corrections: for *bias*, how far from the middle of the resamples the mean itself lies;
/// for *acceleration*, how the spread changes with the mean, from the skewness of the means that leave one
/// value out.
#[must_use]
pub fn bca_mean_interval(sample: &[f64]) -> Interval {
    let mean = mean(sample);
    if sample.iter().all(|&value| value == sample[0]) {
        return Interval::point(mean);
    }
    let normal = Normal::standard();
    let resampled = resampled_means(sample);
    let bias = normal.inverse_cdf(share_below(&resampled, mean));
    let acceleration = acceleration(sample, mean);
    let end = |probability: f64| {
        let z = bias + normal.inverse_cdf(probability);
        percentile(&resampled, normal.cdf(bias + z / (1.0 - acceleration * z)))
    };
    Interval { low: end(0.5 - CONFIDENCE / 2.0), high: end(0.5 + CONFIDENCE / 2.0) }
}

/// Sorted means of the resamples.
fn resampled_means(sample: &[f64]) -> Vec<f64> {
    let mut stream = SplitMix64::new(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let sum: f64 = (0..sample.len()).map(|_| sample[stream.next_index(sample.len())]).sum();
            sum / sample.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    means
}

/// The share of resamples below `mean`, those equal to it counted half; never quite 0 or 1.
fn share_below(sorted: &[f64], mean: f64) -> f64 {
    let below = sorted.partition_point(|&resampled| resampled < mean);
    let equal = sorted.partition_point(|&resampled| resampled <= mean) - below;
    let half = 0.5 / sorted.len() as f64;
    ((below as f64 + 0.5 * equal as f64) / sorted.len() as f64).clamp(half, 1.0 - half)
}

/// A sixth of the skewness of the jackknife means. Their deviations are those of the values, scaled, so the
/// values themselves serve.
fn acceleration(sample: &[f64], mean: f64) -> f64 {
    let squares: f64 = sample.iter().map(|value| (value - mean) * (value - mean)).sum();
    let cubes: f64 = sample.iter().map(|value| (value - mean) * (value - mean) * (value - mean)).sum();
    cubes / (6.0 * squares * squares.sqrt())
}

/// The resample at this share of the sorted list.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let index = (share * sorted.len() as f64) as usize;
    sorted[index.min(sorted.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::super::{mean_interval, standard_deviation};
    use super::*;

    /// Values at evenly spaced quantiles of a distribution: a sample without chance in it.
    fn quantiles(count: usize, of: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..count).map(|i| of((i as f64 + 0.5) / count as f64)).collect()
    }

    #[track_caller]
    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found}, expected {expected}");
    }

    #[test]
    fn students_sleep_data() {
        // An independent implementation with 200000 resamples gives [1.06, 2.65].
        let interval = bca_mean_interval(&[1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]);
        close(interval.low, 1.06, 0.05);
        close(interval.high, 2.65, 0.15);
    }

    #[test]
    fn on_normal_data_it_agrees_with_students_t() {
        let sample = quantiles(60, |p| 10.0 + 2.0 * Normal::standard().inverse_cdf(p));
        let (bca, t) = (bca_mean_interval(&sample), mean_interval(10.0, standard_deviation(&sample), 60));
        close(bca.low, t.low, 0.05);
        close(bca.high, t.high, 0.05);
    }

    #[test]
    fn on_skewed_data_it_reaches_further_into_the_long_tail() {
        let sample = quantiles(20, |p| -(1.0 - p).ln());
        let (middle, bca) = (mean(&sample), bca_mean_interval(&sample));
        let (below, above) = (middle - bca.low, bca.high - middle);
        assert!(above > 1.3 * below, "{below} below the mean, {above} above");
        let mirrored: Vec<f64> = sample.iter().map(|value| -value).collect();
        let bca = bca_mean_interval(&mirrored);
        assert!(-middle - bca.low > 1.3 * (bca.high + middle));
    }

    #[test]
    fn it_covers_the_true_mean_about_as_often_as_it_says() {
        let mut stream = SplitMix64::new(7);
        let mut covered = 0;
        for _ in 0..300 {
            let sample: Vec<f64> = (0..20)
                .map(|_| {
                    let uniform = (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                    -(1.0 - uniform).ln()
                })
                .collect();
            covered += u32::from(bca_mean_interval(&sample).contains(1.0));
        }
        // Known for exponential samples of 20: a little under 95 %.
        assert!((270..=295).contains(&covered), "{covered} of 300");
    }

    #[test]
    fn one_outlier_does_not_make_a_change() {
        let mut sample = vec![0.0; 8];
        sample[3] = 100.0;
        assert!(bca_mean_interval(&sample).contains(0.0));
    }

    #[test]
    fn a_constant_sample_is_a_point() {
        assert_eq!(bca_mean_interval(&[4.0; 9]), Interval::point(4.0));
    }
}
