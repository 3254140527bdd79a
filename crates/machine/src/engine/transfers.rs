//! Time for a modified cache line to get from one CPU to another, looked up several times in each event.

use crate::spec::MachineSpec;
use scheduler::{CpuId, Nanos};

/// For every pair of CPUs.
#[derive(Debug)]
pub(crate) struct Transfers {
    cpus: usize,
    ns: Vec<u32>,
    own: Nanos,
}

impl Transfers {
    pub fn new(spec: &MachineSpec) -> Transfers {
        let cpus = spec.topology.cpus;
        let ids = || (0..cpus as u16).map(CpuId);
        let pairs = ids().flat_map(|from| ids().map(move |to| (from, to)));
        let ns = |(from, to)| spec.costs.line.at(spec.distance(from, to)).0.min(u64::from(u32::MAX)) as u32;
        Transfers { cpus, ns: pairs.map(ns).collect(), own: spec.costs.line.own }
    }

    /// An access of a CPU to its own cache.
    #[inline]
    pub fn own(&self) -> Nanos {
        self.own
    }

    /// From one CPU to another.
    #[inline]
    pub fn get(&self, from: CpuId, to: CpuId) -> Nanos {
        Nanos(u64::from(self.ns[from.index() * self.cpus + to.index()]))
    }
}
