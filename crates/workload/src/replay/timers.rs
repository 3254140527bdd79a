//! Finds the timers behind a task's wakeups. A trace shows that an interrupt woke the task, not that the task itself had
//! set the timer; but a task that sets timers does so over and over, and that leaves a pattern:
//!
//! - **Absolute**: the wakeups lie on a grid of equal steps, however long the task ran in between (cyclictest, rt-app's
//!   `timer`).
//! - **Relative**: the sleeps have equal lengths, however long the task ran in between (`usleep` in a loop).
//!
//! A replay with such timers reacts: a task that is late starts its relative sleep later. What fits neither stays an
//! interrupt at a fixed time.

use super::track::{By, Sleep, Timer};

/// Fewer alike could be chance.
const MIN_ALIKE: usize = 8;
/// Shorter steps are below the jitter of the timers themselves.
const MIN_PERIOD_NS: u64 = 30_000;
/// Distance of a wakeup from its grid, or of a sleep's length from its like, that counts as jitter.
const JITTER_NS: u64 = 60_000;

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
    let candidates: Vec<Candidate> = sleeps.iter().enumerate().filter_map(candidate).collect();
    let grid = Grid::fit(&candidates);
    let lengths = Lengths::fit(&candidates);
    for candidate in &candidates {
        let at = grid.as_ref().and_then(|grid| grid.nearest(candidate.woken_ns));
        let after = lengths.of(candidate);
        sleeps[candidate.sleep].timer = match (&grid, at, after) {
            (Some(grid), Some(at), Some(_)) if grid.jitter_ns <= lengths.jitter_ns => Some(Timer::At(at)),
            (_, _, Some(after)) => Some(Timer::After(after)),
            (_, Some(at), None) => Some(Timer::At(at)),
            (_, None, None) => None,
        };
    }
}

fn candidate((n, sleep): (usize, &Sleep)) -> Option<Candidate> {
    let end = sleep.end?;
    let maybe = matches!(end.by, By::Interrupt | By::Task { certain: false, .. });
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
        // The median gap is near one period if few were missed; its error grows with each step, so the first fit takes
        // times that are whole periods from the one before, and only the second looks at the whole.
        let period_ns = median(&mut gaps);
        let tolerance_ns = JITTER_NS.min(period_ns / 8);
        let (mut step, mut on_grid) = (0u64, vec![(0u64, times[0])]);
        for pair in times.windows(2) {
            let gap = pair[1].saturating_sub(pair[0]);
            let steps = (gap + period_ns / 2) / period_ns;
            step += steps;
            if steps > 0 && gap.abs_diff(steps * period_ns) <= tolerance_ns {
                on_grid.push((step, pair[1]));
            }
        }
        let mut grid = Grid::through(&on_grid)?;
        let mut errors: Vec<i128> =
            on_grid.iter().map(|(step, at)| i128::from(*at) - grid.time(*step)).collect();
        errors.sort_unstable();
        grid.origin_ns = u64::try_from(i128::from(grid.origin_ns) + errors[errors.len() / 2]).ok()?;
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
        let (after, period) = (i128::from(at_ns) - i128::from(self.origin_ns), i128::from(self.stretch_ns));
        let steps = i128::from(self.steps);
        let step = (2 * after * steps + period).div_euclid(2 * period.max(1));
        let at = u64::try_from(i128::from(self.origin_ns) + (step * period).div_euclid(steps)).ok()?;
        let tolerance_ns = JITTER_NS.min(self.stretch_ns / self.steps / 8);
        (at.abs_diff(at_ns) <= tolerance_ns).then_some(at)
    }
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
