//! Sched domains (fair-class 8.1): spans of CPUs within which tasks are balanced between groups. They are
//! built from a topology (`build`), and each CPU remembers how balancing its own went (`balancing`).

mod balancing;
mod build;
mod topology;

pub use balancing::{BalanceState, SearchLuck};
pub(crate) use build::domains_by;
pub use build::domains_of;
pub use topology::{FULL_CAPACITY, LevelKind, Topology, TopologyLevel};

use crate::Nanos;
use crate::registry::LbParams;
use crate::shared::Kept;
use crate::{CpuId, CpuMask};
use alloc::boxed::Box;
use alloc::rc::Rc;

/// Whether a domain has CPUs of different capacities.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Asymmetry {
    /// They are worth the same.
    None,
    /// They are not, and the machine has others still (SD_ASYM_CPUCAPACITY).
    Some,
    /// It has all kinds that there are (SD_ASYM_CPUCAPACITY_FULL).
    Full,
}

impl Asymmetry {
    fn of(topology: &Topology, span: &CpuMask) -> Asymmetry {
        let all = CpuMask::first_n(topology.cpus);
        match topology.kinds(span) {
            1 => Asymmetry::None,
            kinds if kinds == topology.kinds(&all) => Asymmetry::Full,
            _ => Asymmetry::Some,
        }
    }
}

/// One level of one CPU's domain chain (fair-class 8.1).
#[derive(Clone, Debug)]
pub struct SchedDomain {
    /// What its members share.
    pub kind: LevelKind,
    /// Its CPUs.
    pub span: CpuMask,
    /// So many.
    pub span_weight: u32,
    /// Shared by the chains of all its CPUs; a CPU's own group is at `own`.
    partition: Rc<Partition>,
    own: usize,
    /// SD_WAKE_AFFINE: a wakeup may pull a task across it.
    pub affine: bool,
    /// SD_SHARE_PKG_RESOURCES: its CPUs share a cache.
    pub shares_cache: bool,
    /// Whether the level below prefers spreading (SD_PREFER_SIBLING): group capacity counts as one task.
    pub prefer_sibling: bool,
    /// The same up to 4.14, where cores that share a cache do not prefer it, unless they are a whole node
    /// (fair-placement 4.1, 8.4).
    pub prefer_sibling_above_mc: bool,
    /// Its groups are cores of several hardware threads.
    pub of_cores: bool,
    /// Its CPUs are not all worth the same.
    pub asymmetric: Asymmetry,
    /// Which average of CPU load is compared while the CPU is busy.
    pub busy_idx: usize,
    /// The same while it is idle.
    pub idle_idx: usize,
    /// So many tasks may run in a part of this NUMA domain before another part takes some; 0 below
    /// (fair-placement 4.12).
    pub imb_numa_nr: u64,
    /// State of periodic balancing.
    pub balance: BalanceState,
}

impl SchedDomain {
    /// The group of the CPU whose chain this is.
    pub fn own_group(&self) -> &SchedGroup {
        &self.partition.groups[self.own]
    }

    /// Constants of balancing it.
    pub fn constants(&self, rule: LbParams) -> BalanceConstants {
        let span = u64::from(self.span_weight);
        match rule {
            LbParams::Fixed => BalanceConstants {
                min_interval_ms: 1,
                max_interval_ms: 4,
                busy_factor: 64,
                less_when_busy: 0,
                imbalance_pct: 125,
                cache_nice_tries: 1,
            },
            LbParams::BySpan | LbParams::BySpanSlow => {
                let slow = rule == LbParams::BySpanSlow;
                BalanceConstants {
                    min_interval_ms: span,
                    max_interval_ms: 2 * span,
                    busy_factor: if slow { 32 } else { 16 },
                    less_when_busy: u64::from(!slow),
                    imbalance_pct: match self.kind {
                        LevelKind::Smt => 110,
                        LevelKind::Package | LevelKind::Numa { .. } if slow => 125,
                        LevelKind::Cluster | LevelKind::Mc | LevelKind::Package | LevelKind::Numa { .. } => {
                            117
                        }
                    },
                    cache_nice_tries: match self.kind {
                        LevelKind::Smt => 0,
                        LevelKind::Cluster | LevelKind::Mc | LevelKind::Package => 1,
                        LevelKind::Numa { .. } => 2,
                    },
                }
            }
        }
    }

