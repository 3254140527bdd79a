//! The entity of a group gets another weight, or other slices, where it stands (deadline-groups B2, B3): no
//! task does, for a task leaves its queue for that.

use super::average::{sums, update_min_vruntime};
use super::lag::{reweight_entity, update_entity_lag};
use super::place::{Entrance, place_entity};
use super::{join_tree, leave_tree};
use crate::Nanos;
use crate::fair::queue::EntityId;
use crate::fair::vruntime::{lag, scaled};
use crate::platform::Platform;
use crate::rq::RqGuard;

/// Another weight for an entity that competes; the running one has been charged. It is owed the same real
/// time afterwards, and what is left of its request and of its protection is the same real time, too.
pub(in crate::fair) fn reweight_queued<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, weight: u64) {
    let se = rq.me.entity(entity);
    let (old, vruntime) = (se.weight.get(), se.vruntime.get());
    let left = scaled(lag(se.eevdf.deadline.get(), vruntime), old, weight);
    let protected = scaled(lag(se.eevdf.vprot.get(), vruntime), old, weight);
    update_entity_lag(rq, se);
    leave_tree(rq, se);
    se.eevdf.on_rq.set(false);
    reweight_entity(se, weight, rq.me.k.config.rules.reweight.get());
    se.weight.set(weight);
    if sums(rq).weights() > 0 {
        place_entity(rq, se, Entrance::Return);
    }
    let now = se.vruntime.get();
    se.eevdf.deadline.set(now.wrapping_add_signed(left));
    se.eevdf.vprot.set(now.wrapping_add_signed(protected));
    se.eevdf.on_rq.set(true);
    if rq.fair.curr != Some(entity) {
        join_tree(rq, entity, se);
    }
    update_min_vruntime(rq);
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
