//! /proc/schedstat, versions 15 to 17, and /proc/PID/schedstat (fair-class 11.4, 11.6).

use super::{Release, Show};
use machine::{CpuSnapshot, DomainSnapshot, TaskSnapshot};
use scheduler::stats::BalanceCounts;
use scheduler::{CpuId, CpuMask, LevelKind};
use std::fmt::Write;

/// Switches between the two arrays of a scheduler that was gone before 2.6.23: the field is kept for its
/// readers.
pub(super) const NO_ARRAY_SWITCHES: u64 = 0;

/// Balancing on exec and fork has three fields each that no kernel of the era counts in.
const UNUSED: [u64; 6] = [0; 6];

pub(super) fn text(show: &Show<'_>) -> String {
    let version = version(show.release);
    let mut out = format!("version {version}\n");
    let hz = show.snapshot.config.tunables.hz.get().unsigned_abs();
    let _infallible = writeln!(out, "timestamp {}", show.snapshot.at.0 * hz / 1_000_000_000);
    let cpus = show.snapshot.cpus.len();
    for cpu in &show.snapshot.cpus {
        cpu_line(cpu, &mut out);
        for (level, domain) in cpu.domains.iter().enumerate() {
            domain_line(version, level, domain, cpus, &mut out);
        }
    }
    out
}

/// Which fields a domain has, and in which order: the number in the first line.
type Version = u8;
/// Balancing of an idle CPU, of a busy one, of one that is about to idle.
const IDLE_FIRST: Version = 15;
/// Of the busy one first.
const BUSY_FIRST: Version = 16;
/// Imbalances by kind, names of the domains.
const NAMED: Version = 17;

fn version(release: Release) -> Version {
    match release {
        release if release < Release::SCHEDSTAT_16 => IDLE_FIRST,
        release if release < Release::SCHEDSTAT_17 => BUSY_FIRST,
        _ => NAMED,
    }
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

fn domain_line(version: Version, level: usize, domain: &DomainSnapshot, cpus: usize, out: &mut String) {
    let [idle, busy, newly_idle] = &domain.balancing;
    let first = if version >= BUSY_FIRST { [busy, idle] } else { [idle, busy] };
    let balancing = first.into_iter().chain([newly_idle]).flat_map(|counts| balance(version, counts));
    let c = &domain.counts;
    let active = [c.active.get(), c.active_failed.get(), c.active_pushed.get()];
    let wakeups = [c.wake_remote.get(), c.move_affine.get(), c.move_balance.get()];
    let numbers: Vec<u64> = balancing.chain(active).chain(UNUSED).chain(wakeups).collect();
    let name = if version >= NAMED { format!("{} ", name(domain.kind)) } else { String::new() };
    let _infallible = writeln!(out, "domain{level} {name}{} {}", mask(&domain.span, cpus), words(&numbers));
}

fn balance(version: Version, counts: &BalanceCounts) -> Vec<u64> {
    let kinds =
        [&counts.imbalance_load, &counts.imbalance_util, &counts.imbalance_task, &counts.imbalance_misfit];
    let sums = kinds.map(|sum| sum.get());
    let imbalance = if version >= NAMED { sums.to_vec() } else { vec![sums.iter().sum()] };
    let before = [&counts.attempts, &counts.balanced, &counts.failed].map(|count| count.get());
    let after = [&counts.pulled, &counts.hot_pulled, &counts.no_busier_queue, &counts.no_busier_group];
    [before.to_vec(), imbalance, after.map(|count| count.get()).to_vec()].concat()
}

/// As the kernel calls the levels.
fn name(kind: LevelKind) -> &'static str {
    match kind {
        LevelKind::Smt => "SMT",
        LevelKind::Cluster => "CLS",
        LevelKind::Mc => "MC",
        LevelKind::Package => "PKG",
        LevelKind::Numa { .. } => "NUMA",
    }
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
