//! A queued task's class or priority has changed: what follows for the CPU (fair-class 2.6,
//! eevdf-class 3.11).

use crate::class::{PreemptCause, PrioChange, check_preempt_curr};
use crate::platform::Platform;
use crate::registry::FairPolicy;
use crate::rq::RqGuard;
use crate::{Prio, TaskId};

/// A queued task has come from the real-time class: a running one makes room if there is anybody better, a
/// waiting one competes as after a wakeup.
pub(crate) fn switched_to<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    if rq.curr == p {
        rq.resched();
    } else {
        check_preempt_curr(rq, p, PreemptCause::Migration);
    }
}

/// A queued task's priority was `old`.
pub(crate) fn prio_changed<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, old: Prio, change: PrioChange) {
    match (rq.me.k.config.rules.fair_policy.get(), change) {
        (FairPolicy::Eevdf, PrioChange::Parameters) if rq.fair.nr_running == 1 => {}
        (FairPolicy::Cfs, PrioChange::Parameters) => reniced(rq, p, old),
        _ => competes(rq, p, old),
    }
}

/// A normal task got another nice value or policy: it reschedules its CPU if it improved, or if it worsened
/// while running.
fn reniced<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, old: Prio) {
    let prio = rq.me.task(p).prio.get();
    if prio.beats(old) || (old.beats(prio) && rq.curr == p) {
        rq.resched();
    }
}

/// A normal task inherited the priority of another normal one, or lost it; its weight is its own. Or EEVDF
/// serves it (eevdf-class 3.11). A waiting one competes as after a wakeup.
fn competes<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, old: Prio) {
    if rq.curr != p {
        check_preempt_curr(rq, p, PreemptCause::Migration);
    } else if old.beats(rq.me.task(p).prio.get()) {
        rq.resched();
    }
}
