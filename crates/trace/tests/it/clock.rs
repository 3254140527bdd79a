//! One wrong bit in a time: it is found, or the span of the trace changes by little.

use trace::{NoteKind, Trace};

use crate::common::{assert_sound, fixture};

/// What a wrong bit may change without being noticed, ns: silences of up to a minute, and disorder.
const UNNOTICED_NS: u64 = 62 * 1_000_000_000;
/// What a wrong bit may add in any case, ns: a silence of two days before what was shifted, and one behind
/// it.
const MOST_NS: u64 = 2 * 48 * 3600 * 1_000_000_000;

fn span_ns(trace: &Trace) -> u64 {
    trace.end_ns() - trace.start_ns()
}

/// Flips each of the bits of the numbers at these places, and returns how often that was noticed.
fn check(name: &str, file: &[u8], numbers: &[(usize, u32)]) -> u32 {
    let whole = trace::read(file).expect("a trace");
    assert_eq!(
        (whole.notes.count(NoteKind::ClockJumped), whole.notes.count(NoteKind::LongSilence)),
        (0, 0),
        "{name}"
    );
    let mut noticed = 0;
    let mut damaged = file.to_vec();
    for (at, bits) in numbers {
        for bit in 0..*bits {
            let (byte, mask) = (at + bit as usize / 8, 1 << (bit % 8));
            damaged[byte] ^= mask;
            let trace = trace::read(&damaged).expect("a trace");
            damaged[byte] ^= mask;
            assert_sound(&trace);
            let said =
                trace.notes.count(NoteKind::ClockJumped) + trace.notes.count(NoteKind::LongSilence) > 0;
            let change = span_ns(&trace).abs_diff(span_ns(&whole));
            assert!(
                said || change <= UNNOTICED_NS,
                "{name}: bit {bit} at byte {at} changes the span by {change} ns"
            );
            assert!(change <= MOST_NS, "{name}: bit {bit} at byte {at}: {change} ns\n{}", trace.notes);
            assert!(
                trace.events.len() * 4 >= whole.events.len() || whole.cpus > 1,
                "{name}: bit {bit} at byte {at}: {} of {} events are left",
                trace.events.len(),
                whole.events.len()
            );
            noticed += u32::from(said);
        }
    }
    noticed
}

fn word(file: &[u8], at: usize, len: usize) -> usize {
    file[at..at + len].iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte))
}

/// Where the pages of a trace.dat of version 6 are.
fn pages(file: &[u8]) -> Vec<usize> {
    let table = file.windows(10).position(|text| text == b"flyrecord\0").expect("a table of CPUs") + 10;
    let cpus = trace::read(file).expect("a trace").cpus as usize;
    let of_cpu = |cpu: usize| {
        let (start, len) = (word(file, table + 16 * cpu, 8), word(file, table + 16 * cpu + 8, 8));
        (start..start + len).step_by(4096)
    };
    (0..cpus).flat_map(of_cpu).collect()
}

/// Where the words of a page's time extensions are.
fn extensions(file: &[u8], page: usize) -> Vec<usize> {
    let (mut at, end) = (page + 16, page + 16 + word(file, page + 8, 3));
    let mut found = Vec::new();
    while at < end {
        let header = word(file, at, 4);
        at += match header & 31 {
            29 => 4 + word(file, at + 4, 4),
            30 => {
                found.push(at + 4);
                8
            }
            31 => 8,
            0 => 4 + word(file, at + 4, 4),
            words => 4 + 4 * words,
        };
    }
    found
}

#[test]
fn every_bit_of_the_times_of_pages() {
    for name in ["mix-rr.v6.dat.gz", "activity.dat.gz"] {
        let file = fixture(name);
        let pages = pages(&file);
        let numbers: Vec<_> = pages.iter().map(|page| (*page, 64)).collect();
        let noticed = check(name, &file, &numbers);
        // The upper half of a time is more than a second.
        assert!(noticed as usize >= 27 * pages.len(), "{name}: {noticed} of {} pages", pages.len());
    }
}

#[test]
fn every_bit_of_time_extensions() {
    let name = "guest-6.1-mix-rr-smp2.dat";
    let mut file = Vec::new();
    trace::write_trace_dat(&trace::read(&fixture(name)).expect("a trace"), &mut file).expect("memory");
    let extensions = pages(&file).into_iter().flat_map(|page| extensions(&file, page));
    let numbers: Vec<_> = extensions.map(|at| (at, 32)).take(8).collect();
    assert!(!numbers.is_empty());
    check(name, &file, &numbers);
}

#[test]
fn every_bit_of_a_sample_s_time() {
    let name = "hackbench-pipe.perf.data.gz";
    let file = fixture(name);
    let (mut at, mut samples) = (1224, Vec::new());
    while samples.len() < 1000 {
        if file[at] == 9 {
            samples.push((at + 32, 64));
        }
        at += word(&file, at + 6, 2);
    }
    let some: Vec<_> = samples.into_iter().step_by(200).collect();
    let noticed = check(name, &file, &some);
    assert!(noticed as usize >= 33 * some.len(), "{noticed}");
}

/// Each digit of a time in text becomes a nine.
#[test]
fn wrong_digits_in_text() {
    let name = "rtlab-plain.trace.txt.gz";
    let text = String::from_utf8(fixture(name)).expect("text");
    let whole = trace::read(text.as_bytes()).expect("a trace");
    let lines: Vec<_> = text.match_indices("] ").map(|(at, _)| at).collect();
    for start in lines.iter().step_by(lines.len() / 7) {
        let time = start + text[*start..].find('.').map_or(0, |flags| flags + 4);
        for at in (time..time + 16).filter(|at| text.as_bytes()[*at].is_ascii_digit()) {
            let mut damaged = text.clone().into_bytes();
            damaged[at] = b'9';
            let trace = trace::read(&damaged).expect("a trace");
            let said =
                trace.notes.count(NoteKind::ClockJumped) + trace.notes.count(NoteKind::LongSilence) > 0;
            let change = span_ns(&trace).abs_diff(span_ns(&whole));
            assert!(said || change <= UNNOTICED_NS, "byte {at}: {change} ns");
        }
    }
}

/// A laptop that was idle all night: nothing is wrong, and one note says how long nothing happened.
#[test]
fn a_night_of_silence_stays() {
    let switch = |cpu: u32, time: &str, prev: i32, next: i32| {
        format!(
            " a-{prev} [00{cpu}] d... {time}: sched_switch: prev_comm=a prev_pid={prev} prev_prio=120 prev_state=S ==> \
             next_comm=a next_pid={next} next_prio=120\n"
        )
    };
    let text = [
        switch(0, "100.000001", 0, 7),
        switch(1, "100.000002", 8, 0),
        switch(0, "100.000003", 7, 0),
        switch(1, "30100.000001", 0, 8),
        switch(1, "30100.000002", 8, 0),
        switch(0, "30200.000001", 0, 7),
    ];
    let trace = trace::read(text.concat().as_bytes()).expect("a trace");
    assert_eq!((trace.events.len(), trace.notes.count(NoteKind::ClockJumped)), (6, 0));
    let note = trace.notes.get(NoteKind::LongSilence).expect("it is said");
    assert_eq!((note.count, note.detail.as_deref()), (2, Some("the longest lasts 29999 s")));
}
