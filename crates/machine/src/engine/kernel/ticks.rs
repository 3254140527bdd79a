//! When CPUs tick.

use super::sim::Sim;
use scheduler::registry::SkewTick;
use scheduler::{CpuId, Nanos};

impl Sim {
    /// Idle CPUs take no ticks (NO_HZ) but for timers of the wheel, and perhaps a last one (`idle_tick`): a
    /// task that runs after idle starts them again.
    pub fn keep_ticking(&self, cpu: CpuId) {
        if !self.hw().cpu(cpu).ticks.get() {
            self.hw().tick_at(cpu, self.next_tick(cpu));
        }
    }

    /// From one tick to the next.
    fn tick_period(&self) -> Nanos {
        Nanos(1_000_000_000 / self.k.config.tunables.hz.get() as u64)
    }

    /// Half of that.
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
