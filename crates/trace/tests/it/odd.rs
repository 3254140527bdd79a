//! Recordings in which something is odd: each importer tells, and keeps what can be kept.

use trace::{
    Annotations, Context, Cpu, Event, EventKind, Gap, NeedResched, NoteKind, PerfettoWriter, Pid, PrevState,
    Provenance, SchedProcessFork, SchedSwitch, SchedWakeup, TaskRef, TextOptions, Trace, TraceBuilder,
};

use crate::common::{assert_sound, fixture};
use crate::grown;

/// A trace of the oddities: names with blanks and brackets, an id that is given out again, a CPU that comes
/// late and goes, lost events.
fn odd() -> Trace {
    let mut builder = TraceBuilder::new(2);
    let names = ["a b", "[x] (y)-7", "p=q pid=3", "==> [9]"].map(|name| builder.strings.intern(name));
    let task = |n: usize| TaskRef { comm: names[n], pid: Pid(10 + n as i32), prio: 120 };
    let idle = TaskRef { comm: builder.strings.intern("swapper"), pid: Pid::IDLE, prio: 120 };
    let switch = |prev, prev_state, next| {
        EventKind::SchedSwitch(SchedSwitch { prev, prev_state, next, provenance: Provenance::Recorded })
    };
    let woken = |n: usize, cpu| EventKind::SchedWakeup(SchedWakeup { task: task(n), target_cpu: Cpu(cpu) });
    let fork = EventKind::SchedProcessFork(SchedProcessFork {
        parent_comm: names[1],
        parent_pid: task(1).pid,
        child_comm: names[1],
        child_pid: task(0).pid,
    });
    let events = [
        (100, 0, idle, woken(0, 0)),
        (110, 0, idle, switch(idle, PrevState::Running, task(0))),
        (200, 0, task(0), EventKind::SchedProcessExit(task(0))),
        (210, 0, task(0), switch(task(0), PrevState::Dead, task(1))),
        (300, 0, task(1), fork),
        (400, 5, idle, switch(idle, PrevState::Running, task(2))),
        (500, 5, task(2), switch(task(2), PrevState::Interruptible, task(3))),
        (600, 5, task(3), switch(task(3), PrevState::Uninterruptible, idle)),
        (900, 0, task(1), switch(task(1), PrevState::Preempted, task(0))),
    ];
    for (time_ns, cpu, by, kind) in events {
        let (context, need_resched) = (Context::Task, NeedResched::No);
        builder.push(Event { time_ns, cpu: Cpu(cpu), pid: by.pid, context, need_resched, kind });
    }
    builder.meta.gaps.push(Gap { cpu: Cpu(5), before_ns: 500, events: Some(3) });
    builder.finish()
}

/// The events as far as every format holds them.
fn figures(trace: &Trace) -> Vec<String> {
    let name = |task: &TaskRef| format!("{}:{}", &trace.strings[task.comm], task.pid);
    let row = |event: &Event| {
        let what = match &event.kind {
            EventKind::SchedSwitch(s) => format!("{} {} {}", name(&s.prev), s.prev_state, name(&s.next)),
            EventKind::SchedWakeup(w) => format!("woken {} {}", name(&w.task), w.target_cpu),
            EventKind::SchedProcessExit(task) => format!("exit {}", name(task)),
            other => other.name().to_owned(),
        };
        format!("{} {} {} {what}", event.time_ns, event.cpu, event.pid)
    };
    trace.events.iter().map(row).collect()
}

