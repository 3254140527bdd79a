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
use alloc::vec::Vec;
use core::cell::RefCell;

/// A share of so much runnable time has joined the queue of a group, or left it if negative.
#[inline]
pub(in crate::fair) fn queue_changed<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, cpu: CpuId, load: i64) {
    if group == GroupId::ROOT {
        return;
    }
    lives(me, group, cpu);
    let queue = me.group_queue(group, cpu);
    queue.changed.set(true);
    queue.load_change.set(queue.load_change.get() + load);
}

/// Brings the entity of a group and the queue in front, in which it competes, up to date; the entity has been
/// what it is now.
pub(super) fn update_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let group = entity.group();
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
    let group = entity.group();
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

/// The groups whose queues on a CPU hold averages that fade (B4, leaf list), the latest made first: so those
/// below come before those above.
#[derive(Debug, Default)]
pub(crate) struct Living(RefCell<Vec<GroupId>>);

impl Living {
    fn place(list: &[GroupId], group: GroupId) -> Result<usize, usize> {
        list.binary_search_by(|other| group.cmp(other))
    }

    fn insert(&self, group: GroupId) {
        let mut list = self.0.borrow_mut();
        if let Err(place) = Living::place(&list, group) {
            list.insert(place, group);
        }
    }

    fn remove(&self, group: GroupId) {
        let mut list = self.0.borrow_mut();
        if let Ok(place) = Living::place(&list, group) {
            list.remove(place);
        }
    }

    /// The first that was made before `group`; with `None` of all.
    fn after(&self, group: Option<GroupId>) -> Option<GroupId> {
        let list = self.0.borrow();
        let behind = group.map_or(0, |group| match Living::place(&list, group) {
            Ok(place) => place + 1,
            Err(place) => place,
        });
        list.get(behind).copied()
    }
}

/// The queue of a group on a CPU holds something from now on.
#[inline]
pub(super) fn lives<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, cpu: CpuId) {
    if group != GroupId::ROOT && !me.group_queue(group, cpu).lives.replace(true) {
        me.k.rq(cpu).living.insert(group);
    }
}

/// Whether nothing is left in the averages of a group's queue, nor in what others know of it.
fn is_faded<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId) -> bool {
    let queue = rq.me.group_queue(group, rq.cpu);
    let entity = EntityId::of_group(group, rq.cpu);
    let is_zero = |average: &pelt::Average| {
        average.load_avg.get() == 0 && average.util_avg.get() == 0 && average.runnable_avg.get() == 0
    };
    let is_empty = rq.queue(group).nr_running == 0 && !rq.me.task(entity.task()).on_rq.get();
    let is_published = queue.contrib.get() == 0 && !queue.changed.get();
    is_empty && is_published && is_zero(&queue.average) && is_zero(&rq.me.entity(entity).pelt.average)
}

/// Brings all averages of a CPU's groups up to date, from the leaves on: what sleeps there, and what has
/// left. Who has nothing left to fade is forgotten.
pub(in crate::fair) fn update_all<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let living = &rq.me.k.rq(rq.cpu).living;
    let mut last = None;
    while let Some(group) = living.after(last) {
        last = Some(group);
        let changes = pelt::update_queue(rq, group);
        let queue = rq.me.group_queue(group, rq.cpu);
        // What the rate limit has kept back when the last of it faded is still to be published.
        let is_behind = queue.average.load_avg.get() == 0 && queue.contrib.get() > 0;
        if changes || is_behind {
            let parent = rq.me.k.groups.parent(group);
            rq.bring(parent);
            update_entity(rq, EntityId::of_group(group, rq.cpu));
        } else if is_faded(rq, group) {
            rq.me.group_queue(group, rq.cpu).lives.set(false);
            living.remove(group);
        }
    }
    rq.bring(GroupId::ROOT);
}

/// [`update_entity`], and the weight that follows from it.
pub(super) fn refresh<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    update_entity(rq, entity);
    note_runnable(rq, entity.group());
    update_cfs_group(rq, entity);
}
