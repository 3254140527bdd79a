//! /proc/schedstat, version 15, and /proc/PID/schedstat (fair-class 11.4).

use super::Show;
use machine::{CpuSnapshot, DomainSnapshot, TaskSnapshot};
use scheduler::{CpuId, CpuMask};
use std::fmt::Write;

/// Switches between the two arrays of a scheduler that was gone before 2.6.23: the field is kept for its
/// readers.
pub(super) const NO_ARRAY_SWITCHES: u64 = 0;

/// Balancing on exec and fork has three fields each that no kernel of the era counts in.
const UNUSED: [u64; 6] = [0; 6];

pub(super) fn text(show: &Show<'_>) -> String {
    let mut out = String::from("version 15\n");
    let hz = show.snapshot.config.tunables.hz.get().unsigned_abs();
    let _infallible = writeln!(out, "timestamp {}", show.snapshot.at.0 * hz / 1_000_000_000);
    let cpus = show.snapshot.cpus.len();
    for cpu in &show.snapshot.cpus {
        cpu_line(cpu, &mut out);
        for (level, domain) in cpu.domains.iter().enumerate() {
            domain_line(level, domain, cpus, &mut out);
        }
    }
    out
}

/// Run time, waiting time, slices.
pub(super) fn of_task(task: &TaskSnapshot) -> String {
    let stats = &task.stats;
    format!("{} {} {}\n", stats.sum_exec_runtime.get().0, stats.wait_sum.get().0, stats.nr_slices.get())
}

fn cpu_line(cpu: &CpuSnapshot, out: &mut String) {
    let c = &cpu.counts;
    let numbers = [
        c.yields.get(),
        NO_ARRAY_SWITCHES,
        c.schedules.get(),
        c.went_idle.get(),
        c.wakeups.get(),
        c.local_wakeups.get(),
        c.run_time_ns.get(),
        c.wait_time_ns.get(),
        c.slices.get(),
    ];
    let _infallible = writeln!(out, "cpu{} {}", cpu.cpu, words(&numbers));
}

fn domain_line(level: usize, domain: &DomainSnapshot, cpus: usize, out: &mut String) {
    let balancing = domain.balancing.iter().flat_map(|b| {
        let fields = [
            &b.attempts,
            &b.balanced,
            &b.failed,
            &b.imbalance,
            &b.pulled,
            &b.hot_pulled,
            &b.no_busier_queue,
            &b.no_busier_group,
        ];
        fields.map(|cell| cell.get())
    });
    let c = &domain.counts;
    let active = [c.active.get(), c.active_failed.get(), c.active_pushed.get()];
    let wakeups = [c.wake_remote.get(), c.move_affine.get(), c.move_balance.get()];
    let numbers: Vec<u64> = balancing.chain(active).chain(UNUSED).chain(wakeups).collect();
    let _infallible = writeln!(out, "domain{level} {} {}", mask(&domain.span, cpus), words(&numbers));
}

fn words(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

/// Hexadecimal, in groups of 32 CPUs.
fn mask(span: &CpuMask, cpus: usize) -> String {
    let groups = (0..cpus.div_ceil(32)).rev().map(|group| {
        let first = group * 32;
        let here = (cpus - first).min(32);
        let bits = (0..here).filter(|bit| span.contains(CpuId((first + bit) as u16)));
        let word: u32 = bits.map(|bit| 1 << bit).sum();
        format!("{word:0width$x}", width = here.div_ceil(4))
    });
    groups.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_hexadecimal_in_groups_of_32() {
        let span: CpuMask = [0, 3, 33].map(CpuId).into_iter().collect();
        assert_eq!(mask(&span, 34), "2,00000009");
        assert_eq!(mask(&CpuMask::first_n(4), 4), "f");
        assert_eq!(mask(&CpuMask::first_n(2), 40), "00,00000003");
    }
}
