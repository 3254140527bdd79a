//! What is done with every input: all that a user of a trace would do.

use std::alloc::System;

use cap::Cap;
use trace::{Annotations, DelaysFrom, TextOptions};

/// Refuses memory beyond a limit, which ends the program: that is a find.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// What reading may take however short the input is: tables with an entry for each of 8192 CPUs, windows of
/// decompression.
const FIXED: usize = 4 << 20;
/// What reading may take for each byte of the input.
const TIMES: usize = 10;
/// The same for an event of Perfetto's compact encoding, which has five bytes there and 64 here.
const TIMES_COMPACT: usize = TIMES + 64 / 5 + 1;

/// Bytes that reading `data` may take: [`trace::read`] promises it.
fn allowed(data: &[u8]) -> usize {
    const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
    let is_dat_7 = data.starts_with(b"\x17\x08\x44tracing7");
    let is_packed = data.starts_with(b"\x1f\x8b");
    if is_dat_7 || is_packed || data.windows(ZSTD.len()).any(|bytes| bytes == ZSTD) {
        let unpacked = 100 * data.len() + (64 << 20);
        return FIXED + TIMES * unpacked;
    }
    let is_known = [&b"PERFILE2"[..], b"\x17\x08\x44tracing"].iter().any(|magic| data.starts_with(magic));
    FIXED + data.len() * if is_known { TIMES } else { TIMES_COMPACT }
}

/// [`trace::read`] with no more memory than it promises to take.
fn read(data: &[u8]) -> Result<trace::Trace, trace::ReadError> {
    let limit = MEMORY.allocated() + allowed(data);
    MEMORY.set_limit(limit).expect("less is allocated");
    let result = trace::read(data);
    MEMORY.set_limit(usize::MAX).expect("less is allocated");
    result
}

/// Reads `data` and, if it is a trace, uses the whole of it.
pub fn read_and_use(data: &[u8]) {
    let mut trace = match read(data) {
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

/// As [`read_and_use`], for an input whose first bytes say which format it is: those are put right, so that
/// no time is spent on finding them.
pub fn read_with_magic(magic: &[u8], data: &[u8]) {
    let mut bytes = data.to_vec();
    let len = magic.len().min(bytes.len());
    bytes[..len].copy_from_slice(&magic[..len]);
    read_and_use(&bytes);
}
