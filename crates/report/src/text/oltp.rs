//! sysbench's own output, in the layout of its version 0.4 that seed 004 quotes figures of.

use schema::OltpResult;

/// What was performed, and how fast.
#[must_use]
pub fn oltp(result: &OltpResult) -> String {
    let seconds = result.counted_ns as f64 / 1e9;
    let rate = |number: u64| if seconds > 0.0 { number as f64 / seconds } else { 0.0 };
    let ms = |ns: u64| ns as f64 / 1e6;
    let mut out = "OLTP test statistics:\n    queries performed:\n".to_owned();
    for (name, number) in [
        ("read:", result.reads),
        ("write:", 0),
        ("other:", result.others),
        ("total:", result.reads + result.others),
    ] {
        out += &format!("        {name:<33}{number}\n");
    }
    for (name, number) in [
        ("transactions:", result.transactions),
        ("deadlocks:", 0),
        ("read/write requests:", result.reads),
        ("other operations:", result.others),
    ] {
        out += &format!("    {name:<37}{number:<6} ({:.2} per sec.)\n", rate(number));
    }
    let latency = &result.latency_ns;
    out += &format!(
        "\nTest execution summary:\n    {:<37}{seconds:.4}s\n    {:<37}{}\n    per-request statistics:\n",
        "total time:", "total number of events:", result.transactions
    );
    for (name, ns) in [("min:", latency.min), ("avg:", latency.mean), ("max:", latency.max)] {
        out += &format!("         {name:<27}{:>12.2}ms\n", ms(ns));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{OltpDb, example};

    #[test]
    fn the_lines_are_the_real_tools() {
        let result = OltpResult {
            load: "oltp --db pgsql --clients 4".to_owned(),
            db: OltpDb::Pgsql,
            clients: 4,
            warmup_ns: 600_000_000,
            counted_ns: 10_000_000_000,
            reads: 519_344,
            others: 74_192,
            transactions: 37_096,
            all_requests: 629_000,
            latency_ns: example::latency(37_096, 1_078_000),
        };
        insta::assert_snapshot!(oltp(&result), @r"
        OLTP test statistics:
            queries performed:
                read:                            519344
                write:                           0
                other:                           74192
                total:                           593536
            transactions:                        37096  (3709.60 per sec.)
            deadlocks:                           0      (0.00 per sec.)
            read/write requests:                 519344 (51934.40 per sec.)
            other operations:                    74192  (7419.20 per sec.)

        Test execution summary:
            total time:                          10.0000s
            total number of events:              37096
            per-request statistics:
                 min:                               0.36ms
                 avg:                               1.08ms
                 max:                              12.94ms
        ");
    }
}
