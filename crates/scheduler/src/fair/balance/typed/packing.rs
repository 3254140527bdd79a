//! Asymmetric packing (ITMT; deadline-groups C1, C9): where the firmware prefers some CPUs to others, as it
//! does the fast ones of hybrid laptops, an idle one of them takes tasks from those that are less preferred,
//! even if each of these has a CPU of its own. Wakeups and forks know nothing of it.

use crate::domains::{SchedDomain, SchedGroup};
use crate::fair::balance::Situation;
use crate::platform::Platform;
use crate::registry::AsymPacking;
use crate::{CpuId, CpuMask, LevelKind, ThisCpu, Topology};
use alloc::boxed::Box;

/// How much the firmware prefers each CPU of a machine.
#[derive(Debug, Default)]
pub(in crate::fair) struct Preferences {
    /// By CPU; empty where none is preferred.
    cpus: Box<[Preference]>,
    /// Hardware threads of the largest core.
    most_threads: u64,
}

/// That of one CPU.
#[derive(Clone, Copy, Debug)]
struct Preference {
    /// As the firmware says it: the same for all threads of a core.
    of_core: u64,
    /// Which of the threads of its core it is, from 1.
    thread: u64,
    /// The others.
    siblings: CpuMask,
}

impl Preferences {
    pub fn new(topology: &Topology) -> Preferences {
        let core_of = |cpu: CpuId| {
            let mut cores = topology.levels.iter().filter(|level| level.kind == LevelKind::Smt);
            let core = cores.find_map(|level| level.spans.iter().find(|core| core.contains(cpu)));
            core.copied().unwrap_or(CpuMask::single(cpu))
        };
        let preference = |(cpu, priority): (usize, &u16)| {
            let cpu = CpuId(cpu as u16);
            let core = core_of(cpu);
            Preference {
                of_core: u64::from(*priority),
                thread: 1 + core.iter().take_while(|other| *other != cpu).count() as u64,
                siblings: core.without(&CpuMask::single(cpu)),
            }
        };
        let cpus: Box<[Preference]> = topology.priorities.iter().enumerate().map(preference).collect();
        let most_threads = cpus.iter().map(|cpu| 1 + u64::from(cpu.siblings.weight())).max().unwrap_or(1);
        Preferences { cpus, most_threads }
    }
}

fn rule<P: Platform>(me: ThisCpu<'_, P>) -> AsymPacking {
    me.k.config.rules.asym_packing.get()
}

/// How much a CPU is preferred, as the kernel counts it: up to 6.4 the further threads of a core come after
/// other cores.
pub(super) fn priority<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    let preferences = &me.k.fair_root.preferences;
    let Some(Preference { of_core, thread, .. }) = preferences.cpus.get(cpu.index()) else { return 0 };
    match rule(me) {
        AsymPacking::ByPriority => of_core * preferences.most_threads / thread,
        AsymPacking::BusyThreads => of_core * preferences.most_threads / (thread * thread),
        AsymPacking::IdleCores | AsymPacking::Off => *of_core,
    }
}

fn is_preferred<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, to: CpuId) -> bool {
    priority(me, cpu) > priority(me, to)
}

/// The CPU of a group that is preferred most; of equals, the lowest (asym_prefer_cpu).
pub(super) fn first_choice<P: Platform>(me: ThisCpu<'_, P>, group: &SchedGroup) -> CpuId {
    let best = group.span.iter().reduce(|best, cpu| if is_preferred(me, cpu, best) { cpu } else { best });
    best.unwrap_or(me.id)
}

/// Whether no other thread of a CPU's core has anything to do.
fn has_its_core<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    let preferences = &me.k.fair_root.preferences;
    preferences.cpus.get(cpu.index()).is_none_or(|own| own.siblings.iter().all(|other| me.k.idle_cpu(other)))
}

/// Whether a CPU's priority says anything: as long as its core is all its own, where kernels look at that.
fn counts<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    rule(me) != AsymPacking::IdleCores || has_its_core(me, cpu)
}

/// Whether a domain is packed (SD_ASYM_PACKING): up to 6.4 cores and caches, then caches and packages.
pub(super) fn packs<P: Platform>(me: ThisCpu<'_, P>, domain: &SchedDomain) -> bool {
    !me.k.fair_root.preferences.cpus.is_empty()
        && match domain.kind {
            LevelKind::Cluster | LevelKind::Mc => rule(me) != AsymPacking::Off,
            LevelKind::Smt => matches!(rule(me), AsymPacking::ByPriority | AsymPacking::BusyThreads),
            LevelKind::Package => rule(me) == AsymPacking::IdleCores,
            LevelKind::Numa { .. } => false,
        }
}

