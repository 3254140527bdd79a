//! What is written can be read again, by us and by others.

use trace::{TextOptions, TimePrecision, Trace};

use crate::common::{assert_same, fixture, lines};

fn written(trace: &Trace, options: TextOptions) -> Trace {
    let mut text = Vec::new();
    trace::write_ftrace_text(trace, options, &mut text).expect("memory takes everything");
    trace::read(&text).expect("our own text")
}

#[test]
fn text_comes_back_event_by_event() {
    let names = [
        "mix-rr.dat",
        "mix-rtover.dat",
        "guest-6.1-mix-rr-smp2.dat",
        "rtlab-plain.trace.txt.gz",
        "pistress.report-R.txt.gz",
    ];
    for name in names {
        let mut trace = trace::read(&fixture(name)).expect("a trace");
        trace::infer_missing_switches(&mut trace);
        let again = written(&trace, TextOptions::default());
        assert_same(name, &lines(&trace), &lines(&again));
        assert_eq!(trace.events.len(), again.events.len(), "{name}");
        assert_eq!(trace.cpus, again.cpus, "{name}");
        let contexts = |trace: &Trace| trace.events.iter().map(|event| event.pid).collect::<Vec<_>>();
        assert_eq!(contexts(&trace), contexts(&again), "{name}");
        assert_eq!(trace::summarise(&trace).cpus, trace::summarise(&again).cpus, "{name}");
    }
}

#[test]
fn microseconds_are_cut() {
    let trace = trace::read(&fixture("mix-rr.dat")).expect("a trace");
    let again = written(&trace, TextOptions { precision: TimePrecision::Microseconds });
    let cut: Vec<_> = trace.events.iter().map(|event| event.time_ns / 1000 * 1000).collect();
    let mut got: Vec<_> = again.events.iter().map(|event| event.time_ns).collect();
    got.sort_unstable();
    assert_eq!(cut, got);
}

#[test]
fn gaps_and_processes_come_back() {
    let text = "# tracer: nop\n\
                a-7 (      5) [000] ..... 0.000000100: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b c next_pid=8 next_prio=120\n\
                CPU:0 [LOST 3 EVENTS]\n\
                b c-8 (-------) [000] ..... 0.000000200: sched_stat_runtime: comm=b c pid=8 runtime=100 [ns] vruntime=5 [ns]\n\
                CPU:0 [LOST EVENTS]\n\
                b c-8 (-------) [000] ..... 0.000000300: tracing_mark_write: hello\n";
    let trace = trace::read(text.as_bytes()).expect("a trace");
    let again = written(&trace, TextOptions::default());
    assert_eq!(trace.meta.gaps, again.meta.gaps);
    assert_eq!(lines(&trace), lines(&again));
    let tgids = |trace: &Trace| {
        trace.threads.iter().map(|(pid, thread)| (pid.0, thread.tgid.map(|t| t.0))).collect::<Vec<_>>()
    };
    assert_eq!(tgids(&trace), [(7, Some(5)), (8, None)]);
    assert_eq!(tgids(&trace), tgids(&again));
}
