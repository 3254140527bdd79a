//! /proc/sched_debug (fair-class 11.2), with the two columns of seed 003.

use super::Show;
use super::format::{Msecs, feature_mask};
use machine::{CpuSnapshot, FairQueueSnapshot, TaskSnapshot};
use std::fmt::{Display, Write};

pub(super) fn text(show: &Show<'_>) -> String {
    let mut out = String::new();
    header(show, &mut out);
    let first_floor = show.snapshot.cpus.first().map_or(0, |cpu| cpu.fair.min_vruntime);
    for cpu in &show.snapshot.cpus {
        cpu_block(show, cpu, &mut out);
        queue_block(cpu, first_floor, &mut out);
        task_rows(show, cpu, &mut out);
    }
    out
}

/// Names of the header are longer than those of the blocks, so its values stand further right.
fn header_line(out: &mut String, name: &str, value: impl Display) {
    let _infallible = writeln!(out, "  .{name:<40}: {value}");
}

fn line(out: &mut String, name: &str, value: impl Display) {
    let _infallible = writeln!(out, "  .{name:<30}: {value}");
}

fn header(show: &Show<'_>, out: &mut String) {
    let snapshot = show.snapshot;
    let tunables = &snapshot.config.tunables;
    let scaled = &snapshot.granularities;
    let _infallible = writeln!(out, "Sched Debug Version: v0.09, {}", show.profile);
    let _infallible = writeln!(out, "now at {} msecs", Msecs::from(snapshot.at));
    let hz = tunables.hz.get().unsigned_abs();
    header_line(out, "jiffies", snapshot.at.0 * hz / 1_000_000_000);
    header_line(out, "sysctl_sched_latency", Msecs::from(scaled.latency));
    header_line(out, "sysctl_sched_min_granularity", Msecs::from(scaled.min_granularity));
    header_line(out, "sysctl_sched_wakeup_granularity", Msecs::from(scaled.wakeup_granularity));
    header_line(out, "sysctl_sched_child_runs_first", tunables.sched_child_runs_first.get());
    header_line(out, "sysctl_sched_features", feature_mask(&snapshot.config));
    if show.era.scaling {
        let scaling = tunables.sched_tunable_scaling.get();
        let name = ["none", "logarithmic", "linear"].get(scaling.unsigned_abs() as usize).unwrap_or(&"");
        header_line(out, "sysctl_sched_tunable_scaling", format!("{scaling} ({name})"));
    }
}

/// The model's CPUs have no clock rate, so none is printed.
fn cpu_block(show: &Show<'_>, cpu: &CpuSnapshot, out: &mut String) {
    let _infallible = writeln!(out, "\ncpu#{}", cpu.cpu);
    line(out, "nr_running", cpu.nr_running);
    line(out, "load", cpu.load);
    line(out, "nr_switches", cpu.nr_switches);
    line(out, "nr_load_updates", cpu.counts.load_updates.get());
    line(out, "nr_uninterruptible", cpu.nr_uninterruptible);
    line(out, "next_balance", Msecs::from(cpu.next_balance));
    line(out, "curr->pid", show.pid(cpu.curr));
    line(out, "clock", Msecs::from(cpu.clock));
    for (index, load) in cpu.cpu_load.iter().enumerate() {
        line(out, &format!("cpu_load[{index}]"), load);
    }
    line(out, "yld_count", cpu.counts.yields.get());
    line(out, "sched_switch", super::schedstat::NO_ARRAY_SWITCHES);
    line(out, "sched_count", cpu.counts.schedules.get());
    line(out, "sched_goidle", cpu.counts.went_idle.get());
    if show.era.scaling {
        line(out, "avg_idle", cpu.avg_idle.0);
    }
    line(out, "ttwu_count", cpu.counts.wakeups.get());
    line(out, "ttwu_local", cpu.counts.local_wakeups.get());
}

fn queue_block(cpu: &CpuSnapshot, first_floor: u64, out: &mut String) {
    let queue: &FairQueueSnapshot = &cpu.fair;
    // Where nobody waits the kernel has −1 for both ends.
    let end = |vruntime: Option<u64>| vruntime.map_or(Msecs(-1), Msecs::of_vruntime);
    let (left, right) = (end(queue.leftmost), end(queue.rightmost));
    let _infallible = writeln!(out, "\ncfs_rq[{}]:", cpu.cpu);
    line(out, "exec_clock", Msecs::from(queue.exec_clock));
    line(out, "MIN_vruntime", left);
    line(out, "min_vruntime", Msecs::of_vruntime(queue.min_vruntime));
    line(out, "max_vruntime", right);
    line(out, "spread", Msecs(right.0.wrapping_sub(left.0)));
    line(out, "spread0", Msecs::of_vruntime(queue.min_vruntime.wrapping_sub(first_floor)));
    line(out, "nr_running", queue.nr_running);
    line(out, "load", queue.load);
    line(out, "nr_spread_over", queue.nr_spread_over);
}

const COLUMNS: &str = "            task   PID         tree-key  switches  prio     exec-runtime         \
                       sum-exec        sum-sleep nice-pen nice-pen-timeout";

fn task_rows(show: &Show<'_>, cpu: &CpuSnapshot, out: &mut String) {
    let _infallible = writeln!(out, "\nrunnable tasks:\n{COLUMNS}\n{:-<126}", "");
    for task in show.snapshot.tasks.iter().filter(|task| task.cpu == cpu.cpu && task.on_rq) {
        row(show, task, out);
    }
}

fn row(show: &Show<'_>, task: &TaskSnapshot, out: &mut String) {
    let stats = &task.stats;
    let switches = stats.nr_voluntary_switches.get() + stats.nr_involuntary_switches.get();
    let vruntime = Msecs::of_vruntime(task.vruntime);
    let _infallible = writeln!(
        out,
        "{}{:>15} {:>5} {vruntime:9} {switches:>9} {:>5} {vruntime:9} {:9} {:9} {} {:9}",
        if task.running { "R" } else { " " },
        task.comm,
        show.pid(task.pid),
        task.prio.0,
        Msecs::from(stats.sum_exec_runtime.get()),
        Msecs::from(stats.sum_sleep_runtime.get()),
        task.penalty,
        Msecs::from(task.pen_timeout),
    );
}
