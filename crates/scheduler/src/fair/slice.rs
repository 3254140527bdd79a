//! How long a task may run before the others have their turn (fair-class 4.1).

use super::entity::FairEntity;
use super::scale;
use super::vruntime::proportion;
use crate::Scheduler;
use crate::platform::Platform;
use crate::rq::RqGuard;

/// Time in ns in which `n` runnable tasks run once each.
fn period<P: Platform>(k: &Scheduler<P>, n: u32) -> u64 {
    if n <= scale::nr_latency(k) { scale::latency(k) } else { scale::min_granularity(k) * u64::from(n) }
}

/// Slice in ns of a task that is on the queue: its share of the period, by weight. A START_NICE penalty lengthens
/// it: seed 003 shifts it like virtual time (fair-class U17).
pub(super) fn slice<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity) -> u64 {
    share(rq, se, rq.fair.nr_running, rq.fair.load)
}

/// Slice in virtual ns of a task that is not on the queue yet; a penalty enters twice.
pub(super) fn vslice_of_newcomer<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity) -> u64 {
    se.vdelta(share(rq, se, rq.fair.nr_running + 1, rq.fair.load + se.weight.get()))
}

fn share<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity, n: u32, load: u64) -> u64 {
    se.penalised(proportion(period(rq.me.k, n), se.weight.get(), load))
}
