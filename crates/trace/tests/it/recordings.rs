//! Recordings against figures that another program read from trace-cmd's text of them.

use serde_json::Value;
use trace::{NoteKind, Pid, Summary, TaskSummary, Trace};

use crate::common::{assert_sound, count, fixture};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The reference has times in whole µs: each end of an interval may be off by half of one.
fn assert_us(what: &str, ns: u64, us: f64, tolerance_us: f64) {
    let ours = ns as f64 / 1000.0;
    assert!((ours - us).abs() <= tolerance_us, "{what}: {ours} µs, the reference has {us} µs");
}

fn check(recording: &str, reference: &str) {
    let trace = trace::read(&fixture(recording)).expect("a trace");
    assert_sound(&trace);
    let summary = trace::summarise(&trace);
    let reference: Value = serde_json::from_slice(&fixture(reference)).expect("JSON");
    for (name, expected) in reference["events"].as_object().expect("counts of events") {
        // trace-cmd's text calls a marker `print`.
        let name = if name == "print" { "tracing_mark_write" } else { name };
        assert_eq!(Some(count(&trace, name)), expected.as_u64(), "{name}");
    }
    for (cpu, expected) in reference["switches_per_cpu"].as_object().expect("switches") {
        let cpu: usize = cpu.parse().expect("a CPU number");
        assert_eq!(Some(summary.cpus[cpu].switches), expected.as_u64(), "switches on CPU {cpu}");
    }
    assert_eq!(Some(summary.tasks.len() as u64), reference["tasks_seen"].as_u64(), "tasks");
    assert_us("first event", trace.start_ns(), number(&reference["first_ts"]) * 1e6, 1.0);
    assert_us("last event", trace.end_ns(), number(&reference["last_ts"]) * 1e6, 1.0);
    for expected in reference["tasks"].as_array().expect("tasks") {
        let pid = Pid(number(&expected["pid"]) as i32);
        let task = summary.task(pid).unwrap_or_else(|| panic!("task {pid} is missing"));
        check_task(&trace, task, expected);
    }
}

fn check_task(trace: &Trace, task: &TaskSummary, expected: &Value) {
    let pid = task.pid;
    let counts = [
        ("sched_in", task.switches_in),
        ("vol", task.voluntary_switches),
        ("nonvol", task.involuntary_switches),
        ("migrated", task.migrations),
        ("wakeups", task.wakeups),
    ];
    for (name, ours) in counts {
        assert_eq!(Some(ours), expected[name].as_u64(), "{name} of {pid}");
    }
    assert_eq!(task.comm.map(|comm| &trace.strings[comm]), expected["comm"].as_str(), "name of {pid}");
    let rounding = (task.switches_in as f64).max(1.0);
    assert_us(&format!("run time of {pid}"), task.cpu_time_ns, number(&expected["run_us"]), rounding);
    let latency = &expected["wake_to_run"];
    let samples = latency["n"].as_u64().expect("a count");
    if task.comm.is_some_and(|comm| &trace.strings[comm] == "tokio-rt-worker") {
        // The recorder's filter hid how these leave their CPU; the reference takes them for running ever
        // after.
        assert!(task.wake_latency.count() >= samples);
        assert!(task.unseen_switches > 0);
        return;
    }
    assert_eq!(task.wake_latency.count(), samples, "latencies of {pid}");
    if samples > 0 {
        let mean = task.wake_latency.mean_ns().expect("samples");
        let max = task.wake_latency.max_ns().expect("samples");
        let middle = task.wake_latency.samples_ns.len() / 2;
        let mut sorted = task.wake_latency.samples_ns.clone();
        sorted.sort_unstable();
        assert_us(&format!("mean latency of {pid}"), mean, number(&latency["mean_us"]), 1.0);
        assert_us(&format!("median latency of {pid}"), sorted[middle], number(&latency["p50_us"]), 1.0);
        assert_us(&format!("longest latency of {pid}"), max, number(&latency["max_us"]), 1.0);
    }
}

#[test]
fn round_robin_equals() {
    check("mix-rr.dat", "mix-rr.reference.json");
}

#[test]
fn nice_levels() {
    check("mix-nice.dat", "mix-nice.reference.json");
}

#[test]
fn real_time_over_fair() {
    check("mix-rtover.dat", "mix-rtover.reference.json");
    check("mix-rtover.report.txt.gz", "mix-rtover.reference.json");
}

