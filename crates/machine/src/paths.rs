//! How long the way from a wakeup to the woken task's first instruction takes on a machine, where that was
//! measured.
//!
//! The primitive costs of a machine file give one figure for that way, and a generic one where nobody
//! calibrated it. A recording of a real machine shows it thousands of times. [`crate::Setup::take_paths`]
//! hands such times to a run, which draws from them.

use crate::rng::Rng;
use scheduler::Nanos;
use std::sync::Arc;

/// Who wakes, seen from the CPU on which the woken task is to run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WokenFrom {
    /// An interrupt on this CPU.
    Interrupt,
    /// The task that runs on this CPU.
    Task,
    /// Another CPU, which queues the task here itself.
    Elsewhere,
    /// Another CPU, which leaves that to this one (TTWU_QUEUE).
    HandedOver,
}

/// What the CPU does on which the woken task is to run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Onto {
    /// It idles.
    Idle,
    /// It runs a task that the woken one, a real-time task, preempts at once.
    Lower,
}

/// A kind of way: the same steps of hardware and kernel each time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Situation {
    /// Who wakes.
    pub from: WokenFrom,
    /// What goes on where the task is to run.
    pub onto: Onto,
}

impl Situation {
    /// Every kind.
    pub const ALL: [Situation; 8] = [
        Situation { from: WokenFrom::Interrupt, onto: Onto::Idle },
        Situation { from: WokenFrom::Interrupt, onto: Onto::Lower },
        Situation { from: WokenFrom::Task, onto: Onto::Idle },
        Situation { from: WokenFrom::Task, onto: Onto::Lower },
        Situation { from: WokenFrom::Elsewhere, onto: Onto::Idle },
        Situation { from: WokenFrom::Elsewhere, onto: Onto::Lower },
        Situation { from: WokenFrom::HandedOver, onto: Onto::Idle },
        Situation { from: WokenFrom::HandedOver, onto: Onto::Lower },
    ];

    fn index(self) -> usize {
        self.from as usize * 2 + self.onto as usize
    }

    /// Its name in workload files and results: `interrupt-idle`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match (self.from, self.onto) {
            (WokenFrom::Interrupt, Onto::Idle) => "interrupt-idle",
            (WokenFrom::Interrupt, Onto::Lower) => "interrupt-lower",
            (WokenFrom::Task, Onto::Idle) => "task-idle",
            (WokenFrom::Task, Onto::Lower) => "task-lower",
            (WokenFrom::Elsewhere, Onto::Idle) => "elsewhere-idle",
            (WokenFrom::Elsewhere, Onto::Lower) => "elsewhere-lower",
            (WokenFrom::HandedOver, Onto::Idle) => "handed-over-idle",
            (WokenFrom::HandedOver, Onto::Lower) => "handed-over-lower",
        }
    }
}

/// The event from which times count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CountedFrom {
    /// `sched_wakeup`: the task is queued.
    #[default]
    Wakeup,
    /// `sched_waking`: the waker begins.
    Waking,
}

/// A distribution of measured times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathTimes {
    /// Number of times that were measured.
    measured: u64,
    /// In ascending order; each stands for an equal share of them.
    shares: Arc<[Nanos]>,
}

impl PathTimes {
    /// More measured times than this are drawn together, so many shares of neighbours; each share keeps its
    /// mean.
    pub const SHARES: usize = 200;

    /// Of measured times in any order; `None` of none.
    #[must_use]
    pub fn of(mut times: Vec<Nanos>) -> Option<PathTimes> {
        if times.is_empty() {
            return None;
        }
        times.sort_unstable();
        let (count, shares) = (times.len(), times.len().min(Self::SHARES));
        let share = |n: usize| {
            let part = &times[n * count / shares..(n + 1) * count / shares];
            let sum: u128 = part.iter().map(|time| u128::from(time.0)).sum();
            Nanos((sum / part.len() as u128) as u64)
        };
        Some(PathTimes { measured: count as u64, shares: (0..shares).map(share).collect() })
    }

    /// Of shares as [`PathTimes::shares`] gives them; `None` unless they ascend, are one at least, and no
    /// more than were measured.
    #[must_use]
    pub fn of_shares(measured: u64, shares: Vec<Nanos>) -> Option<PathTimes> {
        let fits = !shares.is_empty() && shares.len() as u64 <= measured && shares.is_sorted();
        fits.then(|| PathTimes { measured, shares: shares.into() })
    }

