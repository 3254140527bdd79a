//! The table of CPUs.

use super::Rows;
use super::table::Align::Right;
use super::table::{Heading, Table};
use crate::numbers::{count_u64, duration_ns};
use schema::CpuResult;

pub(super) const COLUMNS: [Heading; 10] = [
    ("\ncpu", Right),
    ("\nswitches", Right),
    ("\nidle", Right),
    ("rq lock\ntaken", Right),
    ("\ncontended", Right),
    ("max\nwait", Right),
    ("max\nwaiters", Right),
    ("holding\nown", Right),
    ("IPIs\nsent", Right),
    ("\nreceived", Right),
];

/// More CPUs than this are folded.
const MAX_ROWS: usize = 64;
/// CPUs that a folded table shows.
const FOLDED_ROWS: usize = 16;

/// Switches, idle time, run-queue lock and interrupts of each CPU; folded, of those whose lock was waited for
/// longest. "Holding own" are the most waiters at one time that held their own CPU's lock meanwhile: the
/// ripple of a contended lock (seed 001).
#[must_use]
pub fn cpus(cpus: &[CpuResult], rows: Rows) -> String {
    if cpus.is_empty() {
        return String::new();
    }
    let mut shown: Vec<&CpuResult> = cpus.iter().collect();
    let mut folded = String::new();
    if rows == Rows::Folded && cpus.len() > MAX_ROWS {
        // Stable: CPUs with equal waits stay in order.
        shown.sort_by_key(|cpu| std::cmp::Reverse(cpu.rq_lock.wait_max_ns));
        shown.truncate(FOLDED_ROWS);
        folded = format!("{FOLDED_ROWS} of {} CPUs: those with the longest lock waits\n", cpus.len());
    }
    let mut table = Table::new(&COLUMNS);
    for cpu in shown {
        table.row([
            cpu.cpu.to_string(),
            count_u64(cpu.nr_switches),
            duration_ns(cpu.idle_ns),
            count_u64(cpu.rq_lock.acquisitions),
            count_u64(cpu.rq_lock.contended),
            duration_ns(cpu.rq_lock.wait_max_ns),
            cpu.rq_lock.waiters_max.to_string(),
            cpu.rq_lock.waiters_holding_own_max.to_string(),
            count_u64(cpu.ipis_sent),
            count_u64(cpu.ipis_received),
        ]);
    }
    table.render() + &folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn one_row_a_cpu() {
        insta::assert_snapshot!(cpus(&[example::cpu(0), example::cpu(1)], Rows::Folded), @r"
                           rq lock              max     max holding IPIs
        cpu switches  idle   taken contended   wait waiters     own sent received
          0    18211 899ms   40112        12 3.10us       2       1   77       78
          1    18212 899ms   40113        12 3.10us       2       1   78       78
        ");
    }

    #[test]
    fn of_many_cpus_those_with_the_longest_lock_waits_are_shown() {
        let mut list: Vec<_> = (0..512).map(example::cpu).collect();
        list[300].rq_lock.wait_max_ns = 300_000;
        let text = cpus(&list, Rows::Folded);
        assert!(text.lines().nth(2).expect("a row").trim_start().starts_with("300 "), "{text}");
        assert!(text.ends_with("16 of 512 CPUs: those with the longest lock waits\n"), "{text}");
        assert_eq!(cpus(&list, Rows::All).lines().count(), 2 + 512);
    }
}
