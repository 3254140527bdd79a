//! /proc/sched_debug, today /sys/kernel/debug/sched/debug (fair-class 11.2, 11.6).
//!
//! A line of a name and a value is left out where the model does not have what it tells; so are the columns
//! of kernels that are built with NUMA balancing. A run without groups is shown as by a kernel that is built
//! without them.

mod cpu;
mod header;
mod queues;
mod rows;

use super::Show;
use std::fmt::{Display, Write};

pub(super) fn text(show: &Show<'_>) -> String {
    let mut out = String::new();
    header::write(show, &mut out);
    let first_floor = show.snapshot.cpus.first().map_or(0, |cpu| cpu.fair.min_vruntime);
    for cpu in &show.snapshot.cpus {
        cpu::write(show, cpu, &mut out);
        queues::fair(show, cpu, first_floor, &mut out);
        if show.since(super::Release::CLOCKS) {
            queues::real_time(show, cpu, &mut out);
        }
        if show.since(super::Release::GROUP_LOADS) {
            queues::deadline(show, cpu, &mut out);
        }
        rows::write(show, cpu, &mut out);
    }
    out
}

fn line(out: &mut String, name: &str, value: impl Display) {
    let _infallible = writeln!(out, "  .{name:<30}: {value}");
}
