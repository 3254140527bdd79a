//! Waits for run-queue locks, which no event of Linux can tell: who waited for whose, and how many at once.

use schema::{CpuId, LogEvent, LogLock, LogRecord};
use std::collections::BTreeMap;
use trace::{Annotations, TrackId};

/// A CPU spins for a lock.
struct Wait {
    cpu: CpuId,
    of: CpuId,
    since_ns: u64,
    until_ns: u64,
}

fn waits(records: &[LogRecord]) -> Vec<Wait> {
    let wait = |record: &LogRecord| match record.event {
        LogEvent::LockWait { lock: LogLock::Rq { cpu: of }, since, .. } => {
            Some(Wait { cpu: record.cpu, of, since_ns: since.0, until_ns: record.time.0 })
        }
        _ => None,
    };
    let mut waits: Vec<Wait> = records.iter().filter_map(wait).collect();
    waits.sort_by_key(|wait| (wait.since_ns, wait.cpu, wait.of));
    waits
}

/// Adds a slice for each wait, on a track of the CPU that spun, and for each CPU a counter of those that wait
/// for its lock.
pub(super) fn annotate(annotations: &mut Annotations, records: &[LogRecord], cpus: u32) {
    let waits = waits(records);
    let mut tracks: BTreeMap<u16, TrackId> = BTreeMap::new();
    for wait in &waits {
        let track = *tracks
            .entry(wait.cpu.0)
            .or_insert_with(|| annotations.track(&format!("lock waits of CPU {}", wait.cpu), None));
        let name = format!("rq lock of CPU {}", wait.of);
        annotations.slice(track, wait.since_ns, wait.until_ns, &name, &[]);
    }
    let mut changes: Vec<Change> = Vec::with_capacity(2 * waits.len());
    for wait in &waits {
        changes.push(Change { at_ns: wait.since_ns, of: wait.of.0, by: 1 });
        changes.push(Change { at_ns: wait.until_ns, of: wait.of.0, by: -1 });
    }
    changes.sort_by_key(|change| (change.at_ns, change.of, change.by));
    let counters: Vec<_> = (0..cpus)
        .map(|cpu| annotations.counter(&format!("rq lock waiters CPU {cpu}"), "CPUs", None))
        .collect();
    let mut waiting = vec![0; cpus as usize];
    for counter in &counters {
        annotations.value(*counter, 0, 0);
    }
    for change in changes {
        let of = usize::from(change.of);
        waiting[of] += change.by;
        annotations.value(counters[of], change.at_ns, waiting[of]);
    }
}

/// One CPU more or fewer waits.
struct Change {
    at_ns: u64,
    of: u16,
    by: i64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{Nanos, Pid};
    use trace::{TraceBuilder, write_chrome_json};

    #[test]
    fn waiters_of_a_lock_are_counted_while_they_wait() {
        let wait = |cpu, of, since, until| LogRecord {
            time: Nanos(until),
            cpu: CpuId(cpu),
            pid: Pid::IDLE,
            in_interrupt: false,
            event: LogEvent::LockWait {
                lock: LogLock::Rq { cpu: CpuId(of) },
                since: Nanos(since),
                holder: CpuId(0),
                waiters: 0,
            },
        };
        let records = [wait(2, 0, 1_000, 4_000), wait(1, 0, 2_000, 3_000), wait(1, 2, 3_000, 5_000)];
        let mut annotations = Annotations::new();
        annotate(&mut annotations, &records, 3);
        let mut out = Vec::new();
        write_chrome_json(&TraceBuilder::new(3).finish(), &annotations, &mut out).expect("memory takes it");
        let text = String::from_utf8(out).expect("JSON is text");
        let counts = |cpu: u32| -> Vec<String> {
            let of_cpu = |line: &&str| line.contains(&format!("\"rq lock waiters CPU {cpu}\""));
            let count = |line: &str| line.split("\"CPUs\":").nth(1).map(|rest| rest[..1].to_owned());
            text.lines().filter(of_cpu).filter_map(count).collect()
        };
        assert_eq!(counts(0), ["0", "1", "2", "1", "0"]);
        assert_eq!(counts(1), ["0"]);
        assert_eq!(counts(2), ["0", "1", "0"]);
        assert_eq!(text.matches("\"rq lock of CPU 0\"").count(), 2);
    }
}
