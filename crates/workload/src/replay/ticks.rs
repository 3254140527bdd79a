//! Finds the tick of the recording kernel (CONFIG_HZ). It decides when slices end, and few recorders name it;
//! but a fair task that leaves its CPU although nobody was queued there leaves at a tick, and soft interrupts
//! wake RCU's threads in one. Some recorders show the tick's own timer. Ticks come at equal steps.

mod phase;

use crate::units::HZ;
use trace::Trace;

pub(super) use phase::TickPhases;

/// The values that kernels are built with, in the order in which they can be told apart: ticks of one also
/// lie at the steps of all that come after it and have it as a factor, but not the other way round. (100
/// before 250 would not do: loads have periods of 10 ms.)
const CHOICES: [u32; 4] = [250, 100, 300, 1000];
/// Fewer could be chance.
const MIN_SAMPLES: usize = 30;
/// So many make a crowd of half of them certain.
const MANY_SAMPLES: usize = 100;
/// A CPU's ticks keep their phase for at least so many samples: the clock of a trace may slip beside that of
/// the ticks, as it did in an emulated guest, once in four seconds and by a millisecond.
const STRETCH: usize = 100;
/// The period is divided into so many parts, and most samples must lie in [`NEAR`] of them, which follow each
/// other.
const PARTS: usize = 20;
const NEAR: usize = 3;

/// Something that a tick may have caused.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickSample {
    pub cpu: u32,
    /// On the trace's clock.
    pub at_ns: u64,
}

/// The number of ticks a second, if the recorder wrote it down.
pub(super) fn told(trace: &Trace) -> Option<u32> {
    let hz = trace.host.facts.get("hz")?.parse().ok();
    hz.filter(|hz| HZ.contains(hz))
}

/// The number of ticks a second, if it shows: most samples lie at its steps; or, where much else happens,
/// half of many do and half again as many as at the steps of any other rate. (By chance a fifth would.)
pub(super) fn find(samples: &[TickSample]) -> Option<u32> {
    if samples.len() < MIN_SAMPLES {
        return None;
    }
    let at = CHOICES.map(|hz| (hz, at_steps(samples, hz)));
    let most = at.iter().find(|(_, near)| near * 10 >= samples.len() * 7);
    let stands_out = |(hz, near): &&(u32, usize)| {
        // Its ticks lie at the steps of its multiples, too.
        let others = at.iter().filter(|(other, _)| other % hz != 0).map(|(_, near)| *near);
        let others = others.max().unwrap_or(0);
        samples.len() >= MANY_SAMPLES && near * 2 >= samples.len() && near * 2 >= others * 3
    };
    most.or_else(|| at.iter().find(stands_out)).map(|(hz, _)| *hz)
}

/// How many samples lie at equal steps, each CPU having its own phase in each stretch of its samples.
fn at_steps(samples: &[TickSample], hz: u32) -> usize {
    // In units of which a second has exactly hz · PARTS.
    let part = |sample: &TickSample| {
        let played = u128::from(sample.at_ns) * u128::from(hz) * PARTS as u128 / 1_000_000_000;
        (played % PARTS as u128) as usize
    };
    let cpus = samples.iter().map(|sample| sample.cpu + 1).max().unwrap_or(0);
    let of_cpu = |cpu: u32| -> usize {
        let parts: Vec<usize> = samples.iter().filter(|sample| sample.cpu == cpu).map(part).collect();
        // The last stretch is no short one, in which chance alone would make a crowd.
        let stretches = (parts.len() / STRETCH).max(1);
        parts.chunks(parts.len().div_ceil(stretches).max(1)).map(crowd).sum()
    };
    (0..cpus).map(of_cpu).sum()
}

/// How many of these parts of a period are among [`NEAR`] that follow each other, at most.
fn crowd(parts: &[usize]) -> usize {
    let mut counts = [0usize; PARTS];
    for part in parts {
        counts[*part] += 1;
    }
    let near = |from: usize| (0..NEAR).map(|n| counts[(from + n) % PARTS]).sum::<usize>();
    (0..PARTS).map(near).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 departures at multiples of `step_ns` that are not all neighbours, late by up to 40 µs.
    fn departures(step_ns: u64) -> Vec<TickSample> {
        let tick =
            |n: u64| TickSample { cpu: (n % 2) as u32, at_ns: (n * n % 977) * step_ns + n * 7919 % 40_000 };
        (0..100).map(tick).collect()
    }

    #[test]
    fn ticks_show_in_the_times_of_departures() {
        for (step_ns, hz) in [(10_000_000, 100), (4_000_000, 250), (3_333_333, 300), (1_000_000, 1000)] {
            assert_eq!(find(&departures(step_ns)), Some(hz));
        }
        assert_eq!(find(&departures(777_777)), None);
        assert_eq!(find(&departures(4_000_000)[..20]), None);
    }

    /// In `mix-smp2/balance` the tick lies 75 us after whole periods for the first half of four seconds, and
    /// then 1.0 ms after them.
    #[test]
    fn ticks_show_where_the_clock_slips_beside_them() {
        let slips = |n: u64| TickSample {
            cpu: (n % 2) as u32,
            at_ns: n * 4_000_000 + n * 7919 % 40_000 + if n < 450 { 75_000 } else { 1_000_000 },
        };
        assert_eq!(find(&(0..1000).map(slips).collect::<Vec<_>>()), Some(250));
        let drifts = |n: u64| TickSample { cpu: 0, at_ns: n * 4_777_777 };
        assert_eq!(find(&(0..1000).map(drifts).collect::<Vec<_>>()), None);
    }

    /// A storm of forks on four CPUs: four of nine samples have nothing to do with ticks.
    #[test]
    fn among_much_else_a_crowd_of_half_tells_if_no_other_rate_comes_near() {
        let mixed = |step_ns: u64, every: u64| -> Vec<TickSample> {
            let other = |n: u64| TickSample { cpu: (n % 2) as u32, at_ns: n * 777_777 + n * n % 1_000 };
            let all = (0..).zip(departures(step_ns).into_iter().chain(departures(step_ns)));
            all.map(|(n, tick)| if n % 9 < every { other(n) } else { tick }).collect()
        };
        assert_eq!(find(&mixed(4_000_000, 4)), Some(250));
        assert_eq!(find(&mixed(4_000_000, 4)[..90]), None, "too few");
        assert_eq!(find(&mixed(4_000_000, 7)), None, "a third is not enough");
    }
}
