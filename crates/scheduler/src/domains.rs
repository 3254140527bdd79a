//! Sched domains and the root domain's static side, built from a topology (fair-class 8.1).

use crate::Nanos;
use crate::{CpuId, CpuMask};
use alloc::vec::Vec;
use core::cell::Cell;

/// What the CPUs of one group of a level share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LevelKind {
    /// Hardware threads of one core.
    Smt,
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

/// One level of a machine: a partition of its CPUs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopologyLevel {
    /// What the members of a span share.
    pub kind: LevelKind,
    /// Disjoint sets that together hold every CPU.
    pub spans: Vec<CpuMask>,
}

/// A machine's CPUs and how they are grouped, smallest level first. The last level must have one span: all CPUs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topology {
    /// Number of CPUs.
    pub cpus: usize,
    /// Smallest first; levels whose spans are single CPUs, or the same as those of the level below, are left out of
    /// the domains.
    pub levels: Vec<TopologyLevel>,
}

impl Topology {
    /// `cpus` CPUs that all share one cache.
    pub fn flat(cpus: usize) -> Topology {
        let level = TopologyLevel { kind: LevelKind::Mc, spans: [CpuMask::first_n(cpus)].into() };
        Topology { cpus, levels: [level].into() }
    }

    /// The CPUs that share a last-level cache with `cpu`, itself included.
    pub fn llc_span(&self, cpu: CpuId) -> CpuMask {
        let shared = |l: &&TopologyLevel| matches!(l.kind, LevelKind::Smt | LevelKind::Mc);
        let level = self.levels.iter().filter(shared).next_back();
        level.and_then(|l| l.spans.iter().find(|s| s.contains(cpu))).copied().unwrap_or(CpuMask::single(cpu))
    }
}

/// NUMA levels farther than this have no affine wakeups (the default of node_reclaim_distance, rt-class 4.5).
const RECLAIM_DISTANCE: u16 = 30;

/// One level of one CPU's domain chain (fair-class 8.1).
#[derive(Clone, Debug)]
pub struct SchedDomain {
    /// What its members share.
    pub kind: LevelKind,
    /// Its CPUs.
    pub span: CpuMask,
    /// Partition of the span: the spans of the level below, the CPU's own first.
    pub groups: Vec<CpuMask>,
    /// SD_WAKE_AFFINE: a wakeup may pull a task across it.
    pub affine: bool,
    /// SD_SHARE_PKG_RESOURCES: its CPUs share a cache.
    pub shares_cache: bool,
    /// Whether the level below prefers spreading (SD_PREFER_SIBLING): group capacity counts as one task.
    pub prefer_sibling: bool,
    /// State of periodic balancing.
    pub balance: BalanceState,
}

/// What a CPU remembers about balancing one of its domains (fair-class 8.5).
#[derive(Clone, Debug, Default)]
pub struct BalanceState {
    /// When it was last balanced.
    pub last_balance: Cell<Nanos>,
    /// Current interval in ms, within the domain's bounds.
    pub balance_interval_ms: Cell<u64>,
    /// Attempts in a row that moved nothing although there was an imbalance.
    pub nr_balance_failed: Cell<u32>,
}

/// The chain of domains of one CPU, smallest first.
pub fn domains_of(topology: &Topology, cpu: CpuId) -> Vec<SchedDomain> {
    let mut chain: Vec<SchedDomain> = Vec::new();
    let mut below: Vec<CpuMask> = (0..topology.cpus).map(|c| CpuMask::single(CpuId(c as u16))).collect();
    for level in &topology.levels {
        let Some(span) = level.spans.iter().find(|s| s.contains(cpu)).copied() else { continue };
        if span.weight() == 1 || chain.last().is_some_and(|d| d.span == span) {
            continue;
        }
        let mut groups: Vec<CpuMask> = below.iter().filter(|g| g.is_subset(&span)).copied().collect();
        let own = groups.iter().position(|g| g.contains(cpu)).unwrap_or(0);
        groups.rotate_left(own);
        let far = matches!(level.kind, LevelKind::Numa { distance } if distance > RECLAIM_DISTANCE);
        chain.push(SchedDomain {
            kind: level.kind,
            span,
            groups,
            affine: !far,
            shares_cache: matches!(level.kind, LevelKind::Smt | LevelKind::Mc),
            prefer_sibling: !chain.is_empty() && !matches!(level.kind, LevelKind::Numa { .. }),
            balance: BalanceState { balance_interval_ms: Cell::new(1), ..BalanceState::default() },
        });
        below = level.spans.clone();
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(cpus: &[u16]) -> CpuMask {
        cpus.iter().map(|c| CpuId(*c)).collect()
    }

    /// fair-class 8.1: four cores, two pairs that share an L2.
    #[test]
    fn q6600_has_a_pair_level_and_a_package_level() {
        let topology = Topology {
            cpus: 4,
            levels: [
                TopologyLevel { kind: LevelKind::Mc, spans: [mask(&[0, 1]), mask(&[2, 3])].into() },
                TopologyLevel { kind: LevelKind::Package, spans: [mask(&[0, 1, 2, 3])].into() },
            ]
            .into(),
        };
        let chain = domains_of(&topology, CpuId(2));
        assert_eq!(chain.len(), 2);
        assert_eq!(chain[0].span, mask(&[2, 3]));
        assert_eq!(chain[0].groups, [mask(&[2]), mask(&[3])]);
        assert_eq!(chain[1].groups, [mask(&[2, 3]), mask(&[0, 1])]);
        assert!(chain[0].shares_cache && !chain[1].shares_cache && chain[1].affine);
        assert_eq!(topology.llc_span(CpuId(3)), mask(&[2, 3]));
    }

    #[test]
    fn degenerate_levels_are_left_out() {
        assert_eq!(domains_of(&Topology::flat(1), CpuId(0)).len(), 0);
        assert_eq!(domains_of(&Topology::flat(4), CpuId(0)).len(), 1);
    }
}
