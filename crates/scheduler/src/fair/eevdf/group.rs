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

/// What it is owed stays the same real time, and V where it is; so do what is left of its request and of its
/// protection, also where more is owed than may be.
fn rescale<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity, weight: Weight) {
    let (kept, old, vruntime) = (&se.eevdf, se.exact_weight(), se.vruntime.get());
    let [left, protected] =
        [&kept.deadline, &kept.vprot].map(|at| old.same_service_at(weight, lag(at.get(), vruntime)));
    let v = avg_vruntime(rq);
    leave_with_lag(rq, se, weight);
    let now = v.wrapping_add_signed(kept.vlag.get().wrapping_neg());
    se.vruntime.set(now);
    kept.deadline.set(now.wrapping_add_signed(left));
    kept.vprot.set(now.wrapping_add_signed(protected));
}

/// It is taken out and placed as if it came, with what is left of its request and of its protection. V
/// contains it all the same if it is running, so that its lag is inflated in vain.
fn place_anew<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, weight: Weight) {
    let se = rq.me.entity(entity);
    let (kept, old, vruntime) = (&se.eevdf, se.exact_weight(), se.vruntime.get());
    let left = old.same_service_at(weight, lag(kept.deadline.get(), vruntime));
    let protected = old.same_service_at(weight, lag(kept.vprot.get(), vruntime));
    leave_with_lag(rq, se, weight);
    let runs = rq.fair.curr == Some(entity);
    kept.on_rq.set(runs);
    let others = if runs { rq.fair.eevdf.sum_w } else { sums(rq).weights() };
    if others > 0 {
        place_entity(rq, se, Entrance::Return);
    }
    let now = se.vruntime.get();
    kept.deadline.set(now.wrapping_add_signed(left));
    kept.vprot.set(now.wrapping_add_signed(protected));
    kept.on_rq.set(true);
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
