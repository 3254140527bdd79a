//! Finds the timers behind a task's wakeups. A trace shows that an interrupt woke the task, not that the task
//! itself had set the timer; but a task that sets timers does so over and over, and that leaves a pattern:
//!
//! - **Absolute**: the wakeups lie on a grid of equal steps, however long the task ran in between
//!   (cyclictest, rt-app's `timer`).
//! - **Relative**: the sleeps have equal lengths, however long the task ran in between (`usleep` in a loop).
//!
//! The kernel's own threads sleep so, too, in state D (`msleep`), where others wait for devices: if nearly
//! all such sleeps of a task have the same length, that is a timer's.
//!
//! A replay with such timers reacts: a task that is late starts its relative sleep later. What fits neither
//! stays an interrupt at a fixed time.

use super::causes::Cause;
use super::devices::{self, Served};
use super::track::{By, Sleep, Timer};

/// Fewer alike could be chance.
const MIN_ALIKE: usize = 8;
/// Shorter steps are below the jitter of the timers themselves.
const MIN_PERIOD_NS: u64 = 30_000;
/// Distance of a wakeup from its grid, or of a sleep's length from its like, that counts as jitter.
const JITTER_NS: u64 = 60_000;

/// Devices that answer within this time may do so after equal times.
const MIN_UNINTERRUPTIBLE_NS: u64 = 1_000_000;

/// One wakeup in so many is as early as wakeups are; earlier ones are the clock's.
const EARLY: usize = 20;

/// A sleep that a timer may have ended.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Number of the sleep.
    sleep: usize,
    slept_ns: Option<u64>,
    woken_ns: u64,
}

/// Marks the sleeps that timers explain.
pub(super) fn find(sleeps: &mut [Sleep]) {
    find_uninterruptible(sleeps);
    let candidates: Vec<Candidate> = sleeps.iter().enumerate().filter_map(candidate).collect();
    let grid = Grid::fit(&candidates);
    let lengths = Lengths::fit(&candidates);
    let on_grid =
        candidates.iter().filter(|c| grid.is_some_and(|grid| grid.nearest(c.woken_ns).is_some())).count();
    let of_length = candidates.iter().filter(|c| lengths.of(c).is_some()).count();
    let steady = grid.filter(|grid| of_length < on_grid || grid.jitter_ns <= lengths.jitter_ns);
    // Where nearly all sleeps have one cause, the others have it too, and their timers were late.
    let nearly_all = candidates.len() - candidates.len() / 10;
    for candidate in &candidates {
        let at = |grid: Grid| match grid.nearest(candidate.woken_ns) {
            None if on_grid >= nearly_all => grid.late(candidate),
            nearest => nearest,
        };
        let after = || match lengths.of(candidate) {
            None if of_length >= nearly_all => length(candidate),
            known => known,
        };
        sleeps[candidate.sleep].timer = match steady.and_then(at) {
            Some(at) => Some(Timer::At(at)),
            None => after().map(Timer::After).or_else(|| grid.and_then(at).map(Timer::At)),
        };
    }
}

/// Marks those that look like waits for a device.
fn find_uninterruptible(sleeps: &mut [Sleep]) {
    let in_state_d = |(n, sleep): (usize, &Sleep)| {
        let end = sleep.end.filter(|end| end.cause == Cause::Unknown)?;
        let waits = devices::served(sleep) == Some(Served::Itself);
        waits.then_some(Candidate { sleep: n, slept_ns: sleep.slept_ns, woken_ns: end.at_ns })
    };
    let candidates: Vec<Candidate> = sleeps.iter().enumerate().filter_map(in_state_d).collect();
    let lengths = Lengths::fit(&candidates);
    let Some(usual) = lengths.found.first().filter(|usual| usual.median_ns >= MIN_UNINTERRUPTIBLE_NS) else {
        return;
    };
    let alike: Vec<usize> =
        candidates.iter().filter(|c| lengths.of(c) == Some(usual.median_ns)).map(|c| c.sleep).collect();
    if alike.len() >= candidates.len() - candidates.len() / 10 {
        for sleep in alike {
            sleeps[sleep].timer = Some(Timer::After(usual.median_ns));
        }
    }
}

