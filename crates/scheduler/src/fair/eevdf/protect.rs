//! The picked entity is protected for a while, lest everybody who comes takes the CPU from it (eevdf-class
//! 3.4).

use super::slice;
use crate::fair::queue::FairEntity;
use crate::fair::vruntime::{earlier, lag};
use crate::platform::Platform;
use crate::registry::{Feature, Protection};
use crate::rq::RqGuard;
use crate::{Nanos, ThisCpu};

/// The entity has been picked. It is no longer in the tree, and not yet the running one.
pub(in crate::fair) fn set_protect_slice<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity) {
    let me = rq.me;
    let (deadline, own) = (se.eevdf.deadline.get(), se.eevdf.slice.get());
    if me.k.config.rules.protection.get() == Protection::Deadline {
        se.eevdf.vprot.set(deadline);
        return;
    }
    let shortest = if me.has(Feature::RunToParity) {
        rq.fair.eevdf.tree.shortest_slice().unwrap_or(own)
    } else {
        Nanos(me.k.config.tunables.base_slice_ns.get() as u64)
    };
    let until = if shortest < own { earlier(deadline, after(se, shortest)) } else { deadline };
    se.eevdf.vprot.set(until);
}

/// Whether the running entity has been protected since it was picked, and still is.
pub(super) fn is_protected<P: Platform>(me: ThisCpu<'_, P>, se: &FairEntity) -> bool {
    match me.k.config.rules.protection.get() {
        Protection::Shortest => lag(se.vruntime.get(), se.eevdf.vprot.get()) < 0,
        Protection::Deadline => se.eevdf.vprot.get() == se.eevdf.deadline.get(),
    }
}

/// Whether the pick honours that.
pub(super) fn is_kept<P: Platform>(me: ThisCpu<'_, P>, se: &FairEntity) -> bool {
    let asked = me.has(Feature::RunToParity) || me.k.config.rules.protection.get() == Protection::Shortest;
    asked && is_protected(me, se)
}

/// The running entity is protected no longer.
pub(super) fn cancel_protect_slice<P: Platform>(me: ThisCpu<'_, P>, se: &FairEntity) {
    if is_protected(me, se) {
        let past = match me.k.config.rules.protection.get() {
            Protection::Shortest => se.vruntime.get(),
            Protection::Deadline => se.eevdf.deadline.get().wrapping_add(1),
        };
        se.eevdf.vprot.set(past);
    }
}

/// The running entity is protected no longer than for the shortest slice of all that compete, from now on.
pub(super) fn update_protect_slice<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity) {
    if rq.me.k.config.rules.protection.get() == Protection::Shortest
        && let Some(shortest) = slice::min_slice(rq)
    {
        se.eevdf.vprot.set(earlier(se.eevdf.vprot.get(), after(se, shortest)));
    }
}

/// The entity's virtual time after so much more service.
fn after(se: &FairEntity, service: Nanos) -> u64 {
    se.vruntime.get().wrapping_add(se.vdelta(service.0))
}
