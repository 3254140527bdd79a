//! The CPUs of a machine, and what they share.

use crate::frequency::FrequencyDomain;
use crate::{CpuId, CpuMask};
use alloc::vec::Vec;

/// What the CPUs of one group of a level share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LevelKind {
    /// Hardware threads of one core.
    Smt,
    /// Cores of a last-level cache that share another one below it (the kernel's CLS level).
    Cluster,
    /// Cores that share a cache (the kernel's MC level).
    Mc,
    /// A package or a node (the kernel's CPU, PKG or DIE level).
    Package,
    /// NUMA nodes within this distance (10: local; above 30 no affine wakeups).
    Numa {
        /// ACPI SLIT distance.
        distance: u16,
    },
}

impl LevelKind {
    /// Whether the CPUs of a span share a cache.
    pub fn shares_cache(self) -> bool {
        matches!(self, LevelKind::Smt | LevelKind::Cluster | LevelKind::Mc)
    }
}

/// What the best CPU is worth (deadline-groups C1).
pub const FULL_CAPACITY: u64 = 1024;

/// One level of a machine: a partition of its CPUs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopologyLevel {
    /// What the members of a span share.
    pub kind: LevelKind,
    /// Disjoint sets that together hold every CPU.
    pub spans: Vec<CpuMask>,
}

/// A machine's CPUs and how they are grouped, smallest level first. The last level must have one span: all
/// CPUs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topology {
    /// Number of CPUs.
    pub cpus: usize,
    /// Smallest first; levels whose spans are single CPUs, or the same as those of the level below, are left
    /// out of the domains.
    pub levels: Vec<TopologyLevel>,
    /// What the firmware says each CPU is worth at its highest speed, in 1024ths of the best one
    /// (deadline-groups C1); empty if all are worth the same.
    pub capacities: Vec<u16>,
    /// How much the firmware prefers each CPU to others, the higher the more (ITMT, deadline-groups C9);
    /// empty if none is preferred.
    pub priorities: Vec<u16>,
    /// CPUs that can change their frequency, those that do so together; a CPU in none has a fixed one.
    pub frequencies: Vec<FrequencyDomain>,
}

impl Topology {
    /// CPUs of which each is worth the same, grouped so.
    pub fn of(cpus: usize, levels: Vec<TopologyLevel>) -> Topology {
        Topology { cpus, levels, capacities: Vec::new(), priorities: Vec::new(), frequencies: Vec::new() }
    }

    /// The same CPUs, worth so much: 1 to 1024 for each. The best of them counts as 1024.
    #[must_use]
    pub fn with_capacities(self, capacities: Vec<u16>) -> Topology {
        let best = capacities.iter().copied().max().map_or(1, u64::from);
        let of_best = |capacity: u16| (u64::from(capacity) * FULL_CAPACITY / best) as u16;
        let differ = capacities.iter().any(|capacity| u64::from(*capacity) < best);
        let capacities = capacities.into_iter().filter(|_| differ).map(of_best).collect();
        Topology { capacities, ..self }
    }

    /// The same CPUs, preferred so much, each. Where all are preferred alike, none is.
    #[must_use]
    pub fn with_priorities(self, priorities: Vec<u16>) -> Topology {
        let differ = priorities.iter().any(|priority| Some(priority) != priorities.first());
        Topology { priorities: if differ { priorities } else { Vec::new() }, ..self }
    }

    /// The same with the frequencies of a smaller or larger machine of this make: its first CPUs, or all of
    /// them again and again.
    #[must_use]
    pub fn with_frequencies_of(self, original: &Topology) -> Topology {
        let again = |domain: &FrequencyDomain, first: usize| {
            let cpus = domain.cpus.iter().map(|cpu| cpu.index() + first).filter(|cpu| *cpu < self.cpus);
            let cpus = cpus.map(|cpu| CpuId(cpu as u16)).collect();
            FrequencyDomain { cpus, levels: domain.levels.clone() }
        };
        let copies = (0..self.cpus).step_by(original.cpus.max(1));
        let all =
            copies.flat_map(|first| original.frequencies.iter().map(move |domain| again(domain, first)));
        let frequencies = all.filter(|domain| !domain.cpus.is_empty()).collect();
        Topology { frequencies, ..self }
    }

    /// What a CPU is worth, in 1024ths of the best one.
    pub fn capacity(&self, cpu: CpuId) -> u64 {
        self.capacities.get(cpu.index()).map_or(FULL_CAPACITY, |capacity| u64::from(*capacity))
    }

    /// How many different capacities these CPUs have.
    pub(super) fn kinds(&self, cpus: &CpuMask) -> usize {
        let mut capacities: Vec<u64> = cpus.iter().map(|cpu| self.capacity(cpu)).collect();
        capacities.sort_unstable();
        capacities.dedup();
        capacities.len()
    }

    /// `cpus` CPUs that all share one cache.
    pub fn flat(cpus: usize) -> Topology {
        let level = TopologyLevel { kind: LevelKind::Mc, spans: [CpuMask::first_n(cpus)].into() };
        Topology::of(cpus, [level].into())
    }

    /// The same as a kernel sees it that knows no clusters.
    pub fn without_clusters(&self) -> Topology {
        let known = |level: &&TopologyLevel| level.kind != LevelKind::Cluster;
        Topology { levels: self.levels.iter().filter(known).cloned().collect(), ..self.clone() }
    }

    /// The CPUs that share a last-level cache with `cpu`, itself included.
    pub fn llc_span(&self, cpu: CpuId) -> CpuMask {
        let shared = |l: &&TopologyLevel| l.kind.shares_cache();
        let level = self.levels.iter().rfind(shared);
        level.and_then(|l| l.spans.iter().find(|s| s.contains(cpu))).copied().unwrap_or(CpuMask::single(cpu))
    }
}
