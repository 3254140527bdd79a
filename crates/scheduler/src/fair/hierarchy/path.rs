//! The way of a task through the levels, from the queue of its group to that of the root and back
//! (deadline-groups B2).

use super::averages::{lives, note_runnable, refresh, update_entity};
use super::bandwidth;
use crate::class::{DequeueKind, EnqueueKind};
use crate::fair::eevdf::SetNext;
use crate::fair::queue::{self, Dequeued, EntityId, update_curr};
use crate::fair::{discipline, pelt};
use crate::platform::{Cost, Platform};
use crate::registry::Feature;
use crate::rq::RqGuard;
use crate::{Event, GroupId, TaskId};

/// A task of a group becomes runnable: so does each group above it of which nobody was. Whether nothing above
/// is frozen.
#[inline(never)]
pub(in crate::fair) fn enqueue<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: EnqueueKind) -> bool {
    let group = rq.me.task(p).se.group.get();
    rq.bring(group);
    lives(rq.me, group, rq.cpu);
    bandwidth::comes(rq);
    pelt::enqueue(rq, p, kind);
    queue::enter(rq, EntityId::of(p), kind);
    rq.fair.h_nr_running += 1;
    let is_open = !bandwidth::stops_at_enqueue(rq) && enter_above(rq, 1);
    rq.bring(GroupId::ROOT);
    is_open
}

/// The queue in front has so many tasks more: the levels above follow, up to the root's or a frozen one,
/// which is in front afterwards. Whether that is the root's. (The tasks of the root's queue the caller
/// counts.)
pub(super) fn enter_above<P: Platform>(rq: &mut RqGuard<'_, P>, tasks: u32) -> bool {
    let me = rq.me;
    while rq.fair.group != GroupId::ROOT {
        let group = rq.fair.group;
        let entity = EntityId::of_group(group, rq.cpu);
        let slice = discipline::shortest_slice(rq);
        rq.bring(me.k.groups.parent(group));
        discipline::set_group_slice(rq, entity, slice);
        let stands = me.task(entity.task());
        if stands.on_rq.get() {
            discipline::wake_delayed_group(rq, entity);
            refresh(rq, entity);
        } else {
            rq.charge(Cost::Enqueue);
            lives(me, rq.fair.group, rq.cpu);
            bandwidth::comes(rq);
            refresh(rq, entity);
            stands.on_rq.set(rq, true);
            queue::enter(rq, entity, EnqueueKind::Wakeup);
        }
        if rq.fair.group == GroupId::ROOT {
            break;
        }
        rq.fair.h_nr_running += tasks;
        if bandwidth::stops_at_enqueue(rq) {
            return false;
        }
    }
    true
}

/// A task of a group leaves its queue, or blocks and stays for a while; a group of which nobody is left
/// leaves the level above.
#[inline(never)]
pub(in crate::fair) fn dequeue<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    p: TaskId,
    kind: DequeueKind,
) -> Dequeued {
    let entity = EntityId::of(p);
    let group = rq.me.task(p).se.group.get();
    rq.bring(group);
    update_curr(rq);
    let dequeued = discipline::dequeue_entity(rq, entity, kind);
    if dequeued == Dequeued::Delayed {
        pelt::delay(rq, p);
    } else {
        pelt::dequeue(rq, p, kind);
        queue::leave(rq, entity);
        bandwidth::has_left(rq);
        rq.fair.h_nr_running -= 1;
        let empty = rq.fair.nr_running == 0;
        if kind == DequeueKind::Sleep && !empty {
            stays_near(rq);
        }
        if !bandwidth::front_is_frozen(rq) {
            climb(rq, Passing { tasks: 1, leaves: empty.then_some(DequeueKind::Sleep) });
        }
    }
    rq.bring(GroupId::ROOT);
    dequeued
}

/// A task of the queue in front has fallen asleep: what it worked on is still warm for the rest of its group.
fn stays_near<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let (me, group) = (rq.me, rq.fair.group);
    let entity = EntityId::of_group(group, rq.cpu);
    debug_assert!(me.task(entity.task()).on_rq.get(), "who falls asleep has run, so its group competes");
    if me.has(Feature::NextBuddy) && !me.k.groups.get(group).idle {
        rq.bring(me.k.groups.parent(group));
        rq.fair.buddies.next = Some(entity);
        rq.bring(group);
    }
}

/// What has left a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Passing {
    /// How many tasks, which the levels above count no more.
    pub tasks: u32,
    /// How the entity of its group leaves the level above, if it does.
    pub leaves: Option<DequeueKind>,
}

/// Something has left the queue in front, or that is frozen: the levels above follow, up to the root's or a
/// frozen one, which is in front afterwards. (The tasks of the root's queue the caller counts.)
pub(super) fn climb<P: Platform>(rq: &mut RqGuard<'_, P>, mut passing: Passing) {
    let me = rq.me;
    while rq.fair.group != GroupId::ROOT {
        let group = rq.fair.group;
        let entity = EntityId::of_group(group, rq.cpu);
        let slice = discipline::shortest_slice(rq);
        rq.bring(me.k.groups.parent(group));
        if let Some(kind) = passing.leaves {
            update_curr(rq);
            let dequeued = discipline::dequeue_entity(rq, entity, kind);
            update_entity(rq, entity);
            note_runnable(rq, group);
            let empty = dequeued == Dequeued::Gone && leave(rq, entity);
            passing.leaves = passing.leaves.filter(|_| empty);
        } else {
            discipline::set_group_slice(rq, entity, slice);
            refresh(rq, entity);
        }
        if rq.fair.group != GroupId::ROOT {
            rq.fair.h_nr_running -= passing.tasks;
            if bandwidth::front_is_frozen(rq) {
                return;
            }
        }
    }
}

