//! CFS, the queue discipline of the kernels up to 6.5: who runs, and how long (fair-class 2 to 7).
//!
//! This is all that the rest of the class asks of a discipline, by the kernel's names:
//!
//! - On the way of an entity through its queue: [`enqueue_entity`], [`dequeue_entity`], [`pick_next_entity`],
//!   [`set_next_entity`], [`put_prev_entity`], and [`charge`] for the time that it runs.
//! - At a tick [`task_tick`], after an enqueue [`check_preempt_wakeup`], at a yield [`yield_task`], at a fork
//!   [`task_fork`], for a task without parent [`place_orphan`]; where the CPU or the class changes
//!   [`migrate_task_rq`], [`attach_task_cfs_rq`] and [`detach_task_cfs_rq`]; where a higher class takes the
//!   CPU [`preempted_by_higher_class`].
//! - For balancing: whether a task is a warm buddy ([`is_hot`]); for the checks of invariants, how far left
//!   of the others one may be ([`largest_sleeper_threshold`]).
//!
//! Choosing a CPU, balancing, and counting what is there lie outside, and know nothing of virtual time.

mod buddy;
mod floor;
mod fork;
mod place;
mod preempt;
mod slice;
mod start_nice;
mod tick;
mod timeline;
mod yield_;

pub use buddy::Buddies;
pub(super) use buddy::is_hot;
pub(crate) use buddy::preempted_by_higher_class;
pub(crate) use floor::{attach_task_cfs_rq, detach_task_cfs_rq, migrate_task_rq};
pub(crate) use fork::{place_orphan, task_fork};
pub(crate) use place::largest_sleeper_threshold;
pub(super) use preempt::check_preempt_wakeup;
pub use slice::IDLE_MIN_GRANULARITY;
pub(super) use slice::sched_slice;
pub(crate) use tick::task_tick;
pub use timeline::{Timeline, Waiting};
pub(crate) use yield_::yield_task;
#[cfg(test)]
pub(super) use {buddy::pick, place::sleeper_threshold, preempt::granularity};

use super::queue::{EntityId, FairEntity, update_curr};
use super::scale;
use super::vruntime::lag;
use crate::Nanos;
use crate::class::{DequeueKind, EnqueueKind};
use crate::platform::Platform;
use crate::registry::FloorOrder;
use crate::rq::RqGuard;
use crate::task::Task;
use floor::update_min_vruntime;
use place::place_sleeper;

/// Lets an entity compete: charges the running one, places the newcomer in virtual time and lets it wait,
/// unless it is the running one itself.
pub(super) fn enqueue_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, kind: EnqueueKind) {
    let me = rq.me;
    let se = me.entity(entity);
    // The floor moves at this charge, and far if the running task is a light one that has run for a while.
    if me.k.config.rules.floor_order.get() == FloorOrder::WithTask {
        update_curr(rq);
        se.make_absolute(rq.floor().get());
    } else {
        se.make_absolute(rq.floor().get());
        update_curr(rq);
    }
    if kind == EnqueueKind::Wakeup {
        place_sleeper(rq, se, rq.floor().get());
    }
    check_spread(rq, se);
    if rq.fair.curr != Some(entity) {
        wait_in_timeline(rq, entity);
    }
}

/// An entity competes no longer. The running one has been charged.
pub(super) fn dequeue_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, kind: DequeueKind) {
    let me = rq.me;
    let se = me.entity(entity);
    let leaving = Some(entity);
    rq.fair.buddies.clear(entity);
    leave_timeline(rq, entity);
    if matches!(kind, DequeueKind::Sleep | DequeueKind::Park | DequeueKind::Throttle) {
        update_min_vruntime(rq, leaving);
        start_nice::clear(se);
        return;
    }
    // The task may have held the floor back. Since 4.9 one that goes elsewhere takes its distance from the
    // floor as it was, and one that comes back at once does not find that the floor has passed it.
    let departs = kind == DequeueKind::Departure;
    match me.k.config.rules.floor_order.get() {
        FloorOrder::WithTask if departs => {
            se.make_relative(rq.floor().get());
            update_min_vruntime(rq, leaving);
        }
        FloorOrder::WithTask => {}
        FloorOrder::WithoutTask if departs => {
            update_min_vruntime(rq, leaving);
            se.make_relative(rq.floor().get());
        }
        FloorOrder::WithoutTask | FloorOrder::OneStep => update_min_vruntime(rq, leaving),
    }
}

/// Who is to run: the leftmost, or a buddy near it; `None` where nobody waits.
pub(super) fn pick_next_entity<P: Platform>(rq: &mut RqGuard<'_, P>) -> Option<EntityId> {
    let left = rq.fair.timeline.leftmost()?.entity;
    Some(buddy::pick(rq, left))
}

/// A runnable entity becomes the running one.
pub(super) fn set_next_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    leave_timeline(rq, entity);
}

/// The running entity has been charged, and waits from now on.
pub(super) fn put_prev_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    check_spread(rq, rq.me.entity(entity));
    wait_in_timeline(rq, entity);
}

/// The running task has run for `delta`: its virtual time advances, and the queue's floor with it.
pub(super) fn charge<P: Platform>(rq: &mut RqGuard<'_, P>, task: &Task, delta: Nanos) {
    let se = &task.se;
    // The interval that crosses the end of a penalty is still charged with it.
    let vdelta = se.vdelta(delta.0);
    start_nice::expire(se, task.stats.sum_exec_runtime.get());
    se.vruntime.set(se.vruntime.get().wrapping_add(vdelta));
    update_min_vruntime(rq, None);
}

pub(super) fn wait_in_timeline<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let se = rq.me.entity(entity);
    if !se.in_timeline.replace(true) {
        rq.fair.timeline.insert(entity, se.vruntime.get());
        let waiting = &rq.me.k.root_domain(rq.cpu).waiting;
        waiting.set(waiting.get() + 1);
    }
}

pub(super) fn leave_timeline<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let se = rq.me.entity(entity);
    if se.in_timeline.replace(false) {
        rq.fair.timeline.remove(entity, se.vruntime.get());
        let waiting = &rq.me.k.root_domain(rq.cpu).waiting;
        waiting.set(waiting.get() - 1);
    }
}

fn check_spread<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity) {
    let away = lag(se.vruntime.get(), rq.floor().get()).unsigned_abs();
    if away > 3 * scale::latency(rq.me.k) {
        rq.fair.nr_spread_over += 1;
    }
}
