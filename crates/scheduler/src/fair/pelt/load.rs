//! How busy CPUs are and how much a task brings, as choosing a CPU and balancing read it without locks
//! (fair-placement 1.6, 1.9). Under `load_tracking=weights` it is what runs and waits at this moment.

use super::average::FULL;
use super::tracked;
use crate::fair::cpu_load::weighted_cpuload;
use crate::fair::hierarchy::bandwidth::is_hidden;
use crate::fair::hierarchy::task_h_load;
use crate::platform::Platform;
use crate::registry::BalanceLoad;
use crate::{Class, CpuId, GroupId, TaskId, ThisCpu};

/// Sum of the weights on a CPU, as far as they were runnable.
pub(in crate::fair) fn cpu_load<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    if !tracked(me) {
        return weighted_cpuload(me, cpu);
    }
    let pelt = &me.k.rq(cpu).published.pelt;
    match me.k.config.rules.balance_load.get() {
        BalanceLoad::All => pelt.average.load_avg.get(),
        BalanceLoad::Queued => pelt.queued_load.get(),
    }
}

/// The same of all tasks, whatever `balance_load` says.
pub(in crate::fair) fn cpu_load_of_all<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    if tracked(me) { me.k.rq(cpu).published.pelt.average.load_avg.get() } else { weighted_cpuload(me, cpu) }
}

/// Runnable fair tasks of a CPU, in 1024ths.
pub(in crate::fair) fn cpu_runnable<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    if tracked(me) {
        me.k.rq(cpu).published.pelt.average.runnable_avg.get()
    } else {
        FULL * u64::from(me.k.nr_fair(cpu))
    }
}

/// What the fair tasks of a CPU use of it, or are expected to, in 1024ths.
pub(crate) fn cpu_util<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    let pelt = &me.k.rq(cpu).published.pelt;
    if tracked(me) {
        pelt.average.util_avg.get().max(pelt.estimated.get()).min(pelt.capacity.full)
    } else {
        FULL * u64::from(runs_fair(me, cpu))
    }
}

fn runs_fair<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    me.task(me.k.rq(cpu).published.curr.get()).class.get() == Class::Fair
}

/// What a task brings to the load of its CPU; in a group, by way of the group.
pub(in crate::fair) fn task_load<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> u64 {
    let se = &me.task(p).se;
    let own = if tracked(me) { se.pelt.average.load_avg.get() } else { se.weight() };
    if se.group.get() == GroupId::ROOT { own } else { task_h_load(me, p, own) }
}

/// What a task is expected to use of a CPU, in 1024ths.
pub(in crate::fair) fn task_util_estimate<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> u64 {
    let pelt = &me.task(p).se.pelt;
    if tracked(me) { pelt.average.util_avg.get().max(pelt.estimate.of_last_activations()) } else { FULL }
}

/// With or without a sleeping task on a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::fair) enum UtilWith {
    /// As if it were queued there.
    It,
    /// As if it had never been there.
    WithoutIt,
}

/// As [`cpu_util`], with or without a task that sleeps.
pub(in crate::fair) fn cpu_util_with<P: Platform>(
    me: ThisCpu<'_, P>,
    cpu: CpuId,
    p: TaskId,
    with: UtilWith,
) -> u64 {
    let (pelt, task) = (&me.k.rq(cpu).published.pelt, me.task(p));
    let own = &task.se.pelt;
    let mut used = pelt.average.util_avg.get();
    if task.cpu.get() == cpu && own.attached.get() {
        used = used.saturating_sub(own.average.util_avg.get());
    }
    let mut estimated = pelt.estimated.get();
    if with == UtilWith::It {
        used += own.average.util_avg.get();
        estimated += task_util_estimate(me, p);
    }
    used.max(estimated).min(pelt.capacity.full)
}

/// A CPU as it would be without a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::fair) struct Without {
    /// As [`cpu_load`].
    pub load: u64,
    /// As [`cpu_runnable`].
    pub runnable: u64,
    /// As [`cpu_util`].
    pub util: u64,
    /// Runnable tasks of all classes.
    pub nr_running: u32,
    /// Runs nothing else, and nobody is about to be queued.
    pub idle: bool,
}

/// A CPU, with `p` left out wherever it counts there.
pub(in crate::fair) fn cpu_without<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, p: TaskId) -> Without {
    let (task, rq) = (me.task(p), me.k.rq(cpu));
    let here = task.cpu.get() == cpu;
    let queued = here && task.on_rq.get() && !is_hidden(me.k, task);
    let curr = rq.published.curr.get();
    let nr_running = rq.published.nr_running.get() - u32::from(queued);
    let runs_nobody_else = curr == me.k.idle_task(cpu) || curr == p;
    let counted = if tracked(me) { here && task.se.pelt.attached.get() } else { queued };
    let idle = nr_running == 0 && runs_nobody_else && rq.wake_list.is_empty();
    if !counted {
        let (load, runnable, util) = (cpu_load(me, cpu), cpu_runnable(me, cpu), cpu_util(me, cpu));
        return Without { load, runnable, util, nr_running, idle };
    }
    let own = &task.se.pelt;
    let (runnable, util) = if tracked(me) {
        let average = &rq.published.pelt.average;
        let used = average.util_avg.get().saturating_sub(own.average.util_avg.get());
        let mut estimated = rq.published.pelt.estimated.get();
        if queued {
            estimated = estimated.saturating_sub(own.estimate.counted.get());
        }
        (own.average.runnable_avg.get(), used.max(estimated).min(rq.published.pelt.capacity.full))
    } else {
        (FULL, FULL * u64::from(runs_fair(me, cpu) && curr != p))
    };
    let in_load = queued || me.k.config.rules.balance_load.get() == BalanceLoad::All;
    Without {
        load: cpu_load(me, cpu).saturating_sub(if in_load { task_load(me, p) } else { 0 }),
        runnable: cpu_runnable(me, cpu).saturating_sub(runnable),
        util,
        nr_running,
        idle,
    }
}
