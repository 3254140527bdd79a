//! On which CPU a task is to run (rt-class 3.3, fair-class 8.3, 8.4).

use super::Class;
use crate::platform::Platform;
use crate::wakeup::WakeFlags;
use crate::{CpuId, TaskId, ThisCpu, dl, fair, rt};

/// For what a CPU is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SelectFor {
    /// The task is woken (WF_TTWU).
    Wakeup(WakeFlags),
    /// It is new (WF_FORK).
    Fork,
    /// It executes another program (WF_EXEC).
    Exec,
}

impl Class {
    /// The CPU for `p`, which may run on more than one. It may turn out not to be allowed; then the caller
    /// takes another. No lock is held or taken.
    pub(crate) fn select_task_rq<P: Platform>(
        self,
        me: ThisCpu<'_, P>,
        p: TaskId,
        purpose: SelectFor,
    ) -> CpuId {
        match (self, purpose) {
            (Class::Deadline, SelectFor::Wakeup(_) | SelectFor::Fork) => dl::select_task_rq(me, p),
            (Class::Rt, SelectFor::Wakeup(flags)) => rt::select_task_rq(me, p, flags),
            (Class::Rt, SelectFor::Fork) => rt::select_task_rq_fork(me, p),
            (Class::Fair, SelectFor::Wakeup(flags)) => fair::select_task_rq_wake(me, p, flags),
            (Class::Fair, SelectFor::Fork | SelectFor::Exec) => fair::select_task_rq_fork(me, p),
            (Class::Deadline | Class::Rt, SelectFor::Exec) | (Class::Stop | Class::Idle, _) => {
                me.task(p).cpu.get()
            }
        }
    }
}
