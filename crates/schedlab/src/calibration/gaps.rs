//! Interruptions of a spinning thread: the scheduler's ticks, which lie on a grid in time, and all others.

use super::figure::Figure;
use super::measure::{Bench, now};
use nix::sys::resource::{UsageWho, getrusage};
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
    /// Another task ran meanwhile.
    pub by_task: bool,
}

/// Gaps without those of other tasks.
#[derive(Debug)]
pub(super) struct MachinesGaps {
    /// In their order.
    pub(super) gaps: Vec<Gap>,
    /// How many others there were.
    pub(super) by_tasks: u64,
    /// For how long the thread watched, without them, ns; above 0.
    pub(super) watched_ns: u64,
}

impl MachinesGaps {
    /// Of all gaps of so long a time.
    pub(super) fn of(gaps: &[Gap], watched_ns: u64) -> MachinesGaps {
        let (by_tasks, gaps): (Vec<Gap>, Vec<Gap>) = gaps.iter().partition(|gap| gap.by_task);
        let taken_ns = by_tasks.iter().map(|gap| gap.length_ns).sum();
        let watched_ns = watched_ns.saturating_sub(taken_ns).max(1);
        MachinesGaps { gaps, by_tasks: by_tasks.len() as u64, watched_ns }
    }
}

/// What a spinning thread saw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interruptions {
    /// Those that are no ticks and no other tasks, by length, the shortest first.
    pub sources: Vec<Source>,
    /// The ticks, where they could be told from the others.
    pub ticks: Option<Ticks>,
    /// How often other tasks ran; nothing is made of that.
    pub by_tasks: u64,
    /// For how long the thread watched, other tasks left out, ns.
    pub watched_ns: u64,
}

/// Interruptions of about one length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// What they are called.
    pub what: &'static str,
    /// How many a minute.
    pub per_minute: u64,
    /// Their mean length, ns.
    pub mean_ns: u64,
    /// The longest, ns.
    pub longest_ns: u64,
    /// Their lengths.
    pub lengths: Figure,
}

/// Interruptions on a grid in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticks {
    /// How many a second.
    pub hz: u64,
    /// Their lengths.
    pub lengths: Figure,
}

/// Where the lengths of different causes part (machine.md 6.6): short exits to a host, interrupts, long ones
/// of a host, and a host that runs something else; up to which length.
const CAUSES: [(&str, u64); 4] = [
    ("short exits", 3_000),
    ("interrupts", 100_000),
    ("long interrupts", 1_000_000),
    ("the host runs something else", u64::MAX),
];

impl Interruptions {
    /// Of gaps in the order of time, seen for so long, where the kernel says that it ticks so often.
    pub fn of(gaps: &[Gap], watched_ns: u64, told_hz: Option<u64>) -> Interruptions {
        let MachinesGaps { gaps, by_tasks, watched_ns } = MachinesGaps::of(gaps, watched_ns);
        let grid = Grid::of(&gaps, watched_ns, told_hz);
        let is_tick = |gap: &Gap| gap.length_ns < TICK_NS && grid.is_some_and(|grid| grid.has(gap));
        let (ticks, others): (Vec<Gap>, Vec<Gap>) = gaps.iter().partition(|gap| is_tick(gap));
        let lengths = |gaps: &[Gap]| gaps.iter().map(|gap| gap.length_ns).collect::<Vec<u64>>();
        let mut from_ns = 0;
        let sources = CAUSES.into_iter().filter_map(|(what, to_ns)| {
            let range = from_ns..to_ns;
            from_ns = to_ns;
            let of_range = lengths(&others).into_iter().filter(|length| range.contains(length));
            Source::of(what, of_range.collect(), watched_ns)
        });
        Interruptions {
            sources: sources.collect(),
            ticks: grid
                .zip(Figure::of(lengths(&ticks)))
                .map(|(grid, lengths)| Ticks { hz: grid.hz, lengths }),
            by_tasks,
            watched_ns,
        }
    }
}

impl Interruptions {
    /// Those that are no stalls of a host, which are watched for longer.
    pub(super) fn short(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| CAUSES[..2].iter().any(|(what, _)| source.what == *what))
    }

    /// Rates below one a second are no measurements, but chance (machine.md 6.6).
    pub(super) fn is_too_rare(&self, lengths: &Figure) -> bool {
        (lengths.samples as u64) * SECOND_NS < self.watched_ns
    }

    /// What was seen, and is left out, as it was too rare to tell how often it comes.
    pub(super) fn left_out(&self) -> impl Iterator<Item = String> {
        let rare = self.short().filter(|source| self.is_too_rare(&source.lengths));
        rare.map(|Source { what, longest_ns, lengths, .. }| {
            format!(
                "gaps of a spinning thread that are too rare to tell how often they come are left out: {what}, {} in \
                 {} ms, the longest {} us",
                lengths.samples,
                self.watched_ns / 1_000_000,
                longest_ns / 1000
            )
        })
    }
}

