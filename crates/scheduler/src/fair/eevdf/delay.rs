//! Delayed dequeue: who blocks with too much service goes on competing until it has worked that off
//! (eevdf-class 3.7).
//!
//! Without it a task that has overdrawn would leave with its debt, and the zero-lag point of all others would
//! jump back. With it the task pays while it sleeps: the point passes it, and as soon as it would be picked
//! it is let go, with no lag to speak of and without a switch.

use super::average::entity_eligible;
use super::lag::{Stored, update_entity_lag};
use super::place::{Entrance, place_entity};
use super::{join_tree, leave_tree};
use crate::class::{DequeueKind, deactivate_task};
use crate::fair::hierarchy::bandwidth;
use crate::fair::queue::{EntityId, FairEntity};
use crate::fair::{hierarchy, pelt};
use crate::platform::Platform;
use crate::registry::{DelayLag, Feature};
use crate::rq::RqGuard;
use crate::{GroupId, Reason, TaskId};

/// Whether an entity that blocks stays in its queue.
pub(super) fn delays<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity) -> bool {
    rq.me.has(Feature::DelayDequeue) && !entity_eligible(rq, se)
}

/// An entity stays in its queue asleep.
pub(super) fn set_delayed<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let se = rq.me.entity(entity);
    if rq.me.k.config.rules.delay_lag.get() == DelayLag::Monotonic {
        update_entity_lag(rq, se);
    }
    se.eevdf.sched_delayed.set(true);
    count(rq, entity, true);
    rq.me.decide(entity.task(), Reason::DelayedDequeue);
}

/// An entity begins to work its debt off asleep, or no longer does. A group's is no task to be counted,
/// and who is below a frozen queue counts nowhere.
pub(super) fn count<P: Platform>(rq: &RqGuard<'_, P>, entity: EntityId, delayed: bool) {
    if !entity.is_group() && !bandwidth::hides(rq.me.k, rq.me.entity(entity).group.get(), rq.cpu) {
        rq.count_delayed(delayed);
    }
}

fn clear_delayed<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    rq.me.entity(entity).eevdf.sched_delayed.set(false);
    count(rq, entity, false);
}

/// An entity that stayed in its queue asleep has left it: now it is really asleep.
pub(super) fn finished<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let se = rq.me.entity(entity);
    clear_delayed(rq, entity);
    if rq.me.has(Feature::DelayZero) {
        se.eevdf.vlag.set(se.eevdf.vlag.get().min(0));
    }
}

/// Lets an entity go that stayed in its queue asleep.
pub(crate) fn finish_delayed_dequeue<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    if entity.is_group() {
        return hierarchy::finish_delayed(rq, entity);
    }
    rq.me.decide(entity.task(), Reason::DelayedFinished);
    // Whatever level of a pick has found it.
    let before = rq.bring(GroupId::ROOT);
    deactivate_task(rq, entity.task(), DequeueKind::Finish);
    rq.bring(before);
}

/// A task that stayed in its queue asleep is woken.
pub(crate) fn requeue_delayed_entity<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    hierarchy::with_queue_of(rq, p, |rq| requeue_delayed(rq, EntityId::of(p)));
    pelt::wake_delayed(rq, p);
    rq.me.decide(p, Reason::DelayedWoken);
}

/// An entity that stayed in the queue in front asleep goes on competing where it stands, but for what
/// DELAY_ZERO takes from it.
pub(in crate::fair) fn requeue_delayed<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let me = rq.me;
    let se = me.entity(entity);
    let places_anew = match me.k.config.rules.delay_lag.get() {
        DelayLag::Monotonic => update_entity_lag(rq, se) == Stored::Corrected,
        DelayLag::Clip if me.has(Feature::DelayZero) => {
            update_entity_lag(rq, se);
            let owed = se.eevdf.vlag.get() > 0;
            se.eevdf.vlag.set(se.eevdf.vlag.get().min(0));
            owed
        }
        DelayLag::Clip => false,
    };
    if places_anew {
        leave_tree(rq, se);
        se.eevdf.on_rq.set(false);
        place_entity(rq, se, Entrance::Return);
        se.eevdf.on_rq.set(true);
        if rq.fair.curr != Some(entity) {
            join_tree(rq, entity, se);
        }
    }
    clear_delayed(rq, entity);
}
