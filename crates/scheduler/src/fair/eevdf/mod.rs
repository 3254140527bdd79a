//! EEVDF, the queue discipline of the kernels from 6.6 on: earliest eligible virtual deadline first
//! (eevdf-class 2, 3).
//!
//! Two questions take the place of CFS's one. *Who is owed service?* Whoever is left of the zero-lag point V,
//! the mean of all virtual runtimes (`average`). *Whose request ends first?* Each entity asks for one slice
//! after the other, and a request has a deadline in virtual time (`request`, `slice`). Weight decides how
//! much an entity gets, its slice how soon.
//!
//! - `place`: where an entity enters; it is owed what it was owed when it left (`lag`).
//! - `tree`: those that wait, by deadline. `pick`: who is next.
//! - `protect`: the picked one keeps the CPU for a while. `preempt`: whether a wakeup takes it all the same.
//! - `group`: the entity of a group gets another weight, or other slices, while it competes.
//! - `delay`: who blocks in debt stays in the queue until that is worked off.
//! - `yield_`: sched_yield.
//!
//! The functions of a discipline are those that the head of `cfs` lists; two more are of this one:
//! [`choose`] asks while the running entity still stands apart, so that one that is picked again is neither
//! put back nor set anew, and [`requeue_delayed_entity`] wakes who is in the queue asleep.

mod average;
mod delay;
mod entity;
mod group;
mod lag;
mod pick;
mod place;
mod preempt;
mod protect;
mod request;
mod slice;
mod tree;
mod yield_;

pub use average::EevdfRq;
pub(crate) use average::Sums;
pub(super) use delay::requeue_delayed;
pub(crate) use delay::{finish_delayed_dequeue, requeue_delayed_entity};
pub use entity::EevdfEntity;
pub(super) use group::{reweight_queued, set_group_slice};
pub(super) use lag::reweight_entity;
pub(super) use preempt::check_preempt_wakeup;
pub(super) use request::{charge, rest_of_request, task_tick};
pub use slice::CUSTOM_SLICES;
pub(super) use slice::min_slice;
pub(crate) use slice::set_custom_slice;
pub use tree::{Candidate, Tree};
pub(super) use yield_::yield_task;
#[cfg(test)]
pub(super) use {average::avg_vruntime, lag::lag_limit};

use super::queue::{Dequeued, EntityId, FairEntity, update_curr};
use crate::class::{DequeueKind, EnqueueKind};
use crate::platform::Platform;
use crate::registry::{Feature, ProtectWhen};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{Nanos, Reason, TaskState};
use average::update_min_vruntime;
use lag::update_entity_lag;
use pick::{Because, Regard, pick_eevdf};
use place::{Entrance, place_entity};
pub(super) use protect::set_protect_slice;

/// Lets an entity compete.
pub(super) fn enqueue_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, kind: EnqueueKind) {
    let me = rq.me;
    let se = me.entity(entity);
    let entrance = if kind == EnqueueKind::New { Entrance::Initial } else { Entrance::Return };
    update_curr(rq);
    place_entity(rq, se, entrance);
    se.eevdf.on_rq.set(true);
    if se.eevdf.sched_delayed.get() {
        delay::count(rq, entity, true);
    }
    if rq.fair.curr != Some(entity) {
        join_tree(rq, entity, se);
    } else if me.k.config.rules.protect_when.get() == ProtectWhen::SetNext {
        set_protect_slice(rq, se);
    }
}

/// An entity blocks, or leaves; the running one has been charged. One that blocks may stay, to work off its
/// debt.
pub(super) fn dequeue_entity<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    entity: EntityId,
    kind: DequeueKind,
) -> Dequeued {
    let me = rq.me;
    let se = me.entity(entity);
    rq.fair.buddies.clear(entity);
    // Who exits must not be woken by mistake, and is gone at once.
    let may_stay = kind == DequeueKind::Sleep && me.task(entity.task()).state.get() != TaskState::Dead;
    if may_stay && delay::delays(rq, se) {
        delay::set_delayed(rq, entity);
        return Dequeued::Delayed;
    }
    update_entity_lag(rq, se);
    leave_tree(rq, se);
    let deadline = &se.eevdf.deadline;
    match kind {
        DequeueKind::Restore | DequeueKind::Departure => {
            if me.has(Feature::PlaceRelDeadline) {
                deadline.set(deadline.get().wrapping_sub(se.vruntime.get()));
                se.eevdf.rel_deadline.set(true);
            }
            if se.eevdf.sched_delayed.get() {
                delay::count(rq, entity, false);
            }
        }
        DequeueKind::Throttle if se.eevdf.sched_delayed.get() => delay::finished(rq, entity),
        DequeueKind::Sleep | DequeueKind::Park | DequeueKind::Throttle => {}
        DequeueKind::Finish => delay::finished(rq, entity),
    }
    se.eevdf.on_rq.set(false);
    // One that comes back at once does not find that the reference has passed it.
    if kind != DequeueKind::Restore {
        update_min_vruntime(rq);
    }
    Dequeued::Gone
}

