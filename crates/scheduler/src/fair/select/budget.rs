//! How many CPUs a wakeup may look at, by how long CPUs idle and what looking has cost (SIS_PROP,
//! SIS_AVG_CPU; fair-placement 2.8, 8.5).

use crate::fair::cache::shared_cache;
use crate::fair::cpu_load::tick_period;
use crate::platform::Platform;
use crate::registry::Feature;
use crate::{CpuId, Nanos, ThisCpu};

/// So many are always looked at, the one at which it ends included.
const FEWEST: u64 = 4;

/// Up to 5.11 looking may take so small a part of the time that CPUs idle.
const SMALL_PART: u64 = 512;

/// CPUs that the executing one may look at in the cache of `target`, by what is left of its idle time.
pub(super) fn by_idle_time<P: Platform>(me: ThisCpu<'_, P>, target: CpuId) -> Option<u64> {
    if !me.has(Feature::SisProp) {
        return None;
    }
    let times = &me.k.rq(me.id).published.balance.idle;
    let ticks = |at: Nanos| at.0 / tick_period(me).0;
    let passed = ticks(me.now()).saturating_sub(ticks(times.for_scans_at.get()));
    times.for_scans.set(Nanos(times.for_scans.get().0 >> passed.min(63)));
    times.for_scans_at.set(me.now());
    Some(allowed(me, target, times.for_scans.get().0))
}

/// The same by the mean of its idle times, up to 5.11; `Some(0)`: looking is not worth it.
pub(super) fn by_mean_idle_time<P: Platform>(me: ThisCpu<'_, P>, target: CpuId) -> Option<u64> {
    let idle = me.k.rq(me.id).published.balance.avg_idle().0 / SMALL_PART;
    if me.has(Feature::SisAvgCpu) && idle < scan_cost(me, target) {
        return Some(0);
    }
    me.has(Feature::SisProp).then(|| allowed(me, target, idle))
}

fn scan_cost<P: Platform>(me: ThisCpu<'_, P>, target: CpuId) -> u64 {
    shared_cache(me, target).scan_cost.get() + 1
}

/// The last one counts, but is not looked at.
fn allowed<P: Platform>(me: ThisCpu<'_, P>, target: CpuId, idle_ns: u64) -> u64 {
    let span = u64::from(me.k.llc_size(target)) * idle_ns;
    let cost = scan_cost(me, target);
    let number = if span > FEWEST * cost { span / cost } else { FEWEST };
    number - 1
}

/// Looking took so long.
pub(super) fn has_looked<P: Platform>(me: ThisCpu<'_, P>, target: CpuId, since: Nanos) {
    let took = me.now().saturating_sub(since).0;
    let left = &me.k.rq(me.id).published.balance.idle.for_scans;
    left.set(Nanos(left.get().0.saturating_sub(took)));
    let cost = &shared_cache(me, target).scan_cost;
    cost.set(cost.get().saturating_add_signed((took as i64 - cost.get() as i64) / 8));
}
