//! Threads in a loop, one by one.

use super::paragraph::cut;
use super::table::Align::{Left, Right};
use super::table::{Heading, Table};
use crate::numbers::{count_u64, duration_ns};
use schema::ThreadResult;

pub(super) const COLUMNS: [Heading; 9] = [
    ("t", Right),
    ("pid", Right),
    ("name", Left),
    ("cycles", Right),
    ("missed", Right),
    ("late by", Right),
    ("response mean", Right),
    ("p99", Right),
    ("max", Right),
];

/// Cycles of each thread, missed deadlines, by how much at most, and response times where the load has them.
#[must_use]
pub fn threads(threads: &[ThreadResult]) -> String {
    let mut table = Table::new(&COLUMNS);
    for t in threads {
        let response = |figure: fn(&schema::LatencySummary) -> u64| {
            t.response_ns.as_ref().map_or("-".to_owned(), |summary| duration_ns(figure(summary)))
        };
        table.row([
            t.t.to_string(),
            t.pid.to_string(),
            cut(&t.name, 15),
            count_u64(t.cycles),
            t.deadline_misses.map_or("-".to_owned(), count_u64),
            t.longest_lateness_ns.map_or("-".to_owned(), duration_ns),
            response(|summary| summary.mean),
            response(|summary| summary.p99),
            response(|summary| summary.max),
        ]);
    }
    table.render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn what_a_load_does_not_have_is_a_dash() {
        let thread = |t, deadline_misses, response_ns| ThreadResult {
            t,
            pid: 1_000 + t,
            name: format!("thread{t}"),
            cycles: 1_000_000 * u64::from(t),
            deadline_misses,
            longest_lateness_ns: deadline_misses.map(|_| 700_000),
            response_ns,
        };
        let all = [thread(0, None, None), thread(1, Some(3), Some(example::latency(100, 350_000)))];
        insta::assert_snapshot!(threads(&all), @r"
        t  pid name    cycles missed late by response mean    p99    max
        0 1000 thread0      0      -       -             -      -      -
        1 1001 thread1  1.00M      3   700us         350us 1.40ms 4.20ms
        ");
    }
}