impl Source {
    fn of(what: &'static str, lengths_ns: Vec<u64>, watched_ns: u64) -> Option<Source> {
        let (count, sum) = (lengths_ns.len() as u64, lengths_ns.iter().sum::<u64>());
        let longest_ns = *lengths_ns.iter().max()?;
        let per_minute = (count * 60 * SECOND_NS + watched_ns / 2) / watched_ns;
        let lengths = Figure::of(lengths_ns)?;
        Some(Source { what, per_minute, mean_ns: sum / count, longest_ns, lengths })
    }
}

/// No tick is longer.
const TICK_NS: u64 = 100_000;

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
        /// What comes once in two seconds is seen at least once in nine runs of ten.
        const WATCHED_NS: u64 = 5 * SECOND_NS;
        self.pin(CpuId(0))?;
        let gaps = gaps(WATCHED_NS, LEAST_NS)?;
        Ok(Interruptions::of(&gaps, WATCHED_NS, crate::recording::Host::this().hz()))
    }
}

/// The gaps of at least so long that the calling thread sees when it does nothing but look at the clock.
///
/// # Errors
/// The kernel does not tell how often other tasks ran.
pub(super) fn gaps(watched_ns: u64, least_ns: u64) -> io::Result<Vec<Gap>> {
    /// No other task comes and goes in less; asking costs more than looking at the clock.
    const SWITCHES_NS: u64 = 1_500;
    let preempted = || io::Result::Ok(getrusage(UsageWho::RUSAGE_THREAD)?.involuntary_context_switches());
    let (start, mut gaps, mut before) = (now(), Vec::new(), preempted()?);
    let mut last = now();
    while last < start + watched_ns {
        let time = now();
        let length_ns = time - last;
        last = time;
        if length_ns >= least_ns {
            let mut by_task = false;
            if length_ns >= SWITCHES_NS {
                let after = preempted()?;
                by_task = after != before;
                before = after;
                last = now();
            }
            gaps.push(Gap { at_ns: time - length_ns, length_ns, by_task });
        }
    }
    Ok(gaps)
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
            by_task: false,
        });
        let other =
            |n| Gap { at_ns: 7_777_000_000 + n * 618_033_989 % SECOND_NS, length_ns: 1000, by_task: false };
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
            let [short] = seen.sources[..] else { panic!("{hz}: one kind: {:?}", seen.sources) };
            let per_second = short.per_minute / 60;
            assert!((200 - by_chance..=200).contains(&per_second), "{hz}: {per_second}");
            assert_eq!((short.what, short.mean_ns), ("short exits", 1000));
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
        assert_eq!(seen.ticks, None);
        assert_eq!(seen.sources.iter().map(|source| source.per_minute).collect::<Vec<_>>(), [12_000]);
        assert!(Interruptions::of(&[], SECOND_NS, None).sources.is_empty());
    }

    /// machine.md 6.6: where causes part; what other tasks took is neither noise nor time that was watched.
    #[test]
    fn gaps_are_told_apart_by_length_and_those_of_other_tasks_left_out() {
        let gap = |at_ms: u64, length_ns| Gap { at_ns: at_ms * 1_000_000 + 777, length_ns, by_task: false };
        let mut gaps =
            vec![gap(1, 2999), gap(3, 3000), gap(7, 99_999), gap(13, 100_000), gap(27, 15_800_000)];
        gaps.push(Gap { by_task: true, ..gap(53, SECOND_NS) });
        let seen = Interruptions::of(&gaps, 3 * SECOND_NS, None);
        let told = seen.sources.iter().map(|source| (source.what, source.per_minute, source.longest_ns));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                ("short exits", 30, 2999),
                ("interrupts", 60, 99_999),
                ("long interrupts", 30, 100_000),
                ("the host runs something else", 30, 15_800_000)
            ]
        );
        assert_eq!((seen.by_tasks, seen.watched_ns), (1, 2 * SECOND_NS));
    }

    /// Of a real spinning thread.
    #[test]
    fn gaps_lie_within_the_time_that_is_watched() {
        let start = now();
        let gaps = gaps(5_000_000, 0).expect("this kernel tells");
        let inside = |gap: &Gap| gap.at_ns >= start && gap.at_ns < start + 60 * SECOND_NS;
        assert!(gaps.len() > 100 && gaps.iter().all(inside), "{} gaps", gaps.len());
    }
}
