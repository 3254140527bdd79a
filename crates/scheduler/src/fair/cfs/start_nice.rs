//! START_NICE (seed 003, fair-class 5.3 to 5.8): for about one slice after a fork, parent and child advance
//! faster in virtual time, so that a fork-heavy load falls behind, without each child going to the end of the
//! queue.
//!
//! The penalty is a left shift of virtual time. It lives on the task and ends with its own CPU time or its
//! sleep; switching the feature off ends nothing. Load and weights never change, so balancing does not see
//! it.

use super::slice::sched_slice;
use crate::fair::queue::FairEntity;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{Nanos, Reason, TaskId};

/// Largest shift: virtual time at 256 times the usual rate.
pub(super) const MAX_PENALTY: u8 = 8;

/// Raises the penalty of a forking task, which runs on this queue, and hands it to its child (5.5).
pub(super) fn impose<P: Platform>(rq: &mut RqGuard<'_, P>, parent: TaskId, child: TaskId) {
    let me = rq.me;
    let (task, child_se) = (me.task(parent), &me.task(child).se);
    let (se, sum) = (&task.se, task.stats.sum_exec_runtime.get());
    expire(se, sum);
    if se.pen_timeout.get() == Nanos::ZERO {
        se.pen_timeout.set(sum);
    }
    // The slice of the penalty in force so far.
    se.pen_timeout.set(se.pen_timeout.get().saturating_add(Nanos(sched_slice(rq, task))));
    se.penalty.set((se.penalty.get() + 1).min(MAX_PENALTY));
    // The child's own clock starts at zero.
    child_se.pen_timeout.set(se.pen_timeout.get().saturating_sub(sum));
    child_se.penalty.set(se.penalty.get());
    me.decide(child, Reason::NicePenalty);
}

/// Ends a penalty whose time is over; `sum_exec` is the task's CPU time so far.
#[inline]
pub(super) fn expire(se: &FairEntity, sum_exec: Nanos) {
    if se.penalty.get() != 0 && sum_exec > se.pen_timeout.get() {
        clear(se);
    }
}

/// Ends a penalty: its time is over, or the task sleeps or exits.
#[inline]
pub(super) fn clear(se: &FairEntity) {
    se.penalty.set(0);
    se.pen_timeout.set(Nanos::ZERO);
}