/// Figures of a task of the 6.1 recording.
fn guest_task(summary: &Summary, pid: i32) -> (u64, u64, u64, u64) {
    let task = summary.task(Pid(pid)).expect("the task is in the recording");
    (task.voluntary_switches, task.involuntary_switches, task.migrations, task.cpu_time_ns / 1_000_000)
}

/// The program read these counters of the kernel (getrusage, /proc/self/sched) just before each task ended:
/// rr1 45 voluntary, 16 involuntary, 1 migration, 1444 ms; rr2 31, 29, 0, 2501 ms; low 27, 1, 0, 30 ms. Its
/// end is one more voluntary switch, and rr1 was preempted once more on the way.
#[test]
fn the_kernels_own_counters() {
    let trace = trace::read(&fixture("guest-6.1-mix-rr-smp2.dat")).expect("a trace");
    assert_sound(&trace);
    assert_eq!(trace.notes.count(NoteKind::BrokenSwitchChain), 0);
    let summary = trace::summarise(&trace);
    assert_eq!(guest_task(&summary, 335), (46, 17, 1, 1446));
    assert_eq!(guest_task(&summary, 336), (32, 29, 0, 2503));
    assert_eq!(guest_task(&summary, 337), (28, 1, 0, 31));
}

#[test]
fn what_the_file_says_about_itself() {
    let trace = trace::read(&fixture("mix-rr.dat")).expect("a trace");
    assert_eq!(trace.meta.kernel.as_deref(), Some("Linux vm 6.18.44-fc-v657 x86_64"));
    assert_eq!(trace.meta.clock.as_deref(), Some("mono"));
    assert_eq!(trace.meta.tool.as_deref(), Some("trace-cmd 3.1.6 not-a-git-repo"));
    assert_eq!((trace.cpus, trace.meta.resolution_ns), (2, 1));
    assert_eq!(trace.threads.get(&Pid(8040)).map(|thread| &trace.strings[thread.comm]), Some("rr2"));
    let text = trace::read(&fixture("rtlab-plain.trace.txt.gz")).expect("a trace");
    assert_eq!((text.cpus, text.meta.resolution_ns), (2, 1000));
}

/// Tasks that the recorder hid, and idle switches that the virtual machine did not trace.
fn breaks(trace: &trace::Trace) -> u64 {
    [NoteKind::HiddenTask, NoteKind::UntracedIdle].into_iter().map(|kind| trace.notes.count(kind)).sum()
}

/// The holes that the recorder's pid filter left are found, and filled without touching what was recorded.
#[test]
fn holes_are_filled() {
    for name in ["mix-rr.dat", "mix-nice.dat", "mix-rtover.dat", "rtlab-plain.trace.txt.gz"] {
        let mut trace = trace::read(&fixture(name)).expect("a trace");
        let breaks = breaks(&trace);
        assert!(breaks > 0, "{name}");
        assert_eq!(trace.notes.count(NoteKind::BrokenSwitchChain), 0, "{name}: nothing was lost");
        let before = trace::summarise(&trace);
        let repair = trace::infer_missing_switches(&mut trace);
        assert_eq!(repair.switches, breaks, "{name}");
        assert_sound(&trace);
        let after = trace::summarise(&trace);
        assert!(after.tasks.iter().all(|task| task.unseen_switches == 0), "{name}");
        assert!(after.cpus.iter().all(|cpu| cpu.unknown_ns == 0), "{name}");
        for (before, after) in before.tasks.iter().zip(&after.tasks) {
            assert_eq!(before.wakeups, after.wakeups, "{name}");
            assert!(before.cpu_time_ns <= after.cpu_time_ns, "{name}: CPU time of {}", before.pid);
        }
        assert_eq!(
            trace::infer_missing_switches(&mut trace),
            trace::Repair::default(),
            "{name}: a second time"
        );
    }
}

/// Kernel 6.18 fills the rest of a page with a padding event when the reader takes it early. The count of
/// records is that of another program, which walked the pages.
#[test]
fn pages_with_padding_at_their_end_are_sound() {
    let trace = trace::read(&fixture("padding.dat.gz")).expect("a trace");
    assert_sound(&trace);
    assert_eq!(trace.notes.count(NoteKind::CorruptPage), 0, "{}", trace.notes);
    assert_eq!(trace.events.len() as u64 + trace.notes.count(NoteKind::OtherEvents), 240);
}
