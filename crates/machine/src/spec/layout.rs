//! How a machine's CPUs are arranged: scheduler levels, nodes, and how the machine grows.

use super::costs::Distance;
use scheduler::{CpuId, CpuMask, LevelKind, Topology, TopologyLevel};

/// The physical arrangement behind a [`Topology`]: what two CPUs share, and what a larger machine of the same
/// make would look like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    /// Packages or memory nodes, where the file names them; otherwise the spans of the largest level below
    /// NUMA.
    pub named_nodes: Option<Vec<CpuMask>>,
    /// Per level: a span of all CPUs grows up to this many CPUs, then further spans are added. `None`: no
    /// limit.
    pub grows_to: Vec<Option<usize>>,
    /// Per CPU.
    places: Vec<Place>,
}

/// Which core, cache and node a CPU belongs to, each named by its lowest CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    core: CpuId,
    cache: CpuId,
    node: CpuId,
}

impl Layout {
    pub fn new(
        topology: &Topology,
        named_nodes: Option<Vec<CpuMask>>,
        grows_to: Vec<Option<usize>>,
    ) -> Layout {
        let first_sharing = |cpu: CpuId, kinds: fn(LevelKind) -> bool| {
            let spans = topology.levels.iter().filter(|l| kinds(l.kind)).flat_map(|l| &l.spans);
            spans.filter(|s| s.contains(cpu)).filter_map(CpuMask::first).min().unwrap_or(cpu)
        };
        let one_node = !topology.levels.iter().any(|l| matches!(l.kind, LevelKind::Numa { .. }));
        let node = |cpu: CpuId| match &named_nodes {
            Some(nodes) => nodes.iter().find(|n| n.contains(cpu)).and_then(CpuMask::first).unwrap_or(cpu),
            None if one_node => CpuId(0),
            None => first_sharing(cpu, |k| !matches!(k, LevelKind::Numa { .. })),
        };
        let places = (0..topology.cpus)
            .map(|c| CpuId(c as u16))
            .map(|cpu| Place {
                core: first_sharing(cpu, |k| k == LevelKind::Smt),
                cache: first_sharing(cpu, LevelKind::shares_cache),
                node: node(cpu),
            })
            .collect();
        Layout { named_nodes, grows_to, places }
    }

    #[inline]
    pub fn distance(&self, a: CpuId, b: CpuId) -> Distance {
        let (from, to) = (self.places[a.index()], self.places[b.index()]);
        if a == b {
            Distance::Own
        } else if from.core == to.core {
            Distance::Smt
        } else if from.cache == to.cache {
            Distance::SharedCache
        } else if from.node == to.node {
            Distance::SameNode
        } else {
            Distance::OtherNode
        }
    }

    /// The distances that CPUs of this machine, or of a larger one of its make, can have.
    pub fn distances(&self, topology: &Topology) -> Vec<Distance> {
        let has = |wanted: fn(LevelKind) -> bool| topology.levels.iter().any(|l| wanted(l.kind));
        let possible = |distance: &Distance| match distance {
            Distance::Own => true,
            Distance::Smt => has(|k| k == LevelKind::Smt),
            Distance::SharedCache => has(|k| matches!(k, LevelKind::Cluster | LevelKind::Mc)),
            Distance::SameNode => has(|k| k == LevelKind::Package) || self.named_nodes.is_some(),
            Distance::OtherNode => has(|k| matches!(k, LevelKind::Numa { .. })) || self.named_nodes.is_some(),
        };
        Distance::ALL.into_iter().filter(possible).collect()
    }

    /// The same machine with `cpus` CPUs (at least one): its whole pattern repeated, then cut off. A span of
    /// all CPUs stays one span of all, up to what the level grows to; only that of the threads of a core is
    /// repeated.
    pub fn resized(&self, topology: &Topology, cpus: usize) -> (Topology, Layout) {
        let old = topology.cpus;
        let levels: Vec<TopologyLevel> = topology
            .levels
            .iter()
            .zip(&self.grows_to)
            .map(|(level, limit)| {
                // A larger machine has more cores and clusters, not larger ones.
                let spans =
                    if level.spans.len() == 1 && !matches!(level.kind, LevelKind::Smt | LevelKind::Cluster) {
                        chunks(cpus, limit.unwrap_or(cpus))
                    } else {
                        repeated(&level.spans, old, cpus)
                    };
                TopologyLevel { kind: level.kind, spans }
            })
            .collect();
        let named_nodes = self.named_nodes.as_ref().map(|nodes| repeated(nodes, old, cpus));
        let topology = Topology::of(cpus, levels);
        let layout = Layout::new(&topology, named_nodes, self.grows_to.clone());
        (topology, layout)
    }
}

/// CPUs 0 to `cpus` − 1 in runs of `size`, the last one possibly shorter.
fn chunks(cpus: usize, size: usize) -> Vec<CpuMask> {
    let starts = (0..cpus).step_by(size);
    starts.map(|start| (start..cpus.min(start + size)).map(|c| CpuId(c as u16)).collect()).collect()
}

/// `spans` of a machine with `old` CPUs, again and again with higher CPU numbers, cut off at `cpus`.
fn repeated(spans: &[CpuMask], old: usize, cpus: usize) -> Vec<CpuMask> {
    let copies = (0..cpus.div_ceil(old)).flat_map(|copy| {
        spans.iter().map(move |span| {
            let shifted = span.iter().map(|c| c.index() + copy * old);
            shifted.filter(|c| *c < cpus).map(|c| CpuId(c as u16)).collect::<CpuMask>()
        })
    });
    copies.filter(|span| !span.is_empty()).collect()
}
