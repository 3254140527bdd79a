//! Threads of an rt-app file, with the columns of its log.

use super::paragraph::cut;
use super::table::{Align, Table};
use crate::numbers::{count_u64, duration};
use schema::{RtappColumn, RtappResult};

/// Loops of each thread, and the columns of rt-app's log: mean and the side that hurts.
#[must_use]
pub fn rtapp(result: &RtappResult) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("\npid", Right),
        ("\nname", Left),
        ("\nloops", Right),
        ("\nlate", Right),
        ("run\nmean", Right),
        ("\nmax", Right),
        ("period\nmean", Right),
        ("slack\nmean", Right),
        ("\nmin", Right),
        ("wu_lat\nmean", Right),
        ("\nmax", Right),
    ]);
    let show = |ns: i64| duration(ns as f64);
    let dash = || "-".to_owned();
    for t in &result.threads {
        let of = |column: &Option<RtappColumn>, figure: fn(&RtappColumn) -> i64| {
            column.as_ref().map_or_else(dash, |column| show(figure(column)))
        };
        table.row([
            t.pid.map_or_else(dash, |pid| pid.to_string()),
            cut(&t.name, 11),
            count_u64(t.loops),
            t.late.map_or_else(dash, count_u64),
            show(t.run_ns.mean),
            show(t.run_ns.max),
            show(t.period_ns.mean),
            of(&t.slack_ns, |column| column.mean),
            of(&t.slack_ns, |column| column.min),
            of(&t.wu_lat_ns, |column| column.mean),
            of(&t.wu_lat_ns, |column| column.max),
        ]);
    }
    table.render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{RtappThread, example};

    #[test]
    fn a_thread_without_timers_has_dashes_there() {
        let plain = RtappThread {
            t: 1,
            pid: None,
            late: None,
            slack_ns: None,
            wu_lat_ns: None,
            ..example::rtapp_thread()
        };
        let result = RtappResult { load: "x.json".to_owned(), threads: vec![example::rtapp_thread(), plain] };
        insta::assert_snapshot!(rtapp(&result), @r"
                                     run        period  slack         wu_lat
         pid name      loops late   mean    max   mean   mean     min   mean   max
        1030 decoder-0   600    3 4.12ms 9.81ms 16.6ms 11.8ms -1.21ms 7.25us 812us
           - decoder-0   600    - 4.12ms 9.81ms 16.6ms      -       -      -     -
        ");
    }
}
