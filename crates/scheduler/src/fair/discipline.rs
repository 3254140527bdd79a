//! Which queue discipline serves: one match for each call, on the rule `fair_policy`.
//!
//! The rule does not change in the middle of a run: the two keep different things of those that wait.

use super::hierarchy::with_queue_of;
use super::queue::{Dequeued, EntityId, FairEntity, Weight, set_load, update_curr};
use super::{cfs, eevdf};
use crate::class::{DequeueKind, EnqueueKind, PreemptCause};
use crate::platform::Platform;
use crate::registry::{FairPolicy, Renice};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{CpuId, Nanos, Policy, Scheduler, TaskId, ThisCpu};
use eevdf::SetNext;

/// The discipline of all queues.
#[inline]
fn of<P: Platform>(k: &Scheduler<P>) -> FairPolicy {
    k.config.rules.fair_policy.get()
}

/// An entity begins to compete.
#[inline(always)]
pub(super) fn enqueue_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, kind: EnqueueKind) {
    match of(rq.me.k) {
        FairPolicy::Cfs => cfs::enqueue_entity(rq, entity, kind),
        FairPolicy::Eevdf => eevdf::enqueue_entity(rq, entity, kind),
    }
}

/// An entity competes no longer, or blocks and stays all the same.
#[inline(always)]
pub(super) fn dequeue_entity<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    entity: EntityId,
    kind: DequeueKind,
) -> Dequeued {
    match of(rq.me.k) {
        FairPolicy::Cfs => {
            cfs::dequeue_entity(rq, entity, kind);
            Dequeued::Gone
        }
        FairPolicy::Eevdf => eevdf::dequeue_entity(rq, entity, kind),
    }
}

/// Whether it is decided who is to run while the running entity still stands apart from those that wait, so
/// that it may go on without having been one of them. CFS decides afterwards.
#[inline]
pub(crate) fn chooses_first<P: Platform>(k: &Scheduler<P>) -> bool {
    of(k) == FairPolicy::Eevdf
}

/// Who is to run.
pub(super) fn pick_next_entity<P: Platform>(rq: &mut RqGuard<'_, P>) -> Option<EntityId> {
    match of(rq.me.k) {
        FairPolicy::Cfs => cfs::pick_next_entity(rq),
        FairPolicy::Eevdf => eevdf::choose(rq),
    }
}

/// An entity becomes the running one.
#[inline(always)]
pub(super) fn set_next_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, how: SetNext) {
    match of(rq.me.k) {
        FairPolicy::Cfs => cfs::set_next_entity(rq, entity),
        FairPolicy::Eevdf => eevdf::set_next_entity(rq, entity, how),
    }
}

/// The running entity has been charged, and waits from now on.
#[inline(always)]
pub(super) fn put_prev_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    match of(rq.me.k) {
        FairPolicy::Cfs => cfs::put_prev_entity(rq, entity),
        FairPolicy::Eevdf => eevdf::put_prev_entity(rq, entity),
    }
}

/// The running task has run for `delta`.
#[inline]
pub(super) fn charge<P: Platform>(rq: &mut RqGuard<'_, P>, task: &Task, delta: Nanos) {
    match of(rq.me.k) {
        FairPolicy::Cfs => cfs::charge(rq, task, delta),
        FairPolicy::Eevdf => eevdf::charge(rq, task, delta),
    }
}

/// A tick while an entity runs in the queue in front.
pub(super) fn task_tick<P: Platform>(rq: &mut RqGuard<'_, P>, curr: TaskId) {
    match of(rq.me.k) {
        FairPolicy::Cfs => cfs::task_tick(rq, curr),
        FairPolicy::Eevdf => eevdf::task_tick(rq, curr),
    }
}

/// Asks for a reschedule if `woken`, which is `p`, just queued here, or a group above it, should run before
/// the entity that runs in the queue in front.
#[inline]
pub(super) fn check_preempt_siblings<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    woken: EntityId,
    p: TaskId,
    cause: PreemptCause,
) {
    match of(rq.me.k) {
        FairPolicy::Cfs => cfs::check_preempt_wakeup(rq, woken, p, cause),
        FairPolicy::Eevdf => eevdf::check_preempt_wakeup(rq, woken, p, cause),
    }
}

/// The policy that counts for a woken entity: a group is what `p` below it is, unless it is a `cpu.idle` one.
#[inline]
pub(super) fn policy_of_woken<P: Platform>(me: ThisCpu<'_, P>, woken: EntityId, p: TaskId) -> Policy {
    let own = me.task(woken.task()).policy.get();
    if !woken.is_group() {
        return own;
    }
    match me.task(p).policy.get() {
        // Within its group alone it is less than others.
        Policy::Batch | Policy::Idle if own == Policy::Normal => Policy::Batch,
        _ => own,
    }
}