fn candidate((n, sleep): (usize, &Sleep)) -> Option<Candidate> {
    let end = sleep.end?;
    let maybe = sleep.timer.is_none()
        && match end.cause {
            Cause::OwnTimer | Cause::HighResolution => true,
            Cause::Unknown => {
                let unclear = matches!(end.by, By::Interrupt { .. } | By::Task { certain: false, .. });
                unclear && devices::served(sleep).is_none()
            }
            _ => false,
        };
    maybe.then_some(Candidate { sleep: n, slept_ns: sleep.slept_ns, woken_ns: end.at_ns })
}

/// Times at equal steps.
#[derive(Clone, Copy, Debug)]
struct Grid {
    /// Sum of `steps` periods, so that the period is exact.
    stretch_ns: u64,
    steps: u64,
    /// Time of step 0.
    origin_ns: u64,
    /// Median distance of the wakeups from it.
    jitter_ns: u64,
}

impl Grid {
    /// The grid on which most candidates lie, if there is one.
    fn fit(candidates: &[Candidate]) -> Option<Grid> {
        let times: Vec<u64> = candidates.iter().map(|c| c.woken_ns).collect();
        let mut gaps: Vec<u64> =
            times.windows(2).map(|w| w[1].saturating_sub(w[0])).filter(|gap| *gap >= MIN_PERIOD_NS).collect();
        if gaps.len() + 1 < MIN_ALIKE {
            return None;
        }
        let on_grid = longest_chain(&times, median(&mut gaps));
        let mut grid = Grid::through(&on_grid)?;
        let mut errors: Vec<i128> =
            on_grid.iter().map(|(step, at)| i128::from(*at) - grid.time(*step)).collect();
        errors.sort_unstable();
        // What lies between a timer's time and the wakeup only ever delays it, so the early ones tell the
        // time.
        grid.origin_ns = u64::try_from(i128::from(grid.origin_ns) + errors[errors.len() / EARLY]).ok()?;
        let near: Vec<u64> = times.iter().filter_map(|at| Some(at.abs_diff(grid.nearest(*at)?))).collect();
        let most = times.len() * 3 / 5;
        if near.len() < MIN_ALIKE || near.len() < most {
            return None;
        }
        let mut near = near;
        grid.jitter_ns = median(&mut near);
        Some(grid)
    }

    /// The straight line of least squares through steps and times.
    fn through(points: &[(u64, u64)]) -> Option<Grid> {
        let (first, n) = (points.first()?, points.len() as i128);
        let (mut sum_x, mut sum_y, mut sum_xx, mut sum_xy) = (0i128, 0i128, 0i128, 0i128);
        for (step, at) in points {
            let (x, y) = (i128::from(*step), i128::from(*at) - i128::from(first.1));
            (sum_x, sum_y, sum_xx, sum_xy) = (sum_x + x, sum_y + y, sum_xx + x * x, sum_xy + x * y);
        }
        let below = n * sum_xx - sum_x * sum_x;
        let above = n * sum_xy - sum_x * sum_y;
        if below <= 0 || above <= 0 {
            return None;
        }
        // A stretch of a million steps keeps the period's fraction.
        let steps = 1_000_000;
        let stretch_ns = u64::try_from(above.checked_mul(steps)? / below).ok()?;
        let origin = i128::from(first.1) + (sum_y - above * sum_x / below) / n;
        let origin_ns = u64::try_from(origin).ok()?;
        Some(Grid { stretch_ns, steps: steps as u64, origin_ns, jitter_ns: 0 })
    }

    fn time(&self, step: u64) -> i128 {
        i128::from(self.origin_ns) + i128::from(step) * i128::from(self.stretch_ns) / i128::from(self.steps)
    }

    /// The time of the grid nearest to `at_ns`, if it is near enough.
    fn nearest(&self, at_ns: u64) -> Option<u64> {
        let half_a_period = self.stretch_ns / self.steps / 2;
        let at = self.before(at_ns.saturating_add(half_a_period))?;
        (at.abs_diff(at_ns) <= JITTER_NS.min(half_a_period / 4)).then_some(at)
    }

    /// The time of the grid for which the timer of a late wakeup was set: the last one, if the task slept by
    /// then and the wakeup is not so late that another cause is likelier.
    fn late(&self, candidate: &Candidate) -> Option<u64> {
        let at = self.before(candidate.woken_ns)?;
        let slept = candidate.slept_ns.is_some_and(|slept_ns| slept_ns < at);
        (slept && candidate.woken_ns - at <= self.stretch_ns / self.steps / 4).then_some(at)
    }

