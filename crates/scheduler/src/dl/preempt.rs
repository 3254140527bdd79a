//! Whether a task that was just queued preempts the running deadline task (deadline-groups A9).

use super::select::later_cpus;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{Reason, TaskId};

/// Whether one deadline lies before the other.
pub(super) fn precedes(p: &Task, other: &Task) -> bool {
    p.dl.deadline() < other.dl.deadline()
}

/// Both `p` and the running task are of this class; the core has dealt with the other cases.
pub(crate) fn check_preempt_curr<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    let (task, curr) = (me.task(p), me.task(rq.curr));
    if precedes(task, curr) {
        me.decide(p, Reason::DlPreempt);
        rq.resched();
    } else if task.dl.deadline() == curr.dl.deadline() && !rq.need_resched() && makes_room(rq, p) {
        me.decide(p, Reason::PreemptEqual);
        rq.resched();
    } else {
        me.decide(p, Reason::NoPreempt);
    }
}

/// A running task that can go elsewhere makes room for an equal one that cannot (as rt-class 2.3).
fn makes_room<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) -> bool {
    let me = rq.me;
    later_cpus(me, rq.curr).is_some() && later_cpus(me, p).is_none()
}
