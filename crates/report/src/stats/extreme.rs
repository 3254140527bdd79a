//! Extreme values: from the largest values of many equal blocks to what is to be expected of many more.
//!
//! The largest of many values follows a *generalised extreme value* distribution, whatever they follow
//! themselves (Fisher and Tippett 1928, Gnedenko 1943). It is fitted to the maxima of the blocks by L-moments
//! (Hosking, Wallis and Wood 1985), which do well with few blocks. No well-kept crate does it.

use schema::comparison::Interval;
use statrs::function::gamma::gamma;

use super::{CONFIDENCE, SplitMix64};

/// Fewer block maxima are not fitted.
pub const FEWEST_BLOCKS: usize = 20;

/// Resamples for the interval.
const RESAMPLES: usize = 2_000;

/// Seed of the resampling stream: any constant would do.
const SEED: u64 = 0x5ced_1ab0_0000_0002;

/// Shapes closer to 0 than this are Gumbel's, where the general formulas divide by 0.
const GUMBEL: f64 = 1e-6;

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

/// A generalised extreme value distribution. Its sign of the shape is that of Hosking: above 0 there is an
/// upper bound, at 0 it is Gumbel's, below 0 the tail is heavy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExtremeValue {
    /// Location, in the unit of the values.
    pub location: f64,
    /// Scale, likewise.
    pub scale: f64,
    /// Shape.
    pub shape: f64,
}

impl ExtremeValue {
    /// The distribution of the maxima of blocks; `None` of fewer than `FEWEST_BLOCKS`.
    #[must_use]
    pub fn fit(maxima: &[f64]) -> Option<Self> {
        (maxima.len() >= FEWEST_BLOCKS).then(|| Self::of_moments(&LMoments::of(maxima)))
    }

    fn of_moments(moments: &LMoments) -> Self {
        let LMoments { mean, scale: spread, skewness } = *moments;
        let c = 2.0 / (3.0 + skewness) - 2f64.ln() / 3f64.ln();
        let shape = 7.859_0 * c + 2.955_4 * c * c;
        if spread == 0.0 || shape.abs() < GUMBEL {
            let scale = spread / 2f64.ln();
            return Self { location: mean - EULER * scale, scale, shape: 0.0 };
        }
        let at_shape = gamma(1.0 + shape);
        let scale = spread * shape / ((1.0 - 2f64.powf(-shape)) * at_shape);
        Self { location: mean - scale * (1.0 - at_shape) / shape, scale, shape }
    }

    /// The value that the largest of `blocks` block maxima exceeds in half of all cases: its median.
    #[must_use]
    pub fn median_of_largest(&self, blocks: f64) -> f64 {
        // F(x)^blocks = 1/2.
        let y = 2f64.ln() / blocks;
        if self.shape == 0.0 {
            self.location - self.scale * y.ln()
        } else {
            self.location + self.scale * (1.0 - y.powf(self.shape)) / self.shape
        }
    }
}

/// The 95 % interval of [`ExtremeValue::median_of_largest`] from percentiles of a bootstrap over the blocks;
/// `None` of fewer than `FEWEST_BLOCKS`.
#[must_use]
pub fn largest_interval(maxima: &[f64], blocks: f64) -> Option<Interval> {
    ExtremeValue::fit(maxima)?;
    let mut stream = SplitMix64::new(SEED);
    let mut resample = vec![0.0; maxima.len()];
    let mut levels: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            resample.fill_with(|| maxima[stream.next_index(maxima.len())]);
            ExtremeValue::of_moments(&LMoments::of(&resample)).median_of_largest(blocks)
        })
        .collect();
    levels.sort_by(f64::total_cmp);
    let at = |share: f64| levels[((share * RESAMPLES as f64) as usize).min(RESAMPLES - 1)];
    Some(Interval { low: at(0.5 - CONFIDENCE / 2.0), high: at(0.5 + CONFIDENCE / 2.0) })
}

