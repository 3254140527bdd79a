//! The entity of a group gets another weight, or other slices, where it stands (deadline-groups B2, B3): no
//! task does, for a task leaves its queue for that.

use super::average::{avg_vruntime, sums, update_min_vruntime};
use super::lag::{reweight_entity, update_entity_lag};
use super::place::{Entrance, place_entity};
use super::{join_tree, leave_tree};
use crate::Nanos;
use crate::fair::queue::{EntityId, FairEntity, Weight};
use crate::fair::vruntime::lag;
use crate::platform::Platform;
use crate::registry::Reweight;
use crate::rq::RqGuard;

/// Another weight for an entity that competes; the running one has been charged (eevdf-class 3.8).
pub(in crate::fair) fn reweight_queued<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    entity: EntityId,
    weight: Weight,
) {
    let se = rq.me.entity(entity);
    match rq.me.k.config.rules.reweight.get() {
        Reweight::Keep => scale_about(rq, se, weight, se.vruntime.get()),
        Reweight::AboutV => {
            let v = avg_vruntime(rq);
            scale_about(rq, se, weight, v);
            se.vruntime.set(v.wrapping_add_signed(se.eevdf.vlag.get().wrapping_neg()));
        }
        Reweight::Rescale => rescale(rq, se, weight),
        Reweight::Place => place_anew(rq, entity, weight),
    }
    if rq.fair.curr != Some(entity) {
        join_tree(rq, entity, se);
    }
    update_min_vruntime(rq);
}

/// What is left of its request, counted from a point of virtual time, stays the same real time; it leaves
/// the tree.
fn scale_about<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity, weight: Weight, origin: u64) {
    let left = se.exact_weight().same_service_at(weight, lag(se.eevdf.deadline.get(), origin));
    leave_with_lag(rq, se, weight);
    se.eevdf.deadline.set(origin.wrapping_add_signed(left));
}

fn leave_with_lag<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity, weight: Weight) {
    update_entity_lag(rq, se);
    leave_tree(rq, se);
    reweight_entity(se, weight, rq.me.k.config.rules.reweight.get());
    se.set_weight(weight);
}

/// What is left of an entity's request and of its protection, in virtual time.
struct Rest {
    request: i64,
    protection: i64,
}

impl Rest {
    /// In the virtual time of an entity that weighs so much, the same real time.
    fn of(se: &FairEntity, weight: Weight) -> Rest {
        let (old, vruntime) = (se.exact_weight(), se.vruntime.get());
        let left = |until: u64| old.same_service_at(weight, lag(until, vruntime));
        Rest { request: left(se.eevdf.deadline.get()), protection: left(se.eevdf.vprot.get()) }
    }

    /// From where the entity is now.
    fn goes_on(self, se: &FairEntity) {
        let now = se.vruntime.get();
        se.eevdf.deadline.set(now.wrapping_add_signed(self.request));
        se.eevdf.vprot.set(now.wrapping_add_signed(self.protection));
    }
}

/// What it is owed stays the same real time, and V where it is; so do what is left of its request and of its
/// protection, also where more is owed than may be.
fn rescale<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity, weight: Weight) {
    let rest = Rest::of(se, weight);
    let v = avg_vruntime(rq);
    leave_with_lag(rq, se, weight);
    se.vruntime.set(v.wrapping_add_signed(se.eevdf.vlag.get().wrapping_neg()));
    rest.goes_on(se);
}

/// It is taken out and placed as if it came, with what is left of its request and of its protection. V
/// contains it all the same if it is running, so that its lag is inflated in vain.
fn place_anew<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, weight: Weight) {
    let se = rq.me.entity(entity);
    let rest = Rest::of(se, weight);
    leave_with_lag(rq, se, weight);
    let runs = rq.fair.curr == Some(entity);
    se.eevdf.on_rq.set(runs);
    let others = if runs { rq.fair.eevdf.sum_w } else { sums(rq).weights() };
    if others > 0 {
        place_entity(rq, se, Entrance::Return);
    }
    rest.goes_on(se);
    se.eevdf.on_rq.set(true);
}

/// The entity of a group asks for slices as short as the shortest of its queue.
pub(in crate::fair) fn set_group_slice<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, slice: Nanos) {
    let se = rq.me.entity(entity);
    let kept = &se.eevdf;
    kept.custom_slice.set(true);
    if kept.slice.get() == slice {
        return;
    }
    let waits = se.in_timeline.get();
    if waits {
        leave_tree(rq, se);
    }
    kept.slice.set(slice);
    if waits {
        join_tree(rq, entity, se);
    }
}
