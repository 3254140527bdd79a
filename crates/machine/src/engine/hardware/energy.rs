//! How fast CPUs have run, and what energy that took, on machines whose files say that.
//!
//! A CPU takes what its level says while it is busy, and nothing while it idles: so the kernel's own model
//! has it. Energy of idle states, and of caches and buses that CPUs share, is in no figure of it.

use crate::spec::MachineSpec;
use scheduler::frequency::FrequencyDomain;
use scheduler::{CpuId, Nanos};
use schema::CpuFrequency;
use std::cell::Cell;

/// The meters of all CPUs; none on a machine with fixed frequencies.
#[derive(Debug, Default)]
pub(crate) struct EnergyMeters(Box<[Option<Meter>]>);

/// That of a CPU.
#[derive(Debug, Default)]
struct Meter {
    /// At which level it runs.
    khz: Cell<u32>,
    milliwatts: Cell<Option<u32>>,
    /// Up to when it has been metered since it is busy, if it is.
    busy_since: Cell<Option<Nanos>>,
    busy: Cell<Nanos>,
    /// Sum of the kHz of all busy nanoseconds.
    cycles: Cell<u128>,
    /// In picojoules: milliwatts for nanoseconds.
    picojoules: Cell<u64>,
}

impl Meter {
    fn at(domain: &FrequencyDomain, level: usize) -> Meter {
        let meter = Meter::default();
        meter.runs_at(domain, level);
        meter
    }

    fn runs_at(&self, domain: &FrequencyDomain, level: usize) {
        self.khz.set(domain.levels[level].khz);
        self.milliwatts.set(domain.levels[level].milliwatts);
    }

    /// Meters what has passed up to `now`.
    fn advance(&self, now: Nanos) {
        let Some(since) = self.busy_since.get() else { return };
        let passed = now.saturating_sub(since);
        self.busy_since.set(Some(since.max(now)));
        self.busy.set(self.busy.get() + passed);
        self.cycles.set(self.cycles.get() + u128::from(self.khz.get()) * u128::from(passed.0));
        let taken = u64::from(self.milliwatts.get().unwrap_or(0)) * passed.0;
        self.picojoules.set(self.picojoules.get() + taken);
    }

    fn result(&self, cpu: CpuId, at: Nanos) -> CpuFrequency {
        self.advance(at);
        let busy = self.busy.get().0;
        let mean = self.cycles.get().checked_div(busy.into()).map(|khz| khz as u64);
        CpuFrequency {
            cpu: cpu.0.into(),
            busy_ns: busy,
            mean_khz: mean.unwrap_or(self.khz.get().into()),
            energy_uj: self.milliwatts.get().map(|_| self.picojoules.get() / 1_000_000),
        }
    }
}

impl EnergyMeters {
    /// Those of a machine whose CPUs idle, each at its highest frequency.
    pub fn new(spec: &MachineSpec) -> EnergyMeters {
        let domains = &spec.topology.frequencies;
        if domains.is_empty() {
            return EnergyMeters::default();
        }
        let meter = |cpu: u16| {
            let domain = domains.iter().find(|domain| domain.cpus.contains(CpuId(cpu)))?;
            Some(Meter::at(domain, domain.levels.len() - 1))
        };
        EnergyMeters((0..spec.cpus() as u16).map(meter).collect())
    }

    #[inline]
    fn of(&self, cpu: CpuId) -> Option<&Meter> {
        self.0.get(cpu.index())?.as_ref()
    }

    /// A CPU begins to be busy, goes on being it, or idles.
    #[inline]
    pub fn switched(&self, cpu: CpuId, now: Nanos, is_busy: bool) {
        if let Some(meter) = self.of(cpu) {
            meter.advance(now);
            let since = meter.busy_since.get().map_or(now, |since| since.max(now));
            meter.busy_since.set(is_busy.then_some(since));
        }
    }

    /// A CPU runs at another level from now on.
    pub fn changed(&self, cpu: CpuId, now: Nanos, domain: &FrequencyDomain, level: usize) {
        if let Some(meter) = self.of(cpu) {
            meter.advance(now);
            meter.runs_at(domain, level);
        }
    }

    /// What has been metered up to `at`, of each CPU that has several frequencies.
    pub fn results(&self, at: Nanos) -> Vec<CpuFrequency> {
        let metered =
            |(cpu, meter): (usize, &Option<Meter>)| Some(meter.as_ref()?.result(CpuId(cpu as u16), at));
        self.0.iter().enumerate().filter_map(metered).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::frequency::PerfLevel;
    use scheduler::{CpuMask, Topology};

    /// 2 ms at 1 GHz and 100 mW, 3 ms idle, 1 ms at 2 GHz and 400 mW: 600 µJ, 4/3 GHz.
    #[test]
    fn a_busy_cpu_takes_what_its_level_says() {
        let level = |khz, mw| PerfLevel { khz, milliwatts: Some(mw) };
        let levels = vec![level(1_000_000, 100), level(2_000_000, 400)];
        let domain = FrequencyDomain { cpus: CpuMask::single(CpuId(0)), levels };
        let mut spec = MachineSpec::ideal(Topology::flat(2));
        spec.topology.frequencies = vec![domain.clone()];
        let meters = EnergyMeters::new(&spec);
        let (cpu, ms) = (CpuId(0), Nanos::from_millis);
        meters.changed(cpu, ms(0), &domain, 0);
        meters.switched(cpu, ms(1), true);
        meters.switched(cpu, ms(2), true);
        meters.switched(cpu, ms(3), false);
        meters.changed(cpu, ms(5), &domain, 1);
        meters.switched(cpu, ms(6), true);
        let result = CpuFrequency { cpu: 0, busy_ns: 3_000_000, mean_khz: 1_333_333, energy_uj: Some(600) };
        assert_eq!(meters.results(ms(7)), [result]);
    }
}
