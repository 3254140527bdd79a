//! The head of the file: version, clocks, tunables.

use crate::dumps::format::Msecs;
use crate::dumps::{Release, Show, features};
use std::fmt::{Display, Write};

/// Names of the header are longer than those of the blocks, so its values stand further right.
fn line(out: &mut String, name: &str, value: impl Display) {
    let _infallible = writeln!(out, "  .{name:<40}: {value}");
}

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
        line(out, "jiffies", jiffies);
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
    if show.since(Release::EEVDF) {
        line(out, "sysctl_sched_base_slice", Msecs::from(scaled.base_slice));
    } else {
        line(out, "sysctl_sched_latency", Msecs::from(scaled.latency));
        line(out, "sysctl_sched_min_granularity", Msecs::from(scaled.min_granularity));
        line(out, "sysctl_sched_wakeup_granularity", Msecs::from(scaled.wakeup_granularity));
        line(out, "sysctl_sched_child_runs_first", tunables.sched_child_runs_first.get());
    }
    line(out, "sysctl_sched_features", features::mask(&snapshot.config, show.release, show.profile));
    if show.since(Release::TUNABLE_SCALING) {
        let scaling = tunables.sched_tunable_scaling.get();
        let name = ["none", "logarithmic", "linear"].get(scaling.unsigned_abs() as usize).unwrap_or(&"");
        line(out, "sysctl_sched_tunable_scaling", format!("{scaling} ({name})"));
    }
}
