//! On which CPU a deadline task is to run (deadline-groups A9).

use super::cpudl::fits_cpu;
use super::preempt::precedes;
use crate::Class;
use crate::platform::{Access, Line, Platform};
use crate::rt::nearest_of;
use crate::{CpuId, CpuMask, Nanos, Reason, TaskId, ThisCpu};

/// The CPU for a woken or a new task that may run on more than one. No lock is held or taken.
pub(crate) fn select_task_rq<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> CpuId {
    let task = me.task(p);
    let here = task.cpu.get();
    me.touch(Line::Rq(here), Access::Read);
    let curr = me.task(me.k.rq(here).published.curr.get());
    let in_the_way = curr.class.get() == Class::Deadline && (curr.is_pinned() || !precedes(task, curr));
    if !in_the_way && fits_cpu(me, p, here) {
        me.decide(p, Reason::DlWakeStay);
        return here;
    }
    let later = find_later_rq(me, p).filter(|cpu| takes(me, *cpu, task.dl.deadline()));
    me.decide(p, if later.is_some() { Reason::DlWakeRouted } else { Reason::DlWakeNoLater });
    later.unwrap_or(here)
}

/// Whether a deadline goes before all that are queued at a CPU, as that has published them.
pub(super) fn takes<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, deadline: Nanos) -> bool {
    me.touch(Line::Rq(cpu), Access::Read);
    me.k.rq(cpu).published.dl_earliest.get().is_none_or(|earliest| deadline < earliest)
}

/// The equally good CPUs to which `p` could go.
pub(super) fn later_cpus<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> Option<CpuMask> {
    let task = me.task(p);
    if task.is_pinned() {
        return None;
    }
    me.k.root_domain(task.cpu.get()).dl.cpudl.find(me, p)
}

/// The one of them that is nearest; the task's own CPU may be the answer.
pub(super) fn find_later_rq<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> Option<CpuId> {
    let later = later_cpus(me, p)?;
    nearest_of(me, me.task(p), &later)
}
