//! Time for a modified cache line to get from one CPU to another, looked up several times in each event.

use crate::spec::{Distance, MachineSpec};
use scheduler::{CpuId, Nanos};

/// For every pair of CPUs. A table of pairs would not fit into a cache of the machine that this runs on.
#[derive(Debug)]
pub(crate) struct Transfers {
    places: Box<[Place]>,
    /// By the number of ways in which two CPUs are apart: not the same CPU, core, cache, node.
    ns: [Nanos; 5],
}

/// Which core, cache and node a CPU belongs to, each named by its lowest CPU.
#[derive(Clone, Copy, Debug)]
struct Place {
    core: CpuId,
    cache: CpuId,
    node: CpuId,
}

impl Transfers {
    pub fn new(spec: &MachineSpec) -> Transfers {
        let cpus = || (0..spec.topology.cpus as u16).map(CpuId);
        let lowest = |cpu, within| cpus().find(|c| spec.distance(cpu, *c) <= within).unwrap_or(cpu);
        let place = |cpu| Place {
            core: lowest(cpu, Distance::Smt),
            cache: lowest(cpu, Distance::SharedCache),
            node: lowest(cpu, Distance::SameNode),
        };
        let line = &spec.costs.line;
        Transfers { places: cpus().map(place).collect(), ns: Distance::ALL.map(|distance| line.at(distance)) }
    }

    /// An access of a CPU to its own cache.
    #[inline]
    pub fn own(&self) -> Nanos {
        self.ns[0]
    }

    /// From one CPU to another.
    #[inline]
    pub fn get(&self, from: CpuId, to: CpuId) -> Nanos {
        let (a, b) = (self.places[from.index()], self.places[to.index()]);
        let apart = [from != to, a.core != b.core, a.cache != b.cache, a.node != b.node];
        self.ns[apart.into_iter().map(usize::from).sum::<usize>()]
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
