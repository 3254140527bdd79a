//! SCHED_RR's time slice (rt-class 1.2, 8.2).

use super::groups;
use super::queue::{requeue, update_curr};
use crate::class::ListEnd;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{Policy, Reason, TaskId, ThisCpu};

/// RR_TIMESLICE: the default, and what a sched_rr_timeslice_ms of zero or less stands for.
const RR_TIMESLICE_MS: u64 = 100;

/// One tick while an RT task runs: accounting, and one tick less of the slice of an RR task.
pub(crate) fn task_tick<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    update_curr(rq);
    let me = rq.me;
    let task = me.task(p);
    if !matches!(task.policy.get(), Policy::Rr(_)) {
        return;
    }
    // Zero: it has not run a tick since it was created.
    let slice = match task.rt.time_slice.get() {
        0 => slice_ticks(me),
        slice => slice,
    };
    if slice > 1 {
        task.rt.time_slice.set(slice - 1);
        return;
    }
    task.rt.time_slice.set(slice_ticks(me));
    if groups::has_company(rq, p) {
        requeue(rq, p, ListEnd::Tail);
        me.decide(p, Reason::RrSlice);
        rq.resched();
    }
}

fn slice_ticks<P: Platform>(me: ThisCpu<'_, P>) -> u32 {
    let tunables = &me.k.config.tunables;
    let ms = u64::try_from(tunables.sched_rr_timeslice_ms.get()).ok().filter(|ms| *ms > 0);
    let hz = tunables.hz.get().unsigned_abs();
    // The registry bounds both: at most 10 s at 10 000 Hz.
    ((ms.unwrap_or(RR_TIMESLICE_MS) * hz / 1000) as u32).max(1)
}
