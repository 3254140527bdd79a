//! From samples to figures, and how near those of the simulation are to be.

use crate::calibration::figure::quantile;
use schema::machine_check::{CheckedFigure, CheckedUnit};

/// What is told of samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Statistic {
    /// So many per cent are not longer.
    Quantile(u8),
    /// The longest.
    Longest,
    /// How many there are a second.
    PerSecond,
    /// What they take of the time.
    Lost,
}

/// Where most samples are.
pub(super) const MIDDLE: &[Statistic] = &[Statistic::Quantile(50), Statistic::Quantile(90)];
/// The same of many samples, with their tail.
pub(super) const WITH_TAIL: &[Statistic] = &[
    Statistic::Quantile(10),
    Statistic::Quantile(50),
    Statistic::Quantile(90),
    Statistic::Quantile(99),
    Statistic::Longest,
];

/// How near a simulated figure is to be to the measured ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tolerance {
    Percent(u64),
    Factor(u64),
}

impl Statistic {
    /// Its word.
    pub(super) fn name(self) -> String {
        match self {
            Statistic::Quantile(percent) => format!("p{percent}"),
            Statistic::Longest => "longest".to_owned(),
            Statistic::PerSecond => "a second".to_owned(),
            Statistic::Lost => "lost".to_owned(),
        }
    }

    fn unit(self) -> CheckedUnit {
        match self {
            Statistic::Quantile(_) | Statistic::Longest => CheckedUnit::Ns,
            Statistic::PerSecond => CheckedUnit::PerSecond,
            Statistic::Lost => CheckedUnit::Ppm,
        }
    }

    /// As wanted of cyclictest's figures in docs/accuracy.md: the nearer, the more samples make the figure.
    fn tolerance(self) -> Tolerance {
        match self {
            Statistic::Quantile(0..=90) | Statistic::PerSecond | Statistic::Lost => Tolerance::Percent(25),
            Statistic::Quantile(_) => Tolerance::Percent(50),
            Statistic::Longest => Tolerance::Factor(3),
        }
    }
}

impl Tolerance {
    /// What lies below `value` by so much.
    fn below(self, value: u64) -> u64 {
        match self {
            Tolerance::Percent(percent) => value - value * percent / 100,
            Tolerance::Factor(factor) => value / factor,
        }
    }

    /// What lies above it.
    fn above(self, value: u64) -> u64 {
        match self {
            Tolerance::Percent(percent) => value + value * percent / 100,
            Tolerance::Factor(factor) => value * factor,
        }
    }
}

/// Samples of a stretch of time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Samples {
    /// In any order, ns.
    pub(super) each_ns: Vec<u64>,
    /// The stretch, ns; 0 where nothing is told by it.
    pub(super) watched_ns: u64,
}

impl Samples {
    /// Of a program of which nothing is told by the time that it took.
    pub(super) fn of(each_ns: Vec<u64>) -> Samples {
        Samples { each_ns, watched_ns: 0 }
    }
}

/// The figures of one run, in the order of the statistics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Figures(pub(super) Vec<u64>);

impl Figures {
    /// Without a sample all are zero: nothing was seen.
    pub(super) fn of(statistics: &[Statistic], samples: Samples) -> Figures {
        let Samples { mut each_ns, watched_ns } = samples;
        each_ns.sort_unstable();
        let count = each_ns.len() as u64;
        let at = |percent: usize| quantile(&each_ns, percent).unwrap_or(0);
        let per =
            |part: u64, whole: u64| u128::from(part) * u128::from(whole) / u128::from(watched_ns.max(1));
        let of = |statistic: &Statistic| match statistic {
            Statistic::Quantile(percent) => at(usize::from(*percent)),
            Statistic::Longest => at(100),
            Statistic::PerSecond => per(count, 1_000_000_000) as u64,
            Statistic::Lost => per(each_ns.iter().sum(), 1_000_000) as u64,
        };
        Figures(statistics.iter().map(of).collect())
    }
}

/// The figures of all repetitions here beside those of all seeds there.
pub(super) fn beside(statistics: &[Statistic], here: &[Figures], there: &[Figures]) -> Vec<CheckedFigure> {
    let sorted = |all: &[Figures], n: usize| {
        let mut of_all: Vec<u64> = all.iter().filter_map(|figures| figures.0.get(n).copied()).collect();
        of_all.sort_unstable();
        of_all
    };
    let figure = |(n, statistic): (usize, &Statistic)| {
        let (here, there) = (sorted(here, n), sorted(there, n));
        let tolerance = statistic.tolerance();
        Some(CheckedFigure {
            what: statistic.name(),
            unit: statistic.unit(),
            simulated: *there.get(there.len() / 2)?,
            at_least: tolerance.below(*here.first()?),
            at_most: tolerance.above(*here.last()?),
            here,
        })
    };
    statistics.iter().enumerate().filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(statistics: &[Statistic], each_ns: Vec<u64>) -> Vec<u64> {
        Figures::of(statistics, Samples { each_ns, watched_ns: 2_000_000_000 }).0
    }

    #[test]
    fn quantiles_counts_and_shares_of_the_time() {
        let all = [WITH_TAIL, &[Statistic::PerSecond, Statistic::Lost]].concat();
        // 0 to 1000 us in 2 s: half a sample a millisecond, and 500.5 ms of the 2 s.
        let samples = (0..=1000).rev().map(|us| us * 1000).collect();
        assert_eq!(of(&all, samples), [100_000, 500_000, 900_000, 990_000, 1_000_000, 500, 250_250]);
        assert_eq!(of(&all, Vec::new()), [0; 7]);
    }

    #[test]
    fn the_band_is_that_of_the_repetitions_widened_by_the_tolerance() {
        let here = [Figures(vec![120, 900]), Figures(vec![100, 600]), Figures(vec![110, 700])];
        let there = [Figures(vec![80, 4000]), Figures(vec![74, 199]), Figures(vec![75, 200])];
        let figures = beside(&[Statistic::Quantile(90), Statistic::Longest], &here, &there);
        let [p90, longest] = &figures[..] else { panic!("two figures") };
        assert_eq!((p90.median(), p90.at_least, p90.at_most), (110, 75, 150));
        assert_eq!((p90.simulated, p90.is_within()), (75, true));
        assert_eq!((longest.median(), longest.at_least, longest.at_most), (700, 200, 2700));
        assert_eq!((longest.simulated, longest.is_within()), (200, true));
        let off = CheckedFigure { simulated: 151, ..p90.clone() };
        assert!(!off.is_within() && !CheckedFigure { simulated: 74, ..off }.is_within());
    }
}
