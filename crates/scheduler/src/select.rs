//! On which CPU a woken or a new task is queued (rt-class 3.2, fair-class 5.1).

use crate::class::SelectFor;
use crate::platform::Platform;
use crate::{CpuId, Reason, TaskId, ThisCpu};

/// The class chooses, unless there is nothing to choose; what it chose need not be allowed.
pub(crate) fn select_task_rq<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, purpose: SelectFor) -> CpuId {
    let task = me.task(p);
    let chosen = if task.is_pinned() {
        if matches!(purpose, SelectFor::Wakeup(_)) {
            me.decide(p, Reason::WakePinned);
        }
        task.cpus_allowed.get().first().unwrap_or(task.cpu.get())
    } else {
        task.class.get().select_task_rq(me, p, purpose)
    };
    if task.may_run_on(chosen) { chosen } else { select_fallback_rq(me, p) }
}

/// Any allowed CPU, near the last one first.
pub(crate) fn select_fallback_rq<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> CpuId {
    me.decide(p, Reason::WakeFallback);
    let task = me.task(p);
    let allowed = task.cpus_allowed.get().and(&me.k.online);
    let near = me.k.domains(task.cpu.get()).iter().find_map(|d| d.span.and(&allowed).first());
    near.or_else(|| allowed.first()).unwrap_or(task.cpu.get())
}
