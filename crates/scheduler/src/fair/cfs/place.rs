//! Where a task enters virtual time (fair-class 4.2, 4.3).

use super::slice::sched_vslice;
use super::start_nice;
use crate::fair::queue::FairEntity;
use crate::fair::scale;
use crate::fair::vruntime::later;
use crate::platform::Platform;
use crate::registry::{Feature, IdleShortSleeper};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{Nice, Scheduler};

/// A new task starts at min_vruntime, under START_DEBIT one virtual slice to the right of it; never left of
/// the virtual time that it inherited.
pub(super) fn place_new<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) {
    let mut target = rq.floor().get();
    if rq.me.has(Feature::StartDebit) {
        target = target.wrapping_add(sched_vslice(rq, task));
    }
    task.se.vruntime.set(later(task.se.vruntime.get(), target));
}

/// A sleeper keeps its virtual time, but does not stay further left of the floor than [`sleeper_threshold`]
/// allows: a bound, never a bonus.
pub(super) fn place_sleeper<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity, floor: u64) {
    let target = floor.wrapping_sub(sleeper_threshold(rq, se));
    se.vruntime.set(later(se.vruntime.get(), target));
}

/// How far left of min_vruntime a sleeper may be, in virtual ns.
pub(in crate::fair) fn sleeper_threshold<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity) -> u64 {
    let me = rq.me;
    if !me.has(Feature::FairSleepers) {
        return 0;
    }
    let idle_policy = se.weight() == crate::IDLE_POLICY_WEIGHT;
    let short = idle_policy && me.k.config.rules.idle_short_sleeper.get() == IdleShortSleeper::On;
    let mut threshold = if short { scale::min_granularity(me.k) } else { scale::latency(me.k) };
    if me.has(Feature::NormalizedSleeper) && !idle_policy {
        threshold = se.vdelta(threshold);
    }
    if me.has(Feature::GentleFairSleepers) { threshold / 2 } else { threshold }
}

/// The largest threshold that any task can have under the present settings, in virtual ns: that of the
/// lightest task if it is scaled by weight, with the largest penalty.
pub(crate) fn largest_sleeper_threshold<P: Platform>(k: &Scheduler<P>) -> u64 {
    if !k.config.has(Feature::FairSleepers) {
        return 0;
    }
    // A SCHED_IDLE task may have min_granularity in its place.
    let mut threshold = scale::latency(k).max(scale::min_granularity(k));
    if k.config.has(Feature::NormalizedSleeper) {
        let lightest = FairEntity::default();
        lightest.set_weight(Nice::new(19).map_or(1, Nice::weight));
        lightest.penalty.set(start_nice::MAX_PENALTY);
        threshold = lightest.vdelta(threshold);
    }
    if k.config.has(Feature::GentleFairSleepers) { threshold / 2 } else { threshold }
}
