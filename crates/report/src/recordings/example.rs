//! Recordings made up for tests.

use super::*;
use schema::recordings::RecordingHead;

/// A recording of one second with these wakeup latencies and switches in each of 20 windows.
pub fn recording(latencies: &[u64], switches: impl Fn(u64) -> u64) -> Recording {
    let windows: Vec<u64> = (0..20).map(switches).collect();
    let latency = LatencySamples { samples_ns: latencies.to_vec() };
    let command = CommandSamples {
        tasks: 2,
        of_command: false,
        cpu_time_ns: vec![25_000_000; 20],
        voluntary_switches: windows.clone(),
        involuntary_switches: vec![0; 20],
        migrations: vec![0; 20],
        wakeups: windows.clone(),
        latency: latency.clone(),
    };
    Recording {
        head: RecordingHead {
            version: "0.1.0".to_owned(),
            trace: "a.dat".to_owned(),
            format: "trace.dat".to_owned(),
            kernel: Some("6.1.0".to_owned()),
            duration_ns: 1_000_000_000,
            cpus: 1,
            tasks: 2,
            latency_max_ns: latency.longest_ns(),
            lost: 0,
        },
        machine: MachineSamples {
            cpus: 1,
            resolution_ns: 1,
            window_ns: 50e6,
            busy_ns: vec![25_000_000; 20],
            idle_ns: vec![25_000_000; 20],
            switches: windows.clone(),
            migrations: vec![0; 20],
            wakeups: windows,
            latency,
        },
        commands: [("a".to_owned(), command)].into(),
    }
}

/// 40 latencies around a middle.
pub fn around(middle: u64) -> Vec<u64> {
    (0..40).map(|n| middle - 20 + n).collect()
}

/// Waits of 1 us.
pub fn first() -> Recording {
    let mut first = recording(&around(1_000), |n| 10 + n % 3);
    first.commands.insert("b".to_owned(), CommandSamples::default());
    first
}

/// Three times the waits, twice the switches.
pub fn second() -> Recording {
    let mut second = recording(&around(3_000), |n| 2 * (10 + n % 3));
    second.head.trace = "b.dat".to_owned();
    second.commands.insert("c".to_owned(), CommandSamples::default());
    second
}

/// Both, with every field.
pub fn comparison() -> RecordingsComparison {
    let mut result = compare_recordings(&first(), &second());
    result.command = Some("schedlab inspect a.dat b.dat".to_owned());
    result.notes.push("a.dat: data loss".to_owned());
    result
}
