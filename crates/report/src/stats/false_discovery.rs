//! Which of many findings to believe.

use super::FALSE_DISCOVERY_RATE;

/// Benjamini and Hochberg's procedure (1995): true for each p-value that is a discovery, in the order given.
/// Of the discoveries, the share that is chance is expected to stay below [`FALSE_DISCOVERY_RATE`].
///
/// Sorted upwards, the k-th of m values may be as large as k / m of the rate; the largest that keeps this
/// bound and all before it are discoveries.
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let step = FALSE_DISCOVERY_RATE / sorted.len() as f64;
    let passes = |&(index, &p): &(usize, &f64)| p <= (index + 1) as f64 * step;
    let bound = sorted.iter().enumerate().rev().find(passes).map(|(_, &p)| p);
    p_values.iter().map(|&p| bound.is_some_and(|bound| p <= bound)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_original_paper() {
        // Benjamini and Hochberg 1995, section 3.2: fifteen p-values, four discoveries at 0.05 (Bonferroni:
        // three).
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        let found = benjamini_hochberg(&p);
        assert_eq!(found.iter().filter(|&&discovery| discovery).count(), 4);
        assert!(found[..4].iter().all(|&discovery| discovery));
    }

    #[test]
    fn a_small_p_value_carries_those_before_it() {
        // 0.04 alone would fail at 2/3 of 0.05, but 0.045 passes at 3/3.
        assert_eq!(benjamini_hochberg(&[0.045, 0.001, 0.04]), [true, true, true]);
    }

    #[test]
    fn nothing_to_find() {
        assert_eq!(benjamini_hochberg(&[]), [false; 0]);
        assert_eq!(benjamini_hochberg(&[0.2, 1.0]), [false, false]);
    }

    #[test]
    fn one_test_is_the_plain_test() {
        assert_eq!(benjamini_hochberg(&[0.05]), [true]);
        assert_eq!(benjamini_hochberg(&[0.051]), [false]);
    }
}
