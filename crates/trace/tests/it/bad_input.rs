//! What a user is told about a file that cannot be used.

use trace::{NoteKind, Severity};

use crate::common::{fixture, without_feature};

fn check(bytes: &[u8], expected: &str) {
    let error = trace::read(bytes).expect_err("nothing to read").to_string();
    assert_eq!(error, expected);
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

#[test]
fn no_trace_at_all() {
    check(b"", "the file is empty");
    check(
        b"hello\nworld\n",
        "this is not a trace that can be read: text in which no line is an event; \
         give a trace.dat, a perf.data, a Perfetto trace, or text from trace-cmd report, tracefs or perf script",
    );
    check(
        b"\x1f\x8b\x08\0",
        "this is not a trace that can be read: a gzip file that is cut or damaged at its beginning; copy or \
         record it again",
    );
    for chrome in [r#"{"traceEvents":[]}"#, r#"{"displayTimeUnit":"ns","traceEvents":[]}"#] {
        check(
            chrome.as_bytes(),
            "this is not a trace that can be read: a trace of Chrome's JSON; \
             that is for viewers and lacks what a replay needs; write it as .dat, .pftrace or .txt instead",
        );
    }
    check(
        b"ab\0cd",
        "this is not a trace that can be read: binary data of an unknown kind; \
         give a trace.dat, a perf.data, a Perfetto trace, or text from trace-cmd report, tracefs or perf script",
    );
}

#[test]
fn variants_that_are_not_supported() {
    let file = fixture("mix-rr.v6.dat.gz");
    let mut version = file.clone();
    version[10] = b'8';
    check(
        &version,
        "byte 10: trace.dat version '8' is not supported; convert it with trace-cmd convert --file-version 7",
    );
    let mut endian = file;
    endian[12] = 1;
    check(
        &endian,
        "byte 12: big-endian data is not supported; only recordings of little-endian machines can be read",
    );
    let compression = replaced(&fixture("mix-rr.dat")[..40], b"zstd\0", b"lz99\0");
    check(
        &compression,
        "byte 18: compression 'lz99' is not supported; convert it with trace-cmd convert --compression none",
    );
}

#[test]
fn files_that_are_cut_too_early() {
    let file = fixture("mix-rr.dat");
    check(
        &file[..9000],
        "byte 9000: the file ends inside the sections: at least 83 bytes are missing; copy or record it \
         again",
    );
    let file = fixture("mix-rr.v6.dat.gz");
    check(
        &file[..1000],
        "byte 481: the file ends inside the event descriptions: at least 334 bytes are missing; copy or \
         record it again",
    );
}

#[test]
fn perf_data_without_what_is_needed() {
    let file = fixture("rtmigrate.perf.data.gz");
    check(
        &file[..100_000],
        "byte 100000: the file ends inside the table of features, which stands behind the records of a perf.data: \
         at least 156336 bytes are missing; copy or record it again",
    );
    let with = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    let big_endian =
        "big-endian data is not supported; only recordings of little-endian machines can be read";
    check(&with(0, b"2ELIFREP"), &format!("byte 0: {big_endian}"));
    let magic = file.windows(10).position(|window| window == b"\x17\x08\x44tracing").expect("descriptions");
    check(&with(magic + 14, &[1]), &format!("byte {}: {big_endian}", magic + 14));
    check(
        &with(8, &16u64.to_le_bytes()),
        "byte 8: a perf.data from a pipe is not supported; record into a file with perf sched record -o FILE",
    );
    check(
        &with(48, &0u64.to_le_bytes()),
        "the file does not describe sched_switch as needed: perf record was broken off before it wrote the descriptions; \
         record with trace-cmd record -e sched or perf sched record",
    );
    check(
        &with(1224 + 6, &[7, 0]),
        "no sched_switch event among 0 events; record with trace-cmd record -e sched or perf sched record\n\
         error: a record has an impossible length; reading stopped there (1×, first at byte 1224)",
    );
}

#[test]
fn perf_data_without_descriptions() {
    const TRACING_DATA: usize = 1;
    let file = fixture("rtmigrate.perf.data.gz");
    check(
        &without_feature(&file, TRACING_DATA),
        "the file does not describe sched_switch as needed: the file holds no event descriptions; \
         record with trace-cmd record -e sched or perf sched record",
    );
    check(
        &replaced(&file, b"name: sched_switch\n", b"name: sched_swatch\n"),
        "the file does not describe sched_switch as needed: it is not there; record with trace-cmd record -e \
         sched or perf sched record",
    );
    let trace =
        trace::read(&replaced(&file, b"int target_cpu;", b"int target_cpx;")).expect("switches are there");
    let note = trace.notes.get(NoteKind::UndecodableEvent).expect("wakeups cannot be read");
    assert_eq!((note.count, note.detail.as_deref()), (410, Some("sched_waking has no field target_cpu")));
}

#[test]
fn missing_descriptions() {
    let file = fixture("mix-rr.v6.dat.gz");
    check(
        &replaced(&file, b"name: sched_switch\n", b"name: sched_swatch\n"),
        "the file does not describe sched_switch as needed: it is not there; record with trace-cmd record -e \
         sched or perf sched record",
    );
    check(
        &replaced(&file, b"next_pid;", b"mext_pid;"),
        "the file does not describe sched_switch as needed: it has no field next_pid; \
         record with trace-cmd record -e sched or perf sched record",
    );
    let trace =
        trace::read(&replaced(&file, b"int target_cpu;", b"int target_cpx;")).expect("switches are there");
    let note = trace.notes.get(NoteKind::UndecodableEvent).expect("wakeups cannot be read");
    assert_eq!((note.count, note.detail.as_deref()), (871, Some("sched_wakeup_new has no field target_cpu")));
    assert_eq!(trace.notes.count(NoteKind::NoWakeups), 1);
    assert_eq!(trace.notes.worst(), Some(Severity::Error));
}

#[test]
fn a_trace_without_switches() {
    let text = "# tracer: nop\n\
                <idle>-0 [000] d... 0.000100: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n\
                <idle>-0 [000] d... 0.000101: sched_wakeup: comm=a pid=7 prio=120 target=000\n\
                <idle>-0 [000] d... 0.000200: cpu_frequency: state=1 cpu_id=0\n";
    check(
        text.as_bytes(),
        "no sched_switch event among 3 events (sched_wakeup, cpu_frequency); record with trace-cmd record -e sched or perf sched record\n\
         data loss: a line names an event that we know, but its fields are not as expected (1×, first at line 3): \
         comm=a pid=7 prio=120 target=000\n\
         info: events that say nothing about scheduling were counted and left out (1×, first at line 4)",
    );
    check(
        b"# tracer: nop\n#\n",
        "no sched_switch event among 0 events; record with trace-cmd record -e sched or perf sched record",
    );
}

const SWITCH: &str = "<idle>-0 [001] d... 0.000200: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> \
                      next_comm=a next_pid=7 next_prio=120\n";

/// The notes of a text that holds one switch and the given lines.
fn notes(lines: &str) -> String {
    let trace = trace::read(format!("{lines}{SWITCH}").as_bytes()).expect("there is a switch");
    let no_wakeups = NoteKind::NoWakeups.sentence();
    trace.notes.to_string().lines().filter(|line| !line.contains(no_wakeups)).collect::<Vec<_>>().join("\n")
}

#[test]
fn lines_that_cannot_be_used_are_counted_with_their_place() {
    assert_eq!(
        notes("#\nwhat is this\n\nand this\n"),
        "data loss: a line is neither an event nor a comment that we know (2×, first at line 2): what is this"
    );
    assert_eq!(
        notes(
            "x-1 [9999] d... 0.000100: sched_switch: prev_comm=x prev_pid=1 prev_prio=1 prev_state=S ==> \
             next_comm=y next_pid=2 next_prio=1\n"
        ),
        "error: an event names a CPU that no machine has; it was dropped (1×, first at line 1): CPU 9999"
    );
    assert_eq!(
        notes("# entries-in-buffer/entries-written: 1/1   #P:1\n"),
        "info: an event names a CPU above the number that the header gives; the machine was taken to be larger \
         (1×, first at line 2)"
    );
    assert_eq!(
        notes("a-7 [001] d... 0.000300: x: y\na-7 [001] d... 0.000300: tracing_mark_write: later\n"),
        "info: times on one CPU go backwards; events were put in order of time (1×, first at line 3): by 100000 ns on CPU 1\n\
         info: events that say nothing about scheduling were counted and left out (1×, first at line 1)"
    );
    assert_eq!(
        notes("# entries-in-buffer/entries-written: 10/25   #P:2\n"),
        "info: older events were overwritten before they were saved: the trace begins later than the recording \
         (15×, first at the whole file)"
    );
}

#[test]
fn lost_events_become_gaps() {
    let trace = trace::read(format!("CPU:1 [LOST 12 EVENTS]\n{SWITCH}CPU:1 [EVENTS DROPPED]\n").as_bytes());
    let trace = trace.expect("there is a switch");
    let gaps: Vec<_> = trace.meta.gaps.iter().map(|gap| (gap.cpu.0, gap.before_ns, gap.events)).collect();
    assert_eq!(gaps, [(1, 200_000, Some(12)), (1, 200_000, None)]);
    assert_eq!(trace.notes.count(NoteKind::LostEvents), 13);
    assert_eq!(trace.notes.worst(), Some(Severity::DataLoss));
}

/// The header has the sum over all CPUs; which of them it was, nobody says, but those without events have
/// lost none. That a CPU begins later is no further gap.
#[test]
fn overwritten_events_are_gaps_at_the_beginnings_of_cpus() {
    let gaps = |text: &str| -> Vec<(u32, u64, Option<u64>)> {
        let head = "# tracer: nop\n# entries-in-buffer/entries-written: 10/25   #P:4\n";
        let trace = trace::read(format!("{head}{text}").as_bytes()).expect("a trace");
        assert_eq!(trace.notes.count(NoteKind::Overwritten), 15);
        trace.meta.gaps.iter().map(|gap| (gap.cpu.0, gap.before_ns, gap.events)).collect()
    };
    let switch = |cpu: u32| SWITCH.replace("[001]", &format!("[00{cpu}]"));
    assert_eq!(gaps(&switch(1)), [(1, 0, Some(15))]);
    let two = format!("{}##### CPU 2 buffer started ####\n{}", switch(1), switch(2));
    assert_eq!(gaps(&two), [(1, 0, None), (2, 0, None)]);
    let lost = format!("{two}CPU:2 [LOST 3 EVENTS]\n{}", switch(2).replace("0.0002", "0.0003"));
    assert_eq!(gaps(&lost), [(1, 0, None), (2, 0, None), (2, 300_000, Some(3))]);
}

/// A block of zstd that says it holds four gigabytes, and options that point to each other.
#[test]
fn bombs_and_rings() {
    let file = fixture("mix-rr.dat");
    let mut bomb = file.clone();
    bomb[37 + 16 + 4..37 + 16 + 8].copy_from_slice(&[0xff; 4]);
    check(
        &bomb,
        "byte 37: section 16 decompresses to far more than such sections do; the file is damaged, copy or \
         record it again",
    );
    let mut ring = file;
    let done = 9083 + 16 + 568 - 8;
    ring[done..done + 8].copy_from_slice(&9083u64.to_le_bytes());
    check(&ring, "byte 9083: the option lists form a ring; the file is damaged, copy or record it again");
}
