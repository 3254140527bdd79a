//! How long a task may run before the others have their turn (fair-class 4.1).

use crate::Scheduler;
use crate::fair::scale;
use crate::fair::vruntime::proportion;
use crate::platform::Platform;
use crate::registry::Feature;
use crate::rq::RqGuard;
use crate::task::Task;

/// Time in ns in which `n` runnable tasks run once each.
fn period<P: Platform>(k: &Scheduler<P>, n: u32) -> u64 {
    if n <= scale::nr_latency(k) { scale::latency(k) } else { scale::min_granularity(k) * u64::from(n) }
}

/// Slice of a task in ns: its share of the period, by weight. A task that is not on the queue, a new one or
/// one that has just blocked, counts as if it were. A START_NICE penalty lengthens the slice: seed 003 shifts
/// it like virtual time (fair-class U17). Under BASE_SLICE it is at least sched_min_granularity.
pub(in crate::fair) fn sched_slice<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) -> u64 {
    let se = &task.se;
    let (mut n, mut load) = (rq.fair.nr_running, rq.fair.load);
    if !task.on_rq.get() {
        n += 1;
        load += se.weight.get();
    }
    let share = proportion(period(rq.me.k, n), se.weight.get(), load);
    let least = if rq.me.has(Feature::BaseSlice) { scale::min_granularity(rq.me.k) } else { 0 };
    se.penalised(share.max(least))
}

/// The slice in virtual ns; a penalty enters twice.
pub(super) fn sched_vslice<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) -> u64 {
    task.se.vdelta(sched_slice(rq, task))
}