    /// The last time of the grid up to `at_ns`.
    fn before(&self, at_ns: u64) -> Option<u64> {
        let (origin, period) = (i128::from(self.origin_ns), i128::from(self.stretch_ns));
        let steps = i128::from(self.steps);
        let step = ((i128::from(at_ns) - origin) * steps).div_euclid(period.max(1));
        u64::try_from(origin + (step * period).div_euclid(steps)).ok()
    }
}

/// The longest row of times that are whole periods from each other, each with its number of periods from the
/// first. The period is only roughly known: its error grows with each step, so each time is compared with the
/// one before.
fn longest_chain(times: &[u64], period_ns: u64) -> Vec<(u64, u64)> {
    /// A task that is off its grid so often in a row has begun a new one.
    const MAX_MISSES: usize = 5;
    let tolerance_ns = JITTER_NS.min(period_ns / 8);
    let (mut longest, mut chain, mut misses) = (Vec::new(), Vec::<(u64, u64)>::new(), 0);
    for at in times {
        let next = chain.last().and_then(|(step, last)| {
            let gap = at.saturating_sub(*last);
            let steps = (gap + period_ns / 2) / period_ns;
            (steps > 0 && gap.abs_diff(steps * period_ns) <= tolerance_ns).then_some((step + steps, *at))
        });
        misses = if next.is_some() { 0 } else { misses + 1 };
        match next {
            None if misses <= MAX_MISSES && !chain.is_empty() => continue,
            None => {
                if chain.len() > longest.len() {
                    longest = std::mem::take(&mut chain);
                }
                (chain, misses) = (vec![(0, *at)], 0);
            }
            Some(next) => chain.push(next),
        }
    }
    if chain.len() > longest.len() { chain } else { longest }
}

/// Lengths of sleeps that occur often.
#[derive(Clone, Debug, Default)]
struct Lengths {
    /// By length, without overlap.
    found: Vec<Length>,
    /// Median distance of the sleeps of the most frequent one from it.
    jitter_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Length {
    shortest_ns: u64,
    longest_ns: u64,
    median_ns: u64,
}

impl Lengths {
    /// Every length that at least a fifth of the sleeps have, up to jitter.
    fn fit(candidates: &[Candidate]) -> Lengths {
        let mut sorted: Vec<u64> = candidates.iter().filter_map(length).collect();
        sorted.sort_unstable();
        let enough = MIN_ALIKE.max(sorted.len().div_ceil(5));
        let mut lengths = Lengths::default();
        while let Some((from, to)) = densest(&sorted).filter(|(from, to)| to - from >= enough) {
            let median_ns = sorted[from + (to - from) / 2];
            if lengths.found.is_empty() {
                let mut errors: Vec<u64> = sorted[from..to].iter().map(|ns| ns.abs_diff(median_ns)).collect();
                lengths.jitter_ns = median(&mut errors);
            }
            lengths.found.push(Length { shortest_ns: sorted[from], longest_ns: sorted[to - 1], median_ns });
            sorted.drain(from..to);
        }
        lengths
    }

    /// The length that this sleep was meant to have.
    fn of(&self, candidate: &Candidate) -> Option<u64> {
        let ns = length(candidate)?;
        self.found.iter().find(|l| l.shortest_ns <= ns && ns <= l.longest_ns).map(|l| l.median_ns)
    }
}

fn length(candidate: &Candidate) -> Option<u64> {
    candidate.woken_ns.checked_sub(candidate.slept_ns?)
}

/// The range of sorted lengths within jitter of each other that holds the most.
fn densest(sorted: &[u64]) -> Option<(usize, usize)> {
    let (mut from, mut best) = (0, None::<(usize, usize)>);
    for to in 1..=sorted.len() {
        let longest = sorted[to - 1];
        let width = JITTER_NS.min(longest / 20);
        while longest - sorted[from] > width {
            from += 1;
        }
        if best.is_none_or(|(a, b)| to - from > b - a) {
            best = Some((from, to));
        }
    }
    best
}

/// The median of a list that is not empty.
fn median(values: &mut [u64]) -> u64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable(middle).1
}
