//! The waker's CPU, or the woken task's last one? (fair-placement 2.4, 2.6: `wake_placement=idle_or_load`,
//! `idle_near_or_load`, `load_only`)

use super::usable::available_idle_cpu;
use super::wakee::wakes_widely;
use crate::domains::SchedDomain;
use crate::fair::balance::constants;
use crate::fair::cpu_load::look_at;
use crate::fair::pelt::{capacity_of, cpu_load, task_load};
use crate::platform::Platform;
use crate::registry::{AffineCount, DelayedCount, Feature, WakePlacement};
use crate::stats::bump;
use crate::wakeup::WakeFlags;
use crate::{CpuId, Reason, TaskId, ThisCpu};

/// Where the search for an idle CPU starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Target {
    /// The last CPU, or the executing one.
    pub cpu: CpuId,
    /// Whether the executing one was thought of at all (want_affine).
    pub affine: bool,
}

/// From which CPU the search for an idle one starts: `prev`, or the executing one.
pub(super) fn affine_target<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    prev: CpuId,
    flags: WakeFlags,
) -> Target {
    if wakes_widely(me, p) {
        me.decide(p, Reason::WakeWide);
        return Target { cpu: prev, affine: false };
    }
    if !me.task(p).may_run_on(me.id) {
        me.decide(p, Reason::WakerCpuForbidden);
        return Target { cpu: prev, affine: false };
    }
    let target = |cpu| Target { cpu, affine: true };
    let common = me.k.domains(me.id).iter().find(|d| d.affine && d.span.contains(prev));
    let Some(domain) = common.filter(|_| prev != me.id) else { return target(prev) };
    look_at(me, me.id);
    look_at(me, prev);
    let reason = wake_affine(me, domain, p, prev, leaves(me, flags));
    me.decide(p, reason);
    bump(&me.task(p).stats.woken.affine_attempts);
    let stays = matches!(reason, Reason::WaPrevIdle | Reason::WaNo);
    let counts_idle = me.k.config.rules.affine_count.get() == AffineCount::Idle;
    if !stays || (reason == Reason::WaPrevIdle && counts_idle) {
        bump(&me.task(p).stats.woken.affine);
        bump(&domain.balance.other_counts.move_affine);
    }
    target(if stays { prev } else { me.id })
}

/// Whether the waker makes room for who is woken. One that exits has work to do until then, and the kernels
/// that look at idle CPUs do not take its word (2.4).
fn leaves<P: Platform>(me: ThisCpu<'_, P>, flags: WakeFlags) -> bool {
    let by_load_only = me.k.config.rules.wake_placement.get() == WakePlacement::LoadOnly;
    flags.sync && (by_load_only || !flags.exiting)
}

/// Up to 5.11 the last CPU counts as idle only where the waker's shares its cache.
fn by_near_idleness<P: Platform>(me: ThisCpu<'_, P>) -> bool {
    me.k.config.rules.wake_placement.get() == WakePlacement::IdleNearOrLoad
}

/// Why the answer is the executing CPU, or `prev`, another one.
fn wake_affine<P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &SchedDomain,
    p: TaskId,
    prev: CpuId,
    sync: bool,
) -> Reason {
    if me.k.config.rules.wake_placement.get() == WakePlacement::LoadOnly {
        let loads = Loads::of(me, domain, p, prev, sync, true);
        return if loads.no_more_here() { Reason::WaWeight } else { Reason::WaNo };
    }
    if me.has(Feature::WaIdle) {
        let prev_idle = available_idle_cpu(me, prev);
        // Idle and waking somebody: this is an interrupt.
        if available_idle_cpu(me, me.id) && me.k.cpus_share_cache(me.id, prev) {
            return if prev_idle { Reason::WaPrevIdle } else { Reason::WaThisIdle };
        }
        if sync && nr_awake(me) == 1 {
            return Reason::WaSync;
        }
        if prev_idle && !by_near_idleness(me) {
            return Reason::WaPrevIdle;
        }
    }
    let less = || Loads::of(me, domain, p, prev, sync, me.has(Feature::WaBias)).less_here(sync);
    if me.has(Feature::WaWeight) && less() { Reason::WaWeight } else { Reason::WaNo }
}

/// Runnable tasks of the executing CPU, those left out that only work their debt off (eevdf-class 4.2).
fn nr_awake<P: Platform>(me: ThisCpu<'_, P>) -> u32 {
    let rq = &me.k.rq(me.id).published;
    match me.k.config.rules.delayed_count.get() {
        DelayedCount::LeftOut | DelayedCount::LeftOutAtWakeup => rq.nr_running.get() - rq.nr_delayed.get(),
        DelayedCount::Counted => rq.nr_running.get(),
    }
}

/// The loads that say whether the executing CPU is the better one, and what they are to be multiplied by
/// before they are compared.
struct Loads {
    /// Of the executing CPU; under the sync hint without the waker, which is about to leave, and then it may
    /// be below 0.
    here: i64,
    /// Of `prev`.
    there: i64,
    /// Of the woken task.
    own: i64,
    /// For the executing CPU: what `prev` is worth.
    scale_here: i64,
    /// For `prev`: what the executing CPU is worth.
    scale_there: i64,
}

impl Loads {
    /// Both CPUs as they are; with `bias`, `prev` has to be better by half of what balancing tolerates.
    fn of<P: Platform>(
        me: ThisCpu<'_, P>,
        domain: &SchedDomain,
        p: TaskId,
        prev: CpuId,
        sync: bool,
        bias: bool,
    ) -> Loads {
        let signed = |load: u64| load as i64;
        let waker = if sync { signed(task_load(me, me.curr())) } else { 0 };
        let (percent_here, percent_there) =
            if bias { (100, 100 + (signed(constants(me, domain).imbalance_pct) - 100) / 2) } else { (1, 1) };
        Loads {
            here: signed(cpu_load(me, me.id)) - waker,
            there: signed(cpu_load(me, prev)),
            own: signed(task_load(me, p)),
            scale_here: percent_here * signed(capacity_of(me, prev)),
            scale_there: percent_there * signed(capacity_of(me, me.id)),
        }
    }

    /// Whether the executing CPU with the task has less load for what it is worth than `prev` without; under
    /// the sync hint as much is enough.
    fn less_here(&self, sync: bool) -> bool {
        let here = self.scale_here * (self.here + self.own);
        let there = self.scale_there * (self.there - self.own);
        self.here < 0 || here < there + i64::from(sync)
    }

    /// The same test up to 4.13 (fair-placement 8.5, `load_only`): `prev` is taken as it is, an executing
    /// CPU without load is always good enough, and so are equal loads.
    fn no_more_here(&self) -> bool {
        if self.here > 0 {
            self.scale_here * (self.here + self.own) <= self.scale_there * self.there
        } else {
            self.scale_here <= self.scale_there
        }
    }
}
