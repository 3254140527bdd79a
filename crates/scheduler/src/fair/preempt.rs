//! Does a task that has just been queued take the CPU at once? (fair-class 6.4, 6.5)

use super::entity::FairEntity;
use super::vruntime::{lag, update_curr};
use super::{buddy, scale};
use crate::class::PreemptCause;
use crate::platform::Platform;
use crate::registry::Feature;
use crate::rq::RqGuard;
use crate::{Policy, Reason, TaskId};

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

/// Compares a runner with a candidate. The granularity is in the candidate's virtual time: a light candidate needs
/// a larger lead than a heavy one; without ASYM_GRAN it is in the runner's.
pub(super) fn wakeup_preempt_entity<P: Platform>(
    rq: &RqGuard<'_, P>,
    runner: &FairEntity,
    candidate: &FairEntity,
) -> Lead {
    let ahead = lag(runner.vruntime.get(), candidate.vruntime.get());
    if ahead <= 0 {
        return Lead::None;
    }
    let scaled_by = if rq.me.has(Feature::AsymGran) { candidate } else { runner };
    let granularity = scaled_by.vdelta(scale::wakeup_granularity(rq.me.k));
    if ahead > granularity as i64 { Lead::Enough } else { Lead::WithinGranularity }
}

/// Asks for a reschedule if `p`, just queued here, should run before the fair task that runs.
pub(crate) fn check_preempt_wakeup<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, cause: PreemptCause) {
    let me = rq.me;
    let Some(curr) = rq.fair.curr.filter(|curr| *curr != p) else { return };
    let (ours, theirs) = (me.task(curr), me.task(p));
    buddy::record_at_wakeup(rq, p, cause);
    let reason = if rq.need_resched() {
        Reason::PreemptPending
    } else if matches!(theirs.policy.get(), Policy::Batch | Policy::Idle) {
        Reason::NoPreemptPolicy
    } else if ours.policy.get() == Policy::Idle {
        Reason::PreemptIdlePolicy
    } else if !me.has(Feature::WakeupPreemption) {
        Reason::NoPreemptOff
    } else {
        update_curr(rq);
        match wakeup_preempt_entity(rq, &ours.se, &theirs.se) {
            Lead::None => Reason::NoPreemptRight,
            Lead::WithinGranularity => Reason::NoPreemptGran,
            Lead::Enough => Reason::PreemptVruntime,
        }
    };
    me.decide(p, reason);
    if matches!(reason, Reason::PreemptIdlePolicy | Reason::PreemptVruntime) {
        buddy::record_at_preemption(rq, reason == Reason::PreemptVruntime);
        rq.resched();
    }
}
