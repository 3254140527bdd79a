//! When CPUs tick.

use super::sim::Sim;
use crate::engine::hardware::Hw;
use scheduler::registry::SkewTick;
use scheduler::tick::{can_stop_tick, sched_tick_remote};
use scheduler::{CpuId, Nanos, ThisCpu};

impl Sim {
    /// Idle CPUs take no ticks (NO_HZ) but for timers of the wheel and RCU callbacks, and perhaps a last one
    /// (`idle_tick`): a task that runs after idle starts them again.
    #[inline]
    pub fn keep_ticking(&self, cpu: CpuId) {
        if !self.hw().cpu(cpu).ticks.get() {
            self.start_ticking(cpu);
        }
    }

    /// (Apart: nearly every CPU that is asked ticks already.)
    #[inline(never)]
    fn start_ticking(&self, cpu: CpuId) {
        if self.needs_no_tick(cpu) {
            return;
        }
        self.hw().tick_at(cpu, self.next_tick(cpu));
    }

    /// An interrupt is over: a CPU that may stop its tick does so, if nothing needs it (deadline-groups B10).
    #[inline]
    pub fn may_stop_ticking(&self, cpu: CpuId) {
        if self.hw().cpu(cpu).ticks.get() && self.needs_no_tick(cpu) {
            self.hw().stop_tick(cpu);
        }
    }

    #[inline(always)]
    fn needs_no_tick(&self, cpu: CpuId) -> bool {
        self.hw().nohz_full.contains(cpu)
            && can_stop_tick(&self.k, cpu)
            && self.hw().cpu(cpu).by_tick.borrow().is_empty()
            && !self.rcu.needs_tick(cpu)
    }

    /// Once a second the tick of a housekeeping CPU does that of CPUs which have stopped theirs.
    pub async fn remote_ticks(&self, me: ThisCpu<'_, Hw>) {
        let (nohz_full, next) = (&self.hw().nohz_full, &self.surroundings.next_remote_tick);
        let now = self.hw().local_now();
        if nohz_full.is_empty() || nohz_full.contains(me.id) || now < next.get() {
            return;
        }
        next.set(now + Nanos::from_secs(1));
        for cpu in nohz_full.iter().filter(|cpu| !self.hw().cpu(*cpu).ticks.get()) {
            sched_tick_remote(me, cpu).await;
        }
    }

    /// From one tick to the next.
    pub fn tick_period(&self) -> Nanos {
        Nanos(1_000_000_000 / self.k.config.tunables.hz.get() as u64)
    }

    /// The ticks that have been counted up to a time: those of CPU 0, which keeps the time.
    pub fn jiffies(&self, at: Nanos) -> u64 {
        let period = self.tick_period().0;
        let phase = self.surroundings.ticks_at.first().copied().flatten().map_or(0, |tick| tick.0 % period);
        // One more, so that what is before the first of them is not less than none.
        (at.0 + period - phase) / period
    }

    /// So much time in whole jiffies, one at least.
    pub fn in_jiffies(&self, time: Nanos) -> u64 {
        time.0.div_ceil(self.tick_period().0)
    }

    /// Half of a tick's period.
    pub fn half_a_tick(&self) -> Nanos {
        Nanos(self.tick_period().0 / 2)
    }

    /// The next tick after now: see [`crate::Setup::tick_at`].
    pub fn next_tick(&self, cpu: CpuId) -> Nanos {
        let period = self.tick_period().0;
        let now = self.hw().now.get().0;
        if let Some(Some(tick)) = self.surroundings.ticks_at.get(cpu.index()) {
            let since_tick = (now % period + period - tick.0 % period) % period;
            return Nanos(now + period - since_tick);
        }
        let built_for = self.k.config.tunables.nr_cpus.get().unsigned_abs().max(self.k.cpus() as u64);
        let phase = match self.k.config.rules.skew_tick.get() {
            SkewTick::On => u64::from(cpu.0) * (period / 2) / built_for,
            SkewTick::Off => 0,
        };
        let since_phase = now.saturating_sub(phase);
        Nanos(phase + (since_phase / period + 1) * period)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Machine, MachineSpec, RunOptions, Setup};
    use scheduler::registry::Config;
    use scheduler::{CpuId, Nanos, Topology};

    /// fair-placement 5.1: ticks of 1 ms fall together, or those of four CPUs are 125 us apart.
    #[test]
    fn ticks_fall_together_or_are_spread_over_half_a_period() {
        let ticks = |settings: &[&str]| {
            let config = Config::of_profile("6.1.y").expect("it exists");
            settings.iter().for_each(|setting| config.set(setting).expect("a setting"));
            let (spec, setup) = (MachineSpec::ideal(Topology::flat(4)), Setup::new(4));
            let machine = Machine::new(spec, config, setup, RunOptions::default()).expect("a sound setup");
            machine.sim.hw().now.set(Nanos::from_micros(5_500));
            [0, 1, 2, 3].map(|cpu| machine.sim.next_tick(CpuId(cpu)).0 / 1_000)
        };
        assert_eq!(ticks(&[]), [6_000; 4]);
        assert_eq!(ticks(&["skew_tick=on"]), [6_000, 6_125, 6_250, 6_375]);
        assert_eq!(ticks(&["skew_tick=on", "nr_cpus=8"]), [6_000, 6_062, 6_125, 6_187]);
        assert_eq!(ticks(&["hz=250"]), [8_000; 4]);
    }
}
