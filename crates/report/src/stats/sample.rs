//! Mean and standard deviation.

/// Arithmetic mean; 0 of an empty sample.
#[must_use]
pub fn mean(sample: &[f64]) -> f64 {
    if sample.is_empty() { 0.0 } else { sample.iter().sum::<f64>() / sample.len() as f64 }
}

/// Standard deviation with n − 1 in the denominator; 0 of fewer than two values.
#[must_use]
pub fn standard_deviation(sample: &[f64]) -> f64 {
    if sample.len() < 2 {
        return 0.0;
    }
    let mean = mean(sample);
    let squares: f64 = sample.iter().map(|value| (value - mean) * (value - mean)).sum();
    (squares / (sample.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_values() {
        let sample = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&sample), 5.0);
        assert!((standard_deviation(&sample) - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_have_no_spread() {
        assert_eq!((mean(&[]), standard_deviation(&[])), (0.0, 0.0));
        assert_eq!((mean(&[3.0]), standard_deviation(&[3.0])), (3.0, 0.0));
    }
}
