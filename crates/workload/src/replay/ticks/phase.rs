//! Where the ticks of the recording kernel lie, once their rate is known.
//!
//! Three things happen at ticks: the tick's own timer expires (exact, where `hrtimer_expire_entry` is
//! recorded), soft timers wake their tasks in the soft interrupt of the tick, and a fair task whose slice is
//! over leaves after it. All come with or after the tick, never before it, so the early ones of a crowd tell
//! its time. The ticks of all CPUs lie at the same time unless the kernel was told to skew them
//! (`skew_tick=1`), so the CPUs are pooled; one whose own crowd lies elsewhere has it.

use super::TickSample;
use scheduler::Nanos;

/// Fewer could be chance.
const MIN_SAMPLES: usize = 30;
/// The crowd lies within this part of the period.
const CROWD: u64 = 20;
/// Of all samples at least one in so many belongs to the crowd; without ticks one in [`CROWD`] would.
const MIN_SHARE: usize = 4;
/// The crowd begins where one in so many of its samples lie; those before are the clock's, or chance.
const EARLY: usize = 20;
/// What happens at a tick is over after this part of the period.
const AFTER: u64 = 8;
/// Two phases less than this part of the period apart are one.
const SAME: u64 = 10;

/// The ticks of a recording kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::replay) struct TickPhases {
    period_ns: u64,
    /// By CPU: the time of a tick on the trace's clock, less than a period.
    phases_ns: Vec<Option<u64>>,
}

impl TickPhases {
    /// From samples of `cpus` CPUs. `exact` are expiries of the tick's timer; where those are enough, the
    /// others do not count.
    pub fn find(hz: u32, cpus: usize, exact: &[TickSample], others: &[TickSample]) -> TickPhases {
        let period_ns = 1_000_000_000 / u64::from(hz.max(1));
        let samples = if exact.len() < MIN_SAMPLES { others } else { exact };
        let phase_of = |cpu: Option<usize>| {
            let of = |sample: &&TickSample| cpu.is_none_or(|cpu| sample.cpu as usize == cpu);
            crowd(samples.iter().filter(of).map(|sample| sample.at_ns % period_ns).collect(), period_ns)
        };
        let pooled = phase_of(None);
        let phase = |cpu| match (pooled, phase_of(Some(cpu))) {
            (Some(pooled), Some(own)) if apart(pooled, own, period_ns) <= period_ns / SAME => Some(pooled),
            (_, Some(own)) => Some(own),
            (pooled, None) => pooled,
        };
        TickPhases { period_ns, phases_ns: (0..cpus).map(phase).collect() }
    }

    /// The time of the tick in whose interrupt something happened on `cpu`, if it did.
    pub fn tick_of(&self, cpu: u32, at_ns: u64) -> Option<u64> {
        let phase_ns = *self.phases_ns.get(cpu as usize)?.as_ref()?;
        let before = self.period_ns / CROWD;
        let since = (at_ns + before + self.period_ns - phase_ns) % self.period_ns;
        (since <= before + self.period_ns / AFTER).then(|| (at_ns + before).saturating_sub(since))
    }

    /// The time of the last tick of `cpu` up to `at_ns`, if its ticks are known.
    pub fn before(&self, cpu: u32, at_ns: u64) -> Option<u64> {
        let phase_ns = *self.phases_ns.get(cpu as usize)?.as_ref()?;
        Some(at_ns.saturating_sub((at_ns + self.period_ns - phase_ns) % self.period_ns))
    }

    /// By CPU, the first tick at or after `start_ns`, counted from there; empty if no CPU's is known. A CPU
    /// that shows none has those of the first one that does.
    pub fn since(&self, start_ns: u64) -> Vec<Nanos> {
        let Some(any) = self.phases_ns.iter().flatten().next() else { return Vec::new() };
        let first = |phase_ns: &Option<u64>| {
            let phase_ns = phase_ns.unwrap_or(*any);
            Nanos((phase_ns + self.period_ns - start_ns % self.period_ns) % self.period_ns)
        };
        self.phases_ns.iter().map(first).collect()
    }
}

/// How far two times of a period are apart, around its end.
fn apart(a_ns: u64, b_ns: u64, period_ns: u64) -> u64 {
    let distance = a_ns.abs_diff(b_ns);
    distance.min(period_ns - distance)
}

