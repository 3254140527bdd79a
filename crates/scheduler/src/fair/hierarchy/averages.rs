//! What joins or leaves a group's queue shows at all levels above (deadline-groups B4).
//!
//! A level is brought up to date when something happens there. Then the entity of a group whose queue has
//! changed takes over what that queue uses, and its parent's queue the difference; so a change climbs level
//! by level.

use super::table::GroupQueue;
use super::weight::{publish, update_cfs_group};
use crate::fair::pelt;
use crate::fair::queue::EntityId;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{CpuId, GroupId, ThisCpu};

/// A share of so much runnable time has joined the queue of a group, or left it if negative.
#[inline]
pub(in crate::fair) fn queue_changed<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, cpu: CpuId, load: i64) {
    if group == GroupId::ROOT {
        return;
    }
    let queue = me.group_queue(group, cpu);
    queue.changed.set(true);
    queue.load_change.set(queue.load_change.get() + load);
}

/// Brings the entity of a group and the queue in front, in which it competes, up to date; the entity has been
/// what it is now.
pub(super) fn update_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let group = entity.group(rq.me.k);
    publish(rq, group);
    pelt::update_group(rq, entity, rq.me.group_queue(group, rq.cpu).runnable.get());
    propagate(rq, entity);
}

/// Its entity counts as many tasks as the queue of a group has now.
pub(super) fn note_runnable<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId) {
    rq.me.group_queue(group, rq.cpu).runnable.set(u64::from(rq.queue(group).h_nr_running));
}

/// The entity shows what its group's queue has become, and the queue in front the difference.
fn propagate<P: Platform>(rq: &RqGuard<'_, P>, entity: EntityId) {
    let group = entity.group(rq.me.k);
    let from: &GroupQueue = rq.me.group_queue(group, rq.cpu);
    if !from.changed.replace(false) {
        return;
    }
    let change = from.load_change.take();
    let se = rq.me.entity(entity);
    let own = &se.pelt.average;
    let to = rq.me.averages_of(rq.fair.group, rq.cpu).average;
    own.follow_use(&from.average, to);
    own.follow_load(pelt::Change {
        joined: change,
        of_queue: from.average.load_sum.get(),
        weight_of_queue: rq.queue(group).load,
        weight: se.weight.get(),
        to,
    });
    queue_changed(rq.me, rq.fair.group, rq.cpu, change);
}

/// Brings all averages of a CPU's groups up to date, from the leaves on: what sleeps there, and what has
/// left.
pub(in crate::fair) fn update_all<P: Platform>(rq: &mut RqGuard<'_, P>) {
    for group in rq.me.k.groups.ids().rev() {
        rq.bring(group);
        let changes = pelt::update_queue(rq, group);
        let parent = rq.me.k.groups.parent(group);
        rq.bring(parent);
        if changes {
            update_entity(rq, EntityId::of_group(rq.me.k, group, rq.cpu));
        }
    }
    rq.bring(GroupId::ROOT);
}

/// [`update_entity`], and the weight that follows from it.
pub(super) fn refresh<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    update_entity(rq, entity);
    note_runnable(rq, entity.group(rq.me.k));
    update_cfs_group(rq, entity);
}
