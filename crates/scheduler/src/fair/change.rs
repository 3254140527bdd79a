//! A queued task's class or priority has changed: what follows for the CPU (fair-class 2.6,
//! eevdf-class 3.11).

use crate::class::{PreemptCause, PrioChange, check_preempt_curr};
use crate::fair::discipline;
use crate::platform::Platform;
use crate::registry::Renice;
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
    match change {
        PrioChange::Parameters if discipline::renice(rq.me.k) != Renice::Compares => {
            goes_by_direction(rq, p, old)
        }
        PrioChange::Parameters if rq.fair.h_nr_running == 1 => {}
        PrioChange::Parameters | PrioChange::Inheritance => competes(rq, p, old),
    }
}

/// A normal task got another nice value or policy: it reschedules its CPU if it improved, or if it worsened
/// while running (up to 5.5).
fn goes_by_direction<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, old: Prio) {
    let prio = rq.me.task(p).prio.get();
    if prio.beats(old) || (old.beats(prio) && rq.curr == p) {
        rq.resched();
    }
}

/// The same since 5.6 (fair-placement 3.4, eevdf-class 3.11). Or a normal task inherited the priority of
/// another normal one, or lost it; its weight is its own. A waiting one competes as after a wakeup.
fn competes<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, old: Prio) {
    if rq.curr != p {
        check_preempt_curr(rq, p, PreemptCause::Migration);
    } else if old.beats(rq.me.task(p).prio.get()) {
        rq.resched();
    }
}
