//! Frequencies of CPUs (cpufreq): which there are, at which the CPUs run, and how the governor chooses among
//! them (deadline-groups C2).
//!
//! CPUs of a frequency domain run at one frequency. The governor looks where tasks are queued and dequeued
//! and at ticks, and a change takes effect at once and costs nothing, as where the hardware is told by a
//! register (fast switch). The boost of tasks that wait for devices (iowait) is not modelled.

mod wish;

pub(crate) use wish::perf;

use crate::platform::Platform;
use crate::registry::Governor;
use crate::rq::RqGuard;
use crate::shared::Kept;
use crate::{CpuId, CpuMask, Event, Nanos, Topology};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// CPUs that run at one frequency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrequencyDomain {
    /// Which; all are worth the same.
    pub cpus: CpuMask,
    /// Where they can run, the lowest frequency first: at least one.
    pub levels: Vec<PerfLevel>,
}

/// A frequency (operating performance point).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PerfLevel {
    /// Its frequency, above zero.
    pub khz: u32,
    /// What a CPU that is busy all the time takes at it, in mW; `None`: not known.
    pub milliwatts: Option<u32>,
}

impl FrequencyDomain {
    /// The highest frequency, at which its CPUs are worth what they are worth.
    #[must_use]
    pub fn highest(&self) -> u32 {
        self.levels.last().map_or(1, |level| level.khz)
    }

    /// What of so much, which is had at the highest frequency, a level has.
    #[must_use]
    pub fn part_at(&self, level: usize, of_all: u64) -> u64 {
        of_all * u64::from(self.levels[level].khz) / u64::from(self.highest())
    }

    /// The lowest level with this frequency or a higher one; the highest, if there is none.
    fn level_from(&self, khz: u64) -> usize {
        let enough = |level: &PerfLevel| u64::from(level.khz) >= khz;
        self.levels.iter().position(enough).unwrap_or(self.levels.len() - 1)
    }
}

impl Topology {
    /// Whether it is known of every CPU what it takes at each of its frequencies.
    pub(crate) fn has_energy_model(&self) -> bool {
        let is_known = |level: &PerfLevel| level.milliwatts.is_some();
        let cpus: u32 = self.frequencies.iter().map(|domain| domain.cpus.weight()).sum();
        cpus as usize == self.cpus && self.frequencies.iter().all(|domain| domain.levels.iter().all(is_known))
    }
}

/// All frequency domains of a machine, as they run.
#[derive(Debug, Default)]
pub struct Frequencies {
    domains: Box<[Running]>,
    /// The domain of each CPU; nothing where there is none at all.
    of: Box<[Option<u16>]>,
}

/// A frequency domain as it runs.
#[derive(Debug)]
pub struct Running {
    /// What it can do.
    pub domain: FrequencyDomain,
    level: Kept<usize>,
    changed_at: Kept<Option<Nanos>>,
}

impl Running {
    /// At which of its levels it runs.
    pub fn level(&self) -> usize {
        self.level.get()
    }
}

impl Frequencies {
    /// All domains run at their highest frequency.
    pub(crate) fn of(topology: &Topology) -> Frequencies {
        if topology.frequencies.is_empty() {
            return Frequencies::default();
        }
        let running = |domain: &FrequencyDomain| Running {
            domain: domain.clone(),
            level: Kept::new(domain.levels.len() - 1),
            changed_at: Kept::default(),
        };
        let place = |cpu| topology.frequencies.iter().position(|domain| domain.cpus.contains(cpu));
        let of = (0..topology.cpus as u16).map(|cpu| place(CpuId(cpu)).map(|place| place as u16));
        Frequencies { domains: topology.frequencies.iter().map(running).collect(), of: of.collect() }
    }

    /// Whether any CPU can change its frequency.
    #[inline]
    pub fn are_known(&self) -> bool {
        !self.domains.is_empty()
    }

    /// Every domain.
    pub fn domains(&self) -> &[Running] {
        &self.domains
    }

    /// That of a CPU, if it can change its frequency.
    pub fn domain_of(&self, cpu: CpuId) -> Option<&Running> {
        let place = *self.of.get(cpu.index())?;
        place.map(|place| &self.domains[usize::from(place)])
    }
}

/// Tasks have been queued or dequeued here, or there was a tick: does another frequency serve better now?
#[inline]
pub(crate) fn utilisation_changed<P: Platform>(rq: &RqGuard<'_, P>) {
    if rq.me.k.frequencies.are_known() {
        choose(rq);
    }
}

#[cold]
fn choose<P: Platform>(rq: &RqGuard<'_, P>) {
    let (me, now) = (rq.me, rq.clock);
    let Some(running) = me.k.frequencies.domain_of(rq.cpu) else { return };
    let domain = &running.domain;
    let level = match me.k.config.rules.governor.get() {
        Governor::Performance => domain.levels.len() - 1,
        Governor::Schedutil => {
            let limit = me.k.config.tunables.schedutil_rate_limit_us.get().unsigned_abs();
            let pause = Nanos::from_micros(limit);
            if running.changed_at.get().is_some_and(|at| now < at + pause) {
                return;
            }
            let wish = |cpu| wish::khz(me, cpu, domain.highest());
            domain.level_from(domain.cpus.iter().map(wish).max().unwrap_or(0))
        }
    };
    if level == running.level.get() {
        return;
    }
    running.level.set(level);
    running.changed_at.set(Some(now));
    for cpu in domain.cpus.iter() {
        let capacity = &me.k.rq(cpu).published.pelt.capacity;
        capacity.speed.set(domain.part_at(level, capacity.full).max(1));
    }
    me.k.platform.frequency_changes(me, domain, level);
    for cpu in domain.cpus.iter() {
        me.event(Event::Frequency { cpu, khz: domain.levels[level].khz });
    }
}

#[cfg(test)]
mod tests;