#[test]
fn oddities_pass_through_every_format() {
    let original = odd();
    let mut files = vec![("text", Vec::new()), ("Perfetto", Vec::new()), ("trace.dat", Vec::new())];
    trace::write_ftrace_text(&original, TextOptions::default(), &mut files[0].1).expect("memory");
    trace::write_perfetto(&original, &Annotations::new(), &mut files[1].1).expect("memory");
    trace::write_trace_dat(&original, &mut files[2].1).expect("memory");
    for (format, file) in &files {
        let trace = trace::read(file).unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_sound(&trace);
        assert_eq!(figures(&original), figures(&trace), "{format}");
        assert_eq!(trace.cpus, 6, "{format}");
        assert_eq!(trace.notes.count(NoteKind::PidReused), 1, "{format}");
        let tasks = trace::summarise(&trace).tasks;
        let lives = tasks.iter().filter(|task| task.pid == Pid(10)).count();
        assert_eq!(lives, 2, "{format}: one id, two tasks");
        assert!(trace.notes.count(NoteKind::LostEvents) > 0, "{format}: {}", trace.notes);
        assert_eq!(
            trace.meta.gaps.iter().map(|gap| (gap.cpu.0, gap.before_ns)).collect::<Vec<_>>(),
            [(5, 500)]
        );
    }
}

/// The same in perf.data, which nothing here writes: a recording is changed in place.
#[test]
fn oddities_in_perf_data() {
    let mut file = fixture("hackbench-pipe.perf.data.gz");
    let before = trace::read(&file).expect("a trace");
    let renamed = b"ha] [nc=h";
    for at in 0..file.len() - renamed.len() {
        if file[at..].starts_with(b"hackbench") {
            file[at..at + renamed.len()].copy_from_slice(renamed);
        }
    }
    // Records begin at 1224; the tenth sample from here on gets the time 1, so that its CPU's clock goes back
    // by hours.
    let (mut at, mut samples) = (1224, 0);
    while samples < 10 {
        samples += u32::from(file[at] == 9);
        if samples < 10 {
            at += usize::from(u16::from_le_bytes([file[at + 6], file[at + 7]]));
        }
    }
    file[at + 32..at + 40].copy_from_slice(&1u64.to_le_bytes());
    let trace = trace::read(&file).expect("a trace");
    assert_sound(&trace);
    assert_eq!(trace.events.len(), before.events.len() - 1);
    assert_eq!((trace.notes.count(NoteKind::ClockJumped), trace.start_ns()), (1, before.start_ns()));
    assert!(trace.strings.find("ha] [nc=h").is_some() && trace.strings.find("hackbench").is_none());
}

/// In perf.data: a sample becomes a record of five lost events, and another one happens on a CPU that the
/// header does not have.
#[test]
fn losses_and_new_cpus_in_perf_data() {
    const SAMPLE: u8 = 9;
    const LOST: u8 = 2;
    let mut file = fixture("hackbench-pipe.perf.data.gz");
    let before = trace::read(&file).expect("a trace");
    let samples: Vec<usize> = {
        let size = |at: usize| usize::from(u16::from_le_bytes([file[at + 6], file[at + 7]]));
        let records = std::iter::successors(Some(1224), |at| Some(at + size(*at)));
        records.filter(|at| file[*at] == SAMPLE).take(30).collect()
    };
    let (lost, moved) = (samples[10], samples[20]);
    file[lost] = LOST;
    file[lost + 16..lost + 24].copy_from_slice(&5u64.to_le_bytes());
    file[moved + 40..moved + 44].copy_from_slice(&5u32.to_le_bytes());
    let trace = trace::read(&file).expect("a trace");
    assert_sound(&trace);
    assert_eq!(trace.events.len(), before.events.len() - 1);
    assert_eq!(trace.notes.count(NoteKind::LostEvents), before.notes.count(NoteKind::LostEvents) + 5);
    assert_eq!((before.cpus, trace.cpus), (2, 6));
    assert_eq!(trace.notes.count(NoteKind::CpuBeyondHeader), 1);
}

