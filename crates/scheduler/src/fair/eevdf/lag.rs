//! What an entity is owed when it leaves (eevdf-class 2.4, 3.8).

use super::average::avg_vruntime;
use super::slice;
use crate::fair::cpu_load::tick_period;
use crate::fair::queue::{FairEntity, Weight};
use crate::fair::vruntime::lag;
use crate::platform::Platform;
use crate::registry::{DelayLag, Feature, LagLimit, Reweight};
use crate::rq::RqGuard;

/// The largest lag with which an entity may leave this queue, in its virtual time.
pub(in crate::fair) fn lag_limit<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity) -> i64 {
    let own = se.eevdf.slice.get();
    let tick = tick_period(rq.me);
    let real = match rq.me.k.config.rules.lag_limit.get() {
        LagLimit::Own => (own + own).max(tick),
        LagLimit::Longest => slice::max_slice(rq).map_or(own, |longest| longest.max(own)) + tick,
    };
    se.vdelta(real.0) as i64
}

/// What became of an entity's lag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stored {
    /// It is kept as it was found.
    AsFound,
    /// What it may be was kept in its place.
    Corrected,
}

/// Keeps the lag for the entity's return. Under `delay_lag=monotonic` the debt of one that stayed in the
/// queue asleep has not grown, and with DELAY_ZERO nothing is owed to it.
pub(super) fn update_entity_lag<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity) -> Stored {
    let limit = lag_limit(rq, se);
    let found = lag(avg_vruntime(rq), se.vruntime.get());
    let mut kept = found.clamp(-limit, limit);
    if se.eevdf.sched_delayed.get() && rq.me.k.config.rules.delay_lag.get() == DelayLag::Monotonic {
        kept = kept.max(se.eevdf.vlag.get());
        if rq.me.has(Feature::DelayZero) {
            kept = kept.min(0);
        }
    }
    se.eevdf.vlag.set(kept);
    if kept == found { Stored::AsFound } else { Stored::Corrected }
}

/// The weight of an entity that is off its queue changes: what it is owed in real time stays, and from 6.13
/// on what is left of its request too.
pub(in crate::fair) fn reweight_entity(se: &FairEntity, weight: Weight, rule: Reweight) {
    let old = se.exact_weight();
    se.eevdf.vlag.set(old.same_service_at(weight, se.eevdf.vlag.get()));
    let scales_request = matches!(rule, Reweight::Place | Reweight::Rescale);
    if se.eevdf.rel_deadline.get() && scales_request {
        se.eevdf.deadline.set(old.same_service_at(weight, se.eevdf.deadline.get() as i64) as u64);
    }
}