    /// Number of times that were measured.
    #[must_use]
    pub fn measured(&self) -> u64 {
        self.measured
    }

    /// Equal shares of the times, in ascending order.
    #[must_use]
    pub fn shares(&self) -> &[Nanos] {
        &self.shares
    }

    /// The time below which so many in a thousand lie.
    #[must_use]
    pub fn percentile(&self, per_mille: u64) -> Nanos {
        let last = self.shares.len() - 1;
        let at = self.shares.len() as u64 * per_mille / 1000;
        self.shares[last.min(at as usize)]
    }

    fn draw(&self, rng: &mut Rng) -> Nanos {
        self.shares[rng.below(self.shares.len() as u64) as usize]
    }
}

/// Times of ways from a wakeup to the switch to the woken task, where nothing else came between the two: by
/// kind, as far as they were measured.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WakePaths {
    /// From where they count.
    pub counted_from: CountedFrom,
    times: [Option<PathTimes>; Situation::ALL.len()],
}

impl WakePaths {
    /// Without any times yet.
    #[must_use]
    pub fn new(counted_from: CountedFrom) -> WakePaths {
        WakePaths { counted_from, times: Default::default() }
    }

    /// Sets those of one kind.
    pub fn set(&mut self, situation: Situation, times: Option<PathTimes>) {
        self.times[situation.index()] = times;
    }

    /// Those of one kind, if they were measured.
    #[must_use]
    pub fn of(&self, situation: Situation) -> Option<&PathTimes> {
        self.times[situation.index()].as_ref()
    }

    /// Whether there are none at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.iter().all(Option::is_none)
    }

    /// How long this wakeup's way takes; `None` for a kind that was not measured.
    pub(crate) fn draw(&self, situation: Situation, rng: &mut Rng) -> Option<Nanos> {
        Some(self.of(situation)?.draw(rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn every_kind_has_its_own_place_and_name() {
        for (n, situation) in Situation::ALL.into_iter().enumerate() {
            assert_eq!(situation.index(), n);
            assert_eq!(Situation::ALL.iter().filter(|other| other.name() == situation.name()).count(), 1);
        }
    }

    #[test]
    fn shares_keep_the_mean_and_the_percentiles() {
        // Exponential-like: many short ones, and a long tail.
        let times: Vec<Nanos> = (1..=10_000u64).map(|n| Nanos(1_000 + 3_000_000 / n)).rev().collect();
        let mean = times.iter().map(|t| t.0).sum::<u64>() / 10_000;
        let path = PathTimes::of(times).expect("there are some");
        let shares: u64 = path.shares().iter().map(|t| t.0).sum();
        assert_eq!((path.measured(), path.shares().len()), (10_000, PathTimes::SHARES));
        assert!((shares / 200).abs_diff(mean) <= 1, "{} {mean}", shares / 200);
        assert!(path.percentile(500).0.abs_diff(1_600) < 10, "{:?}", path.percentile(500));
        let mut rng = Rng::keyed(1, Purpose::WakePath, 0);
        let drawn: u64 = (0..100_000).map(|_| path.draw(&mut rng).0).sum();
        assert!((drawn / 100_000).abs_diff(mean) < mean / 20, "{} {mean}", drawn / 100_000);
    }

    #[test]
    fn a_few_times_stay_as_they_are() {
        let path = PathTimes::of(vec![Nanos(30), Nanos(10), Nanos(20)]).expect("three");
        assert_eq!(path.shares(), [Nanos(10), Nanos(20), Nanos(30)]);
        assert_eq!((path.percentile(0), path.percentile(999)), (Nanos(10), Nanos(30)));
        assert_eq!(PathTimes::of_shares(3, path.shares().to_vec()), Some(path));
        assert_eq!(PathTimes::of(Vec::new()), None);
        assert_eq!(PathTimes::of_shares(2, vec![Nanos(2), Nanos(1)]), None);
        assert_eq!(PathTimes::of_shares(1, vec![Nanos(1), Nanos(2)]), None);
    }
}
