//! On which CPU a task is queued that is woken, new, or may not stay where it is (rt-class 3.2, fair-class
//! 5.1, fair-placement 5.5).

use crate::class::SelectFor;
use crate::domains::LevelKind;
use crate::platform::Platform;
use crate::registry::AffinityCpu;
use crate::{CpuId, CpuMask, Reason, TaskId, ThisCpu};
use alloc::boxed::Box;
use core::cell::Cell;

/// The class chooses, unless there is nothing to choose; what it chose need not be allowed.
pub(crate) fn select_task_rq<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, purpose: SelectFor) -> CpuId {
    let task = me.task(p);
    if task.migration.is_disabled() {
        me.decide(p, Reason::WakePinned);
        return task.cpu.get();
    }
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

/// The lowest allowed CPU of the node on which the task was last, else of the machine.
pub(crate) fn select_fallback_rq<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> CpuId {
    me.decide(p, Reason::WakeFallback);
    let task = me.task(p);
    let last = task.cpu.get();
    let allowed = task.cpus_allowed.get().and(&me.k.online);
    let in_node = node_of(me, last).and(&allowed).first();
    in_node.or_else(|| allowed.first()).unwrap_or(last)
}

/// The CPUs of a CPU's node: what its domains below those between nodes hold.
fn node_of<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> CpuMask {
    let inside = me.k.domains(cpu).iter().rfind(|d| !matches!(d.kind, LevelKind::Numa { .. }));
    inside.map_or(CpuMask::single(cpu), |domain| domain.span)
}

/// Where sched_setaffinity sends a task that may use `allowed` (rule `affinity_cpu`). The kernel asks that
/// before it knows whether the task has to go.
pub(crate) fn cpu_for_affinity<P: Platform>(me: ThisCpu<'_, P>, allowed: &CpuMask) -> Option<CpuId> {
    match me.k.config.rules.affinity_cpu.get() {
        AffinityCpu::First => allowed.first(),
        AffinityCpu::Distribute => any_and_distribute(me, allowed),
    }
}

/// Where each CPU's count stands (distribute_cpu_mask_prev).
#[derive(Debug)]
pub(crate) struct Cursors(Box<[Cell<CpuId>]>);

impl Cursors {
    /// Of so many CPUs.
    pub(crate) fn new(cpus: usize) -> Cursors {
        Cursors((0..cpus).map(|_| Cell::default()).collect())
    }
}

/// The next CPU of a set after the one that the executing CPU was last given, whatever for; `None` of none.
pub(crate) fn any_and_distribute<P: Platform>(me: ThisCpu<'_, P>, cpus: &CpuMask) -> Option<CpuId> {
    let cursor = &me.k.cursors.0[me.id.index()];
    let picked = cpus.next_wrapping(cursor.get());
    cursor.set(picked.unwrap_or(cursor.get()));
    picked
}
