//! Whether a task that was just queued takes the CPU (rt-class 3.4, fair-class 6.4).

use super::Class;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::stats::bump;
use crate::{Reason, TaskId, dl, fair, rt};

/// How a task came to be compared with the running one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PreemptCause {
    /// A wakeup; `sync`: the waker is about to sleep.
    Wakeup {
        /// The hint.
        sync: bool,
    },
    /// First run after fork.
    Fork,
    /// It arrived from another CPU, or came back from a change of its parameters.
    Migration,
}

/// Asks the queue's CPU to reschedule if `p`, just queued there, should run before its current task. Between
/// two classes the order decides; within one, the class.
pub(crate) fn check_preempt_curr<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, cause: PreemptCause) {
    let curr_class = rq.me.task(rq.curr).class.get();
    let class = rq.me.task(p).class.get();
    let was_asked = rq.published.is_asked();
    if class == Class::Deadline && !rq.me.task(p).dl.is_queued() {
        // It has to wait for its next period.
        return;
    }
    if class == curr_class {
        match class {
            Class::Deadline => dl::check_preempt_curr(rq, p),
            Class::Rt => rt::check_preempt_curr(rq, p),
            Class::Fair => fair::check_preempt_wakeup(rq, p, cause),
            Class::Stop | Class::Idle => {}
        }
    } else if class.is_above(curr_class) {
        rq.me.decide(p, Reason::PreemptClass);
        match curr_class {
            Class::Fair => fair::preempted_by_higher_class(rq),
            Class::Stop | Class::Deadline | Class::Rt | Class::Idle => {}
        }
        rq.resched();
    }
    let of_a_task = curr_class != Class::Idle && matches!(cause, PreemptCause::Wakeup { .. });
    if !was_asked && rq.published.is_asked() && of_a_task {
        bump(&rq.me.k.totals.wakeup_preemptions);
    }
}
