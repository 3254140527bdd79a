//! What is taken of many lengths of time.

use super::quantile;
use serde::Deserialize;

/// Which figure of them.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Take {
    /// The length that this share of them does not exceed, milliseconds.
    QuantileMs(f64),
    /// How many per cent are the first long, at least, and shorter than the second, milliseconds.
    PercentBetweenMs([f64; 2]),
}

impl Take {
    pub fn of(self, lengths_ms: Vec<f64>) -> f64 {
        match self {
            Take::QuantileMs(share) => quantile(lengths_ms, share),
            Take::PercentBetweenMs([least, most]) => {
                let between = lengths_ms.iter().filter(|length| (least..most).contains(*length)).count();
                100.0 * between as f64 / lengths_ms.len().max(1) as f64
            }
        }
    }
}
