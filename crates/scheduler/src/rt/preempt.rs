//! Whether a task that was just queued preempts the running RT task (rt-class 3.4, 2.3).

use super::queue::requeue;
use super::search;
use crate::class::ListEnd;
use crate::platform::Platform;
use crate::registry::EqualPrioCheck;
use crate::rq::RqGuard;
use crate::{Reason, TaskId};

/// Both `p` and the running task are of the RT class; the core has dealt with the other cases.
#[inline]
pub(crate) fn check_preempt_curr<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    let (prio, curr) = (me.task(p).prio.get(), me.task(rq.curr).prio.get());
    if prio.beats(curr) {
        me.decide(p, Reason::PreemptPrio);
        rq.resched();
    } else if prio == curr && !rq.need_resched() && check_preempt_equal_prio(rq, p) {
        // The evicted task becomes pushable when it is put, and the push after the switch sends it away.
        requeue(rq, p, ListEnd::Head);
        me.decide(p, Reason::PreemptEqual);
        rq.resched();
    } else {
        me.decide(p, Reason::NoPreempt);
    }
}

/// A running task that can go elsewhere makes room for an equal one that cannot. Two eras asked in different
/// order, with the same answer but not the same cost.
fn check_preempt_equal_prio<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) -> bool {
    let me = rq.me;
    let can_move = |task: TaskId| search::any_lower(me, task);
    match me.k.config.rules.equal_prio_check.get() {
        _ if me.task(rq.curr).is_pinned() => false,
        EqualPrioCheck::CurrFirst => can_move(rq.curr) && !can_move(p),
        EqualPrioCheck::NewcomerFirst => !can_move(p) && can_move(rq.curr),
        EqualPrioCheck::Off => false,
    }
}
