//! Domains from a topology (fair-class 8.1).

use super::{
    Asymmetry, BalanceState, LevelKind, Partition, SchedDomain, SchedGroup, Topology, TopologyLevel,
};
use crate::{CpuId, CpuMask};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

/// NUMA levels farther than this have no affine wakeups (the default of node_reclaim_distance, rt-class 4.5).
const RECLAIM_DISTANCE: u16 = 30;

/// The chain of domains of every CPU of a machine in one piece, smallest domain first.
pub fn domains_of(topology: &Topology) -> Box<[Vec<SchedDomain>]> {
    domains_by(core::iter::repeat_n(Some(topology), topology.cpus))
}

/// The chain of domains of every CPU, smallest domain first, by the topology that holds for it; a CPU
/// without one has none. Partitions are shared: a flat machine of 512 CPUs has one of 512 groups, not 512
/// of them.
pub(crate) fn domains_by<'t>(
    topologies: impl Iterator<Item = Option<&'t Topology>>,
) -> Box<[Vec<SchedDomain>]> {
    let mut partitions = Vec::new();
    let mut chain = |(cpu, topology): (usize, Option<&Topology>)| match topology {
        Some(topology) => chain_of(topology, CpuId(cpu as u16), &mut partitions),
        None => Vec::new(),
    };
    topologies.enumerate().map(&mut chain).collect()
}

/// A partition that was already built: of a span, by the spans of a level (`None`: single CPUs).
struct Built {
    span: CpuMask,
    below: Option<usize>,
    partition: Rc<Partition>,
}

fn chain_of(topology: &Topology, cpu: CpuId, built: &mut Vec<Built>) -> Vec<SchedDomain> {
    let mut chain: Vec<SchedDomain> = Vec::new();
    let mut below = None;
    for (index, level) in topology.levels.iter().enumerate() {
        let Some(span) = level.spans.iter().find(|s| s.contains(cpu)).copied() else { continue };
        // Others may have more of a level than this CPU: its groups are those of the level below all the
        // same.
        let below = below.replace(index);
        if span.weight() == 1 || chain.last().is_some_and(|d| d.span == span) {
            continue;
        }
        let partition = partition_of(topology, span, below, built);
        let numa = |kind| matches!(kind, LevelKind::Numa { .. });
        let far = matches!(level.kind, LevelKind::Numa { distance } if distance > RECLAIM_DISTANCE);
        let shares_cache = level.kind.shares_cache();
        let asymmetric = Asymmetry::of(topology, &span);
        // Over CPUs that are not worth the same, nobody spreads tasks evenly.
        let alike = asymmetric == Asymmetry::None;
        chain.push(SchedDomain {
            kind: level.kind,
            span,
            span_weight: span.weight(),
            own: partition.groups.iter().position(|g| g.span.contains(cpu)).unwrap_or(0),
            partition,
            affine: !far,
            shares_cache,
            prefer_sibling: alike && chain.last().is_some_and(|below| !numa(below.kind)),
            prefer_sibling_above_mc: chain.last().is_some_and(|below| match below.kind {
                LevelKind::Smt | LevelKind::Package => true,
                // A package of one cache is no level, and leaves its flag to that of the cache.
                LevelKind::Cluster | LevelKind::Mc => numa(level.kind),
                LevelKind::Numa { .. } => false,
            }),
            asymmetric,
            of_cores: chain.last().is_some_and(|below| below.kind == LevelKind::Smt),
            busy_idx: if numa(level.kind) { 3 } else { 2 },
            idle_idx: match level.kind {
                LevelKind::Smt | LevelKind::Cluster | LevelKind::Mc => 0,
                LevelKind::Package => 1,
                LevelKind::Numa { .. } => 2,
            },
            imb_numa_nr: imb_numa_nr(topology, cpu, level.kind, &span),
            balance: BalanceState::default(),
        });
    }
    chain
}

/// fair-placement 4.12: by the memory channels that a node seems to have. A node is a level of its own here,
/// whether or not it adds anything to its caches.
fn imb_numa_nr(topology: &Topology, cpu: CpuId, kind: LevelKind, span: &CpuMask) -> u64 {
    let numa = |level: &TopologyLevel| matches!(level.kind, LevelKind::Numa { .. });
    if !matches!(kind, LevelKind::Numa { .. }) {
        return 0;
    }
    let size = |level: &TopologyLevel| {
        level.spans.iter().find(|s| s.contains(cpu)).map_or(1, |span| u64::from(span.weight()))
    };
    let node = topology.levels.iter().take_while(|l| !numa(l)).last().map_or(1, size);
    let lowest = topology.levels.iter().find(|l| numa(l)).map_or(1, size);
    let caches = node / u64::from(topology.llc_span(cpu).weight());
    let allowed = if caches == 1 { node / 8 } else { caches };
    allowed.max(1) * (u64::from(span.weight()) / lowest).max(1)
}

