//! Where a woken task goes: the waker's CPU, its previous one, or an idle one near by (fair-class 8.3, 8.4,
//! 8.7).

use super::affine::{Target, affine_target};
use super::energy;
use super::idle_sibling::{self, Chosen};
use super::wakee::record_wakee;
use crate::fair::averages::{one_overlaps_much, overlap_little};
use crate::fair::cpu_load::{cpu_avg_load_per_task, load_weight, look_at, source_load, target_load};
use crate::platform::Platform;
use crate::registry::{Feature, IdleSibling, RecentUsed, WakePlacement};
use crate::stats::bump;
use crate::wakeup::WakeFlags;
use crate::{CpuId, CpuMask, Reason, TaskId, ThisCpu};

/// Imbalance tolerated at a wakeup, in percent: half of what balancing tolerates.
pub(super) const WAKE_IMBALANCE_PCT: u64 = 100 + (125 - 100) / 2;

/// The CPU for `p`, woken by the executing CPU. It may turn out not to be allowed; then the caller takes
/// another.
pub(crate) fn select_task_rq_wake<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, flags: WakeFlags) -> CpuId {
    let rules = &me.k.config.rules;
    let prev = me.task(p).cpu.get();
    if me.k.places_by_energy()
        && let Some(found) = energy::search(me, p, prev)
    {
        record_wakee(me, p);
        me.decide(p, found.reason);
        return found.cpu;
    }
    // Both forms of the affine test go with each form of the search; the newer one tells its reason itself.
    let (target, affine, reason) = match rules.wake_placement.get() {
        WakePlacement::IdleOrLoad | WakePlacement::IdleNearOrLoad | WakePlacement::LoadOnly => {
            let Target { cpu, affine } = affine_target(me, p, prev, flags);
            (cpu, affine, None)
        }
        WakePlacement::PresentLoad | WakePlacement::PassivePull => {
            let reason = waker_or_previous(me, p, prev, flags);
            (if reason == Reason::WakePrevious { prev } else { me.id }, false, Some(reason))
        }
    };
    let found = match rules.idle_sibling.get() {
        IdleSibling::Off => None,
        IdleSibling::On => select_idle_sibling(me, p, target, prev)
            .map(|cpu| Chosen { cpu, reason: Reason::WakeIdleSibling }),
        IdleSibling::Scan | IdleSibling::CoreCpuThread | IdleSibling::IdleGroup => {
            Some(idle_sibling::select_idle_sibling(me, p, prev, target, flags))
        }
    };
    if affine && rules.recent_used.get() == RecentUsed::Waker {
        me.task(me.curr()).se.habits.recent_used_cpu.set(me.id);
    }
    let cpu = found.map_or(target, |found| found.cpu);
    if let Some(found) = found.filter(|found| found.cpu != target || found.reason != Reason::WakeIdleSibling)
    {
        me.decide(p, found.reason);
    }
    if cpu != target {
        bump(&me.task(p).stats.woken.idle);
    } else if let Some(reason) = reason {
        me.decide(p, reason);
    }
    cpu
}

/// [`Reason::WakePrevious`], or why the task comes to the waker's CPU.
fn waker_or_previous<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, prev: CpuId, flags: WakeFlags) -> Reason {
    if prev == me.id || !me.task(p).may_run_on(me.id) {
        return Reason::WakePrevious;
    }
    let Some(common) = me.k.domains(me.id).iter().find(|d| d.span.contains(prev)) else {
        return Reason::WakePrevious;
    };
    look_at(me, me.id);
    look_at(me, prev);
    let affine = common.affine && me.has(Feature::AffineWakeups);
    let counts = &common.balance.other_counts;
    let placement = me.k.config.rules.wake_placement.get();
    let index = if placement == WakePlacement::PassivePull { 1 } else { 0 };
    if affine {
        match wake_affine(me, p, prev, flags, index) {
            Affine::BySync => return Reason::WakeAffine,
            Affine::ByLoad => {
                bump(&me.task(p).stats.woken.affine);
                bump(&counts.move_affine);
                return Reason::WakeAffine;
            }
            Affine::No => {}
        }
    }
    if placement == WakePlacement::PassivePull && passive_pull(me, prev) {
        bump(&me.task(p).stats.woken.passive);
        bump(&counts.move_balance);
        return Reason::WakePassive;
    }
    Reason::WakePrevious
}

/// Answer of the affine test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Affine {
    /// Yes, because the waker is about to leave; not counted as an attempt.
    BySync,
    /// Yes, by the loads.
    ByLoad,
    /// No.
    No,
}

/// Whether the loads allow the woken task to come here (8.3). Index 0 compares present loads and knows that
/// an idle CPU is always balanced; index 1 is the form of 2.6.31.
fn wake_affine<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    prev: CpuId,
    flags: WakeFlags,
    index: usize,
) -> Affine {
    let sync = will_waker_sleep(me, p, flags);
    let mut here = target_load(me, me.id, index);
    let there = source_load(me, prev, index);
    if sync {
        // The waker is about to leave.
        here = here.saturating_sub(load_weight(me, me.curr()));
    }
    let balanced =
        (index == 0 && here == 0) || 100 * (here + me.task(p).se.weight()) <= WAKE_IMBALANCE_PCT * there;
    if sync && balanced {
        return Affine::BySync;
    }
    bump(&me.task(p).stats.woken.affine_attempts);
    // Or two lightly loaded CPUs whose tasks together are no more than one here.
    let light = here <= there && here + target_load(me, prev, index) <= cpu_avg_load_per_task(me, me.id);
    if balanced || light { Affine::ByLoad } else { Affine::No }
}

/// The sync hint, as corrected by what the averages say of waker and woken. 2.6.31 always cancelled it and
/// never added it.
fn will_waker_sleep<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, flags: WakeFlags) -> bool {
    let (waker, woken) = (me.task(me.curr()), me.task(p));
    let old = me.k.config.rules.wake_placement.get() == WakePlacement::PassivePull;
    if flags.sync && me.has(Feature::SyncWakeups) {
        !((old || me.has(Feature::SyncLess)) && one_overlaps_much(me.k, waker, woken))
    } else {
        !old && me.has(Feature::SyncMore) && overlap_little(me.k, waker, woken)
    }
}

/// 2.6.31: the task comes here if this CPU is clearly less loaded (8.7).
fn passive_pull<P: Platform>(me: ThisCpu<'_, P>, prev: CpuId) -> bool {
    WAKE_IMBALANCE_PCT * target_load(me, me.id, 1) <= 100 * source_load(me, prev, 1)
}

/// An idle CPU for a task that would go to `target`: that one, or one that shares cache with it, near ones
/// first. The search ends with the domain that holds both the waker's and the previous CPU.
fn select_idle_sibling<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    target: CpuId,
    prev: CpuId,
) -> Option<CpuId> {
    let is_idle = |cpu: &CpuId| {
        look_at(me, *cpu);
        me.k.idle_cpu(*cpu)
    };
    if is_idle(&target) {
        return Some(target);
    }
    let mut unseen = me.task(p).cpus_allowed.get().without(&CpuMask::single(target));
    for domain in me.k.domains(target).iter().take_while(|d| d.shares_cache) {
        if let Some(idle) = domain.span.and(&unseen).iter().find(is_idle) {
            return Some(idle);
        }
        if domain.span.contains(me.id) && domain.span.contains(prev) {
            break;
        }
        unseen = unseen.without(&domain.span);
    }
    None
}
