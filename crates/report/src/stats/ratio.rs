//! "3.1 ± 0.4 times": the ratio of two means of paired values.

use super::student_t::{standard_error, t_quantile};
use super::{mean, standard_deviation};

/// The ratio of two means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Mean of the first over mean of the second.
    pub value: f64,
    /// Half the width of its 95 % interval; `None` for a single pair.
    pub plus_minus: Option<f64>,
}

/// The ratio of the means of `over` and `under`, values of the same seeds in the same order; `None` unless
/// both means are above 0.
///
/// Its uncertainty is that of `over − ratio · under`, the residuals of the pairs (the delta method), so what
/// both configurations have in common cancels out.
#[must_use]
pub fn paired_ratio(over: &[f64], under: &[f64]) -> Option<Ratio> {
    debug_assert_eq!(over.len(), under.len(), "pairs");
    let (over_mean, under_mean) = (mean(over), mean(under));
    if over_mean <= 0.0 || under_mean <= 0.0 {
        return None;
    }
    let value = over_mean / under_mean;
    let plus_minus = (over.len() >= 2).then(|| {
        let residuals: Vec<f64> = over.iter().zip(under).map(|(o, u)| (o - value * u) / under_mean).collect();
        t_quantile(over.len()) * standard_error(standard_deviation(&residuals), over.len())
    });
    Some(Ratio { value, plus_minus })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_ratio_in_every_pair_is_exact() {
        let ratio = paired_ratio(&[30.0, 60.0, 90.0], &[10.0, 20.0, 30.0]).expect("positive means");
        assert_eq!(ratio.value, 3.0);
        assert!(ratio.plus_minus.expect("pairs") < 1e-12);
    }

    #[test]
    fn the_uncertainty_is_that_of_the_residuals() {
        // Ratio 2; residuals (20−2·9, 20−2·11)/10 = ±0.2; standard error 0.2; t of one degree of freedom
        // 12.706.
        let ratio = paired_ratio(&[20.0, 20.0], &[9.0, 11.0]).expect("positive means");
        assert_eq!(ratio.value, 2.0);
        assert!((ratio.plus_minus.expect("pairs") - 2.5412).abs() < 0.0005);
    }

    #[test]
    fn one_pair_has_no_uncertainty_and_zero_no_ratio() {
        assert_eq!(paired_ratio(&[6.0], &[2.0]), Some(Ratio { value: 3.0, plus_minus: None }));
        assert_eq!(paired_ratio(&[6.0, 1.0], &[0.0, 0.0]), None);
    }
}