fn partition_of(
    topology: &Topology,
    span: CpuMask,
    below: Option<usize>,
    built: &mut Vec<Built>,
) -> Rc<Partition> {
    if let Some(known) = built.iter().find(|b| b.below == below && b.span == span) {
        return known.partition.clone();
    }
    let several = |group: &&SchedGroup| group.weight > 1;
    let known = built.iter().flat_map(|b| b.partition.groups.iter().filter(several)).count();
    let mut free = topology.cpus + known..;
    let group = |span: CpuMask| {
        let only = span.first().filter(|_| span.weight() == 1).map(CpuId::index);
        SchedGroup::new(topology, span, only.or_else(|| free.next()).unwrap_or_default())
    };
    let groups = match below {
        None => span.iter().map(CpuMask::single).map(group).collect(),
        Some(level) => {
            let within = topology.levels[level].spans.iter().filter(|g| g.is_subset(&span));
            within.copied().map(group).collect()
        }
    };
    let partition = Rc::new(Partition::new(groups));
    built.push(Built { span, below, partition: partition.clone() });
    partition
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::level;

    fn mask(cpus: &[u16]) -> CpuMask {
        cpus.iter().map(|c| CpuId(*c)).collect()
    }

    /// fair-class 8.1: four cores, two pairs that share an L2.
    #[test]
    fn q6600_has_a_pair_level_and_a_package_level() {
        let topology = Topology::of(
            4,
            [
                TopologyLevel { kind: LevelKind::Mc, spans: [mask(&[0, 1]), mask(&[2, 3])].into() },
                TopologyLevel { kind: LevelKind::Package, spans: [mask(&[0, 1, 2, 3])].into() },
            ]
            .into(),
        );
        let chain = &domains_of(&topology)[2];
        assert_eq!(chain.len(), 2);
        assert_eq!(chain[0].span, mask(&[2, 3]));
        let groups = |d: &SchedDomain| {
            [&[d.own_group().span][..], &d.other_groups().map(|g| g.span).collect::<Vec<_>>()].concat()
        };
        assert_eq!(groups(&chain[0]), [mask(&[2]), mask(&[3])]);
        assert_eq!(groups(&chain[1]), [mask(&[2, 3]), mask(&[0, 1])]);
        assert!(!chain[0].prefer_sibling && chain[1].prefer_sibling);
        assert_eq!((chain[0].idle_idx, chain[1].idle_idx), (0, 1));
        assert!(chain[0].shares_cache && !chain[1].shares_cache && chain[1].affine);
        assert_eq!(topology.llc_span(CpuId(3)), mask(&[2, 3]));
    }

    /// fair-placement 8.4: up to 4.14 cores that share a cache are no reason to spread, but packages are, and
    /// a cache that is a whole package takes over its flag.
    #[test]
    fn what_preferred_spreading_in_4_4() {
        let level = |kind, size| level(16, kind, size);
        let spreads = |levels: &[TopologyLevel]| -> Vec<bool> {
            let topology = Topology::of(16, levels.to_vec());
            domains_of(&topology)[0].iter().map(|d| d.prefer_sibling_above_mc).collect()
        };
        let (smt, numa) = (level(LevelKind::Smt, 2), level(LevelKind::Numa { distance: 20 }, 16));
        let (small, large) = (level(LevelKind::Mc, 4), level(LevelKind::Mc, 8));
        let package = level(LevelKind::Package, 8);
        assert_eq!(
            spreads(&[smt.clone(), small, package.clone(), numa.clone()]),
            [false, true, false, true],
            "MC above SMT, NUMA above the package, but not the package above MC"
        );
        assert_eq!(spreads(&[smt, large, package, numa.clone()]), [false, true, true]);
        assert_eq!(spreads(&[level(LevelKind::Numa { distance: 11 }, 8), numa]), [false, false]);
    }

    #[test]
    fn degenerate_levels_are_left_out() {
        assert_eq!(domains_of(&Topology::flat(1))[0].len(), 0);
        assert_eq!(domains_of(&Topology::flat(4))[0].len(), 1);
    }
}
