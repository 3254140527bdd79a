//! An idle CPU that a woken task fits, where CPUs are not worth the same (deadline-groups C1): the whole
//! machine is looked through, not one cache.

use super::idle_sibling::{Chosen, looks_usable};
use crate::domains::Asymmetry;
use crate::fair::pelt::{Fit, capacity_of, task_fit};
use crate::platform::Platform;
use crate::{CpuId, Reason, TaskId, ThisCpu};

/// The first idle CPU behind `target` in which `p` fits; if it fits in none, the idle one that it fits best,
/// and of these the one that is worth most; if nobody idles, `target`. `None` in a part of the machine that
/// has not got all kinds of CPUs.
pub(super) fn search<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, target: CpuId) -> Option<Chosen> {
    let domain = me.k.domains(target).iter().find(|domain| domain.asymmetric == Asymmetry::Full)?;
    let candidates = domain.span.and(&me.task(p).cpus_allowed.get());
    let mut best = None;
    let first = candidates.contains(target).then_some(target);
    for cpu in first.into_iter().chain(candidates.around(target).filter(|cpu| *cpu != target)) {
        if !looks_usable(me, cpu) {
            continue;
        }
        let fit = task_fit(me, p, cpu);
        if fit == Fit::Yes {
            return Some(Chosen { cpu, reason: Reason::SisFits });
        }
        let has = (fit, capacity_of(me, cpu));
        if best.is_none_or(|(_, most)| has > most) {
            best = Some((cpu, has));
        }
    }
    Some(match best {
        Some((cpu, _)) => Chosen { cpu, reason: Reason::SisLargest },
        None => Chosen { cpu: target, reason: Reason::SisNone },
    })
}
