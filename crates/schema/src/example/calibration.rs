//! A calibration with every field.

use crate::CalibrateSchema;
use crate::calibration::{CalibratedEntry, CalibratedTimer, Calibration, EntryOrigin, Observed};

fn entry(entry: &str, from: EntryOrigin, how: &str) -> CalibratedEntry {
    let text = |text: &str| Some(text.to_owned());
    let measured = from == EntryOrigin::Measured;
    CalibratedEntry {
        entry: entry.to_owned(),
        value: if from == EntryOrigin::LeftOut { None } else { text("116 ns") },
        from,
        probe: if measured { text("getppid") } else { None },
        samples: measured.then_some(200),
        how: how.to_owned(),
    }
}

fn observed(what: &str, value: Option<&str>, how: &str) -> Observed {
    Observed { what: what.to_owned(), value: value.map(str::to_owned), how: how.to_owned() }
}

/// An entry of each origin, and two kinds of timers.
#[must_use]
pub fn calibration() -> Calibration {
    let timer = |policy: &str, meanwhile: &str, late_ns: u64| CalibratedTimer {
        policy: policy.to_owned(),
        meanwhile: meanwhile.to_owned(),
        interval_ns: 250_000,
        samples: 6000,
        floor_ns: late_ns - 1200,
        p10_ns: late_ns - 500,
        p50_ns: late_ns,
        p90_ns: late_ns + 2400,
        p99_ns: late_ns * 3,
        max_ns: late_ns * 40,
    };
    Calibration {
        schema: CalibrateSchema,
        version: "0.1.0".to_owned(),
        command: Some("schedlab calibrate -o here.toml".to_owned()),
        machine: "here".to_owned(),
        cpus: 2,
        took_ms: 9120,
        warnings: vec!["the machine is busy (load 4.1 on 2 CPUs): figures may be too high".to_owned()],
        entries: vec![
            entry("costs.syscall", EntryOrigin::Measured, "getppid 116 (median 117, 115 to 131, n 200)"),
            entry(
                "cache.tau",
                EntryOrigin::Published,
                "fair-class 12.1; as on the machine laptop, not measured",
            ),
            entry("costs.scan_cpu", EntryOrigin::Assumed, "not measured: some nanoseconds within a search"),
            entry("noise.kthread", EntryOrigin::LeftOut, "who works in the background is for a trace to say"),
        ],
        observations: vec![
            observed("stalls of the host", Some("2 seen, the longest 160 us"), "two threads that spun"),
            observed("interrupts, soft interrupts", None, "tracefs cannot be written"),
        ],
        timers: vec![timer("fifo", "busy", 15_200), timer("other, no slack", "idle, latency 0", 74_000)],
        slack_told_ns: Some(50_000),
        slack_seen_ns: Some(50_400),
        file: "name = \"here\"\n".to_owned(),
    }
}
