//! What all tests of recordings need.

use std::fs;
use std::path::Path;

use trace::{EventKind, Trace};

/// A file of tests/fixtures; `.gz` is unpacked. A name that goes on with `.pftrace` is such a file written as
/// a Perfetto trace, with `.compact.pftrace` its switches and wakings alone, in columns.
pub fn fixture(name: &str) -> Vec<u8> {
    if let Some(other) = name.strip_suffix(".compact.pftrace") {
        return crate::compact::encode(&trace::read(&fixture(other)).expect("a trace"));
    }
    if let Some(other) = name.strip_suffix(".pftrace") {
        let mut bytes = Vec::new();
        let trace = trace::read(&fixture(other)).expect("a trace");
        trace::write_perfetto(&trace, &trace::Annotations::new(), &mut bytes)
            .expect("memory takes everything");
        return bytes;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if !name.ends_with(".gz") {
        return bytes;
    }
    // Ours have no optional header fields: ten bytes before the data, eight behind.
    assert_eq!(bytes[3], 0, "{name}: pack it with gzip -n");
    miniz_oxide::inflate::decompress_to_vec(&bytes[10..bytes.len() - 8]).expect("a sound gzip file")
}

/// A perf.data without one of the features that its header lists, by the number of its bit.
pub fn without_feature(file: &[u8], bit: usize) -> Vec<u8> {
    let word = |at: usize| u64::from_le_bytes(*file[at..].first_chunk().expect("a number"));
    let (features, table) = (word(72), (word(40) + word(48)) as usize);
    assert_eq!(features >> bit & 1, 1, "the file has it");
    let before = (features & ((1 << bit) - 1)).count_ones() as usize;
    let entries = (0..4).map(|n| word(72 + 8 * n).count_ones()).sum::<u32>() as usize;
    let mut without = file.to_vec();
    without[72..80].copy_from_slice(&(features & !(1 << bit)).to_le_bytes());
    // The table has an entry of 16 bytes for each feature; what it points to stays where it is.
    without.copy_within(table + 16 * (before + 1)..table + 16 * entries, table + 16 * before);
    without
}

/// Every event as text with its names resolved, for comparison across traces.
pub fn lines(trace: &Trace) -> Vec<String> {
    let mut text = Vec::new();
    trace::write_ftrace_text(trace, trace::TextOptions::default(), &mut text)
        .expect("memory takes everything");
    let text = String::from_utf8(text).expect("text is UTF-8");
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// How many events there are of a kind.
pub fn count(trace: &Trace, name: &str) -> u64 {
    let held = trace.events.iter().filter(|event| event.kind.name() == name).count() as u64;
    let left_out = trace.notes.other_events().get(name).copied().unwrap_or(0);
    held + left_out
}

/// What every trace promises, whatever it was read from.
pub fn assert_sound(trace: &Trace) {
    assert!(trace.events.iter().is_sorted_by_key(|event| (event.time_ns, event.cpu)));
    assert!(trace.events.iter().all(|event| event.cpu.0 < trace.cpus));
    assert!(trace.events.iter().any(|event| matches!(event.kind, EventKind::SchedSwitch(_))));
    let summary = trace::summarise(trace);
    let duration = trace.end_ns() - trace.start_ns();
    for cpu in summary.cpus {
        assert_eq!(cpu.idle_ns + cpu.busy_ns + cpu.unknown_ns, duration);
    }
}

/// Says where two lists of lines differ first.
pub fn assert_same(name: &str, left: &[String], right: &[String]) {
    for (n, (left, right)) in left.iter().zip(right).enumerate() {
        assert_eq!(left, right, "{name}: event {n}");
    }
    assert_eq!(left.len(), right.len(), "{name}");
}
