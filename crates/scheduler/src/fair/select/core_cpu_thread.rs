//! The search for an idle CPU from 4.9 to 5.11: first a whole idle core, then some of the cache's CPUs, then
//! the threads beside the one where a woken task would go (fair-placement 8.5:
//! `idle_sibling=core_cpu_thread`).

use super::budget;
use super::idle_sibling::{Chosen, looks_usable};
use super::usable::{available_idle_cpu, runs_only_sched_idle};
use crate::fair::cache::{core_of, shared_cache};
use crate::fair::cpu_load::look_at;
use crate::platform::Platform;
use crate::registry::{ScanCounts, SchedIdleCpu};
use crate::{CpuId, CpuMask, Reason, TaskId, ThisCpu};

/// An idle CPU near `target`, or that one.
pub(super) fn search<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, target: CpuId) -> Chosen {
    let allowed = me.k.llc_span(target).and(&me.task(p).cpus_allowed.get());
    if let Some(cpu) = idle_core(me, target, allowed) {
        return Chosen { cpu, reason: Reason::SisCore };
    }
    let (found, reason) = idle_cpu(me, target, allowed);
    if let Some(cpu) = found {
        return Chosen { cpu, reason };
    }
    let beside = core_of(me, target).map(|core| core.and(&allowed));
    match beside.and_then(|threads| threads.iter().find(|c| *c != target && looks_usable(me, *c))) {
        Some(cpu) => Chosen { cpu, reason: Reason::SisSmt },
        None => Chosen { cpu: target, reason },
    }
}

/// The target first, then those behind it and around.
fn from(target: CpuId, cpus: CpuMask) -> impl Iterator<Item = CpuId> {
    let own = cpus.contains(target).then_some(target);
    own.into_iter().chain(cpus.without(&CpuMask::single(target)).around(target))
}

/// A core with all its threads idle, where one is known; if there is none, none is known from now on.
fn idle_core<P: Platform>(me: ThisCpu<'_, P>, target: CpuId, allowed: CpuMask) -> Option<CpuId> {
    let cache = shared_cache(me, target);
    if core_of(me, target).is_none() || !cache.has_idle_cores.get() {
        return None;
    }
    let mut left = allowed;
    for cpu in from(target, allowed) {
        if !left.contains(cpu) {
            continue;
        }
        let core = core_of(me, cpu).unwrap_or(CpuMask::single(cpu));
        let is_idle = |thread: CpuId| {
            look_at(me, thread);
            available_idle_cpu(me, thread)
        };
        // All are looked at.
        if core.iter().filter(|thread| !is_idle(*thread)).count() == 0 {
            return Some(cpu);
        }
        left = left.without(&core);
    }
    cache.has_idle_cores.set(false);
    None
}

/// An idle CPU among as many as may be looked at; otherwise why there is none.
fn idle_cpu<P: Platform>(me: ThisCpu<'_, P>, target: CpuId, allowed: CpuMask) -> (Option<CpuId>, Reason) {
    let mut budget = match budget::by_mean_idle_time(me, target) {
        Some(0) => return (None, Reason::SisNone),
        limit => limit.unwrap_or(u64::MAX),
    };
    let only_last_resort = me.k.config.rules.sched_idle_cpu.get() == SchedIdleCpu::LastResort;
    let mut last_resort = None;
    let since = me.now();
    let mut found = None;
    let counted = match me.k.config.rules.scan_counts.get() {
        ScanCounts::Allowed => allowed,
        ScanCounts::All => me.k.llc_span(target),
    };
    for cpu in from(target, counted) {
        if budget == 0 {
            let reason = if last_resort.is_some() { Reason::SisCpu } else { Reason::SisCut };
            return (last_resort, reason);
        }
        budget -= 1;
        if !allowed.contains(cpu) || !looks_usable(me, cpu) {
            continue;
        }
        if only_last_resort && runs_only_sched_idle(me, cpu) {
            last_resort = last_resort.or(Some(cpu));
            continue;
        }
        found = Some(cpu);
        break;
    }
    budget::has_looked(me, target, since);
    (found, if found.is_some() { Reason::SisCpu } else { Reason::SisNone })
}
