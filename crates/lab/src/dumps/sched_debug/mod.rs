//! /proc/sched_debug, today /sys/kernel/debug/sched/debug (fair-class 11.2, 11.6).
//!
//! Which lines of a name and a value each kernel has is told in [`super::lines`]; columns of kernels that are
//! built with NUMA balancing are left out. A run without groups is shown as by a kernel that is built without
//! them.

mod cpu;
mod header;
mod queues;
mod rows;

use super::Show;
use super::lines::Block;
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
        if show.since(super::Release::DEADLINE_QUEUES) {
            queues::deadline(show, cpu, &mut out);
        }
        rows::write(show, cpu, &mut out);
    }
    out
}

/// The lines of a block, each written where this kernel has it.
struct Lines<'a> {
    show: &'a Show<'a>,
    block: Block,
    /// To how many columns names are padded.
    width: usize,
    out: &'a mut String,
}

impl<'a> Lines<'a> {
    fn of(show: &'a Show<'a>, block: Block, out: &'a mut String) -> Lines<'a> {
        // Names of the head are longer than those of the blocks, so its values stand further right.
        let width = if block == Block::Tunables { 40 } else { 30 };
        Lines { show, block, width, out }
    }

    fn line(&mut self, name: &str, value: impl Display) {
        if self.show.has(self.block, name) {
            let width = self.width;
            let _infallible = writeln!(self.out, "  .{name:<width$}: {value}");
        }
    }
}
