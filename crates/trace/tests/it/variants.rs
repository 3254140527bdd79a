//! One recording in every container, compression and dialect is one trace.

use trace::{Format, NoteKind, Trace};

use crate::common::{assert_same, assert_sound, fixture, lines, without_feature};

fn read(name: &str) -> Trace {
    let trace = trace::read(&fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_sound(&trace);
    trace
}

/// The lines of a trace in which a column or field is written as a dialect has it.
fn lines_with(trace: &Trace, change: impl Fn(&str) -> String) -> Vec<String> {
    lines(trace).iter().map(|line| change(line)).collect()
}

/// Without the name in the task column, which only trace.dat's list of threads gives for the whole file, and
/// without the flags, which trace-cmd's text does not have.
fn without_task(line: &str) -> String {
    let from_cpu = &line[line.find("[0").expect("a CPU")..];
    format!("{}{}", &from_cpu[.."[001] ".len()], &from_cpu["[001] .....".len()..])
}

#[test]
fn containers_and_compressions() {
    let zstd = read("mix-rr.dat");
    assert_eq!(zstd.meta.format, Format::TraceDat { version: 7 });
    let v6 = read("mix-rr.v6.dat.gz");
    assert_eq!(v6.meta.format, Format::TraceDat { version: 6 });
    let plain = read("mix-rr.v7-none.dat.gz");
    let zlib = read("mix-rr.zlib.dat");
    for other in [&v6, &plain, &zlib] {
        assert_same("mix-rr", &lines(&zstd), &lines(other));
        assert_eq!(
            (zstd.cpus, &zstd.meta.clock, &zstd.meta.kernel),
            (other.cpus, &other.meta.clock, &other.meta.kernel)
        );
        assert_eq!(zstd.threads.len(), other.threads.len());
        assert_eq!(trace::summarise(&zstd).cpus, trace::summarise(other).cpus);
    }
}

#[test]
fn perf_data_packed_and_not() {
    let (plain, zstd) = (read("hackbench-pipe.perf.data.gz"), read("hackbench-pipe.zstd.perf.data.gz"));
    assert_same("hackbench-pipe", &lines(&plain), &lines(&zstd));
    for trace in [&plain, &zstd] {
        assert_eq!(trace.meta.format, Format::PerfData);
        assert_eq!(trace.meta.kernel.as_deref(), Some("Linux 6.18.44-fc-v657 x86_64"));
        assert_eq!(
            (trace.meta.tool.as_deref(), trace.meta.clock.as_deref()),
            (Some("perf 6.1.192"), Some("perf"))
        );
        assert_eq!((trace.cpus, trace.events.len()), (2, 1819));
        assert!(trace.notes.worst() <= Some(trace::Severity::DataLoss), "{}", trace.notes);
    }
    assert_eq!(plain.threads, zstd.threads);
    let named = plain.threads.values().filter(|thread| &plain.strings[thread.comm] == "hackbench").count();
    assert_eq!(named, 9);
}

/// `perf record -B` leaves the build ids out; nothing else may change.
#[test]
fn perf_data_without_build_ids() {
    const BUILD_ID: usize = 2;
    let with = fixture("hackbench-pipe.perf.data.gz");
    let without = without_feature(&with, BUILD_ID);
    let (with, without) = (trace::read(&with).expect("a trace"), trace::read(&without).expect("a trace"));
    assert_same("hackbench-pipe", &lines(&with), &lines(&without));
    assert_eq!((&with.meta, &with.threads), (&without.meta, &without.threads));
    assert_eq!(with.notes.to_string(), without.notes.to_string());
}

#[test]
fn raw_report_text() {
    let (dat, text) = (read("mix-rr.dat"), read("mix-rr.report-R.txt.gz"));
    assert_eq!(text.meta.format, Format::TraceCmdReportRaw);
    assert_same("mix-rr", &lines_with(&dat, without_task), &lines_with(&text, without_task));
    let raw = read("pistress.report-R.txt.gz");
    assert_eq!(raw.events.len() as u64 + raw.notes.count(NoteKind::OtherEvents), 800);
    assert_eq!(raw.events.iter().filter(|e| e.kind.name() == "sched_pi_setprio").count(), 44);
}

#[test]
fn report_text() {
    for name in ["mix-rr", "guest-6.1-mix-rr-smp2"] {
        let (dat, text) = (read(&format!("{name}.dat")), read(&format!("{name}.report.txt.gz")));
        assert_eq!(text.meta.format, Format::TraceCmdReport);
        // This dialect cannot show that a task was preempted, and says so.
        let plain_r = |line: &str| without_task(line).replace("prev_state=R+", "prev_state=R");
        assert_same(name, &lines_with(&dat, plain_r), &lines_with(&text, without_task));
        assert!(text.notes.count(NoteKind::NoPreemptionMark) > 0);
    }
}

/// The same table from the binary file and from text in µs: counts are equal, times within the rounding.
#[test]
fn report_text_in_microseconds() {
    let (dat, text) = (read("mix-rtover.dat"), read("mix-rtover.report.txt.gz"));
    assert_eq!(text.meta.resolution_ns, 1000);
    let (dat, text) = (trace::summarise(&dat), trace::summarise(&text));
    assert_eq!(dat.tasks.len(), text.tasks.len());
    for (a, b) in dat.tasks.iter().zip(&text.tasks) {
        let counts = |t: &trace::TaskSummary| {
            (t.pid, t.switches_in, t.voluntary_switches, t.involuntary_switches, t.migrations, t.wakeups)
        };
        assert_eq!(counts(a), counts(b));
        assert!(a.cpu_time_ns.abs_diff(b.cpu_time_ns) <= 1000 * (a.switches_in + 1), "CPU time of {}", a.pid);
        assert_eq!(a.wake_latency.count(), b.wake_latency.count());
        for (a, b) in a.wake_latency.samples_ns.iter().zip(&b.wake_latency.samples_ns) {
            assert!(a.abs_diff(*b) <= 1000, "{a} ns and {b} ns");
        }
    }
}

/// What perf script prints of a perf.data says the same as the file, but for flags.
#[test]
fn text_of_perf_script() {
    let (data, text) = (read("rtmigrate.perf.data.gz"), read("rtmigrate.perf-script.txt.gz"));
    assert_eq!(text.meta.format, Format::PerfScript);
    assert_eq!(text.notes.count(NoteKind::UnparsedLine) + text.notes.count(NoteKind::OtherEvents), 0);
    assert_eq!(text.cpus, data.cpus);
    let events = |trace: &trace::Trace| -> Vec<String> {
        let text = |event: &trace::Event| format!("{} {} {}", event.time_ns, event.cpu.0, event.kind.name());
        trace.events.iter().map(text).collect()
    };
    assert_same("rtmigrate", &events(&data), &events(&text));
    let [data, text] = [&data, &text].map(|trace| trace::sched_latency(trace, trace::DelaysFrom::Waking));
    assert_eq!(data.tasks.len(), text.tasks.len());
    for (a, b) in data.tasks.iter().zip(&text.tasks) {
        assert_eq!(
            (a.pid, a.runtime_ns, a.switches, a.delay_max_ns),
            (b.pid, b.runtime_ns, b.switches, b.delay_max_ns)
        );
    }
}

#[test]
fn the_kernels_text() {
    let text = read("rtlab-plain.trace.txt.gz");
    assert_eq!(text.meta.format, Format::TracefsText);
    assert_eq!(text.notes.count(NoteKind::UnparsedLine), 0);
    let by_name = |name| text.events.iter().filter(|event| event.kind.name() == name).count();
    let names = ["sched_switch", "sched_waking", "sched_wakeup", "sched_migrate_task", "tracing_mark_write"];
    assert_eq!(names.map(by_name), [696, 328, 327, 314, 824]);
    assert_eq!(text.events.len(), 2500);
}
