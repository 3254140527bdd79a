//! sched_yield (eevdf-class 3.9).

use super::average::entity_eligible;
use super::request::update_deadline;
use crate::TaskId;
use crate::fair::queue::{EntityId, update_curr};
use crate::platform::Platform;
use crate::registry::YieldForm;
use crate::rq::RqGuard;

/// The running task offers the CPU: it forfeits what is left of its request, or puts its deadline off.
pub(in crate::fair) fn yield_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    if rq.nr_running == 1 {
        return;
    }
    rq.fair.buddies.clear(EntityId::of(p));
    update_curr(rq);
    let se = &rq.me.task(p).se;
    match rq.me.k.config.rules.yield_form.get() {
        YieldForm::Forfeit => {
            if entity_eligible(rq, se) {
                se.vruntime.set(se.eevdf.deadline.get());
                update_deadline(rq, se);
            }
        }
        YieldForm::Deadline => {
            let later = se.eevdf.deadline.get().wrapping_add(se.vdelta(se.eevdf.slice.get().0));
            se.eevdf.deadline.set(later);
        }
    }
}
