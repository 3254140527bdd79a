//! The running task's CPU time (fair-class 2.3).

use crate::fair::hierarchy::bandwidth;
use crate::fair::{discipline, pelt};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{Event, GroupId, Nanos, dl};

/// Accounts the time of the running entity of the queue in front up to the task clock: real time here,
/// virtual time by the discipline.
pub(in crate::fair) fn update_curr<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let Some(curr) = rq.fair.curr else { return };
    let task = rq.me.task(curr.task());
    let (stats, now) = (&task.stats, rq.clock_task());
    let delta = now.saturating_sub(stats.exec_start.get());
    if delta == Nanos::ZERO {
        return;
    }
    stats.ran(delta, now);
    rq.fair.exec_clock += delta;
    discipline::charge(rq, task, delta);
    if rq.fair.group == GroupId::ROOT {
        // What the root's queue hands out is what the class gets.
        dl::fair_ran(rq, delta);
    } else {
        bandwidth::account(rq, delta);
    }
    if curr.is_group() {
        return;
    }
    let vruntime = task.se.vruntime.get();
    rq.me.event(Event::StatRuntime { task: curr.task(), runtime: delta, vruntime });
}

/// The running task, of a higher class, is charged so much CPU time.
#[inline]
pub(crate) fn higher_class_charged<P: Platform>(rq: &RqGuard<'_, P>, ran: Nanos) {
    pelt::higher_class_charged(rq, ran);
    rq.me.k.groups.ran_above(rq.me.task(rq.curr).se.group.get(), ran);
}