/// Sample L-moments.
struct LMoments {
    mean: f64,
    /// The second one.
    scale: f64,
    /// The third by the second.
    skewness: f64,
}

impl LMoments {
    /// From the probability-weighted moments of a sample, unbiased.
    fn of(sample: &[f64]) -> Self {
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let (mut b0, mut b1, mut b2) = (0.0, 0.0, 0.0);
        for (i, value) in sorted.iter().enumerate() {
            let i = i as f64;
            b0 += value / n;
            b1 += value * i / (n - 1.0) / n;
            b2 += value * i * (i - 1.0) / ((n - 1.0) * (n - 2.0)) / n;
        }
        let (scale, third) = (2.0 * b1 - b0, 6.0 * b2 - 6.0 * b1 + b0);
        // Values that are all the same have no spread but that of rounding.
        if sorted.first() == sorted.last() {
            return Self { mean: b0, scale: 0.0, skewness: 0.0 };
        }
        Self { mean: b0, scale, skewness: third / scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values at evenly spaced quantiles of a distribution of this shape, location 100 and scale 10.
    fn quantiles(count: usize, shape: f64) -> Vec<f64> {
        let of = |p: f64| {
            let y = -p.ln();
            if shape == 0.0 { 100.0 - 10.0 * y.ln() } else { 100.0 + 10.0 * (1.0 - y.powf(shape)) / shape }
        };
        (0..count).map(|i| of((i as f64 + 0.5) / count as f64)).collect()
    }

    /// A value of that distribution.
    fn draw(stream: &mut SplitMix64) -> f64 {
        let uniform = ((stream.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        100.0 - 10.0 * (-uniform.ln()).ln()
    }

    #[test]
    fn the_fit_finds_the_distribution_that_made_the_values() {
        for shape in [-0.2, 0.0, 0.2] {
            let fit = ExtremeValue::fit(&quantiles(2_000, shape)).expect("enough");
            assert!((fit.location - 100.0).abs() < 0.2, "{shape}: {fit:?}");
            assert!((fit.scale - 10.0).abs() < 0.2, "{shape}: {fit:?}");
            assert!((fit.shape - shape).abs() < 0.02, "{shape}: {fit:?}");
        }
    }

    #[test]
    fn the_largest_of_many_gumbel_blocks_grows_with_the_logarithm() {
        let gumbel = ExtremeValue { location: 100.0, scale: 10.0, shape: 0.0 };
        let median = |blocks| gumbel.median_of_largest(blocks);
        // Median of one block: location - scale ln ln 2.
        assert!((median(1.0) - 103.665).abs() < 0.001);
        assert!((median(1_000.0) - median(1.0) - 10.0 * 1_000f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn the_interval_covers_the_true_value_about_as_often_as_it_says() {
        let truth = ExtremeValue { location: 100.0, scale: 10.0, shape: 0.0 }.median_of_largest(500.0);
        let mut stream = SplitMix64::new(3);
        let covered = (0..60)
            .filter(|_| {
                let maxima: Vec<f64> = (0..60).map(|_| draw(&mut stream)).collect();
                largest_interval(&maxima, 500.0).expect("enough").contains(truth)
            })
            .count();
        // Percentiles of a bootstrap are a little too narrow for extrapolations.
        assert!((48..=60).contains(&covered), "{covered} of 60");
    }

    #[test]
    fn too_few_blocks_are_not_fitted_and_equal_ones_are_a_point() {
        assert_eq!(ExtremeValue::fit(&[1.0; FEWEST_BLOCKS - 1]), None);
        assert_eq!(largest_interval(&[1.0; FEWEST_BLOCKS - 1], 10.0), None);
        let equal = largest_interval(&[7.0; 30], 1e6).expect("enough");
        assert!((equal.low - 7.0).abs() < 1e-9 && (equal.high - 7.0).abs() < 1e-9, "{equal:?}");
    }
}