/// Where the densest crowd of times of a period begins, if it is one.
fn crowd(mut times_ns: Vec<u64>, period_ns: u64) -> Option<u64> {
    let count = times_ns.len();
    times_ns.sort_unstable();
    // A crowd may lie around the end of the period.
    times_ns.extend_from_within(..);
    for time_ns in &mut times_ns[count..] {
        *time_ns += period_ns;
    }
    let (mut to, mut best) = (0, 0..0);
    for from in 0..count {
        while to < from + count && times_ns[to] - times_ns[from] <= period_ns / CROWD {
            to += 1;
        }
        if to - from > best.len() {
            best = from..to;
        }
    }
    let crowded = best.len() >= MIN_SAMPLES.max(count.div_ceil(MIN_SHARE));
    crowded.then(|| times_ns[best.start + best.len() / EARLY] % period_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD_NS: u64 = 4_000_000;

    /// A tick in three of `count` shows on each CPU, `phase_ns(cpu)` after a whole period and late by up to
    /// 100 µs.
    fn samples(count: u64, cpus: u32, phase_ns: impl Fn(u32) -> u64) -> Vec<TickSample> {
        let sample = |n: u64| {
            let cpu = (n % u64::from(cpus)) as u32;
            TickSample { cpu, at_ns: n * 3 * PERIOD_NS + phase_ns(cpu) + n * 7919 % 100_000 }
        };
        (0..count).map(sample).collect()
    }

    fn near(phases: &TickPhases, expected_ns: &[u64]) {
        for (cpu, expected_ns) in expected_ns.iter().enumerate() {
            let phase_ns = phases.phases_ns[cpu].expect("a phase");
            let apart = apart(phase_ns, *expected_ns, PERIOD_NS);
            assert!(apart <= 20_000, "CPU {cpu}: {phase_ns}, {expected_ns} expected");
        }
    }

    #[test]
    fn the_phase_shows_in_what_happens_at_ticks() {
        for phase_ns in [0, 1_234_000, 3_980_000] {
            near(&TickPhases::find(250, 2, &[], &samples(100, 2, |_| phase_ns)), &[phase_ns; 2]);
        }
        let skewed = |cpu: u32| 500_000 * u64::from(cpu);
        near(&TickPhases::find(250, 2, &[], &samples(100, 2, skewed)), &[0, 500_000]);
        // The second CPU shows too little of its own.
        let mut few = samples(60, 1, |_| 700_000);
        few.extend(samples(20, 1, |_| 700_000).iter().map(|sample| TickSample { cpu: 1, ..*sample }));
        near(&TickPhases::find(250, 2, &[], &few), &[700_000; 2]);
    }

    #[test]
    fn what_is_spread_over_the_period_shows_nothing() {
        let spread: Vec<TickSample> = (0..500).map(|n| TickSample { cpu: 0, at_ns: n * 4_777_777 }).collect();
        let phases = TickPhases::find(250, 1, &[], &spread);
        assert_eq!((phases.tick_of(0, 0), phases.since(0)), (None, vec![]));
        assert!(TickPhases::find(250, 1, &[], &samples(20, 1, |_| 0)).since(0).is_empty());
    }

    #[test]
    fn recorded_expiries_of_the_ticks_timer_count_alone() {
        let phases = TickPhases::find(250, 1, &samples(40, 1, |_| 2_000_000), &samples(400, 1, |_| 100_000));
        near(&phases, &[2_000_000]);
    }

    #[test]
    fn what_happens_at_a_tick_belongs_to_it() {
        let phases = TickPhases { period_ns: PERIOD_NS, phases_ns: vec![Some(1_000_000)] };
        let tick = 8 * PERIOD_NS + 1_000_000;
        assert_eq!(phases.tick_of(0, tick), Some(tick));
        assert_eq!(phases.tick_of(0, tick + 300_000), Some(tick), "soft interrupts take their time");
        assert_eq!(phases.tick_of(0, tick - 50_000), Some(tick), "the phase is an estimate");
        assert_eq!(phases.tick_of(0, tick + 1_500_000), None);
        assert_eq!(phases.tick_of(1, tick), None);
        assert_eq!(phases.since(tick + 1), [Nanos(PERIOD_NS - 1)]);
        assert_eq!(phases.since(tick), [Nanos(0)]);
    }
}
