//! Stalls of the host: long gaps of threads that spin on several CPUs for longer than a calibration of all
//! else takes, and the distribution that fits their lengths (machine.md 6.6).

use super::gaps::{Gap, gaps};
use super::host::Host;
use super::measure::{Bench, now};
use super::realtime::{Fifo, PRIORITY};
use machine::Spread;
use rustix::thread::nanosleep;
use rustix::time::Timespec;
use scheduler::{CpuId, Nanos};
use std::io;
use std::thread;

/// Gaps from here on are a host's, or a firmware's: no interrupt of this machine takes so long.
pub(super) const LEAST_NS: u64 = 100_000;

/// Fewer say nothing of how often they come.
const FEW: usize = 5;

/// What threads that spin saw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct HostStalls {
    /// Lengths of the gaps of [`LEAST_NS`] and more, without those of other tasks, ns.
    pub(super) lengths_ns: Vec<u64>,
    /// For how long all of them together watched, ns; 0 where nobody did.
    pub(super) watched_ns: u64,
    /// On how many CPUs.
    pub(super) cpus: usize,
}

/// How long stalls last and how often they come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tail {
    /// How many a minute on each CPU.
    pub(super) per_minute: u64,
    /// Their lengths.
    pub(super) length: Spread,
}

impl HostStalls {
    /// Whether there are enough of them to say how often they come.
    pub(super) fn are_told(&self) -> bool {
        self.lengths_ns.len() >= FEW
    }

    /// The distribution under which these lengths are likeliest: an exponential one, or Pareto's where the
    /// tail is clearly heavier than that. The longest seen is the longest there is.
    pub(super) fn tail(&self) -> Option<Tail> {
        if !self.are_told() || self.watched_ns == 0 {
            return None;
        }
        let count = self.lengths_ns.len() as f64;
        let longest = self.lengths_ns.iter().copied().max().unwrap_or_default().max(LEAST_NS + 1);
        let beyond: u64 = self.lengths_ns.iter().map(|ns| ns.saturating_sub(LEAST_NS)).sum();
        let mean = (beyond as f64 / count).max(1.0);
        let logarithms = self.lengths_ns.iter().map(|ns| (*ns as f64 / LEAST_NS as f64).max(1.0).ln());
        let logarithms: f64 = logarithms.sum::<f64>().max(f64::MIN_POSITIVE);
        let slope = count / logarithms;
        // Logarithms of the likelihoods at the likeliest parameter, one in each.
        let exponential = -count * (mean.ln() + 1.0);
        let pareto = count * (slope / LEAST_NS as f64).ln() - (slope + 1.0) * logarithms;
        /// As much likelier as this is no chance: e to the 2.
        const CLEARLY: f64 = 2.0;
        let (min, max) = (Nanos(LEAST_NS), Nanos(longest));
        let length = if pareto > exponential + CLEARLY {
            Spread::Pareto { min, slope_percent: (slope * 100.0).round().clamp(10.0, 1000.0) as u32, max }
        } else {
            Spread::CutExponential { min, mean: Nanos(mean.round() as u64), max }
        };
        let minutes = self.watched_ns as f64 / 60e9;
        Some(Tail { per_minute: (count / minutes).round().max(1.0) as u64, length })
    }

    /// What was seen, in words.
    pub(super) fn words(&self) -> String {
        format!(
            "threads that spin on {} CPUs for {} ms in all saw {} gaps of {} us and more",
            self.cpus,
            self.watched_ns / 1_000_000,
            self.lengths_ns.len(),
            LEAST_NS / 1000
        )
    }
}