/// A recording twice, one after the other: each of the eight tasks that were made and ended is made again.
#[test]
fn task_ids_that_perf_data_gives_out_again_are_other_tasks() {
    let trace = trace::read(&grown::perf_data(&fixture("hackbench-pipe.perf.data.gz"), 2)).expect("a trace");
    assert_sound(&trace);
    assert_eq!(trace.notes.count(NoteKind::PidReused), 8);
    let tasks = trace::summarise(&trace).tasks;
    for second in tasks.iter().filter(|task| task.incarnation == 1) {
        let first = tasks.iter().find(|task| task.pid == second.pid && task.incarnation == 0);
        let first = first.expect("it had a life before");
        assert_eq!(
            (first.cpu_time_ns, first.switches_in, first.wakeups),
            (second.cpu_time_ns, second.switches_in, second.wakeups)
        );
    }
    assert_eq!(tasks.iter().filter(|task| task.incarnation == 1).count(), 8);
}

/// The clock of a CPU goes back: in trace.dat two pages have changed places, in a Perfetto trace two bundles,
/// in text two lines. Each is read as if they had not, and tells.
#[test]
fn a_clock_that_goes_back_is_told_and_put_in_order() {
    let original = trace::read(&fixture("mix-rr.v6.dat.gz")).expect("a trace");
    let check = |format: &str, file: &[u8]| {
        let trace = trace::read(file).unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_sound(&trace);
        let times = |trace: &Trace| trace.events.iter().map(|event| event.time_ns).collect::<Vec<_>>();
        assert_eq!(times(&trace), times(&original), "{format}");
        assert!(trace.notes.count(NoteKind::ClockWentBack) > 0, "{format}: {}", trace.notes);
    };

    let mut dat = fixture("mix-rr.v6.dat.gz");
    let table = dat.windows(10).position(|window| window == b"flyrecord\0").expect("a table") + 10;
    let first = u64::from_le_bytes(*dat[table..].first_chunk().expect("an offset")) as usize;
    let (before, after) = dat[first..].split_at_mut(4096);
    before.swap_with_slice(&mut after[..4096]);
    check("trace.dat", &dat);

    // A packet for each event, and those of the first hundred of CPU 0 last.
    let mut packets = [Vec::new(), Vec::new()];
    let mut of_cpu_0 = 0;
    for event in &original.events {
        of_cpu_0 += u32::from(event.cpu == Cpu(0));
        let late = event.cpu == Cpu(0) && of_cpu_0 <= 100;
        let mut writer = PerfettoWriter::new(Vec::new(), None, 2).expect("memory takes everything");
        writer.event(event, &original.strings).expect("memory takes everything");
        packets[usize::from(late)].extend(writer.finish().expect("memory takes everything"));
    }
    check("Perfetto", &packets.concat());

    let mut text = Vec::new();
    trace::write_ftrace_text(&original, TextOptions::default(), &mut text).expect("memory takes everything");
    let text = String::from_utf8(text).expect("text");
    let mut lines: Vec<&str> = text.lines().collect();
    let of_cpu_0: Vec<usize> = (0..lines.len()).filter(|n| lines[*n].contains("[000]")).take(50).collect();
    lines.swap(of_cpu_0[10], of_cpu_0[40]);
    check("text", (lines.join("\n") + "\n").as_bytes());
}

/// perf had not seen who 17217 was; the events say it.
#[test]
fn a_number_in_place_of_a_name_is_no_name() {
    let text = "\
  bench 16054 [001]  1935.857088: sched:sched_switch: prev_comm=bench prev_pid=16054 prev_prio=120 prev_state=R \
  ==> next_comm=groups_lab next_pid=17217 next_prio=120\n \
  :17217 17217 [001]  1935.857232: sched:sched_switch: prev_comm=groups_lab prev_pid=17217 prev_prio=120 \
  prev_state=D ==> next_comm=bench next_pid=16054 next_prio=120\n";
    let trace = trace::read(text.as_bytes()).expect("text of perf script");
    let table = trace::sched_latency(&trace, trace::DelaysFrom::default());
    let names: Vec<&str> =
        table.tasks.iter().filter_map(|task| task.comm).map(|comm| &trace.strings[comm]).collect();
    assert!(names.contains(&"groups_lab") && !names.contains(&":17217"), "{names:?}");
}
