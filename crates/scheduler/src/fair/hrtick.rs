//! HRTICK: a timer of each CPU that ends the running task's turn when it is over, and not at the tick after
//! (eevdf-class 5.4).
//!
//! It is set whenever a fair task is picked that has company, and when the second one is queued; every pick
//! sets it anew or stops it.

use super::{cfs, eevdf, hierarchy};
use crate::platform::Platform;
use crate::registry::{FairPolicy, HrtickFor};
use crate::rq::RqGuard;
use crate::{Nanos, Reason, TaskId};

/// No timer is set for less than that.
const SHORTEST: Nanos = Nanos(10_000);

/// `next`, a fair task, was picked: the timer is for it, if it has company.
pub(crate) fn hrtick_start<P: Platform>(rq: &mut RqGuard<'_, P>, next: TaskId) {
    let at = if rq.fair.h_nr_running > 1 { turn_ends(rq, next) } else { None };
    set(rq, at);
}

/// Another class's task was picked: the timer is for nobody.
pub(crate) fn hrtick_clear<P: Platform>(rq: &mut RqGuard<'_, P>) {
    set(rq, None);
}

/// Somebody was queued beside the running task: if that is a fair one, it has company now.
pub(super) fn hrtick_update<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.fair.h_nr_running == 2 && rq.fair.curr.is_some() {
        let curr = rq.curr;
        let at = turn_ends(rq, curr);
        set(rq, at);
        if at.is_none() {
            asks(rq, curr);
        }
    }
}

/// The timer fires: whose turn is over makes room.
pub(crate) fn hrtick<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.fair.curr.is_none() {
        return;
    }
    let curr = rq.curr;
    hierarchy::charge_levels(rq, curr);
    if rq.fair.h_nr_running > 1 {
        asks(rq, curr);
    }
}

/// When a task's turn ends; `None` if it is over. (Who is picked all the same goes on to the next tick.)
fn turn_ends<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) -> Option<Nanos> {
    let (task, rules) = (rq.me.task(p), &rq.me.k.config.rules);
    let left = match (rules.fair_policy.get(), rules.hrtick_for.get()) {
        (FairPolicy::Eevdf, HrtickFor::Request) => eevdf::rest_of_request(&task.se),
        (FairPolicy::Eevdf, HrtickFor::Slice) => task.se.eevdf.slice.get().saturating_sub(task.ran()),
        (FairPolicy::Cfs, _) => {
            let slice = hierarchy::with_queue_of(rq, p, |rq| cfs::sched_slice(rq, task));
            Nanos(slice).saturating_sub(task.ran())
        }
    };
    // The timer goes by the clock: interrupts that are left out until then make the turn shorter.
    let began = task.stats.exec_start.get() + rq.published.left_out.get();
    (left > Nanos::ZERO).then(|| began + left.max(SHORTEST))
}

fn set<P: Platform>(rq: &mut RqGuard<'_, P>, at: Option<Nanos>) {
    if rq.hrtick != at {
        rq.hrtick = at;
        rq.me.k.platform.set_hrtick(rq.cpu, at);
    }
}

/// Until 7.0 it asks as the class does; 7.1 insists.
fn asks<P: Platform>(rq: &mut RqGuard<'_, P>, curr: TaskId) {
    if !rq.published.is_asked() {
        rq.me.decide(curr, Reason::HrtickEnd);
    }
    match rq.me.k.config.rules.hrtick_for.get() {
        HrtickFor::Slice => rq.resched_lazy(),
        HrtickFor::Request => rq.resched(),
    }
}