/// A group's entity has left the discipline's hands; whether the queue in front is empty now.
fn leave<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) -> bool {
    rq.charge(Cost::Dequeue);
    queue::leave(rq, entity);
    rq.me.task(entity.task()).on_rq.set(rq, false);
    bandwidth::has_left(rq);
    rq.fair.nr_running == 0
}

/// A group of the queue in front that has worked off its debt without a task leaves.
#[inline(never)]
pub(in crate::fair) fn finish_delayed<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let before = rq.fair.group;
    rq.me.event(Event::GroupLeaves { group: entity.group(), cpu: rq.cpu });
    update_curr(rq);
    discipline::dequeue_entity(rq, entity, DequeueKind::Finish);
    update_entity(rq, entity);
    let empty = leave(rq, entity);
    climb(rq, Passing { tasks: 0, leaves: empty.then_some(DequeueKind::Sleep) });
    rq.bring(before);
}

/// The task that is to run of those below a group's entity; `None` if all whom a pick found were asleep, or
/// a queue was throttled, so that the levels above have changed.
#[inline(never)]
pub(in crate::fair) fn choose_below<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    entity: EntityId,
) -> Option<TaskId> {
    let mut picked = Some(entity);
    while let Some(group) = picked.filter(|e| e.is_group()) {
        let group = group.group();
        rq.bring(group);
        picked = if bandwidth::stops_at_pick(rq) { None } else { discipline::pick_next_entity(rq) };
    }
    rq.bring(GroupId::ROOT);
    picked.map(EntityId::task)
}

/// A task of a group becomes the running one, and so do the groups above it, from the root on.
#[inline(never)]
pub(in crate::fair) fn set_next<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, how: SetNext) {
    descend(rq, EntityId::of(p), how);
    rq.bring(GroupId::ROOT);
}

fn descend<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, how: SetNext) {
    let group = rq.me.entity(entity).group.get();
    if group != GroupId::ROOT {
        descend(rq, EntityId::of_group(group, rq.cpu), how);
    }
    rq.bring(group);
    if !entity.is_group() {
        return queue::become_curr(rq, entity, how);
    }
    update_entity(rq, entity);
    // A group that was put back in this very pick goes on: only its tasks take turns.
    let group = rq.me.group_queue(entity.group(), rq.cpu);
    let goes_on = how == SetNext::Picked && group.put_in_pick.get() == rq.nr_switches + 1;
    queue::become_curr(rq, entity, if goes_on { SetNext::Continued } else { how });
}

/// The running task of a group stops running, and so do the groups above it.
#[inline(never)]
pub(in crate::fair) fn put_prev<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    each_level(rq, p, |rq, entity| {
        if entity.is_group() {
            if rq.me.task(entity.task()).on_rq.get() {
                update_curr(rq);
                update_entity(rq, entity);
            }
            let group = rq.me.group_queue(entity.group(), rq.cpu);
            group.put_in_pick.set(rq.nr_switches + 1);
        }
        queue::put_here(rq, entity);
        // One that blocks or changes may have left a queue empty.
        if rq.me.task(p).is_in_queue() {
            bandwidth::stops_at_pick(rq);
        }
    });
}

/// A tick while a task of a group runs: each level looks whether it is somebody else's turn.
#[inline(never)]
pub(in crate::fair) fn tick<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    each_level(rq, p, |rq, entity| {
        if entity.is_group() {
            update_curr(rq);
            refresh(rq, entity);
        } else {
            pelt::ran(rq, p);
        }
        discipline::task_tick(rq, entity.task());
    });
}

/// Charges the running task of a group, and the groups above it.
pub(in crate::fair) fn charge_levels<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    each_level(rq, p, |rq, _| update_curr(rq));
}

/// A task and the groups above it, each with its queue in front. The root's queue is in front afterwards.
fn each_level<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    p: TaskId,
    mut look: impl FnMut(&mut RqGuard<'_, P>, EntityId),
) {
    let mut entity = EntityId::of(p);
    loop {
        let group = rq.me.entity(entity).group.get();
        rq.bring(group);
        look(rq, entity);
        if group == GroupId::ROOT {
            return;
        }
        entity = EntityId::of_group(group, rq.cpu);
    }
}

/// With the queue of a task's group in front.
#[inline]
pub(in crate::fair) fn with_queue_of<P: Platform, T>(
    rq: &mut RqGuard<'_, P>,
    p: TaskId,
    act: impl FnOnce(&mut RqGuard<'_, P>) -> T,
) -> T {
    let group = rq.me.task(p).se.group.get();
    let before = rq.bring(group);
    let done = act(rq);
    rq.bring(before);
    done
}
