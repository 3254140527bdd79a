//! The search for an idle CPU up to 4.8: for a group of CPUs of which all idle, in the whole cache, then in
//! ever smaller parts of it (fair-placement 8.5: `idle_sibling=idle_group`). At the top these are cores, one
//! level down the threads of the core where a woken task would go.

use super::idle_sibling::Chosen;
use super::usable::available_idle_cpu;
use crate::domains::{SchedDomain, SchedGroup};
use crate::fair::cpu_load::look_at;
use crate::platform::Platform;
use crate::{CpuId, LevelKind, Reason, TaskId, ThisCpu};

/// The first CPU of the first such group that `p` may use, or `target`, which does not idle.
pub(super) fn search<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, target: CpuId) -> Chosen {
    let allowed = me.task(p).cpus_allowed.get();
    let idles = |group: &&SchedGroup| {
        group.span.iter().all(|cpu| {
            look_at(me, cpu);
            available_idle_cpu(me, cpu)
        })
    };
    for domain in me.k.domains(target).iter().rev().filter(|d| d.shares_cache) {
        // The target's own group does not idle.
        let possible = domain.other_groups().filter(|group| group.span.intersects(&allowed));
        if let Some(cpu) = possible.filter(idles).find_map(|group| group.span.and(&allowed).first()) {
            return Chosen { cpu, reason: found_in(domain) };
        }
    }
    Chosen { cpu: target, reason: Reason::SisNone }
}

fn found_in(domain: &SchedDomain) -> Reason {
    match domain.kind {
        LevelKind::Smt => Reason::SisSmt,
        _ if domain.of_cores => Reason::SisCore,
        _ => Reason::SisCpu,
    }
}
