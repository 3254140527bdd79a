//! What is done with every input: all that a user of a trace would do.

use trace::{Annotations, DelaysFrom, TextOptions};

/// Reads `data` and, if it is a trace, uses the whole of it.
pub fn read_and_use(data: &[u8]) {
    let mut trace = match trace::read(data) {
        Ok(trace) => trace,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert!(trace.events.iter().is_sorted_by_key(|event| (event.time_ns, event.cpu)));
    assert!(trace.events.iter().all(|event| event.cpu.0 < trace.cpus));
    let _ = trace.notes.to_string();
    let _ = trace::summarise(&trace);
    let _ = trace::sched_latency(&trace, DelaysFrom::Waking);
    trace::infer_missing_switches(&mut trace);
    let sink = std::io::sink;
    trace::write_ftrace_text(&trace, TextOptions::default(), sink()).expect("a sink takes everything");
    trace::write_perfetto(&trace, &Annotations::new(), sink()).expect("a sink takes everything");
}

/// As [`read_and_use`], for an input whose first bytes say which format it is: those are put right, so that no time is
/// spent on finding them.
pub fn read_with_magic(magic: &[u8], data: &[u8]) {
    let mut bytes = data.to_vec();
    let len = magic.len().min(bytes.len());
    bytes[..len].copy_from_slice(&magic[..len]);
    read_and_use(&bytes);
}
