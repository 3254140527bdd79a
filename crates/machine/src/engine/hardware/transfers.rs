//! Time for a modified cache line to get from one CPU to another, looked up several times in each event.

use crate::spec::{Distance, MachineSpec};
use scheduler::{CpuId, Nanos};

/// For every pair of CPUs. A table of pairs would not fit into a cache of the machine that this runs on.
#[derive(Debug)]
pub(crate) struct Transfers {
    places: Box<[Place]>,
    /// By the number of ways in which two CPUs are apart: not the same CPU, core, cache, node.
    ns: [Nanos; 5],
    /// None of them takes any time.
    pub are_free: bool,
}

/// Which node, cache and core a CPU belongs to, each named by its lowest CPU, and the CPU itself: 16 bits
/// each, the largest first. So the first bit in which two places differ says how far apart they are.
#[derive(Clone, Copy, Debug)]
struct Place(u64);

impl Transfers {
    pub fn new(spec: &MachineSpec) -> Transfers {
        let cpus = || (0..spec.topology.cpus as u16).map(CpuId);
        let lowest = |cpu, within| cpus().find(|c| spec.distance(cpu, *c) <= within).unwrap_or(cpu);
        let place = |cpu| {
            let around = [Distance::SameNode, Distance::SharedCache, Distance::Smt, Distance::Own];
            Place(around.into_iter().fold(0, |place, within| place << 16 | u64::from(lowest(cpu, within).0)))
        };
        let line = &spec.costs.line;
        let ns = Distance::ALL.map(|distance| line.at(distance));
        let are_free = ns.iter().all(|ns| *ns == Nanos::ZERO);
        Transfers { places: cpus().map(place).collect(), ns, are_free }
    }

    /// An access of a CPU to its own cache.
    #[inline]
    pub fn own(&self) -> Nanos {
        self.ns[0]
    }

    /// The CPU behind this one, the first one behind the last.
    pub fn next_wrapping(&self, cpu: CpuId) -> CpuId {
        CpuId((cpu.0 + 1) % self.places.len() as u16)
    }

    /// From one CPU to another.
    #[inline]
    pub fn get(&self, from: CpuId, to: CpuId) -> Nanos {
        let differing = self.places[from.index()].0 ^ self.places[to.index()].0;
        let ways_apart = (u64::BITS - differing.leading_zeros()).div_ceil(16);
        self.ns[ways_apart as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counting the ways in which CPUs are apart comes to the same as asking for their distance.
    #[test]
    fn agree_with_the_distances_of_the_machine() {
        for name in crate::spec::BUILTIN.iter().map(|b| b.name) {
            let machine = MachineSpec::builtin(name).expect("built in");
            for cpus in [machine.cpus(), 1, 7, 100] {
                let spec = machine.with_cpus(cpus).expect("so many CPUs");
                let transfers = Transfers::new(&spec);
                let ids = || (0..cpus as u16).map(CpuId);
                for (from, to) in ids().flat_map(|from| ids().map(move |to| (from, to))) {
                    let expected = spec.costs.line.at(spec.distance(from, to));
                    assert_eq!(transfers.get(from, to), expected, "{name}, {cpus} CPUs: {from} to {to}");
                }
            }
        }
    }
}
