//! The head of the file: version, clocks, tunables.

use super::Lines;
use crate::dumps::format::Msecs;
use crate::dumps::lines::Block;
use crate::dumps::{Release, Show, features};
use scheduler::fair;
use std::fmt::Write;

pub(super) fn write(show: &Show<'_>, out: &mut String) {
    let version = match show.release {
        release if release < Release::CLOCKS => "v0.09",
        release if release < Release::ALL_TASKS => "v0.10",
        _ => "v0.11",
    };
    let _infallible = writeln!(out, "Sched Debug Version: {version}, {}", show.profile);
    clocks(show, out);
    tunables(show, out);
}

fn clocks(show: &Show<'_>, out: &mut String) {
    let now = Msecs::from(show.snapshot.at);
    let jiffies = show.jiffies(show.snapshot.at);
    if !show.since(Release::CLOCKS) {
        let _infallible = writeln!(out, "now at {now} msecs");
        let _infallible = writeln!(out, "  .{:<40}: {jiffies}", "jiffies");
        return;
    }
    // All of them count from the beginning of the run.
    for name in ["ktime", "sched_clk", "cpu_clk"] {
        let _infallible = writeln!(out, "{name:<40}: {now}");
    }
    let _infallible = writeln!(out, "{:<40}: {jiffies}\n\nsysctl_sched", "jiffies");
}

fn tunables(show: &Show<'_>, out: &mut String) {
    let snapshot = show.snapshot;
    let tunables = &snapshot.config.tunables;
    let scaled = &snapshot.granularities;
    let mut lines = Lines::of(show, Block::Tunables, out);
    lines.line("sysctl_sched_latency", Msecs::from(scaled.latency));
    lines.line("sysctl_sched_min_granularity", Msecs::from(scaled.min_granularity));
    lines.line("sysctl_sched_idle_min_granularity", Msecs::from(fair::IDLE_MIN_GRANULARITY));
    lines.line("sysctl_sched_wakeup_granularity", Msecs::from(scaled.wakeup_granularity));
    lines.line("sysctl_sched_base_slice", Msecs::from(scaled.base_slice));
    lines.line("sysctl_sched_child_runs_first", tunables.sched_child_runs_first.get());
    lines.line("sysctl_sched_features", features::mask(&snapshot.config, show.release, show.profile));
    let scaling = tunables.sched_tunable_scaling.get();
    let logarithmic = if show.since(Release::SPELT) { "logarithmic" } else { "logaritmic" };
    let name = ["none", logarithmic, "linear"].get(scaling.unsigned_abs() as usize).copied().unwrap_or("");
    lines.line("sysctl_sched_tunable_scaling", format!("{scaling} ({name})"));
}
