//! Wakeups of 2.6.23-rt5: one routine for all classes, which weighs loads and is blind to RT priority
//! (rt-class 9, `wake_route=cfs_load`).

use crate::domains::{LevelKind, SchedDomain};
use crate::fair::{cpu_avg_load_per_task, load_weight, weighted_cpuload};
use crate::platform::{Access, Cost, Line, Platform};
use crate::wakeup::WakeFlags;
use crate::{CpuId, Nanos, TaskId, ThisCpu};

/// Imbalance tolerated at a wakeup, in percent: 100 + (imbalance_pct − 100) / 2 with imbalance_pct 125
/// (fair-class 8.1).
const IMBALANCE: u64 = 112;

/// Load of a CPU as it is now and as it was at its last tick. Both include RT tasks, if those weigh anything
/// (rule rt_load_weight).
struct Loads {
    /// The lesser of the two: what it has at least.
    low: u64,
    /// The greater of the two: what it may have.
    high: u64,
    /// Now, per runnable task.
    per_task: u64,
}

fn loads<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> Loads {
    me.touch(Line::Rq(cpu), Access::Read);
    let (now, ticked) = (weighted_cpuload(me, cpu), me.k.rq(cpu).published.cpu_load[0].get());
    Loads { low: now.min(ticked), high: now.max(ticked), per_task: cpu_avg_load_per_task(me, cpu) }
}

/// The CPU for `p`, woken by the executing CPU.
pub(super) fn route_by_load<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, flags: WakeFlags) -> CpuId {
    let task = me.task(p);
    let last = task.cpu.get();
    if task.on_cpu.get() {
        return last;
    }
    let candidate = if last == me.id || comes_to_waker(me, p, flags) { me.id } else { last };
    wake_idle(me, p, candidate)
}

/// Whether the waker's CPU is the better place, by load.
fn comes_to_waker<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, flags: WakeFlags) -> bool {
    let task = me.task(p);
    let last = task.cpu.get();
    let common = me.k.domains(me.id).iter().find(|d| d.span.contains(last));
    let Some(domain) = common.filter(|_| task.may_run_on(me.id)) else { return false };
    let (here, there) = (loads(me, me.id), loads(me, last));
    if affine(domain) {
        if flags.sync && !task_hot(me, p) {
            return true;
        }
        let leaving = if flags.sync { load_weight(me, me.curr()) } else { 0 };
        let here_now = here.high.saturating_sub(leaving);
        let balanced = here_now <= there.low && here_now + there.high <= here.per_task;
        return balanced || 100 * (here_now + load_weight(me, p)) <= IMBALANCE * there.low;
    }
    IMBALANCE * here.high <= 100 * there.low
}

/// SD_WAKE_AFFINE; the node levels had SD_WAKE_BALANCE instead.
fn affine(domain: &SchedDomain) -> bool {
    !matches!(domain.kind, LevelKind::Numa { .. })
}

/// Whether it ran so recently that its cache may still be warm; a sched_migration_cost of −1 means always.
fn task_hot<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> bool {
    let cost = me.k.config.tunables.sched_migration_cost_ns.get();
    let since = me.now().saturating_sub(me.task(p).stats.last_ran.get());
    u64::try_from(cost).map_or(true, |cost| since < Nanos(cost))
}

/// Keeps a candidate that is idle or has several tasks; else looks for an idle CPU among its hardware
/// threads, the only domains that had SD_WAKE_IDLE.
fn wake_idle<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, candidate: CpuId) -> CpuId {
    if me.k.idle_cpu(candidate) || me.k.rq(candidate).published.nr_running.get() > 1 {
        return candidate;
    }
    let smt = |d: &&SchedDomain| d.kind == LevelKind::Smt;
    let Some(domain) = me.k.domains(candidate).iter().find(smt) else { return candidate };
    let idle = |cpu: &CpuId| {
        me.charge(Cost::ScanCpu);
        me.touch(Line::Rq(*cpu), Access::Read);
        me.k.idle_cpu(*cpu)
    };
    let allowed = domain.span.and(&me.task(p).cpus_allowed.get());
    allowed.iter().find(idle).unwrap_or(candidate)
}
