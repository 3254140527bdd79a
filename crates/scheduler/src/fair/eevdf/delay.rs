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
use crate::fair::pelt;
use crate::fair::queue::{EntityId, FairEntity};
use crate::platform::Platform;
use crate::registry::{DelayLag, Feature};
use crate::rq::RqGuard;
use crate::{Reason, TaskId};

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
    rq.count_delayed(true);
    rq.me.decide(entity.task(), Reason::DelayedDequeue);
}

fn clear_delayed<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity) {
    se.eevdf.sched_delayed.set(false);
    rq.count_delayed(false);
}

/// An entity that stayed in its queue asleep has left it: now it is really asleep.
pub(super) fn finished<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity) {
    clear_delayed(rq, se);
    if rq.me.has(Feature::DelayZero) {
        se.eevdf.vlag.set(se.eevdf.vlag.get().min(0));
    }
}

/// Lets a task go that stayed in its queue asleep.
pub(crate) fn finish_delayed_dequeue<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    rq.me.decide(p, Reason::DelayedFinished);
    deactivate_task(rq, p, DequeueKind::Finish);
}

/// A task that stayed in its queue asleep is woken: it goes on competing where it stands, but for what
/// DELAY_ZERO takes from it.
pub(crate) fn requeue_delayed_entity<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    let entity = EntityId::of(p);
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
        leave_tree(rq, entity);
        se.eevdf.on_rq.set(false);
        place_entity(rq, se, Entrance::Return);
        se.eevdf.on_rq.set(true);
        if rq.fair.curr != Some(entity) {
            join_tree(rq, entity);
        }
    }
    clear_delayed(rq, se);
    pelt::wake_delayed(rq, p);
    me.decide(p, Reason::DelayedWoken);
}
