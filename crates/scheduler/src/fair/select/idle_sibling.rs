//! An idle CPU near where a woken task would go (fair-placement 2.7, 8.5: `idle_sibling=scan`,
//! `core_cpu_thread`, `idle_group`).

use super::capacity;
use super::core_cpu_thread;
use super::idle_group;
use super::scan::scan;
use super::usable::usable;
use crate::fair::cache::{cluster_of, core_of, shared_cache};
use crate::fair::cpu_load::look_at;
use crate::fair::pelt::task_fits;
use crate::platform::Platform;
use crate::registry::{BoundKthread, IdleSibling, RecentUsed};
use crate::wakeup::WakeFlags;
use crate::{CpuId, Reason, TaskId, ThisCpu};

/// A CPU, and why that one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chosen {
    pub cpu: CpuId,
    pub reason: Reason,
}

/// The CPU for `p`, which ran on `prev` and would go to `target`: an idle one that shares cache with that, or
/// else `target` itself.
pub(super) fn select_idle_sibling<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    prev: CpuId,
    target: CpuId,
    flags: WakeFlags,
) -> Chosen {
    let chosen = |cpu, reason| Chosen { cpu, reason };
    let task = me.task(p);
    let is_good = |cpu| looks_usable(me, cpu) && task_fits(me, p, cpu);
    if is_good(target) {
        return chosen(target, Reason::SisTarget);
    }
    let near = |cpu| cpu != target && me.k.cpus_share_cache(cpu, target);
    let cluster = cluster_of(me, target);
    let nearest = |cpu| cluster.is_none_or(|cluster| cluster.contains(cpu));
    // Of the cache, but not of the cluster: as good as any other there that idles.
    let mut second_best = None;
    if near(prev) && is_good(prev) {
        let found = chosen(prev, Reason::SisPrev);
        if nearest(prev) {
            return found;
        }
        second_best = Some(found);
    }
    if woken_by_bound_kthread(me, prev, flags) && task_fits(me, p, prev) {
        return chosen(prev, Reason::SisKthread);
    }
    let rule = me.k.config.rules.recent_used.get();
    if rule != RecentUsed::Off {
        let noted = &task.se.habits.recent_used_cpu;
        let recent = noted.get();
        let asked = if rule == RecentUsed::Overwritten { prev } else { recent };
        let taken = recent != prev && near(recent) && is_good(recent) && task.may_run_on(asked);
        if taken || rule != RecentUsed::Waker {
            noted.set(prev);
        }
        if taken {
            let found = chosen(recent, Reason::SisRecent);
            if nearest(recent) {
                return found;
            }
            second_best = second_best.or(Some(found));
        }
    }
    if me.k.tasks_must_fit()
        && let Some(found) = capacity::search(me, p, target)
    {
        return found;
    }
    if me.k.llc_size(target) == 1 {
        return chosen(target, Reason::SisNone);
    }
    match me.k.config.rules.idle_sibling.get() {
        IdleSibling::CoreCpuThread => return core_cpu_thread::search(me, p, target),
        IdleSibling::IdleGroup => return idle_group::search(me, p, target),
        IdleSibling::Scan | IdleSibling::On | IdleSibling::Off => {}
    }
    // Without threads that share a core there is no idle core to look for, nor a thread beside the last one.
    let idle_core = shared_cache(me, target).has_idle_cores.get();
    if !idle_core
        && me.k.cpus_share_cache(target, prev)
        && let Some(core) = core_of(me, prev)
    {
        let allowed = core.and(&task.cpus_allowed.get());
        if let Some(cpu) = allowed.iter().find(|c| *c != prev && looks_usable(me, *c)) {
            return chosen(cpu, Reason::SisSmt);
        }
    }
    let found = scan(me, p, target, idle_core, cluster);
    let nobody = matches!(found.reason, Reason::SisNone | Reason::SisCut | Reason::SisRefused);
    second_best.filter(|_| nobody).unwrap_or(found)
}

/// The test costs a look at the CPU.
pub(super) fn looks_usable<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    look_at(me, cpu);
    usable(me, cpu)
}

/// A kernel thread of this CPU alone, which wakes whom it has done work for and is about to sleep.
fn woken_by_bound_kthread<P: Platform>(me: ThisCpu<'_, P>, prev: CpuId, flags: WakeFlags) -> bool {
    let waker = me.task(me.curr());
    let counts = match me.k.config.rules.bound_kthread.get() {
        BoundKthread::Task => !flags.interrupt,
        BoundKthread::Any => true,
        BoundKthread::Off => false,
    };
    counts
        && waker.kernel_thread.get()
        && waker.is_pinned()
        && prev == me.id
        && me.k.rq(me.id).published.nr_running.get() <= 1
}
