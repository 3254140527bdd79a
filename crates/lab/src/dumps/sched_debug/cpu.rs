//! The block of a CPU.

use super::line;
use crate::dumps::format::Msecs;
use crate::dumps::schedstat::NO_ARRAY_SWITCHES;
use crate::dumps::{Release, Show};
use machine::CpuSnapshot;
use std::fmt::Write;

/// The model's CPUs have no clock rate, so none is printed.
pub(super) fn write(show: &Show<'_>, cpu: &CpuSnapshot, out: &mut String) {
    let weighs = !show.since(Release::NO_CPU_LOAD);
    let _infallible = writeln!(out, "\ncpu#{}", cpu.cpu);
    line(out, "nr_running", cpu.nr_running);
    if weighs {
        line(out, "load", show.weight(cpu.load));
    }
    line(out, "nr_switches", cpu.nr_switches);
    if weighs {
        line(out, "nr_load_updates", cpu.counts.load_updates.get());
    }
    line(out, "nr_uninterruptible", cpu.nr_uninterruptible);
    // Linux prints these ticks as if they were nanoseconds.
    line(out, "next_balance", Msecs(i64::try_from(show.jiffies(cpu.next_balance)).unwrap_or(i64::MAX)));
    line(out, "curr->pid", show.pid(cpu.curr));
    line(out, "clock", Msecs::from(cpu.clock));
    if show.since(Release::WAIT_TIME) {
        line(out, "clock_task", Msecs::from(cpu.clock_task));
    }
    for (index, load) in cpu.cpu_load.iter().enumerate().filter(|_| weighs) {
        line(out, &format!("cpu_load[{index}]"), load);
    }
    if show.since(Release::WAIT_TIME) {
        idle_times(show, cpu, out);
    }
    line(out, "yld_count", cpu.counts.yields.get());
    if !show.since(Release::CLOCKS) {
        line(out, "sched_switch", NO_ARRAY_SWITCHES);
    }
    line(out, "sched_count", cpu.counts.schedules.get());
    line(out, "sched_goidle", cpu.counts.went_idle.get());
    if show.since(Release::TUNABLE_SCALING) && !show.since(Release::WAIT_TIME) {
        line(out, "avg_idle", cpu.avg_idle.0);
    }
    line(out, "ttwu_count", cpu.counts.wakeups.get());
    line(out, "ttwu_local", cpu.counts.local_wakeups.get());
}

fn idle_times(show: &Show<'_>, cpu: &CpuSnapshot, out: &mut String) {
    let migration_cost = show.snapshot.config.tunables.sched_migration_cost_ns.get();
    line(out, "avg_idle", cpu.avg_idle.0);
    match cpu.max_idle_balance_cost {
        Some(cost) => line(out, "max_idle_balance_cost", cost.0),
        None => line(out, "max_idle_balance_cost", migration_cost),
    }
}
