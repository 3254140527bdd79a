//! Idle CPUs take no ticks, so somebody must tell them that there is work elsewhere (fair-class 8.6).
//!
//! As from 2.6.36 on, the tick of a busy CPU that could give something away wakes one idle CPU, at most once
//! a tick in the whole machine. That one balances itself, then every other idle CPU that is due, until it has
//! work of its own. It comes here through schedule(), so the kick is an ordinary reschedule interrupt, and
//! its cost falls on an idle CPU. Up to 2.6.35 one idle CPU kept its tick for that purpose; the effect is the
//! same.

use super::sums::GroupSums;
use super::typed::{NohzRoot, Preferences};
use super::{Situation, balance_domains, due};
use crate::domains::SchedDomain;
use crate::fair::cache::SharedCache;
use crate::fair::cpu_load::{TickPeriod, tick_period, update_cpu_load};
use crate::platform::Platform;
use crate::{CpuId, CpuMask, LevelKind, Nanos, ThisCpu, Topology};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

/// What the class shares between CPUs.
#[derive(Debug)]
pub struct FairRoot {
    /// When an idle CPU may be kicked again.
    next_kick: Cell<Nanos>,
    /// What balancing by group types shares.
    pub(in crate::fair) nohz: NohzRoot,
    /// One for each cache, at the number of its lowest CPU.
    pub(in crate::fair) caches: Box<[SharedCache]>,
    /// Some CPU shares its core with another one.
    pub(in crate::fair) has_cores: bool,
    /// Some CPUs are worth less than others.
    pub(crate) is_asymmetric: bool,
    /// They are, and it is known what each takes, and none shares its core.
    pub(in crate::fair) has_energy_model: bool,
    /// How much each CPU is preferred to others.
    pub(in crate::fair) preferences: Preferences,
    /// They are, or can change their frequency.
    pub(crate) has_pelt_clocks: bool,
    /// Some cores of a cache share another one below it (sched_cluster_active).
    pub(in crate::fair) has_clusters: bool,
    /// What balancing by group types counts.
    pub(super) sums: GroupSums,
    /// How long it is from tick to tick.
    pub(in crate::fair) tick: TickPeriod,
    /// CPUs of which real-time tasks left something less than all at the last refresh.
    pub(in crate::fair) reduced: RefCell<CpuMask>,
}

impl FairRoot {
    /// Of a machine that has been idle for long (fair-placement 4.10).
    pub(crate) fn new(topology: &Topology, domains: &[Vec<SchedDomain>], llc: &[CpuMask]) -> FairRoot {
        let has_cores = topology.levels.iter().any(|l| l.kind == LevelKind::Smt);
        let ids = || (0..topology.cpus as u16).map(CpuId);
        let balances = |cpu: &CpuId| topology.cpus == 1 || !domains[cpu.index()].is_empty();
        let idle: CpuMask = ids().filter(balances).collect();
        let cache = |span: &CpuMask| SharedCache::of_idle(span, has_cores, span.and(&idle).weight());
        FairRoot {
            next_kick: Cell::default(),
            nohz: NohzRoot::of_idle(idle),
            caches: llc.iter().map(cache).collect(),
            has_cores,
            is_asymmetric: !topology.capacities.is_empty(),
            has_energy_model: !topology.capacities.is_empty() && !has_cores && topology.has_energy_model(),
            preferences: Preferences::new(topology),
            has_pelt_clocks: !topology.capacities.is_empty() || !topology.frequencies.is_empty(),
            has_clusters: domains.iter().flatten().any(|d| d.kind == LevelKind::Cluster),
            sums: GroupSums::new(domains),
            tick: TickPeriod::default(),
            reduced: RefCell::new(CpuMask::EMPTY),
        }
    }

    /// What balancing counts of a CPU may change: its lock is taken, or its list of wakeups used.
    #[inline(always)]
    pub(crate) fn may_change(&self, cpu: CpuId) {
        self.sums.may_change(cpu);
    }

    /// CPUs that took no tick since they went idle, where balancing by group types keeps them.
    pub(crate) fn idle_cpus(&self) -> CpuMask {
        self.nohz.idle_cpus()
    }

    /// Whether a cache is known to have a core with all its threads idle; it is named by its lowest CPU.
    pub(crate) fn knows_idle_core(&self, cache: CpuId) -> bool {
        self.caches[cache.index()].has_idle_cores.get()
    }

    /// Says so, for the test of who checks it.
    #[cfg(test)]
    pub(crate) fn know_idle_core(&self, cache: CpuId) {
        self.caches[cache.index()].has_idle_cores.overwrite(true);
    }

    /// Breaks the count of a cache, for the test of who checks it.
    #[cfg(test)]
    pub(crate) fn miscount_idle(&self, cache: CpuId) {
        self.caches[cache.index()].nr_idle.overwrite(9);
    }

    /// How many CPUs share a cache; it is named by its lowest CPU.
    pub(crate) fn cache_size(&self, cache: CpuId) -> u32 {
        self.caches[cache.index()].size
    }

    /// How many of those that idle a cache counts; it is named by its lowest CPU.
    pub(crate) fn idle_in_cache(&self, cache: CpuId) -> u32 {
        self.caches[cache.index()].nr_idle.get()
    }
}

/// At the tick of a busy CPU: wakes an idle CPU to balance, if this CPU may have something to give.
pub(super) async fn nohz_balancer_kick<P: Platform>(me: ThisCpu<'_, P>) {
    let next = &me.k.fair_root.next_kick;
    if me.now() < next.get() || !nohz_kick_needed(me) {
        return;
    }
    let may_help = |c: &CpuId| me.k.idle_cpu(*c) && !me.k.is_on_null_domain(*c);
    let Some(idle) = me.k.online.iter().find(may_help) else { return };
    next.set(me.now() + tick_period(me));
    let mut rq = me.lock(idle).await;
    if me.k.idle_cpu(idle) {
        rq.published.balance.nohz_kick.set(true);
        rq.resched();
    }
}

/// Several tasks of which one waits, or a task that shares a part of the machine with others while another
/// part may be idle.
fn nohz_kick_needed<P: Platform>(me: ThisCpu<'_, P>) -> bool {
    let rq = &me.k.rq(me.id).published;
    if rq.load.get() == 0 {
        return false;
    }
    let Some((_, inner)) = me.k.domains(me.id).split_last() else { return false };
    let busy_neighbour = || {
        let near = inner.iter().rfind(|d| d.shares_cache);
        near.is_some_and(|d| d.span.iter().any(|c| c != me.id && !me.k.idle_cpu(c)))
    };
    rq.nr_running.get() >= 2 || busy_neighbour()
}

/// The kicked CPU: balances every idle CPU that is due, itself first.
pub(super) async fn nohz_idle_balance<P: Platform>(me: ThisCpu<'_, P>) {
    balance_if_due(me, me.id).await;
    for cpu in me.k.online.iter() {
        if me.k.rq(me.id).published.need_resched() {
            return;
        }
        if cpu != me.id && me.k.idle_cpu(cpu) {
            balance_if_due(me, cpu).await;
        }
    }
}

async fn balance_if_due<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) {
    if me.k.domains(cpu).iter().all(|d| me.now() < due(me, d, Situation::Idle)) {
        return;
    }
    let mut rq = me.lock(cpu).await;
    rq.update_clock();
    update_cpu_load(&mut rq);
    drop(rq);
    balance_domains(me, cpu, Situation::Idle).await;
}
