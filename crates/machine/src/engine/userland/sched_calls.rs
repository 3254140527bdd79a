//! The system calls of the scheduler itself: policy, nice value, affinity.

use super::caller::Caller;
use super::cpuset::within_cpuset;
use crate::engine::record::{Change, words};
use crate::outcome::RunError;
use scheduler::admits;
use scheduler::affinity::{set_cpus_allowed, set_cpus_allowed_nowait};
use scheduler::dl::{NotAdmitted, may_take_affinity};
use scheduler::policy::{sched_setscheduler, set_user_nice};
use scheduler::registry::Uclamp;
use scheduler::uclamp::sched_setattr_clamps;
use scheduler::{ClampRequest, CpuMask, Nice, Policy, TaskId};

/// sched_setscheduler.
pub(crate) async fn set_policy(call: Caller<'_>, target: TaskId, policy: Policy) {
    let (k, tasks) = (call.me.k, call.tasks);
    let before = tasks.served(k, target);
    if let Err(why) = sched_setscheduler(call.me, target, policy).await {
        return Caller { p: target, ..call }.refused(why);
    }
    tasks.account_under(k, target, before);
    let (is_realtime, waits) =
        (k.task(target).policy.get().is_rt(), k.task(target).stats.woken_at().is_some());
    if before.is_realtime() != is_realtime && tasks.served(k, target).is_same_task(before) {
        call.hw().recorder.changes_class(target, Change { is_realtime, waits });
    }
}

/// setpriority.
pub(crate) async fn set_nice(call: Caller<'_>, target: TaskId, nice: Nice) {
    let (k, tasks) = (call.me.k, call.tasks);
    let before = tasks.served(k, target);
    set_user_nice(call.me, target, nice).await;
    tasks.account_under(k, target, before);
}

/// sched_setattr with clamps of utilisation, on the caller.
pub(crate) async fn set_clamps(call: Caller<'_>, request: ClampRequest) {
    let refuse = |why| call.fail(|pid, comm| RunError::Clamps { pid, comm, why });
    if call.me.k.config.rules.uclamp.get() == Uclamp::Off {
        refuse("this kernel has none (uclamp=off); they exist since 5.3");
    } else if !request.is_legal() {
        refuse("they are 0 to 1024, and the lower one is not above the upper one (EINVAL)");
    } else {
        sched_setattr_clamps(call.me, call.p, request).await;
    }
}

/// sched_setaffinity.
pub(crate) async fn set_affinity(call: Caller<'_>, target: TaskId, cpus: CpuMask) {
    if let Some(allowed) = may_use(call, target, cpus) {
        set_cpus_allowed(call.me, target, allowed).await;
    }
}

/// The same by an interrupt.
pub(crate) async fn set_affinity_from_outside(call: Caller<'_>, target: TaskId, cpus: CpuMask) {
    if let Some(allowed) = may_use(call, target, cpus) {
        set_cpus_allowed_nowait(call.me, target, allowed).await;
    }
}

/// The CPUs that a task gets of those that are asked for; `None` where the kernel refuses.
fn may_use(call: Caller<'_>, target: TaskId, cpus: CpuMask) -> Option<CpuMask> {
    let k = call.me.k;
    if cpus.and(&k.online).is_empty() {
        let target = Caller { p: target, ..call };
        target.fail(|pid, comm| RunError::EmptyAffinity { pid, comm, asked: cpus, cpus: k.cpus() });
        return None;
    }
    let allowed = match within_cpuset(k, k.task(target).se.group.get(), cpus) {
        Ok(allowed) => allowed,
        Err(of_set) => {
            let target = Caller { p: target, ..call };
            let outside = |pid, comm| RunError::OutsideCpuset { pid, comm, asked: cpus.into(), cpus: of_set };
            target.fail(outside);
            return None;
        }
    };
    if let Err(why) = may_take_affinity(k, k.task(target), allowed) {
        Caller { p: target, ..call }.refused(why);
        return None;
    }
    call.hw().note_detail(call.me.id, || words::cpus_allowed(k.task(target).pid.get(), allowed));
    Some(allowed)
}

/// Whether the caller, who is about to run for the first time, may have the policy that it was made with; if
/// not, the run ends.
pub(crate) fn is_let_in(call: Caller<'_>) -> bool {
    let k = call.me.k;
    let task = k.task(call.p);
    // It starts here, or else on the first CPU that it may use.
    let here = Some(call.me.id).filter(|cpu| task.may_run_on(*cpu));
    let cpu = here.or(task.cpus_allowed.get().first()).unwrap_or(call.me.id);
    admits(k, task, cpu, task.policy.get()).map_err(|why| call.refused(why)).is_ok()
}

impl Caller<'_> {
    /// The kernel refuses a policy, an affinity, or a fork.
    pub fn refused(self, why: NotAdmitted) {
        self.fail(|pid, comm| RunError::NotAdmitted { pid, comm, why });
    }
}