/// The same in a pass for a CPU that idles: a busy one is not packed.
pub(super) fn packs_now<P: Platform>(me: ThisCpu<'_, P>, domain: &SchedDomain, situation: Situation) -> bool {
    situation != Situation::Busy && packs(me, domain)
}

/// CPUs of a group and what of them is busy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occupied {
    /// All of them.
    pub cpus: u64,
    /// Those that idle.
    pub idle: u64,
}

impl Occupied {
    fn busy(self) -> u64 {
        self.cpus - self.idle
    }
}

/// Whether the tasks of `group`, which has some, are for `dest`, an idle CPU of the group `own`.
pub(super) fn drains<P: Platform>(
    me: ThisCpu<'_, P>,
    dest: CpuId,
    [own, group]: [&SchedGroup; 2],
    [here, there]: [Occupied; 2],
) -> bool {
    let prefers = || is_preferred(me, dest, first_choice(me, group));
    match rule(me) {
        AsymPacking::Off => false,
        AsymPacking::ByPriority => prefers(),
        AsymPacking::BusyThreads => match (own.is_core, group.is_core) {
            (false, false) => prefers(),
            (false, true) => there.busy() >= 2 || prefers(),
            // Between cores the numbers of busy threads count first.
            (true, true) => match there.busy().saturating_sub(here.busy()) {
                0 => false,
                1 => prefers(),
                _ => true,
            },
            (true, false) => here.busy() == 0 && prefers(),
        },
        AsymPacking::IdleCores => {
            has_its_core(me, dest) && (!group.is_core || there.busy() == 1) && prefers()
        }
    }
}

/// Up to 5.4, of groups that are as crowded as each other: whether the tasks of `group` are for `dest`, and
/// rather than those of `best`.
pub(super) fn drains_before<P: Platform>(
    me: ThisCpu<'_, P>,
    dest: CpuId,
    group: &SchedGroup,
    best: Option<&SchedGroup>,
) -> bool {
    let first = first_choice(me, group);
    let best = best.map(|best| first_choice(me, best));
    is_preferred(me, dest, first) && best.is_none_or(|best| is_preferred(me, best, first))
}

/// Up to 5.4: whether the tasks of the busiest group come to a CPU that is preferred no less than theirs.
/// Then all of them do.
pub(super) fn comes_no_lower<P: Platform>(me: ThisCpu<'_, P>, dest: CpuId, busiest: &SchedGroup) -> bool {
    !is_preferred(me, first_choice(me, busiest), dest)
}

/// Whether a CPU of the busiest group is passed over: its only task would come to a less preferred CPU.
pub(super) fn keeps_its_task<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, dest: CpuId) -> bool {
    let looks = matches!(rule(me), AsymPacking::BusyThreads | AsymPacking::IdleCores);
    looks && counts(me, cpu) && is_preferred(me, cpu, dest)
}

/// Whether a busy CPU is asked for its running task at once.
pub(super) fn asks_for_running<P: Platform>(me: ThisCpu<'_, P>, from: CpuId, dest: CpuId) -> bool {
    counts(me, dest) && (is_preferred(me, dest, from) || !counts(me, from))
}

/// Whether another CPU may have what `cpu` runs, as it is preferred, or shares no core with somebody: what
/// deadline-groups CF7 asks at each such move.
pub(crate) fn may_be_drained<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    let mut packed = me.k.domains(cpu).iter().filter(|domain| packs(me, domain));
    packed.any(|domain| !counts(me, cpu) || domain.span.iter().any(|other| is_preferred(me, other, cpu)))
}

