//! How the CPUs of a machine are divided: partitions of cpusets, and isolated CPUs (deadline-groups B10).

use crate::domains::{SchedDomain, Topology, TopologyLevel, domains_by};
use crate::root_domain::{RootDomain, RootId};
use crate::{CpuId, CpuMask};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

/// Disjoint sets of CPUs. Within each there are sched domains; the CPUs that are in none are isolated.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Partitions(Vec<CpuMask>);

impl Partitions {
    /// A machine of so many CPUs in one piece.
    pub fn whole(cpus: usize) -> Partitions {
        Partitions([CpuMask::first_n(cpus)].into())
    }

    /// These, without the empty ones.
    ///
    /// # Panics
    /// If two share a CPU.
    pub fn new(parts: impl IntoIterator<Item = CpuMask>) -> Partitions {
        let parts: Vec<CpuMask> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let disjoint = |n: usize| parts[..n].iter().all(|before| !before.intersects(&parts[n]));
        assert!((0..parts.len()).all(disjoint), "partitions are disjoint: {parts:?}");
        Partitions(parts)
    }
}

impl Partitions {
    /// How many root domains a machine of so many CPUs has that is divided so.
    pub fn root_domains(&self, cpus: usize) -> usize {
        let balanced: u32 = self.0.iter().map(CpuMask::weight).sum();
        self.0.len() + usize::from((balanced as usize) < cpus)
    }
}

/// What follows for each CPU.
pub(crate) struct Division {
    pub roots: Box<[Rc<RootDomain>]>,
    /// Of each CPU.
    pub root_of: Box<[Rc<RootDomain>]>,
    pub domains: Box<[Vec<SchedDomain>]>,
    /// With whom it shares a last-level cache, as far as its partition goes.
    pub llc: Box<[CpuMask]>,
}

impl Division {
    /// Of a machine with this topology. Isolated CPUs share the root domain that the kernel starts with,
    /// the last one here.
    pub fn of(topology: &Topology, partitions: &Partitions) -> Division {
        let cpus = topology.cpus;
        let balanced = partitions.0.iter().fold(CpuMask::EMPTY, |all, part| all.or(part));
        let isolated = CpuMask::first_n(cpus).without(&balanced);
        let spans: Vec<CpuMask> =
            partitions.0.iter().copied().chain((!isolated.is_empty()).then_some(isolated)).collect();
        let topologies: Vec<Topology> = partitions.0.iter().map(|part| topology.within(part)).collect();
        let part_of = |cpu: CpuId| partitions.0.iter().position(|part| part.contains(cpu));
        let llc_of = |cpu: CpuId| match part_of(cpu) {
            Some(part) => topologies[part].llc_span(cpu),
            None => CpuMask::single(cpu),
        };
        let ids = || (0..cpus as u16).map(CpuId);
        let root =
            |(number, span): (usize, &CpuMask)| Rc::new(RootDomain::new(RootId(number as u16), *span, cpus));
        let roots: Box<[Rc<RootDomain>]> = spans.iter().enumerate().map(root).collect();
        let root_of = |cpu: CpuId| roots[part_of(cpu).unwrap_or(partitions.0.len())].clone();
        Division {
            root_of: ids().map(root_of).collect(),
            domains: domains_by(ids().map(|cpu| part_of(cpu).map(|part| &topologies[part]))),
            llc: ids().map(llc_of).collect(),
            roots,
        }
    }
}

impl Topology {
    /// What is left of it for those that know these CPUs only.
    fn within(&self, part: &CpuMask) -> Topology {
        let narrowed = |level: &TopologyLevel| TopologyLevel {
            kind: level.kind,
            spans: level.spans.iter().map(|span| span.and(part)).filter(|span| !span.is_empty()).collect(),
        };
        Topology { levels: self.levels.iter().map(narrowed).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LevelKind;

    fn mask(cpus: &[u16]) -> CpuMask {
        cpus.iter().map(|cpu| CpuId(*cpu)).collect()
    }

    /// Two caches of four CPUs each.
    fn two_caches() -> Topology {
        let level = |kind, spans: &[&[u16]]| TopologyLevel {
            kind,
            spans: spans.iter().map(|span| mask(span)).collect(),
        };
        let caches = level(LevelKind::Mc, &[&[0, 1, 2, 3], &[4, 5, 6, 7]]);
        Topology::of(8, [caches, level(LevelKind::Package, &[&[0, 1, 2, 3, 4, 5, 6, 7]])].into())
    }

    fn spans(division: &Division, cpu: usize) -> Vec<CpuMask> {
        division.domains[cpu].iter().map(|domain| domain.span).collect()
    }

    #[test]
    fn a_machine_in_one_piece_has_one_root_domain() {
        let division = Division::of(&two_caches(), &Partitions::whole(8));
        assert_eq!(division.roots.iter().map(|root| root.span).collect::<Vec<_>>(), [CpuMask::first_n(8)]);
        assert_eq!(spans(&division, 5), [mask(&[4, 5, 6, 7]), CpuMask::first_n(8)]);
    }

    /// deadline-groups B10: each partition has domains and a root domain of its own.
    #[test]
    fn partitions_have_domains_of_their_own() {
        let division =
            Division::of(&two_caches(), &Partitions::new([mask(&[0, 1]), mask(&[2, 3, 4, 5, 6, 7])]));
        assert_eq!(spans(&division, 0), [mask(&[0, 1])], "one cache: no level above it");
        assert_eq!(spans(&division, 2), [mask(&[2, 3]), mask(&[2, 3, 4, 5, 6, 7])]);
        assert_eq!((division.llc[3], division.llc[6]), (mask(&[2, 3]), mask(&[4, 5, 6, 7])));
        assert_eq!(
            division.root_of.iter().map(|root| root.id.0).collect::<Vec<_>>(),
            [0, 0, 1, 1, 1, 1, 1, 1]
        );
        let groups: Vec<usize> =
            division.domains.iter().flatten().flat_map(|d| d.groups()).map(|g| g.number).collect();
        assert!(
            groups.iter().filter(|number| **number >= 8).count() > 0,
            "groups of several CPUs have numbers"
        );
    }

    /// Isolated CPUs have no domain, share a cache with nobody, and a root domain with each other.
    #[test]
    fn isolated_cpus_are_in_no_domain() {
        let division = Division::of(&two_caches(), &Partitions::new([mask(&[0, 1, 4, 5])]));
        for cpu in [2, 3, 6, 7] {
            assert_eq!((spans(&division, cpu).len(), division.llc[cpu].weight()), (0, 1));
        }
        assert_eq!(division.roots.last().map(|root| root.span), Some(mask(&[2, 3, 6, 7])));
        assert_eq!(spans(&division, 4), [mask(&[4, 5]), mask(&[0, 1, 4, 5])]);
    }
}
