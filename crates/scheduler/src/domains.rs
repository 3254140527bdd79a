//! Sched domains, built from a topology (fair-class 8.1).

use crate::Nanos;
use crate::frequency::FrequencyDomain;
use crate::registry::LbParams;
use crate::shared::Kept;
use crate::stats::{BalanceCounts, DomainCounts};
use crate::{CpuId, CpuMask};
use alloc::boxed::Box;
use alloc::rc::Rc;
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
    fn kinds(&self, cpus: &CpuMask) -> usize {
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

/// NUMA levels farther than this have no affine wakeups (the default of node_reclaim_distance, rt-class 4.5).
const RECLAIM_DISTANCE: u16 = 30;

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

/// How often a newly idle CPU has found something in a domain (NI_RANDOM, fair-placement 4.9).
#[derive(Clone, Debug)]
pub struct SearchLuck {
    calls: Kept<u64>,
    successes: Kept<u64>,
    /// Of 1024 calls.
    ratio: Kept<u64>,
    /// When that was computed last.
    since: Kept<Nanos>,
}

impl Default for SearchLuck {
    /// Every second one at first.
    fn default() -> SearchLuck {
        SearchLuck {
            calls: Kept::new(512),
            successes: Kept::new(256),
            ratio: Kept::new(512),
            since: Kept::default(),
        }
    }
}

impl SearchLuck {
    /// What a success counts if a number below 1024, drawn at random, lets this search be made.
    pub(crate) fn weight(&self, drawn: u64) -> Option<u64> {
        let weight = 1 + self.ratio.get();
        (drawn <= weight).then(|| (1024 + weight / 2) / weight)
    }

    /// A search was made, or passed over; `found`: what finding something counted. Under NI_RATE it is that
    /// time `now`, and rare calls count as worth it: 256 calls of a second in 1024.
    pub(crate) fn account(&self, found: u64, now: Option<Nanos>) {
        self.calls.set(self.calls.get() + 1);
        self.successes.set(self.successes.get() + found);
        if self.calls.get() >= 1024 {
            let rarity = now.map_or(0, |now| now.saturating_sub(self.since.replace(now)).0 >> 22);
            self.ratio.set((self.successes.get() + rarity).min(1024));
            self.calls.set(self.calls.get() / 2);
            self.successes.set(self.successes.get() / 2);
        }
    }
}

/// What a CPU remembers about balancing one of its domains (fair-class 8.5).
#[derive(Clone, Debug)]
pub struct BalanceState {
    /// When it was last balanced.
    pub last_balance: Kept<Nanos>,
    /// Current interval in ms; less than the domain's shortest one means that.
    pub balance_interval_ms: Kept<u64>,
    /// Attempts in a row that moved nothing although there was an imbalance.
    pub nr_balance_failed: Kept<u32>,
    /// What a search for work by a newly idle CPU took at most; it fades.
    pub max_newidle_lb_cost: Kept<Nanos>,
    /// When that last faded or rose.
    pub last_decay: Kept<Nanos>,
    /// How often a search by a newly idle CPU finds something.
    pub newidle_luck: SearchLuck,
    /// What balancing counts while the CPU is idle, while it is busy, and when it is about to idle.
    pub counts: [BalanceCounts; 3],
    /// What else is counted.
    pub other_counts: DomainCounts,
}

impl Default for BalanceState {
    fn default() -> BalanceState {
        BalanceState {
            last_balance: Kept::new(Nanos::ZERO),
            balance_interval_ms: Kept::new(0),
            nr_balance_failed: Kept::new(0),
            max_newidle_lb_cost: Kept::default(),
            last_decay: Kept::default(),
            newidle_luck: SearchLuck::default(),
            counts: Default::default(),
            other_counts: DomainCounts::default(),
        }
    }
}

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

    /// fair-placement E66, E67.
    #[test]
    fn a_search_that_seldom_finds_anything_is_seldom_made() {
        let luck = SearchLuck::default();
        let made = |luck: &SearchLuck| (0..1024).filter(|drawn| luck.weight(*drawn).is_some()).count();
        assert_eq!((made(&luck), luck.weight(0)), (514, Some(2)));
        (0..512).for_each(|_| luck.account(0, None));
        assert_eq!(made(&luck), 258, "256 of 1024");
        (0..10_000).for_each(|_| luck.account(0, None));
        assert_eq!((made(&luck), luck.weight(0)), (2, Some(1024)));
        luck.account(1024, None);
        (0..1024).for_each(|_| luck.account(0, None));
        assert!(made(&luck) > 500, "one of the few was a success");
    }

    /// eevdf-class 4.6, dice_rate: 512 calls in 4 s, 2 s, 1 s and a quarter of one add so much to the ratio.
    #[test]
    fn rare_searches_are_made_more_often() {
        let ratio = |millis: u64| {
            let luck = SearchLuck::default();
            luck.since.set(Nanos::from_secs(10));
            (0..512).for_each(|_| luck.account(0, Some(Nanos::from_secs(10) + Nanos::from_millis(millis))));
            luck.ratio.get() - 256
        };
        assert_eq!([4000, 2000, 1000, 250].map(ratio), [768, 476, 238, 59]);
    }

    #[test]
    fn degenerate_levels_are_left_out() {
        assert_eq!(domains_of(&Topology::flat(1))[0].len(), 0);
        assert_eq!(domains_of(&Topology::flat(4))[0].len(), 1);
    }
}
