//! cyclictest's own output: its `T:` lines, and its histogram (`-q -h`).

use std::fmt::Write;

use super::table::{Align::Right, Heading};
use schema::CyclictestResult;

/// What stands before the figures of such a line.
pub(super) const WORDS: [Heading; 8] = [
    ("T", Right),
    ("P", Right),
    ("I", Right),
    ("C", Right),
    ("Min", Right),
    ("Act", Right),
    ("Avg", Right),
    ("Max", Right),
];

/// The lines that cyclictest keeps on the screen, one a thread, letter by letter as the real tool prints
/// them.
#[must_use]
pub fn cyclictest_lines(result: &CyclictestResult) -> String {
    let mut out = String::new();
    for t in &result.threads {
        let _ = writeln!(
            out,
            "T:{:2} ({:5}) P:{:2} I:{} C:{:7} Min:{:7} Act:{:5} Avg:{:5} Max:{:8}",
            t.t, t.pid, t.prio, t.interval_us, t.cycles, t.min_us, t.act_us, t.avg_us, t.max_us
        );
    }
    out
}

/// The histogram that `cyclictest -q -h US` prints: a row a microsecond, a column a thread, then the footer.
/// Scripts parse this, so it is the real tool's layout whatever its width.
///
/// A result without `-h` has as many rows as its largest latency needs.
#[must_use]
pub fn cyclictest_histogram(result: &CyclictestResult) -> String {
    let threads = &result.threads;
    let longest = threads.iter().filter_map(|t| t.histogram.counts.keys().next_back()).max();
    let rows = result.histogram_us.unwrap_or_else(|| longest.map_or(0, |us| us + 1));
    let mut out = "# Histogram\n".to_owned();
    for us in 0..rows {
        let counts: Vec<_> = threads.iter().map(|t| format!("{:06}", t.histogram.count_at(us))).collect();
        let _ = writeln!(out, "{us:06} {}", counts.join("\t"));
    }
    let mut footer = |name: &str, numbers: Vec<String>| {
        let _ = writeln!(out, "# {name}: {}", numbers.join(" "));
    };
    footer("Total", threads.iter().map(|t| format!("{:09}", t.histogram.total())).collect());
    footer("Min Latencies", threads.iter().map(|t| format!("{:05}", t.min_us)).collect());
    footer("Avg Latencies", threads.iter().map(|t| format!("{:05}", t.avg_us)).collect());
    footer("Max Latencies", threads.iter().map(|t| format!("{:05}", t.max_us)).collect());
    footer("Histogram Overflows", threads.iter().map(|t| format!("{:05}", t.overflows)).collect());
    out += "# Histogram Overflow at cycle number:\n";
    for t in threads {
        let _ = write!(out, "# Thread {}:", t.t);
        for cycle in &t.overflow_cycles {
            let _ = write!(out, " {cycle:05}");
        }
        let untold = t.overflows.saturating_sub(t.overflow_cycles.len() as u64);
        if untold > 0 {
            let _ = write!(out, " # {untold:05} others");
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{CyclictestThread, UsHistogram, example};

    fn of(threads: Vec<CyclictestThread>, histogram_us: Option<u64>) -> CyclictestResult {
        CyclictestResult {
            load: "cyclictest".to_owned(),
            histogram_us,
            threads,
            max_over_time: Default::default(),
        }
    }

    #[test]
    fn the_line_is_the_real_tools() {
        // The example line of cyclictest's manual page.
        let thread = CyclictestThread { pid: 5_179, ..example::cyclictest_thread(0, 90) };
        assert_eq!(
            cyclictest_lines(&of(vec![thread], None)),
            "T: 0 ( 5179) P:90 I:100 C:9011636 Min:      2 Act:    4 Avg:    4 Max:     117\n"
        );
    }

    #[test]
    fn a_recorded_line_is_reproduced() {
        let recorded = "T: 1 (22295) P:95 I:1000 C:   2996 Min:     14 Act:   17 Avg:   17 Max:    1607\n";
        let thread = CyclictestThread {
            pid: 22_295,
            interval_us: 1_000,
            cycles: 2_996,
            min_us: 14,
            act_us: 17,
            avg_us: 17,
            max_us: 1_607,
            ..example::cyclictest_thread(1, 95)
        };
        assert_eq!(cyclictest_lines(&of(vec![thread], None)), recorded);
    }

    #[test]
    fn the_histogram_is_the_real_tools() {
        let mut slow = example::cyclictest_thread(1, 89);
        slow.histogram = UsHistogram::default();
        slow.histogram.record_us(1);
        slow.overflows = 3;
        let text = cyclictest_histogram(&of(vec![example::cyclictest_thread(0, 90), slow], Some(5)));
        insta::assert_snapshot!(text, @r"
        # Histogram
        000000 000000	000000
        000001 000000	000001
        000002 000002	000000
        000003 000001	000000
        000004 000001	000000
        # Total: 000000005 000000001
        # Min Latencies: 00002 00002
        # Avg Latencies: 00004 00004
        # Max Latencies: 00117 00117
        # Histogram Overflows: 00001 00003
        # Histogram Overflow at cycle number:
        # Thread 0: 04711
        # Thread 1: 04711 # 00002 others
        ");
    }

    #[test]
    fn without_a_limit_the_rows_end_at_the_largest_latency() {
        let text = cyclictest_histogram(&of(vec![example::cyclictest_thread(0, 90)], None));
        assert!(text.contains("\n000007 000001\n# Total: 000000005\n"), "{text}");
        let empty =
            CyclictestThread { histogram: UsHistogram::default(), ..example::cyclictest_thread(0, 90) };
        assert!(
            cyclictest_histogram(&of(vec![empty], None)).starts_with("# Histogram\n# Total: 000000000\n")
        );
    }
}
