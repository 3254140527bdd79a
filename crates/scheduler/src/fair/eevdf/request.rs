//! The running entity is charged, and its request may end (eevdf-class 3.3).
//!
//! This is all that a tick does; and it happens at every enqueue, dequeue and wakeup of the queue, too.

use super::average::{avg_vruntime, entity_eligible, update_min_vruntime};
use super::protect::is_protected;
use super::slice;
use crate::fair::queue::{FairEntity, update_curr};
use crate::fair::vruntime::lag;
use crate::platform::Platform;
use crate::registry::{Feature, TickEnd, VRef};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{Nanos, Reason, TaskId};

/// The running task has run for `delta`: asks for a reschedule if others should have the CPU.
pub(in crate::fair) fn charge<P: Platform>(rq: &mut RqGuard<'_, P>, task: &Task, delta: Nanos) {
    let Some(curr) = rq.fair.curr else { return };
    let se = &task.se;
    se.vruntime.set(se.vruntime.get().wrapping_add(se.vdelta(delta.0)));
    let new_request = update_deadline(rq, se);
    update_min_vruntime(rq);
    if rq.fair.nr_running == 1 {
        return;
    }
    let me = rq.me;
    let ends = new_request
        || match me.k.config.rules.tick_end.get() {
            TickEnd::Deadline => false,
            TickEnd::OrLost => {
                me.has(Feature::PreemptShort) && !is_protected(me, se) && !entity_eligible(rq, se)
            }
            TickEnd::Unprotected => !is_protected(me, se),
        };
    if ends {
        if !rq.published.is_asked() {
            let reason = if new_request { Reason::RequestEnd } else { Reason::ProtectionEnd };
            me.decide(curr.task(), reason);
        }
        rq.resched_lazy();
        rq.fair.buddies.clear(curr);
    }
}

/// A tick while a fair task runs.
pub(in crate::fair) fn task_tick<P: Platform>(rq: &mut RqGuard<'_, P>, _curr: TaskId) {
    update_curr(rq);
}

/// How long the running entity has to run until its request ends, as far as it has been charged.
pub(in crate::fair) fn rest_of_request(se: &FairEntity) -> Nanos {
    let left = lag(se.eevdf.deadline.get(), se.vruntime.get()).max(0) as u64;
    let mut real = se.exact_weight().real_time(left);
    // What the reciprocal of the weight rounds away.
    while se.vdelta(real) < left {
        real += 1;
    }
    Nanos(real)
}

/// The next request begins where the charge has ended, if the deadline is past; whether it is.
pub(super) fn update_deadline<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity) -> bool {
    if lag(se.vruntime.get(), se.eevdf.deadline.get()) < 0 {
        return false;
    }
    slice::renew(rq, se);
    se.eevdf.deadline.set(se.vruntime.get().wrapping_add(se.vdelta(se.eevdf.slice.get().0)));
    if rq.me.k.config.rules.v_ref.get() == VRef::Zero {
        // The reference stays near those that are counted from it.
        avg_vruntime(rq);
    }
    true
}
