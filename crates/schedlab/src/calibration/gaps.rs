//! Interruptions of a spinning thread: the scheduler's ticks, which lie on a grid in time, and all others.

use super::figure::Figure;
use super::measure::{Bench, now};
use scheduler::CpuId;
use std::collections::BTreeSet;
use std::io;

/// A stretch in which a spinning thread did not execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// When it began, ns.
    pub at_ns: u64,
    /// How long it was, ns.
    pub length_ns: u64,
}

/// What a spinning thread saw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interruptions {
    /// How many a second that are no ticks.
    pub per_second: u64,
    /// Mean length of these, ns.
    pub mean_ns: u64,
    /// Their lengths; `None` if there were none.
    pub lengths: Option<Figure>,
    /// The ticks, where they could be told from the others.
    pub ticks: Option<Ticks>,
}

/// Interruptions on a grid in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticks {
    /// How many a second.
    pub hz: u64,
    /// Their lengths.
    pub lengths: Figure,
}

impl Interruptions {
    /// Of gaps in the order of time, seen for so long, where the kernel says that it ticks so often.
    pub fn of(gaps: &[Gap], watched_ns: u64, told_hz: Option<u64>) -> Interruptions {
        let grid = Grid::of(gaps, watched_ns, told_hz);
        let (ticks, others): (Vec<Gap>, Vec<Gap>) =
            gaps.iter().partition(|gap| grid.is_some_and(|grid| grid.has(gap)));
        let lengths = |gaps: &[Gap]| gaps.iter().map(|gap| gap.length_ns).collect::<Vec<u64>>();
        let count = others.len() as u64;
        let sum: u64 = lengths(&others).iter().sum();
        Interruptions {
            per_second: count * SECOND_NS / watched_ns.max(1),
            mean_ns: sum.checked_div(count).unwrap_or(0),
            lengths: Figure::of(lengths(&others)),
            ticks: grid
                .zip(Figure::of(lengths(&ticks)))
                .map(|(grid, lengths)| Ticks { hz: grid.hz, lengths }),
        }
    }
}

const SECOND_NS: u64 = 1_000_000_000;

/// Where ticks lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Grid {
    hz: u64,
    /// When they begin, after a multiple of their period, ns.
    phase_ns: u64,
}

impl Grid {
    /// A tick begins within so much of its time: it may have to wait for interrupts to be allowed.
    const WIDTH_NS: u64 = 40_000;

    /// The grid on which most of the ticks are there that it should have, beyond those that other gaps make
    /// up by chance. A finer one would be half empty without them, so it comes first. `told`: how often the
    /// kernel says that it ticks.
    fn of(gaps: &[Gap], watched_ns: u64, told: Option<u64>) -> Option<Grid> {
        let rates = told.map_or_else(|| vec![1000, 300, 250, 100], |hz| vec![hz]);
        rates.into_iter().filter(|hz| (1..=10_000).contains(hz)).find_map(|hz| {
            let period = SECOND_NS / hz;
            let expected = watched_ns / period;
            let mut phases: Vec<u64> = gaps.iter().map(|gap| gap.at_ns % period).collect();
            phases.sort_unstable();
            let grid = |phase_ns| Grid { hz, phase_ns };
            let ticks = |phase_ns: u64| {
                let numbers: BTreeSet<u64> = gaps
                    .iter()
                    .filter(|gap| grid(phase_ns).has(gap))
                    .map(|gap| (gap.at_ns - phase_ns) / period)
                    .collect();
                numbers.len() as u64
            };
            // Each gap may be the first within the width; the fullest stretch counts. As gaps come close
            // together, a few hundred of them are enough to find it.
            let tried = phases.iter().step_by(phases.len() / 400 + 1);
            let best = tried.map(|from| (ticks(*from), *from)).max_by_key(|(count, _)| *count)?;
            // Half a period later there are none but by chance.
            let by_chance = ticks((best.1 + period / 2) % period).min(expected);
            let (seen, missing) = (best.0.saturating_sub(by_chance), expected - by_chance);
            (expected >= 10 && missing > 0 && seen * 100 >= missing * 70).then(|| grid(best.1))
        })
    }

