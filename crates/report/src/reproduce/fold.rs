//! One number from several.

use serde::{Deserialize, Serialize};

/// How several figures become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fold {
    /// Their arithmetic mean.
    #[default]
    Mean,
    /// Their sum.
    Sum,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The largest step upwards from one to the next; at most 0 when they never rise.
    SteepestRise,
}

impl Fold {
    /// The number; `None` of no numbers, and of a rise in fewer than two.
    #[must_use]
    pub fn of(self, numbers: &[f64]) -> Option<f64> {
        if numbers.is_empty() {
            return None;
        }
        let sum = numbers.iter().sum::<f64>();
        match self {
            Fold::Mean => Some(sum / numbers.len() as f64),
            Fold::Sum => Some(sum),
            Fold::Max => numbers.iter().copied().reduce(f64::max),
            Fold::Min => numbers.iter().copied().reduce(f64::min),
            Fold::SteepestRise => numbers.windows(2).map(|pair| pair[1] - pair[0]).reduce(f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fold_of_the_same_numbers() {
        let of = |fold: Fold| fold.of(&[4.0, 1.0, 3.0, 0.0]);
        assert_eq!(of(Fold::Mean), Some(2.0));
        assert_eq!(of(Fold::Sum), Some(8.0));
        assert_eq!((of(Fold::Max), of(Fold::Min)), (Some(4.0), Some(0.0)));
        assert_eq!(of(Fold::SteepestRise), Some(2.0));
    }

    #[test]
    fn numbers_that_only_fall_have_a_negative_rise() {
        assert_eq!(Fold::SteepestRise.of(&[9.0, 5.0, 4.0]), Some(-1.0));
        assert_eq!(Fold::SteepestRise.of(&[9.0]), None);
        assert_eq!(Fold::Mean.of(&[]), None);
    }
}
