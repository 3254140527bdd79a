//! Counters of the whole machine, and what the scheduler decided.

use std::collections::BTreeMap;

use super::Rows;
use super::table::Align::{Left, Right};
use super::table::{Heading, Table};
use crate::numbers::{count, count_u64};
use schema::{Figure, Row, Totals};

/// Reasons that a folded table shows.
const MAX_REASONS: usize = 20;

pub(super) const COLUMNS: [Heading; 3] = [("counter", Left), ("total", Right), ("per second", Right)];
pub(super) const OF_DECISIONS: [Heading; 2] = [("times", Right), ("decision", Left)];

/// Each counter with its rate per simulated second.
#[must_use]
pub fn totals(totals: &Totals, simulated_ns: u64) -> String {
    let mut table = Table::new(&COLUMNS);
    let mut rows: Vec<(Row, &Figure<Totals>)> =
        Totals::FIGURES.iter().filter_map(|figure| Some((figure.row?, figure))).collect();
    rows.sort_by_key(|(row, _)| *row);
    for (row, figure) in rows {
        let number = (figure.of)(totals);
        if row.if_any && number == 0 {
            continue;
        }
        let rate = if simulated_ns == 0 { 0.0 } else { number as f64 * 1e9 / simulated_ns as f64 };
        table.row([figure.label.to_owned(), count_u64(number), count(rate)]);
    }
    table.render()
}

/// Reasons of decisions, the most frequent first.
#[must_use]
pub fn decisions(decisions: &BTreeMap<String, u64>, rows: Rows) -> String {
    if decisions.is_empty() {
        return String::new();
    }
    let mut sorted: Vec<(&String, u64)> = decisions.iter().map(|(reason, &times)| (reason, times)).collect();
    // Stable: reasons as frequent as each other stay in the order of their letters.
    sorted.sort_by_key(|&(_, times)| std::cmp::Reverse(times));
    let mut rest = 0..0;
    if rows == Rows::Folded && sorted.len() > MAX_REASONS {
        rest = MAX_REASONS..sorted.len();
    }
    let mut table = Table::new(&OF_DECISIONS);
    let shown = if rest.is_empty() { &sorted[..] } else { &sorted[..rest.start] };
    for (reason, times) in shown {
        table.row([count_u64(*times), (*reason).clone()]);
    }
    if !rest.is_empty() {
        let times = sorted[rest.clone()].iter().map(|&(_, times)| times).sum();
        table.row([count_u64(times), format!("({} rarer reasons)", rest.len())]);
    }
    table.render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn counters_and_their_rates() {
        insta::assert_snapshot!(totals(&example::run().totals, 10_000_000_000), @r"
        counter                total per second
        context switches       36423       3642
        wakeups                18104       1810
        migrations               211       21.1
        pushes                    17       1.70
        pulls                      4       0.40
        push IPIs                  9       0.90
        wakeup preemptions      1204        120
        lock holders preempted    45       4.50
        spinlock sleeps           23       2.30
        woken without IPI         72       7.20
        kernel mutex spins       410         41
        kernel mutex sleeps        6       0.60
        rwsem spins               23       2.30
        rwsem sleeps               2       0.20
        ");
    }

    #[test]
    fn counters_of_locks_are_left_out_where_there_is_none() {
        let none =
            Totals { spinlock_sleeps: 0, lock_holder_preemptions: 0, polled: 0, ..example::run().totals };
        let none = Totals { kernel_mutex_spins: 0, kernel_mutex_sleeps: 0, ..none };
        let none = Totals { rwsem_spins: 0, rwsem_sleeps: 0, ..none };
        let text = totals(&none, 10_000_000_000);
        assert!(
            !text.contains("lock")
                && !text.contains("mutex")
                && !text.contains("rwsem")
                && text.contains("wakeup preemptions"),
            "{text}"
        );
    }

    #[test]
    fn a_run_of_no_time_has_no_rate() {
        assert!(totals(&example::run().totals, 0).contains("wakeups                18104          0\n"));
    }

    #[test]
    fn the_most_frequent_decision_comes_first_and_rare_ones_are_summed() {
        let many: BTreeMap<_, _> = (1..=30).map(|n| (format!("reason {n:02}"), n)).collect();
        let text = decisions(&many, Rows::Folded);
        assert!(text.starts_with("times decision\n   30 reason 30\n"), "{text}");
        assert!(text.ends_with("   55 (10 rarer reasons)\n"), "{text}");
        assert_eq!(decisions(&many, Rows::All).lines().count(), 31);
    }
}
