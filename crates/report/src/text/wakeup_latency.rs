//! The lines of seed 003's program, and the finer ones of the program behind the recorded wl-* runs.

use schema::WakeupLatencyResult;

/// Maximum, average, missed events; then distribution.
#[must_use]
pub fn wakeup_latency(result: &WakeupLatencyResult) -> String {
    let us = |ns: u64| ns as f64 / 1e3;
    let l = &result.latency_ns;
    format!(
        "maximum latency: {:.1} us\naverage latency: {:.1} us\nmissed timer events: {}\n\
         events: {}  period: {:.1} us\n\
         min: {:.1}  median: {:.1}  p90: {:.1}  p99: {:.1} us\n",
        us(l.max),
        us(l.mean),
        result.missed,
        l.count,
        us(result.period_ns),
        us(l.min),
        us(l.p50),
        us(l.p90),
        us(l.p99)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{LatencySummary, WakeupLatencyMode};

    #[test]
    fn the_first_lines_are_those_of_seed_003() {
        let latency_ns = LatencySummary {
            count: 1_000,
            min: 51_889,
            mean: 6_762_100,
            p50: 6_244_540,
            p90: 10_333_216,
            p99: 15_360_442,
            p999: 20_000_000,
            max: 26_409_049,
        };
        let result = WakeupLatencyResult {
            load: "wakeup-latency".to_owned(),
            mode: WakeupLatencyMode::SigevThread,
            period_ns: 10_000_000,
            latency_ns,
            missed: 0,
        };
        insta::assert_snapshot!(wakeup_latency(&result), @r"
        maximum latency: 26409.0 us
        average latency: 6762.1 us
        missed timer events: 0
        events: 1000  period: 10000.0 us
        min: 51.9  median: 6244.5  p90: 10333.2  p99: 15360.4 us
        ");
    }
}
