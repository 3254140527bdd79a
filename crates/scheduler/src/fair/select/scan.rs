//! One CPU of a cache after the other, or one core after the other, until something is idle (fair-placement
//! 2.7 row 7).

use super::budget;
use super::idle_sibling::{Chosen, looks_usable};
use super::usable::{available_idle_cpu, sched_idle_cpu};
use crate::fair::cache::{core_of, shared_cache};
use crate::fair::cpu_load::look_at;
use crate::platform::Platform;
use crate::registry::Feature;
use crate::{CpuId, CpuMask, Reason, TaskId, ThisCpu};

/// Looks for an idle CPU behind `target`, in ascending order and around, in its cluster first if there is
/// one. `idle_core`: a whole idle core is known to be there.
pub(super) fn scan<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    target: CpuId,
    idle_core: bool,
    cluster: Option<CpuMask>,
) -> Chosen {
    let by_use = me.has(Feature::SisUtil).then(|| shared_cache(me, target).nr_idle_scan.get());
    let by_time = if idle_core { None } else { budget::by_idle_time(me, target) };
    let limit = by_use.or(by_time);
    let candidates = me.k.llc_span(target).and(&me.task(p).cpus_allowed.get());
    let nobody = |reason| Chosen { cpu: target, reason };
    if limit == Some(0) {
        return nobody(Reason::SisRefused);
    }
    let within = cluster.map_or(CpuMask::EMPTY, |cluster| cluster.and(&candidates));
    let order = || within.around(target).chain(candidates.without(&within).around(target));
    if idle_core {
        return idle_core_behind(me, target, candidates, order());
    }
    let mut budget = limit.unwrap_or(u64::MAX);
    let since = me.now();
    let looked = || {
        if by_time.is_some() {
            budget::has_looked(me, target, since);
        }
    };
    for cpu in order() {
        if budget == 0 {
            return nobody(Reason::SisCut);
        }
        budget -= 1;
        if looks_usable(me, cpu) {
            looked();
            return Chosen { cpu, reason: Reason::SisCpu };
        }
    }
    looked();
    nobody(Reason::SisNone)
}

/// The first core with all its threads idle; else some idle thread of those that were seen, and nobody looks
/// for a core again until one goes idle.
fn idle_core_behind<P: Platform>(
    me: ThisCpu<'_, P>,
    target: CpuId,
    candidates: CpuMask,
    order: impl Iterator<Item = CpuId>,
) -> Chosen {
    let mut left = candidates;
    let mut single = None;
    for cpu in order {
        if !left.contains(cpu) {
            continue;
        }
        let core = core_of(me, cpu).unwrap_or(CpuMask::single(cpu));
        if is_idle_core(me, &core, &left, &mut single) {
            return Chosen { cpu, reason: Reason::SisCore };
        }
        left = left.without(&core);
    }
    shared_cache(me, target).has_idle_cores.set(false);
    match single {
        Some(cpu) => Chosen { cpu, reason: Reason::SisCpu },
        None => Chosen { cpu: target, reason: Reason::SisNone },
    }
}

/// Whether all threads of a core are idle. Where not, `single` keeps the first thread seen that would do by
/// itself.
fn is_idle_core<P: Platform>(
    me: ThisCpu<'_, P>,
    core: &CpuMask,
    left: &CpuMask,
    single: &mut Option<CpuId>,
) -> bool {
    let mut all_idle = true;
    for thread in core.iter() {
        look_at(me, thread);
        let allowed = left.contains(thread);
        if available_idle_cpu(me, thread) {
            if single.is_none() && allowed {
                *single = Some(thread);
            }
            continue;
        }
        all_idle = false;
        if single.is_some() {
            break;
        }
        if allowed && sched_idle_cpu(me, thread) {
            *single = Some(thread);
            break;
        }
    }
    all_idle
}
