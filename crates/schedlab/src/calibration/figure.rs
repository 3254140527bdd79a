//! What many samples say.

use std::fmt;

/// What many samples say together, and how far they spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figure {
    /// Number of samples.
    pub samples: usize,
    /// A twentieth of the samples is below this, ns.
    pub low_ns: u64,
    /// A quarter of them is, ns: the figure where disturbances only ever add.
    pub quarter_ns: u64,
    /// Half of them are, ns.
    pub median_ns: u64,
    /// All but a twentieth are, ns.
    pub high_ns: u64,
}

impl Figure {
    /// Of samples in any order; `None` without one.
    pub fn of(mut samples: Vec<u64>) -> Option<Figure> {
        samples.sort_unstable();
        let at = |twentieth: usize| samples.get((samples.len().checked_sub(1)?) * twentieth / 20).copied();
        Some(Figure {
            samples: samples.len(),
            low_ns: at(1)?,
            quarter_ns: at(5)?,
            median_ns: at(10)?,
            high_ns: at(19)?,
        })
    }

    /// `the median of 1006 to 1031, n 2000`: what a value is that is the median, and where nine tenths of the
    /// samples are.
    pub fn as_median(&self) -> String {
        format!("the median of {} to {}, n {}", self.low_ns, self.high_ns, self.samples)
    }
}

/// `1010 (median 1016, 1006 to 1031, n 2000)`: the lower quartile, the median, where nine tenths of the
/// samples are, how many there are.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figure { samples, low_ns, quarter_ns, median_ns, high_ns } = self;
        write!(f, "{quarter_ns} (median {median_ns}, {low_ns} to {high_ns}, n {samples})")
    }
}

/// What so many per cent of sorted samples do not exceed, by the nearest of them; `None` without one.
pub(super) fn quantile(sorted: &[u64], percent: usize) -> Option<u64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last * percent + 50) / 100).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_spread() {
        let figure = Figure::of((0..=100).rev().collect()).expect("samples");
        assert_eq!(figure.to_string(), "25 (median 50, 5 to 95, n 101)");
        assert_eq!(figure.as_median(), "the median of 5 to 95, n 101");
        assert_eq!(Figure::of(vec![7]).map(|f| (f.low_ns, f.high_ns)), Some((7, 7)));
        assert_eq!(Figure::of(Vec::new()), None);
    }
}
