//! What else the kernel did: interrupts, softirqs, timers, work items, block requests, system calls, packets.

use std::collections::BTreeMap;

use trace::{
    Activity, Annotations, BlockOperation, Context, Event, EventKind, NeedResched, SchedStatDelay,
    SoftirqVec, TextOptions, Trace, TraceBuilder,
};

use crate::common::{assert_same, assert_sound, count, fixture, lines};

const DAT: &str = "activity.dat.gz";
const TEXT: &str = "activity.trace.txt.gz";

fn read(name: &str) -> Trace {
    let trace = trace::read(&fixture(name)).expect("a trace");
    assert_sound(&trace);
    trace
}

/// A line without what the kernel's text does not tell: addresses, which it hashes, and nanoseconds.
fn as_printed(line: &str) -> String {
    let is_address = |word: &str| word.len() == 16 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let word = |word: &str| {
        let (key, value) = word.split_once('=').unwrap_or(("", word));
        if is_address(value.trim_end_matches(':')) { format!("{key}=ADDRESS") } else { word.to_owned() }
    };
    let time = |word: &str| {
        let (seconds, ns) = word.strip_suffix(':')?.split_once('.')?;
        let ns: u64 = format!("{seconds}{ns:0<9}").parse().ok()?;
        // The kernel rounds.
        Some(format!("{} us", (ns + 500) / 1000))
    };
    let words: Vec<String> = line.split(' ').map(|part| time(part).unwrap_or_else(|| word(part))).collect();
    words.join(" ")
}

/// The lines of each CPU: in µs the order across CPUs is lost.
fn by_cpu(lines: Vec<String>) -> BTreeMap<String, Vec<String>> {
    let mut cpus: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines {
        let cpu = line[line.find('[').expect("a CPU")..][..5].to_owned();
        cpus.entry(cpu).or_default().push(as_printed(&line));
    }
    cpus
}

/// Without the names in front: some formats have them for the whole file, some for the moment, some not at
/// all.
fn from_pid(lines: Vec<String>) -> Vec<String> {
    let pid = |line: &str| line.split(" [").next().and_then(|task| task.rfind('-')).expect("a pid");
    lines.into_iter().map(|line| line[pid(&line)..].to_owned()).collect()
}

/// The kernel printed the same recording: both readers must give the same.
#[test]
fn binary_records_say_what_the_kernel_prints_of_them() {
    let (dat, text) = (read(DAT), read(TEXT));
    assert_eq!(dat.notes.other_events(), text.notes.other_events());
    assert_eq!(dat.notes.other_events().keys().collect::<Vec<_>>(), ["block_getrq"]);
    let (dat, text) = (by_cpu(from_pid(lines(&dat))), by_cpu(from_pid(lines(&text))));
    assert_eq!(dat.len(), 2);
    for (cpu, dat) in &dat {
        assert_same(cpu, dat, &text[cpu]);
    }
}

/// Counts of the kernel's own text, by `grep -c`.
#[test]
fn every_event_is_there() {
    for name in [DAT, TEXT] {
        let trace = read(name);
        for (event, expected) in [
            ("irq_handler_entry", 32),
            ("irq_handler_exit", 32),
            ("local_timer_entry", 104),
            ("local_timer_exit", 104),
            ("reschedule_entry", 20),
            ("call_function_single_exit", 1),
            ("softirq_raise", 120),
            ("softirq_entry", 120),
            ("softirq_exit", 120),
            ("hrtimer_start", 113),
            ("hrtimer_cancel", 6),
            ("hrtimer_expire_entry", 107),
            ("hrtimer_expire_exit", 107),
            ("timer_expire_entry", 18),
            ("timer_expire_exit", 18),
            ("workqueue_execute_start", 13),
            ("workqueue_execute_end", 13),
            ("block_rq_issue", 40),
            ("block_rq_complete", 46),
            ("net_dev_xmit", 4),
            ("netif_receive_skb", 4),
            ("sched_switch", 222),
            ("sched_waking", 97),
            ("sched_wakeup", 97),
            // Ten raw ones; entries and exits of futex are 44 together.
            ("sys_enter", 10 + 22),
            ("sys_exit", 10 + 22),
        ] {
            assert_eq!(count(&trace, event), expected, "{event} of {name}");
        }
        assert_eq!(trace.events.len(), 1683 - 40, "{name}");
    }
}

/// Each request that the disk completes was given to it before, on the same device at the same sector.
#[test]
fn completed_requests_were_issued() {
    let trace = read(DAT);
    let mut pending = BTreeMap::new();
    let (mut written, mut flushes, mut completed) = (0, 0, 0);
    for event in &trace.events {
        match event.kind {
            EventKind::Activity(Activity::BlockRqIssue(rq)) => {
                match BlockOperation::from_rwbs(&trace.strings[rq.rwbs]) {
                    BlockOperation::Write => written += rq.bytes,
                    BlockOperation::Flush => flushes += 1,
                    _ => {}
                }
                pending.insert((rq.dev, rq.sector), event.time_ns);
            }
            EventKind::Activity(Activity::BlockRqComplete(rq)) => {
                if let Some(issued_ns) = pending.remove(&(rq.dev, rq.sector)) {
                    completed += 1;
                    assert!(event.time_ns > issued_ns);
                }
            }
            _ => {}
        }
    }
    assert!(
        completed >= 40 - pending.len() && completed > 20,
        "{completed} completed, {} pending",
        pending.len()
    );
    // dd wrote six blocks of 4 KiB, each synchronously.
    assert!(written >= 6 * 4096 && flushes >= 6, "{written} bytes written, {flushes} flushes");
}