impl Bench<'_> {
    /// Watches up to two CPUs at once. A thread spins 40 of each 50 ms, so that no throttling of real-time
    /// tasks and no server of fair ones is what it sees.
    pub(super) fn host_stalls(&self, host: &Host) -> io::Result<HostStalls> {
        /// What comes once in ten seconds is seen at least once in 19 runs of 20, on two CPUs.
        const LASTS_NS: u64 = 20_000_000_000;
        const SPINS_NS: u64 = 40_000_000;
        const SHORT_NS: u64 = 1_500;
        const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        let watch = |cpu: CpuId| {
            self.pin(cpu)?;
            // Who may not be real-time sees gaps of other tasks besides, which the kernel tells apart.
            let _fifo = Fifo::new(PRIORITY);
            let end = now() + LASTS_NS;
            let mut seen = HostStalls { cpus: 1, ..HostStalls::default() };
            while now() < end {
                let begun = now();
                // Short ones, too: whether another task ran is told by how often that happened so far.
                let found = gaps(SPINS_NS, SHORT_NS)?;
                let (by_tasks, own): (Vec<Gap>, Vec<Gap>) = found.iter().partition(|gap| gap.by_task);
                let taken_ns: u64 = by_tasks.iter().map(|gap| gap.length_ns).sum();
                seen.watched_ns += (now() - begun).saturating_sub(taken_ns);
                let lengths_ns = own.iter().map(|gap| gap.length_ns);
                seen.lengths_ns.extend(lengths_ns.filter(|length_ns| *length_ns >= LEAST_NS));
                // One that a signal ends early is shorter, no more.
                let _ = nanosleep(&PAUSE);
            }
            io::Result::Ok(seen)
        };
        let cpus: Vec<CpuId> = (0..host.cpus().min(2)).map(|cpu| CpuId(cpu as u16)).collect();
        let all: Vec<io::Result<HostStalls>> = thread::scope(|scope| {
            let watchers: Vec<_> = cpus.iter().map(|cpu| scope.spawn(move || watch(*cpu))).collect();
            let ended = |watcher: thread::ScopedJoinHandle<'_, _>| {
                watcher.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended early")))
            };
            watchers.into_iter().map(ended).collect()
        });
        let mut together = HostStalls::default();
        for seen in all {
            let seen = seen?;
            together.lengths_ns.extend(seen.lengths_ns);
            together.watched_ns += seen.watched_ns;
            together.cpus += 1;
        }
        Ok(together)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths whose quantiles are those of a distribution: one for each step.
    fn stalls(count: u32, length: impl Fn(f64) -> f64) -> HostStalls {
        let share = |n: u32| (f64::from(n) + 0.5) / f64::from(count);
        let lengths_ns = (0..count).map(|n| length(1.0 - share(n)) as u64).collect();
        HostStalls { lengths_ns, watched_ns: 60_000_000_000, cpus: 2 }
    }

    #[test]
    fn an_exponential_tail_comes_out_as_one() {
        let tail = stalls(100, |rest| 100_000.0 - 200_000.0 * rest.ln()).tail().expect("enough");
        let Spread::CutExponential { min, mean, max } = tail.length else { panic!("{tail:?}") };
        assert_eq!((min, tail.per_minute), (Nanos(LEAST_NS), 100));
        assert!(mean.0.abs_diff(200_000) < 4_000 && max.0 > 1_000_000, "{tail:?}");
    }

    #[test]
    fn a_heavy_tail_comes_out_with_its_slope() {
        for slope in [0.7, 1.0, 1.5] {
            let seen = stalls(100, |rest: f64| 100_000.0 * rest.powf(-1.0 / slope));
            let Spread::Pareto { slope_percent, max, .. } = seen.tail().expect("enough").length else {
                panic!("{slope}")
            };
            let off = f64::from(slope_percent) / 100.0 / slope - 1.0;
            assert!(off.abs() < 0.03, "{slope}: {slope_percent}");
            assert_eq!(max.0, seen.lengths_ns.iter().copied().max().expect("some"));
        }
    }

    /// machine.md 6.6: rates that so few tell are not measured.
    #[test]
    fn few_stalls_are_not_measured() {
        assert_eq!(stalls(4, |_| 1_000_000.0).tail(), None);
        assert_eq!(HostStalls::default().tail(), None);
        assert!(stalls(5, |_| 1_000_000.0).tail().is_some());
    }
}