    fn has(&self, gap: &Gap) -> bool {
        let period = SECOND_NS / self.hz;
        (gap.at_ns + period - self.phase_ns) % period <= Grid::WIDTH_NS
    }
}

impl Bench<'_> {
    /// Interruptions that a spinning thread sees: ticks, other interrupts, a hypervisor.
    pub fn interruptions(&self) -> io::Result<Interruptions> {
        /// Shorter gaps are the loop itself.
        const LEAST_NS: u64 = 400;
        /// Longer ones are other tasks.
        const MOST_NS: u64 = 100_000;
        self.pin(CpuId(0))?;
        let (gaps, others): (Vec<Gap>, Vec<Gap>) =
            gaps(SECOND_NS, LEAST_NS).into_iter().partition(|gap| gap.length_ns < MOST_NS);
        let lost: u64 = others.iter().map(|gap| gap.length_ns).sum();
        let told_hz = crate::recording::Host::this().hz();
        Ok(Interruptions::of(&gaps, SECOND_NS.saturating_sub(lost).max(1), told_hz))
    }
}

/// The gaps of at least so long that the calling thread sees when it does nothing but look at the clock.
pub(super) fn gaps(watched_ns: u64, least_ns: u64) -> Vec<Gap> {
    let start = now();
    let (mut gaps, mut last) = (Vec::new(), start);
    while last < start + watched_ns {
        let time = now();
        let length_ns = time - last;
        if length_ns >= least_ns {
            gaps.push(Gap { at_ns: last, length_ns });
        }
        last = time;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks of 5 us so many times a second, and 200 others of 1 us, by a generator of remainders.
    fn seen(hz: u64) -> Vec<Gap> {
        beside(hz, 200)
    }

    fn beside(hz: u64, others: u64) -> Vec<Gap> {
        let ticks = (0..hz).map(|n| Gap {
            at_ns: 7_777_777_123 + n * (SECOND_NS / hz) + n * 7919 % 15_000,
            length_ns: 5000,
        });
        let other = |n| Gap { at_ns: 7_777_000_000 + n * 618_033_989 % SECOND_NS, length_ns: 1000 };
        let others = (1..=others).map(other);
        ticks.chain(others).collect()
    }

    #[test]
    fn ticks_are_told_from_other_interruptions_at_every_rate() {
        for hz in [100, 250, 300, 1000] {
            let seen = Interruptions::of(&seen(hz), SECOND_NS, None);
            let ticks = seen.ticks.expect("they are on a grid");
            assert_eq!((ticks.hz, ticks.lengths.median_ns), (hz, 5000));
            // What falls on a tick by chance is taken for one.
            let by_chance = 200 * hz * Grid::WIDTH_NS / SECOND_NS + 8;
            assert!((200 - by_chance..=200).contains(&seen.per_second), "{hz}: {}", seen.per_second);
            assert_eq!(seen.mean_ns, 1000);
        }
    }

    /// 11,000 others a second, of a host that takes CPUs away: each stretch of a finer grid has one by
    /// chance.
    #[test]
    fn many_other_gaps_do_not_make_a_finer_grid() {
        for told in [None, Some(250)] {
            let seen = Interruptions::of(&beside(250, 11_000), SECOND_NS, told);
            assert_eq!(seen.ticks.map(|ticks| ticks.hz), Some(250), "{told:?}");
        }
        assert_eq!(Interruptions::of(&beside(250, 11_000), SECOND_NS, Some(100)).ticks, None);
    }

    #[test]
    fn where_nothing_is_on_a_grid_there_are_no_ticks() {
        let others: Vec<Gap> = seen(100).split_off(100);
        let seen = Interruptions::of(&others, SECOND_NS, None);
        assert_eq!((seen.ticks, seen.per_second, seen.mean_ns), (None, 200, 1000));
        assert!(Interruptions::of(&[], SECOND_NS, None).lengths.is_none());
    }
}
