//! CPUs on which a task could run at once (fair-placement 2.6, 2.8).

use crate::platform::Platform;
use crate::registry::SchedIdleCpu;
use crate::{CpuId, ThisCpu};

/// Whether a CPU idles and nobody is on the way to it.
pub(super) fn available_idle_cpu<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    me.k.idle_cpu(cpu)
}

/// Whether a CPU has tasks, all of them SCHED_IDLE, and counts as idle everywhere.
pub(in crate::fair) fn sched_idle_cpu<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    me.k.config.rules.sched_idle_cpu.get() == SchedIdleCpu::On && runs_only_sched_idle(me, cpu)
}

/// The same, whatever the rule says of such CPUs.
pub(super) fn runs_only_sched_idle<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    let rq = &me.k.rq(cpu).published;
    let nr = rq.nr_running.get();
    nr > 0 && rq.nr_idle_policy.get() == nr
}

/// Whether a woken task would run there at once.
pub(super) fn usable<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    let counts = me.k.config.rules.sched_idle_cpu.get() != SchedIdleCpu::Off;
    available_idle_cpu(me, cpu) || (counts && runs_only_sched_idle(me, cpu))
}
