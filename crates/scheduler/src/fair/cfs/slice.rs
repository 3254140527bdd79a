//! How long a task may run before the others have their turn (fair-class 4.1).

use crate::fair::hierarchy::share_above;
use crate::fair::scale;
use crate::fair::vruntime::proportion;
use crate::platform::Platform;
use crate::registry::{Feature, IdleLeastSlice};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{GroupId, Nanos, Policy, Scheduler};

/// Time in ns in which `n` runnable tasks run once each.
fn period<P: Platform>(k: &Scheduler<P>, n: u32) -> u64 {
    if n <= scale::nr_latency(k) { scale::latency(k) } else { scale::min_granularity(k) * u64::from(n) }
}

/// Slice of a task in ns: its share of the period, by weight. A task that is not on the queue, a new one or
/// one that has just blocked, counts as if it were. A START_NICE penalty lengthens the slice: seed 003 shifts
/// it like virtual time (fair-class U17). Under BASE_SLICE it is at least [`least_slice`].
pub(in crate::fair) fn sched_slice<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) -> u64 {
    let se = &task.se;
    let (mut n, mut load) = (rq.fair.nr_running, rq.fair.load);
    if !task.is_in_queue() {
        n += 1;
        load += se.weight();
    }
    // With BASE_SLICE came that the period is that of all tasks of the CPU, at each level (ALT_PERIOD, 5.13).
    if rq.me.has(Feature::BaseSlice) {
        n = rq.queue(GroupId::ROOT).h_nr_running + u32::from(!task.is_in_queue());
    }
    let share = share_above(rq, proportion(period(rq.me.k, n), se.weight(), load));
    let least = if rq.me.has(Feature::BaseSlice) { least_slice(rq, task) } else { 0 };
    se.penalised(share.max(least))
}

/// sched_idle_min_granularity in ns: not scaled by the number of CPUs (fair-placement 3.2).
pub const IDLE_MIN_GRANULARITY: Nanos = Nanos(750_000);

/// sched_min_granularity, but less for a SCHED_IDLE task beside others (rule `idle_least_slice`).
fn least_slice<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) -> u64 {
    let others = rq.fair.nr_idle < rq.fair.nr_running;
    let shorter = rq.me.k.config.rules.idle_least_slice.get() == IdleLeastSlice::Short;
    if shorter && others && task.policy.get() == Policy::Idle {
        return IDLE_MIN_GRANULARITY.0;
    }
    scale::min_granularity(rq.me.k)
}

/// The slice in virtual ns; a penalty enters twice.
pub(super) fn sched_vslice<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) -> u64 {
    task.se.vdelta(sched_slice(rq, task))
}