fn need_resched(trace: &Trace, wanted: NeedResched) -> usize {
    trace.events.iter().filter(|event| event.need_resched == wanted).count()
}

/// `grep -c` of lines with an N in the second column of flags gives the expectation.
#[test]
fn the_flag_of_need_resched_is_kept() {
    let printed = String::from_utf8(fixture(TEXT)).expect("text");
    let lines = printed.lines().filter_map(|line| line.split("] ").nth(1)?.split(' ').next());
    let expected =
        lines.filter(|flags| flags.len() == 5 && matches!(flags.as_bytes()[1], b'N' | b'n')).count();
    assert!(expected > 50);
    for name in [DAT, TEXT] {
        let trace = read(name);
        assert_eq!(need_resched(&trace, NeedResched::Yes), expected, "{name}");
        assert_eq!(need_resched(&trace, NeedResched::No), trace.events.len() - expected, "{name}");
    }
    let text = String::from_utf8(fixture("mix-rr.report.txt.gz")).expect("text");
    let without_flags = trace::read(text.as_bytes()).expect("a trace");
    assert_eq!(need_resched(&without_flags, NeedResched::Unknown), without_flags.events.len());
}

/// Every event that a format can hold comes back from it.
#[test]
fn activity_passes_through_every_format() {
    let mut original = read(DAT);
    // The kernel of the recording was built without these.
    let delay =
        SchedStatDelay { comm: original.strings.intern("a b"), pid: trace::Pid(7), delay_ns: u64::MAX };
    let last = *original.events.iter().next_back().expect("an event");
    for kind in [
        Activity::SchedStatWait(delay),
        Activity::SchedStatSleep(delay),
        Activity::SchedStatBlocked(delay),
        Activity::SchedStatIowait(delay),
    ] {
        original.events.push(Event { kind: EventKind::Activity(kind), ..last });
    }
    let (mut dat, mut perfetto, mut text) = (Vec::new(), Vec::new(), Vec::new());
    trace::write_trace_dat(&original, &mut dat).expect("memory");
    trace::write_perfetto(&original, &Annotations::new(), &mut perfetto).expect("memory");
    trace::write_ftrace_text(&original, TextOptions::default(), &mut text).expect("memory");
    let expected = from_pid(lines(&original));
    for (format, file) in [("trace.dat", dat), ("Perfetto", perfetto), ("text", text)] {
        let back = trace::read(&file).unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_same(format, &expected, &from_pid(lines(&back)));
        assert_eq!(
            need_resched(&back, NeedResched::Yes),
            need_resched(&original, NeedResched::Yes),
            "{format}"
        );
        let numbers = |trace: &Trace| -> Vec<_> {
            let call = |event: &Event| match event.kind {
                EventKind::Activity(Activity::SysEnter(enter)) => enter.call.number,
                _ => None,
            };
            trace.events.iter().filter_map(call).collect()
        };
        // Text has the name of a call or its number.
        let kept = if format == "text" { 10 } else { 32 };
        assert_eq!(numbers(&back).len(), kept, "{format}");
    }
}

/// Figures of tasks and CPUs do not depend on which other tracepoints were on.
#[test]
fn activity_changes_no_figure() {
    let with = read(DAT);
    let mut builder = TraceBuilder::new(with.cpus);
    builder.strings = with.strings.clone();
    with.events.iter().filter(|event| !event.kind.is_activity()).for_each(|event| builder.push(*event));
    let mut without = builder.finish();
    without.threads = with.threads.clone();
    assert!(without.events.len() * 3 < with.events.len());
    assert_eq!(trace::summarise(&with), trace::summarise(&without));
    assert_eq!((with.start_ns(), with.end_ns()), (without.start_ns(), without.end_ns()));
    let repair = |trace: &Trace| trace::infer_missing_switches(&mut trace.clone());
    assert_eq!(repair(&with), repair(&without));
}

/// A soft timer's function runs in the timer softirq, a high-resolution timer's in an interrupt.
#[test]
fn timers_expire_where_the_kernel_says() {
    let trace = read(DAT);
    let mut serves: BTreeMap<u32, SoftirqVec> = BTreeMap::new();
    let (mut soft, mut hard) = (0, 0);
    for event in &trace.events {
        match event.kind {
            EventKind::Activity(Activity::SoftirqEntry(vec)) => drop(serves.insert(event.cpu.0, vec)),
            EventKind::Activity(Activity::SoftirqExit(_)) => drop(serves.remove(&event.cpu.0)),
            EventKind::Activity(Activity::TimerExpireEntry(_)) => {
                assert_eq!(serves.get(&event.cpu.0), Some(&SoftirqVec::TIMER));
                soft += 1;
            }
            EventKind::Activity(Activity::HrtimerExpireEntry(_)) => {
                assert_eq!(event.context, Context::Hardirq);
                hard += 1;
            }
            _ => {}
        }
    }
    assert_eq!((soft, hard), (18, 107));
}
