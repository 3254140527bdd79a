//! Perfetto traces: what we write comes back, columns say the same as messages, packed packets the same as
//! plain ones.

use trace::{EventKind, Format, NoteKind, Trace};

use crate::common::{assert_same, assert_sound, fixture, lines};
use crate::compact;

fn read(name: &str) -> Trace {
    let trace = trace::read(&fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_sound(&trace);
    trace
}

/// The lines without what the writer leaves out: the names in the column of tasks.
fn without_task(trace: &Trace) -> Vec<String> {
    let cut = |line: &String| line[line.find("[0").expect("a CPU")..].to_owned();
    lines(trace).iter().map(cut).collect()
}

#[test]
fn what_is_written_comes_back() {
    for name in ["mix-rr.dat", "mix-rtover.dat", "pistress.report-R.txt.gz", "hackbench-pipe.perf.data.gz"] {
        let (original, again) = (read(name), read(&format!("{name}.pftrace")));
        assert_eq!(again.meta.format, Format::Perfetto);
        assert_same(name, &without_task(&original), &without_task(&again));
        let words = |trace: &Trace| -> Vec<String> {
            trace.meta.kernel.iter().flat_map(|kernel| kernel.split(' ')).map(str::to_owned).collect()
        };
        assert_eq!(original.cpus, again.cpus, "{name}");
        // The writer leaves out the machine's name and architecture.
        let known = words(&original);
        assert!(known.is_empty() || words(&again).iter().all(|word| known.contains(word)), "{name}");
        assert_eq!(trace::summarise(&original).cpus, trace::summarise(&again).cpus, "{name}");
        assert_eq!(again.notes.count(NoteKind::CorruptRecord), 0, "{name}");
    }
}

/// What columns say of switches and wakings from the second switch of each CPU on: all but who left, which
/// follows from the switch before, and who woke, which follows from who runs.
#[test]
fn columns_say_the_same_as_messages() {
    let name = "guest-6.1-mix-rr-smp2.dat";
    let (original, columns) = (read(name), read(&format!("{name}.compact.pftrace")));
    let second_switch = |cpu| {
        let of_cpu = original.events.iter().filter(|event| event.cpu.0 == cpu);
        let mut switches = of_cpu.filter(|event| matches!(event.kind, EventKind::SchedSwitch(_)));
        switches.nth(1).map_or(0, |event| event.time_ns)
    };
    let begin = second_switch(0).max(second_switch(1));
    let figures = |trace: &Trace| -> Vec<String> {
        let events = trace.events.iter().filter(|event| event.time_ns >= begin);
        let rows = events.filter_map(|event| {
            let task =
                |task: &trace::TaskRef| format!("{}:{} {}", &trace.strings[task.comm], task.pid, task.prio);
            let what = match &event.kind {
                EventKind::SchedSwitch(s) => format!("{} ==> {}", s.prev_state, task(&s.next)),
                EventKind::SchedWaking(w) => format!("wakes {} on {}", task(&w.task), w.target_cpu),
                _ => return None,
            };
            Some(format!("{} {} {} {what}", event.time_ns, event.cpu, event.pid))
        });
        rows.collect()
    };
    let (expected, got) = (figures(&original), figures(&columns));
    assert!(got.len() > 400, "{} rows", got.len());
    assert_same(name, &expected, &got);
    assert_eq!(columns.notes.count(NoteKind::SwitchWithoutPrev), 2, "the first of each CPU");
    assert_eq!(columns.notes.count(NoteKind::CorruptRecord), 0);
}

#[test]
fn packed_packets_say_the_same() {
    let plain = fixture("mix-rr.dat.pftrace");
    let mut packet = Vec::new();
    compact::bytes(&mut packet, 50, &miniz_oxide::deflate::compress_to_vec_zlib(&plain, 6));
    let mut packed = Vec::new();
    compact::bytes(&mut packed, 1, &packet);
    let (plain, packed) = (trace::read(&plain).expect("a trace"), trace::read(&packed).expect("a trace"));
    assert_same("mix-rr", &lines(&plain), &lines(&packed));
    let mut bomb = Vec::new();
    compact::bytes(&mut bomb, 50, &miniz_oxide::deflate::compress_to_vec_zlib(&vec![0; 64 << 20], 9));
    let mut file = Vec::new();
    compact::bytes(&mut file, 1, &bomb);
    let error = trace::read(&file).expect_err("zeros are no packets").to_string();
    assert!(error.contains("the file decompresses to far more than traces do"), "{error}");
}

#[test]
fn lost_events_and_a_cpu_behind_the_events() {
    let mut event = Vec::new();
    compact::number(&mut event, 1, 1000);
    compact::number(&mut event, 2, 7);
    let mut switch = Vec::new();
    for (field, value) in [(2, 7), (3, 120), (4, 1), (6, 8), (7, 120)] {
        compact::number(&mut switch, field, value);
    }
    compact::bytes(&mut event, 4, &switch);
    let mut bundle = Vec::new();
    compact::bytes(&mut bundle, 2, &event);
    compact::number(&mut bundle, 3, 1);
    compact::number(&mut bundle, 1, 3);
    let (mut packet, mut file) = (Vec::new(), Vec::new());
    compact::bytes(&mut packet, 1, &bundle);
    compact::bytes(&mut file, 1, &packet);
    let trace = trace::read(&file).expect("one switch");
    assert_eq!((trace.events.len(), trace.events[0].cpu.0, trace.cpus), (1, 3, 4));
    let gaps: Vec<_> = trace.meta.gaps.iter().map(|gap| (gap.cpu.0, gap.before_ns, gap.events)).collect();
    assert_eq!(gaps, [(3, 1000, None)]);
    assert_eq!(trace.notes.count(NoteKind::AssumedStateBits), 1, "nothing tells which kernel it was");
}