    /// Its groups.
    pub fn groups(&self) -> &[SchedGroup] {
        &self.partition.groups
    }

    /// The other groups, in order, starting behind the own one.
    pub fn other_groups(&self) -> impl Iterator<Item = &SchedGroup> {
        let (before, rest) = self.partition.groups.split_at(self.own);
        rest[1..].iter().chain(before)
    }

    /// The CPUs of the own group, then of the others, in order: a pass over all groups looks at them so.
    pub fn cpus_by_group(&self) -> impl Iterator<Item = CpuId> {
        let Partition { twice_around, first_cpus, .. } = &*self.partition;
        twice_around[first_cpus[self.own]..][..twice_around.len() / 2].iter().copied()
    }
}

/// A span, divided into groups.
#[derive(Debug)]
struct Partition {
    groups: Box<[SchedGroup]>,
    /// The CPUs of all groups in their order, twice: from the first CPU of any group on, all of them follow.
    twice_around: Box<[CpuId]>,
    /// Where the CPUs of each group begin there.
    first_cpus: Box<[usize]>,
}

impl Partition {
    fn new(groups: Box<[SchedGroup]>) -> Partition {
        let all = || groups.iter().flat_map(|group| group.span.iter());
        let first_cpus = groups.iter().scan(0, |next, group| {
            let first = *next;
            *next += group.weight as usize;
            Some(first)
        });
        Partition { twice_around: all().chain(all()).collect(), first_cpus: first_cpus.collect(), groups }
    }
}

/// A part of a domain's span, seen as one by those who balance it.
#[derive(Debug)]
pub struct SchedGroup {
    /// Its CPUs.
    pub span: CpuMask,
    /// So many.
    pub weight: u64,
    /// They are the hardware threads of one core.
    pub is_core: bool,
    /// Among the groups of all domains: of a single CPU it is the CPU's, of several CPUs a larger one that no
    /// other group has.
    pub number: usize,
    /// What its CPUs are worth to fair tasks, in 1024ths of one, as of the last refresh (fair-placement 1.9).
    pub capacity: Kept<u64>,
    /// The same of the CPU that is worth most.
    pub max_capacity: Kept<u64>,
    /// And of the one that is worth least.
    pub min_capacity: Kept<u64>,
    /// When balancing of a newly idle CPU refreshes that again.
    pub next_update: Kept<Nanos>,
    /// Tasks that may not leave it kept its own balancing from evening it out (fair-placement 4.4).
    pub imbalanced: Kept<bool>,
}

impl SchedGroup {
    fn new(topology: &Topology, span: CpuMask, number: usize) -> SchedGroup {
        let capacities = || span.iter().map(|cpu| topology.capacity(cpu));
        let mut cores = topology.levels.iter().filter(|level| level.kind == LevelKind::Smt);
        SchedGroup {
            span,
            weight: u64::from(span.weight()),
            is_core: span.weight() > 1 && cores.any(|level| level.spans.contains(&span)),
            number,
            capacity: Kept::new(capacities().sum()),
            max_capacity: Kept::new(capacities().max().unwrap_or(FULL_CAPACITY)),
            min_capacity: Kept::new(capacities().min().unwrap_or(FULL_CAPACITY)),
            next_update: Kept::default(),
            imbalanced: Kept::default(),
        }
    }
}

/// Constants of balancing a domain (fair-class 8.1, fair-placement 4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BalanceConstants {
    /// Shortest interval between two balancings of an idle CPU, in ms.
    pub min_interval_ms: u64,
    /// Longest such interval, in ms.
    pub max_interval_ms: u64,
    /// How much longer the interval of a busy CPU is.
    pub busy_factor: u64,
    /// By so many ticks it is shorter, so that levels do not fall together.
    pub less_when_busy: u64,
    /// How busy the busiest group must be for action, in percent of the local one.
    pub imbalance_pct: u64,
    /// Failures after which balancing moves cache-hot tasks too.
    pub cache_nice_tries: u32,
}
