//! Waits for run-queue locks, which no event of Linux can tell: who waited for whose, and how many at once.

use machine::LockWait;
use std::collections::BTreeMap;
use trace::{Annotations, TrackId};

/// Adds a slice for each wait, on a track of the CPU that spun, and for each CPU a counter of those that wait
/// for its lock.
pub(super) fn annotate(annotations: &mut Annotations, waits: &[LockWait], cpus: u32) {
    let mut waits = waits.to_vec();
    waits.sort_by_key(|wait| (wait.since, wait.cpu, wait.of));
    let mut tracks: BTreeMap<u16, TrackId> = BTreeMap::new();
    for wait in &waits {
        let track = *tracks
            .entry(wait.cpu.0)
            .or_insert_with(|| annotations.track(&format!("lock waits of CPU {}", wait.cpu), None));
        let name = format!("rq lock of CPU {}", wait.of);
        annotations.slice(track, wait.since.0, wait.until.0, &name, &[]);
    }
    let mut changes: Vec<Change> = Vec::with_capacity(2 * waits.len());
    for wait in &waits {
        changes.push(Change { at_ns: wait.since.0, of: wait.of.0, by: 1 });
        changes.push(Change { at_ns: wait.until.0, of: wait.of.0, by: -1 });
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
    use scheduler::{CpuId, Nanos};
    use trace::{TraceBuilder, write_chrome_json};

    #[test]
    fn waiters_of_a_lock_are_counted_while_they_wait() {
        let wait = |cpu, of, since, until| LockWait {
            cpu: CpuId(cpu),
            of: CpuId(of),
            since: Nanos(since),
            until: Nanos(until),
        };
        let waits = [wait(2, 0, 1_000, 4_000), wait(1, 0, 2_000, 3_000), wait(1, 2, 3_000, 5_000)];
        let mut annotations = Annotations::new();
        annotate(&mut annotations, &waits, 3);
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