/// Who is to run, while the running entity still stands apart from those that wait; whoever would be picked
/// and sleeps leaves the queue. `None` where nobody competes.
pub(super) fn choose<P: Platform>(rq: &mut RqGuard<'_, P>) -> Option<EntityId> {
    let me = rq.me;
    if rq.fair.curr.is_some_and(|curr| me.entity(curr).eevdf.on_rq.get()) {
        update_curr(rq);
    }
    loop {
        let choice = pick_eevdf(rq, Regard { protection: true, buddy: true })?;
        let p = choice.entity.task();
        if !me.entity(choice.entity).eevdf.sched_delayed.get() {
            match choice.because {
                Because::Buddy => me.decide(p, Reason::BuddyNext),
                Because::Protected => me.decide(p, Reason::PickProtected),
                Because::Deadline => {}
            }
            return Some(choice.entity);
        }
        finish_delayed_dequeue(rq, choice.entity);
    }
}

/// How an entity comes to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SetNext {
    /// It was picked.
    Picked,
    /// It runs, and comes back after a change of its parameters.
    Restored,
    /// It was put back in this very pick, and goes on.
    Continued,
}

/// An entity becomes the running one.
pub(super) fn set_next_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, how: SetNext) {
    let se = rq.me.entity(entity);
    rq.fair.buddies.clear(entity);
    leave_tree(rq, se);
    let protects = match how {
        SetNext::Picked => true,
        SetNext::Restored => rq.me.k.config.rules.protect_when.get() == ProtectWhen::SetNext,
        SetNext::Continued => false,
    };
    if se.eevdf.on_rq.get() && protects {
        set_protect_slice(rq, se);
    }
}

/// The running entity has been charged, and waits from now on.
pub(super) fn put_prev_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    join_tree(rq, entity, rq.me.entity(entity));
}

/// A task's CPU changes: it has not run on the new one, so nothing of it is in the cache there.
pub(super) fn migrate_task_rq(task: &Task) {
    task.stats.exec_start.set(Nanos::ZERO);
}

/// Whether an entity is owed service, or nothing: balancing leaves the others where they are.
pub(super) fn is_eligible<P: Platform>(rq: &RqGuard<'_, P>, entity: EntityId) -> bool {
    let se = rq.me.entity(entity);
    Sums::of(&rq.me.k.tasks, rq.queue(se.group.get())).eligible(se.vruntime.get())
}

pub(super) fn join_tree<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, se: &FairEntity) {
    if se.in_timeline.replace(true) {
        return;
    }
    let queue = &mut rq.fair.eevdf;
    let candidate = Candidate {
        entity,
        deadline: se.eevdf.deadline.get(),
        vruntime: se.vruntime.get(),
        slice: se.eevdf.slice.get(),
    };
    se.eevdf.arrival.set(queue.tree.insert(candidate).arrival);
    queue.sum_wv += queue.weighted_key(se);
    queue.sum_w += se.weight();
    let waiting = &rq.me.k.root_domain(rq.cpu).waiting;
    waiting.set(waiting.get() + 1);
}

pub(super) fn leave_tree<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity) {
    if !se.in_timeline.replace(false) {
        return;
    }
    let queue = &mut rq.fair.eevdf;
    queue.tree.remove(se.eevdf.place());
    queue.sum_wv -= queue.weighted_key(se);
    queue.sum_w -= se.weight();
    let waiting = &rq.me.k.root_domain(rq.cpu).waiting;
    waiting.set(waiting.get() - 1);
}