/// A group's entity gets another weight; its queue is in front.
pub(super) fn reweight_group<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, weight: Weight) {
    let se = rq.me.entity(entity);
    if !rq.me.task(entity.task()).on_rq.get() {
        return reweight_task(rq.me.k, se, weight);
    }
    update_curr(rq);
    let load = rq.fair.load + weight.whole() - se.weight();
    match of(rq.me.k) {
        FairPolicy::Cfs => se.set_weight(weight),
        FairPolicy::Eevdf => eevdf::reweight_queued(rq, entity, weight),
    }
    set_load(rq, load);
}

/// The shortest slice in the queue in front, which is that of its group's entity; CFS has none.
pub(super) fn shortest_slice<P: Platform>(rq: &RqGuard<'_, P>) -> Option<Nanos> {
    match of(rq.me.k) {
        FairPolicy::Cfs => None,
        FairPolicy::Eevdf => eevdf::min_slice(rq),
    }
}

/// A group's entity, in the queue in front, asks for such slices; `None`: as before.
pub(super) fn set_group_slice<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, slice: Option<Nanos>) {
    if let Some(slice) = slice {
        eevdf::set_group_slice(rq, entity, slice);
    }
}

/// A group has a task again; if its entity works its debt off in the queue in front, it stays.
pub(super) fn wake_delayed_group<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    if rq.me.entity(entity).eevdf.sched_delayed.get() {
        eevdf::requeue_delayed(rq, entity);
    }
}

/// A task of a higher class takes the CPU from the running fair task.
pub(crate) fn preempted_by_higher_class<P: Platform>(rq: &mut RqGuard<'_, P>) {
    match of(rq.me.k) {
        FairPolicy::Cfs => cfs::preempted_by_higher_class(rq),
        FairPolicy::Eevdf => {}
    }
}

/// The running task offers the CPU.
pub(crate) fn yield_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    with_queue_of(rq, p, |rq| match of(rq.me.k) {
        FairPolicy::Cfs => cfs::yield_task(rq, p),
        FairPolicy::Eevdf => eevdf::yield_task(rq, p),
    });
}

/// Whether a forked task is placed before it is enqueued. Under EEVDF that is one (eevdf-class 3.10).
pub(crate) fn has_task_fork<P: Platform>(k: &Scheduler<P>) -> bool {
    of(k) == FairPolicy::Cfs
}

/// What follows from another nice value. Under EEVDF there is one answer (eevdf-class 3.11).
pub(crate) fn renice<P: Platform>(k: &Scheduler<P>) -> Renice {
    match of(k) {
        FairPolicy::Cfs => k.config.rules.renice.get(),
        FairPolicy::Eevdf => Renice::Compares,
    }
}

/// Places a forked task against this queue and the task that runs there.
pub(crate) fn task_fork<P: Platform>(rq: &mut RqGuard<'_, P>, child: TaskId) {
    match of(rq.me.k) {
        FairPolicy::Cfs => with_queue_of(rq, child, |rq| cfs::task_fork(rq, child)),
        FairPolicy::Eevdf => {}
    }
}

/// A task that comes from outside the model has no parent.
pub(crate) fn place_orphan<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    match of(rq.me.k) {
        FairPolicy::Cfs => with_queue_of(rq, p, |rq| cfs::place_orphan(rq, p)),
        FairPolicy::Eevdf => {}
    }
}

/// A task that is not queued changes its CPU.
pub(crate) fn migrate_task_rq<P: Platform>(me: ThisCpu<'_, P>, task: &Task, from: CpuId, to: CpuId) {
    match of(me.k) {
        FairPolicy::Cfs => cfs::migrate_task_rq(me, task, from, to),
        FairPolicy::Eevdf => eevdf::migrate_task_rq(task),
    }
}

/// A task leaves the class for another. EEVDF has kept its lag when it left the queue.
pub(crate) fn detach_task_cfs_rq<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    match of(rq.me.k) {
        FairPolicy::Cfs => with_queue_of(rq, p, |rq| cfs::detach_task_cfs_rq(rq, p)),
        FairPolicy::Eevdf => {}
    }
}

/// A task enters the class; not yet on the queue.
pub(crate) fn attach_task_cfs_rq<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    match of(rq.me.k) {
        FairPolicy::Cfs => with_queue_of(rq, p, |rq| cfs::attach_task_cfs_rq(rq, p)),
        FairPolicy::Eevdf => {}
    }
}

/// Whether an entity of the queue is owed service, or nothing. CFS does not ask.
pub(super) fn is_eligible<P: Platform>(rq: &RqGuard<'_, P>, entity: EntityId) -> bool {
    match of(rq.me.k) {
        FairPolicy::Cfs => true,
        FairPolicy::Eevdf => eevdf::is_eligible(rq, entity),
    }
}

/// The weight of a task that is off its queue changes.
pub(crate) fn reweight_task<P: Platform>(k: &Scheduler<P>, se: &FairEntity, weight: impl Into<Weight>) {
    let weight = weight.into();
    match of(k) {
        FairPolicy::Cfs => {}
        FairPolicy::Eevdf => eevdf::reweight_entity(se, weight, k.config.rules.reweight.get()),
    }
    se.set_weight(weight);
}
