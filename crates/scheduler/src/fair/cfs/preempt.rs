//! Does a task that has just been queued take the CPU at once? (fair-class 6.4, 6.5)

use super::buddy;
use crate::class::PreemptCause;
use crate::fair::averages::overlap_little;
use crate::fair::discipline::policy_of_woken;
use crate::fair::queue::{EntityId, FairEntity, update_curr};
use crate::fair::scale;
use crate::fair::vruntime::lag;
use crate::platform::Platform;
use crate::registry::{Feature, IdleBatchPreempts, NextSet, OverlapCheck};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{Policy, Reason, Scheduler, TaskId};

/// Where a candidate stands relative to the running task, or the leftmost relative to a buddy (6.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lead {
    /// At or right of it.
    None,
    /// Left of it, by no more than the granularity.
    WithinGranularity,
    /// Left of it by more.
    Enough,
}

/// Compares a runner with a candidate.
pub(super) fn wakeup_preempt_entity<P: Platform>(
    rq: &RqGuard<'_, P>,
    runner: &FairEntity,
    candidate: &FairEntity,
) -> Lead {
    let ahead = lag(runner.vruntime.get(), candidate.vruntime.get());
    if ahead <= 0 {
        return Lead::None;
    }
    if ahead > granularity(rq, runner, candidate) as i64 { Lead::Enough } else { Lead::WithinGranularity }
}

/// The lead that a candidate needs, in its own virtual time: a light one needs more than a heavy one. Without
/// ASYM_GRAN it is in the runner's time. ADAPTIVE_GRAN lowers it for a candidate that wakes others often,
/// more so if there are many tasks, and less the longer the runner has been running; not when picking, where
/// nobody runs.
pub(in crate::fair) fn granularity<P: Platform>(
    rq: &RqGuard<'_, P>,
    runner: &FairEntity,
    candidate: &FairEntity,
) -> u64 {
    let me = rq.me;
    let mut granularity = scale::wakeup_granularity(me.k);
    if me.has(Feature::AdaptiveGran)
        && let Some(curr) = rq.fair.curr
    {
        let expected = candidate.averages.wakeup.get().0.saturating_mul(2 * u64::from(rq.fair.nr_running));
        granularity = granularity.min(expected.saturating_sub(me.task(curr.task()).ran().0));
    }
    let scaled_by = if me.has(Feature::AsymGran) { candidate } else { runner };
    scaled_by.vdelta(granularity)
}

/// Asks for a reschedule if `woken`, which is `p` or a group above it, should run before the entity that
/// runs.
pub(in crate::fair) fn check_preempt_wakeup<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    woken: EntityId,
    p: TaskId,
    cause: PreemptCause,
) {
    let me = rq.me;
    let Some(curr) = rq.fair.curr.filter(|curr| *curr != woken) else { return };
    buddy::record_at_wakeup(rq, woken, cause);
    let policy = policy_of_woken(me, woken, p);
    let reason = verdict(rq, curr.task(), woken.task(), policy, cause);
    me.decide(p, reason);
    let always_next = me.k.config.rules.next_set.get() == NextSet::WakeOrPreempt;
    if reason == Reason::PreemptRunning || (reason == Reason::PreemptVruntime && always_next) {
        buddy::set_next_buddy(rq, woken);
    }
    if preempts(reason) {
        buddy::record_at_preemption(rq, reason == Reason::PreemptVruntime);
        rq.resched_lazy();
    }
}

fn preempts(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::PreemptIdlePolicy
            | Reason::PreemptSync
            | Reason::PreemptOverlap
            | Reason::PreemptRunning
            | Reason::PreemptVruntime
    )
}

/// Steps 6 to 10 of 6.4.
fn verdict<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    curr: TaskId,
    p: TaskId,
    policy: Policy,
    cause: PreemptCause,
) -> Reason {
    let me = rq.me;
    let (ours, theirs) = (me.task(curr), me.task(p));
    if rq.need_resched() {
        Reason::PreemptPending
    } else if matches!(policy, Policy::Batch | Policy::Idle) && !batch_beats_idle(me.k, policy, ours) {
        Reason::NoPreemptPolicy
    } else if ours.policy.get() == Policy::Idle {
        Reason::PreemptIdlePolicy
    } else if let Some(reason) = by_habit(rq, curr, p, cause) {
        reason
    } else if !me.has(Feature::WakeupPreemption) {
        Reason::NoPreemptOff
    } else {
        update_curr(rq);
        match wakeup_preempt_entity(rq, &ours.se, &theirs.se) {
            Lead::None => Reason::NoPreemptRight,
            Lead::WithinGranularity => Reason::NoPreemptGran,
            Lead::Enough => Reason::PreemptVruntime,
        }
    }
}

/// From 2.6.39 on a SCHED_BATCH wakeup is one that SCHED_IDLE makes room for.
fn batch_beats_idle<P: Platform>(k: &Scheduler<P>, woken: Policy, running: &Task) -> bool {
    k.config.rules.idle_batch_preempts.get() == IdleBatchPreempts::On
        && woken == Policy::Batch
        && running.policy.get() == Policy::Idle
}

/// Whether what is known of the two tasks decides, whatever their virtual times are (steps 8a and 8b).
fn by_habit<P: Platform>(
    rq: &RqGuard<'_, P>,
    curr: TaskId,
    p: TaskId,
    cause: PreemptCause,
) -> Option<Reason> {
    let me = rq.me;
    let (ours, theirs) = (me.task(curr), me.task(p));
    let sync = me.has(Feature::SyncWakeups) && cause == PreemptCause::Wakeup { sync: true };
    let old = me.k.config.rules.overlap_check.get() == OverlapCheck::OverlapOrSync;
    let overlap = match me.has(Feature::WakeupOverlap) {
        true if old => me.has(Feature::WakeupPreemption) && (sync || overlap_little(me.k, ours, theirs)),
        true => overlap_little(me.k, ours, theirs),
        false => false,
    };
    if sync && me.has(Feature::WakeupSync) {
        Some(Reason::PreemptSync)
    } else if overlap {
        Some(Reason::PreemptOverlap)
    } else if me.has(Feature::WakeupRunning)
        && theirs.se.averages.running.get() < ours.se.averages.running.get()
    {
        Some(Reason::PreemptRunning)
    } else {
        None
    }
}