/// Whether a CPU idles that is preferred to the executing one, in the largest domain that is packed.
pub(super) fn a_better_one_idles<P: Platform>(me: ThisCpu<'_, P>) -> bool {
    let Some(largest) = me.k.domains(me.id).iter().rev().find(|domain| packs(me, domain)) else {
        return false;
    };
    let mut idle = largest.span.and(&me.k.fair_root.idle_cpus()).iter();
    idle.any(|cpu| counts(me, cpu) && is_preferred(me, cpu, me.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, cpus};
    use crate::{Topology, TopologyLevel};
    use alloc::vec;
    use alloc::vec::Vec;

    /// Two large cores of two threads, and four small CPUs, of these priorities, under a form of the rule.
    fn hybrid_of(form: &str, priorities: [u16; 8]) -> Lab {
        let level = |kind, spans: &[&[u16]]| {
            let spans = spans.iter().map(|span| cpus(span)).collect();
            TopologyLevel { kind, spans }
        };
        let levels = vec![
            level(LevelKind::Smt, &[&[0, 1], &[2, 3], &[4], &[5], &[6], &[7]]),
            level(LevelKind::Mc, &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
            level(LevelKind::Package, &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
        ];
        let topology = Topology::of(8, levels).with_priorities(priorities.into());
        Lab::on(&topology, "6.18.y", &[&alloc::format!("asym_packing={form}")])
    }

    /// The worked example of deadline-groups C9.
    fn hybrid(form: &str) -> Lab {
        hybrid_of(form, [60, 60, 60, 60, 35, 35, 35, 35])
    }

    /// Example 1.
    #[test]
    fn what_threads_of_a_core_count() {
        let priorities = |form| {
            let lab = hybrid(form);
            [0, 1, 2, 3, 4, 7].map(|cpu| priority(lab.cpu(0), CpuId(cpu)))
        };
        assert_eq!(priorities("by_priority"), [120, 60, 120, 60, 70, 70]);
        assert_eq!(priorities("busy_threads"), [120, 30, 120, 30, 70, 70]);
        assert_eq!(priorities("idle_cores"), [60, 60, 60, 60, 35, 35]);
        let alike = Lab::on(&Topology::flat(2), "6.18.y", &[]);
        assert_eq!(priority(alike.cpu(0), CpuId(1)), 0);
    }

    /// The row of the domains.
    #[test]
    fn which_domains_are_packed() {
        let packed = |form: &str, kind| {
            let lab = hybrid(form);
            let mut domain = lab.k.domains(CpuId(0))[0].clone();
            domain.kind = kind;
            packs(lab.cpu(0), &domain)
        };
        let kinds = [LevelKind::Smt, LevelKind::Cluster, LevelKind::Mc, LevelKind::Package];
        let packed = |form: &str| kinds.map(|kind| packed(form, kind));
        assert_eq!(packed("off"), [false; 4]);
        assert_eq!([packed("by_priority"), packed("busy_threads")], [[true, true, true, false]; 2]);
        assert_eq!(packed("idle_cores"), [false, true, true, true]);
    }

    /// The row of the group type, case by case. `busy` are threads, or CPUs, that are; all others idle.
    fn drained(form: &str, dest: u16, here: u64, group: usize, there: u64) -> bool {
        let lab = hybrid(form);
        let groups = lab.k.domains(CpuId(0)).last().expect("the cache").groups();
        let own = groups.iter().find(|g| g.span.contains(CpuId(dest))).expect("its group");
        let other = &groups[group];
        let occupied = |g: &SchedGroup, busy| Occupied { cpus: g.weight, idle: g.weight - busy };
        drains(lab.cpu(0), CpuId(dest), [own, other], [occupied(own, here), occupied(other, there)])
    }

    #[test]
    fn whose_tasks_are_for_an_idle_cpu() {
        let of_small = |form| [0, 1].map(|dest| drained(form, dest, 0, 2, 1));
        assert_eq!(of_small("off"), [false, false]);
        assert_eq!(of_small("by_priority"), [true, false], "thread 1 counts 60, a small CPU 70");
        assert_eq!(of_small("busy_threads"), [true, false]);
        assert_eq!(of_small("idle_cores"), [true, true]);
        // The other thread of the core is busy.
        assert!(drained("by_priority", 0, 1, 2, 1));
        assert!(!drained("busy_threads", 0, 1, 2, 1));
        // A small CPU, and a core with one busy thread or two.
        let of_core = |form| [1, 2].map(|busy| drained(form, 4, 0, 0, busy));
        assert_eq!([of_core("by_priority"), of_core("idle_cores")], [[false, false]; 2]);
        assert_eq!(of_core("busy_threads"), [false, true]);
        // Two cores alike: so many are busy here, so many there.
        let between = |form, here| [1, 2].map(|there| drained(form, 2, here, 0, there));
        assert_eq!([between("by_priority", 0), between("idle_cores", 0)], [[false, false]; 2]);
        assert_eq!([between("busy_threads", 0), between("busy_threads", 1)], [[false, true], [false, false]]);
    }

    /// The rows of the busiest queue and of active balance.
    #[test]
    fn who_gives_his_only_task_away() {
        let rows = |form| {
            let lab = hybrid(form);
            let me = lab.cpu(0);
            let pairs: Vec<(u16, u16)> = vec![(0, 4), (4, 0), (4, 5)];
            let keeps = |(from, dest): &(u16, u16)| keeps_its_task(me, CpuId(*from), CpuId(*dest));
            let asks = |(from, dest): &(u16, u16)| asks_for_running(me, CpuId(*from), CpuId(*dest));
            (pairs.iter().map(keeps).collect::<Vec<_>>(), pairs.iter().map(asks).collect::<Vec<_>>())
        };
        assert_eq!(rows("by_priority"), (vec![false; 3], vec![false, true, false]));
        for form in ["busy_threads", "idle_cores"] {
            assert_eq!(rows(form), (vec![true, false, false], vec![false, true, false]), "{form}");
        }
        // A core with a busy thread is asked for what the other one runs.
        let lab = hybrid("idle_cores");
        lab.spawn(crate::Policy::Normal, 1);
        let me = lab.cpu(0);
        assert!(asks_for_running(me, CpuId(0), CpuId(4)) && !asks_for_running(me, CpuId(4), CpuId(0)));
        assert!(!keeps_its_task(me, CpuId(0), CpuId(4)));
    }

    /// What a core shares counts only where a kernel looks at that; and only if there are preferences at all.
    #[test]
    fn whose_priority_counts() {
        for (form, asks) in [("by_priority", true), ("busy_threads", true), ("idle_cores", false)] {
            let lab = hybrid(form);
            lab.spawn_allowed(crate::Policy::Normal, 1, cpus(&[1]));
            assert_eq!(asks_for_running(lab.cpu(0), CpuId(4), CpuId(0)), asks, "{form}");
        }
        let alike = Lab::on(&Topology::flat(2), "6.18.y", &["asym_packing=by_priority"]);
        assert!(!packs(alike.cpu(0), &alike.k.domains(CpuId(0))[0]));
    }

    /// CF7: nobody is preferred to CPU 0, but it may lose what it runs if it shares its core.
    #[test]
    fn who_shares_a_core_may_be_drained() {
        for (busy, drained) in [(None, false), (Some(1), true), (Some(4), false)] {
            let lab = hybrid("idle_cores");
            busy.map(|cpu| lab.spawn_allowed(crate::Policy::Normal, cpu, cpus(&[cpu])));
            assert_eq!(may_be_drained(lab.cpu(0), CpuId(0)), drained, "{busy:?}");
            assert!(may_be_drained(lab.cpu(0), CpuId(4)), "{busy:?}: others are preferred");
        }
    }

    /// The row of the group type, where cores are not alike, and a small CPU is preferred to both: cores of
    /// 60 and 50, small CPUs of 90.
    #[test]
    fn cores_of_unequal_preference() {
        let drained = |form: &str, dest: u16, sibling_busy: bool, other: u16, there: u64| {
            let lab = hybrid_of(form, [60, 60, 50, 50, 90, 90, 90, 90]);
            if sibling_busy {
                lab.spawn_allowed(crate::Policy::Normal, dest + 1, cpus(&[dest + 1]));
            }
            let groups = lab.k.domains(CpuId(0)).last().expect("the cache").groups();
            let group = |cpu: u16| groups.iter().find(|g| g.span.contains(CpuId(cpu))).expect("its group");
            let occupied = |g: &SchedGroup, busy| Occupied { cpus: g.weight, idle: g.weight - busy };
            let own = group(dest);
            let here = occupied(own, u64::from(sibling_busy));
            drains(lab.cpu(0), CpuId(dest), [own, group(other)], [here, occupied(group(other), there)])
        };
        let idle_cores = |sibling_busy, there| drained("idle_cores", 0, sibling_busy, 2, there);
        assert_eq!(
            [idle_cores(false, 1), idle_cores(false, 2)],
            [true, false],
            "its threads help each other"
        );
        assert!(!idle_cores(true, 1), "the core of the idle thread is not its own");
        assert!(drained("idle_cores", 4, false, 2, 1) && !drained("idle_cores", 2, false, 4, 1));
        assert!(drained("busy_threads", 4, false, 2, 1), "one busy thread, and the small CPU is preferred");
        // Of CPUs that are no core it does not matter how many are busy.
        let lab = hybrid_of("idle_cores", [60, 60, 50, 50, 35, 35, 35, 35]);
        let groups = lab.k.domains(CpuId(0)).last().expect("the cache").groups();
        let half = Occupied { cpus: 4, idle: 2 };
        assert!(drains(lab.cpu(0), CpuId(0), [&groups[0], &groups[2]], [half, half]));
    }
}
