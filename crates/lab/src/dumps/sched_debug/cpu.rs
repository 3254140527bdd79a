//! The block of a CPU.

use super::Lines;
use crate::dumps::format::Msecs;
use crate::dumps::lines::Block;
use crate::dumps::schedstat::NO_ARRAY_SWITCHES;
use crate::dumps::{Release, Show};
use machine::CpuSnapshot;
use std::fmt::Write;

/// The model's CPUs have no clock rate, so none is printed.
pub(super) fn write(show: &Show<'_>, cpu: &CpuSnapshot, out: &mut String) {
    let _infallible = writeln!(out, "\ncpu#{}", cpu.cpu);
    let mut lines = Lines::of(show, Block::Cpu, out);
    lines.line("nr_running", cpu.nr_running);
    lines.line("load", show.weight(cpu.load));
    lines.line("nr_switches", cpu.nr_switches);
    // Where nothing averages the load of CPUs any more, nothing counts how often.
    let averages_load = show.has(Block::Cpu, "cpu_load[0]");
    lines.line("nr_load_updates", if averages_load { cpu.counts.load_updates.get() } else { 0 });
    lines.line("nr_uninterruptible", cpu.nr_uninterruptible);
    // Linux prints these ticks as if they were nanoseconds.
    let next_balance = i64::try_from(show.jiffies(cpu.next_balance)).unwrap_or(i64::MAX);
    lines.line("next_balance", Msecs(next_balance));
    lines.line("curr->pid", show.pid(cpu.curr));
    lines.line("clock", Msecs::from(cpu.clock));
    lines.line("clock_task", Msecs::from(cpu.clock_task));
    for (index, load) in cpu.cpu_load.iter().enumerate() {
        lines.line(&format!("cpu_load[{index}]"), load);
    }
    let are_apart = show.since(Release::IDLE_TIMES_APART);
    if are_apart {
        idle_times(cpu, &mut lines);
    }
    lines.line("yld_count", cpu.counts.yields.get());
    lines.line("sched_switch", NO_ARRAY_SWITCHES);
    lines.line("sched_count", cpu.counts.schedules.get());
    lines.line("sched_goidle", cpu.counts.went_idle.get());
    if !are_apart {
        idle_times(cpu, &mut lines);
    }
    lines.line("ttwu_count", cpu.counts.wakeups.get());
    lines.line("ttwu_local", cpu.counts.local_wakeups.get());
}

fn idle_times(cpu: &CpuSnapshot, lines: &mut Lines<'_>) {
    let migration_cost = lines.show.snapshot.config.tunables.sched_migration_cost_ns.get();
    lines.line("avg_idle", cpu.avg_idle.0);
    match cpu.max_idle_balance_cost {
        Some(cost) => lines.line("max_idle_balance_cost", cost.0),
        None => lines.line("max_idle_balance_cost", migration_cost),
    }
}
