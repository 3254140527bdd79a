//! Traces of runs: what is in them, and what comes back.

use super::*;
use crate::machines::NamedMachine;
use crate::{Experiment, Files, LoadSpec, Run};
use scheduler::Nanos;
use schema::TaskResult;
use trace::{EventKind, NoteKind, summarise};

#[test]
fn the_ending_tells_the_format() {
    let format = |name: &str| TraceFormat::of(Path::new(name));
    assert_eq!(format("a.b.pftrace").ok(), Some(TraceFormat::Perfetto));
    assert_eq!(format("x.perfetto-trace").ok(), Some(TraceFormat::Perfetto));
    assert_eq!(format("dir.txt/run.ftrace").ok(), Some(TraceFormat::FtraceText));
    let message = format("run.csv").map_err(|e| e.to_string()).expect_err("unknown");
    for known in ENDINGS {
        assert!(message.contains(&format!(".{}", known.ending)), "{message}");
    }
}

fn two_cpus() -> NamedMachine {
    crate::machine("laptop", Some(2), &Files::new()).expect("a machine")
}

/// The loads on two CPUs for so long.
fn recorded_run(loads: &[&str], length: Nanos) -> Run {
    recorded_run_on(two_cpus(), loads, length)
}

fn recorded_run_on(machine: NamedMachine, loads: &[&str], length: Nanos) -> Run {
    let mut experiment = Experiment::new(machine);
    experiment.loads =
        loads.iter().map(|load| LoadSpec::open(load, &Files::new()).expect("a load")).collect();
    experiment.duration = Some(length);
    experiment.record = true;
    experiment.run().expect("it runs")
}

fn logged(run: &Run) -> &Logged {
    run.logged.as_ref().expect("asked for")
}

fn recorded() -> Run {
    recorded_run(&["cyclictest -t3 -p90 -i1000 -n"], Nanos::from_millis(20))
}

#[test]
fn an_exported_trace_reads_back_with_the_figures_of_the_run() {
    let run = recorded();
    let mut text = Vec::new();
    logged(&run)
        .write_trace(&mut text, TraceFormat::FtraceText, Programs::Told)
        .expect("memory takes everything");
    let trace = trace::read(&text).expect("our own text");
    assert_eq!((trace.cpus, trace.notes.count(NoteKind::BrokenSwitchChain)), (2, 0));
    let switches = trace.events.iter().filter(|e| matches!(e.kind, EventKind::SchedSwitch(_))).count();
    assert_eq!(switches as u64, run.result.totals.context_switches);
    let summary = summarise(&trace);
    for task in &run.result.tasks {
        let read = summary.tasks.iter().find(|t| t.pid.0.unsigned_abs() == task.pid).expect("every task");
        assert_eq!(read.voluntary_switches, task.nr_voluntary_switches, "{}", task.comm);
    }
}

/// machine.md 5.5: CPUs of laptop wait with MWAIT, so that a write to a flag wakes them.
#[test]
fn a_wakeup_without_interrupt_is_an_event_in_all_formats() {
    let run = recorded_run(&["hackbench -g1 -l20"], Nanos::from_millis(20));
    let polled = run.result.totals.polled;
    assert!(polled > 20, "{polled}");
    for format in [TraceFormat::FtraceText, TraceFormat::TraceDat, TraceFormat::Perfetto] {
        let mut bytes = Vec::new();
        logged(&run).write_trace(&mut bytes, format, Programs::Told).expect("memory takes everything");
        if format == TraceFormat::FtraceText {
            let text = String::from_utf8_lossy(&bytes);
            assert!(text.contains(": sched_wake_idle_without_ipi: cpu=1\n"), "as the kernel prints it");
        }
        let trace = trace::read(&bytes).expect("our own trace");
        let told = trace.events.iter().filter(|e| e.kind.name() == "sched_wake_idle_without_ipi").count();
        assert_eq!(told as u64, polled, "{format:?}");
        assert!(trace.notes.other_events().is_empty(), "{format:?}: {:?}", trace.notes.other_events());
    }
}

/// A machine with idle states: what its CPUs did is in the result, and in a trace as the kernel tells it.
#[test]
fn idle_states_are_in_the_result_and_events_in_all_formats() {
    let laptop =
        machine::BUILTIN.iter().find(|machine| machine.name == "laptop").expect("it is built in").text;
    let state = |name: &str, us: u64| {
        format!(
            "{{ name = \"{name}\", exit_latency_ns = {us}000, target_residency_ns = {us}000, origin = \"assumed: \
             a test\" }}"
        )
    };
    let governor = "governor = { name = \"menu\", origin = \"assumed: a test\" }";
    let text = format!("{laptop}\n[idle]\n{governor}\nstates = [{}, {}]\n", state("C1", 2), state("C6", 85));
    let files = Files::from([("idle.toml".to_owned(), text.into_bytes())]);
    let machine = crate::machine("idle.toml", Some(2), &files).expect("a machine");
    let run = recorded_run_on(machine, &["periodic -n 2 -p 3ms -r 100us"], Nanos::from_millis(50));
    let idle = run.result.idle.as_ref().expect("it has states");
    assert_eq!(
        (idle.governor.as_str(), idle.origins.as_slice()),
        ("menu", &["assumed: a test".to_owned()][..])
    );
    let entered: u64 = idle.cpus.iter().flat_map(|cpu| &cpu.states).map(|used| used.usage).sum();
    assert!(entered > 20, "{entered}");
    for format in [TraceFormat::FtraceText, TraceFormat::TraceDat, TraceFormat::Perfetto] {
        let mut bytes = Vec::new();
        logged(&run).write_trace(&mut bytes, format, Programs::Told).expect("memory takes everything");
        if format == TraceFormat::FtraceText {
            let text = String::from_utf8_lossy(&bytes);
            assert!(text.contains(": cpu_idle: state=1 cpu_id=1\n"), "as the kernel prints it");
            assert!(text.contains(": cpu_idle: state=4294967295 cpu_id=1\n"));
        }
        let trace = trace::read(&bytes).expect("our own trace");
        let states = trace.events.iter().filter_map(|event| match event.kind {
            EventKind::Activity(trace::Activity::CpuIdle(idle)) => Some(idle.state),
            _ => None,
        });
        assert_eq!(states.filter(|state| *state != u32::MAX).count() as u64, entered, "{format:?}");
    }
    assert!(recorded().result.idle.is_none(), "laptop has one state");
}

/// The run ends as hackbench calls exit; whatever else happens on the way out, its trace tells that it is
/// gone, and no figure knows.
#[test]
fn a_trace_goes_on_to_the_last_exit() {
    for kernel in ["6.1", "6.18.y", "4.4"] {
        let mut experiment =
            Experiment::new(crate::machine("laptop", Some(1), &Files::new()).expect("a machine"));
        experiment.loads = vec![LoadSpec::open("hackbench -g1 -l1", &Files::new()).expect("a load")];
        experiment.kernel = crate::KernelConfig::of_name(kernel).expect("a kernel");
        let unrecorded = experiment.run().expect("it runs").result;
        experiment.record = true;
        let run = experiment.run().expect("it runs");
        assert_eq!(run.result.totals, unrecorded.totals, "{kernel}");
        assert_eq!(run.result.engine.simulated_ns, unrecorded.engine.simulated_ns, "{kernel}");
        let mut text = Vec::new();
        logged(&run)
            .write_trace(&mut text, TraceFormat::FtraceText, Programs::Told)
            .expect("memory takes everything");
        let trace = trace::read(&text).expect("our own text");
        let count = |kind: fn(&EventKind) -> bool| trace.events.iter().filter(|e| kind(&e.kind)).count();
        let exits = count(|kind| matches!(kind, EventKind::SchedProcessExit(_)));
        assert_eq!(exits, 1 + count(|kind| matches!(kind, EventKind::SchedProcessFork(_))), "{kernel}");
        let left =
            count(|kind| matches!(kind, EventKind::SchedSwitch(s) if s.prev_state == trace::PrevState::Dead));
        assert_eq!(left, exits, "{kernel}: all have left their CPU");
    }
}

#[test]
fn perfetto_gets_the_decisions_and_the_depth_of_run_queues_too() {
    let run = recorded();
    let mut bytes = Vec::new();
    logged(&run)
        .write_trace(&mut bytes, TraceFormat::Perfetto, Programs::Told)
        .expect("memory takes everything");
    let holds = |text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
    let reason = run.result.decisions.keys().next().expect("a decision");
    assert!(
        holds(reason) && holds("cyclictest") && holds("nr_running CPU 1") && holds("rq lock waiters CPU 1")
    );
}

/// Figures of each task that must survive the way out and in.
fn figures(trace: &Trace) -> Vec<String> {
    let line = |t: &trace::TaskSummary| {
        let (vol, nonvol) = (t.voluntary_switches, t.involuntary_switches);
        format!("{} {}ns {vol} {nonvol} {}", t.pid, t.cpu_time_ns, t.migrations)
    };
    summarise(trace).tasks.iter().map(line).collect()
}

#[test]
fn a_trace_goes_out_and_comes_back_with_the_same_figures_of_every_task() {
    let run = recorded();
    let mut made = Vec::new();
    for format in [TraceFormat::TraceDat, TraceFormat::FtraceText, TraceFormat::Perfetto] {
        let mut bytes = Vec::new();
        logged(&run).write_trace(&mut bytes, format, Programs::Told).expect("memory takes everything");
        let back = trace::read(&bytes).expect("our own file");
        assert_eq!(back.notes.worst(), None, "{format:?}: {}", back.notes);
        assert_eq!(back.meta.kernel.is_some(), format != TraceFormat::FtraceText);
        made.push(figures(&back));
    }
    assert!(made.iter().all(|figures| *figures == made[0]), "{made:?}");
    assert_eq!(made[0].len(), 3, "cyclictest and its threads: {made:?}");
}

#[test]
fn a_log_is_no_load_and_says_what_to_write_instead() {
    let mut bytes = Vec::new();
    logged(&recorded())
        .write_trace(&mut bytes, TraceFormat::Log, Programs::Told)
        .expect("memory takes everything");
    let files = Files::from([("run.jsonl".to_owned(), bytes)]);
    let error = LoadSpec::open("run.jsonl", &files).expect_err("it is not read back").to_string();
    assert!(error.contains("the log of a run") && error.contains("write a .dat"), "{error}");
}

/// The trace of a run, written under a name with this ending and opened again.
fn written(run: &Run, ending: &str, way: Programs) -> LoadSpec {
    let name = format!("run.{ending}");
    let mut bytes = Vec::new();
    let format = TraceFormat::of(Path::new(&name)).expect("a format");
    logged(run).write_trace(&mut bytes, format, way).expect("memory takes everything");
    LoadSpec::open(&name, &Files::from([(name.clone(), bytes)])).expect("our own file")
}

/// Runs the loads on two CPUs, writes the trace, reads it and runs it again, on the same machine under the
/// same kernel.
fn round_trip(loads: &[&str], ending: &str, way: Programs) -> [Run; 2] {
    // A told one ends between two ticks: at one, some CPUs might have it and others not.
    let length = Nanos::from_micros(if way == Programs::Told { 500_500 } else { 500_000 });
    let run = recorded_run(loads, length);
    let back = written(&run, ending, way).recorded_on(&two_cpus());
    let mut again = Experiment::new(two_cpus());
    again.loads.push(back);
    again.record = true;
    [run, again.run().expect("it runs")]
}

/// Asserts that each task whose name begins so has the same CPU time, up to some per mille, and the same
/// switches, up to what the trace's edges cut off. How many tasks there were.
fn assert_same(runs: &[Run; 2], comm: &str, per_mille: u64, switches: u64) -> usize {
    let named = |run: &Run| -> Vec<TaskResult> {
        run.result.tasks.iter().filter(|task| task.comm.starts_with(comm)).cloned().collect()
    };
    let [before, after] = [named(&runs[0]), named(&runs[1])];
    assert_eq!(before.len(), after.len());
    for (task, replayed) in before.iter().zip(&after) {
        let who = format!("{} {comm}", task.pid);
        assert_eq!(
            (replayed.pid, replayed.policy, replayed.rt_priority, replayed.nice),
            (task.pid, task.policy, task.rt_priority, task.nice)
        );
        let pairs = [
            (replayed.nr_voluntary_switches, task.nr_voluntary_switches),
            (replayed.nr_involuntary_switches, task.nr_involuntary_switches),
        ];
        for (here, there) in pairs {
            assert!(here.abs_diff(there) <= switches, "{who}: {here} switches, {there} before");
        }
        let (here, there) = (replayed.sum_exec_runtime_ns, task.sum_exec_runtime_ns);
        assert!(
            here.abs_diff(there) * 1000 <= there * per_mille,
            "{who}: {here} ns of CPU time, {there} ns before"
        );
    }
    before.len()
}

const CAN_BE_READ: [&str; 3] = ["dat", "txt", "pftrace"];

/// Messages and waits, locks with inheritance, forks and timers: nothing is the least bit different, in any
/// format.
#[test]
fn a_run_comes_back_from_its_trace_as_it_was() {
    let loads = [
        "hackbench -g1 -f4 -l100",
        "hackbench -p -g1 -f4 -l100",
        "rt-migrate",
        "make -j4 4",
        "keyrepeat",
        "oltp --clients 4",
        "vmark --rooms 1",
        "cyclictest -t3 -p90 -i200",
        "hog -n3",
    ];
    for load in loads {
        for ending in CAN_BE_READ {
            let [before, after] = round_trip(&[load], ending, Programs::Told);
            assert!(before.result.tasks.len() > 2, "{load}");
            let mut differing = 0;
            for task in &before.result.tasks {
                let again =
                    after.result.tasks.iter().find(|again| again.pid == task.pid).expect("every task");
                assert_same_to_the_end(&format!("{load} {ending} {}", task.pid), task, again);
                differing += usize::from(task.sum_exec_runtime_ns != again.sum_exec_runtime_ns);
            }
            assert!(differing <= 2, "{load} {ending}: {differing} tasks, and two CPUs");
        }
    }
}

/// A replay knows where the recorded CPUs ticked, and wakes tasks in ticks; so does the replay of its trace,
/// to the nanosecond.
#[test]
fn a_replay_comes_back_from_its_trace_as_it_was() {
    let demo = include_bytes!("../../../../demo/mix-rtover.dat").to_vec();
    let demo = LoadSpec::open("demo.dat", &Files::from([("demo.dat".to_owned(), demo)])).expect("a trace");
    let machine = crate::machine("vm2", None, &Files::new()).expect("a machine");
    let run = |load: LoadSpec| {
        let mut experiment = Experiment::new(machine.clone());
        experiment.loads.push(load.recorded_on(&machine));
        experiment.record = true;
        experiment.run().expect("it runs")
    };
    // A recorded task has its recorded pid in the result.
    let figures = |run: &Run| {
        let figures = |t: &TaskResult| {
            let switches = [t.nr_voluntary_switches, t.nr_involuntary_switches];
            format!("{} {}ns {switches:?} {}", t.comm, t.sum_exec_runtime_ns, t.nr_migrations)
        };
        let mut tasks: Vec<String> = run.result.tasks.iter().map(figures).collect();
        tasks.sort();
        (tasks, run.result.totals)
    };
    let before = run(demo);
    for ending in CAN_BE_READ {
        let after = run(written(&before, ending, Programs::Told));
        assert_eq!(figures(&after), figures(&before), "{ending}");
    }
}

/// h lends l its priority and waits for it; m would come in between. (rt-class 9: inheritance.)
#[test]
fn lent_priorities_come_back_from_the_trace_of_a_replay() {
    let switch = |at: &str, prev: &str, state: &str, next: &str| {
        format!("x-1 [000] d..2. {at}: sched_switch: {prev} prev_state={state} ==> {next}\n")
    };
    let prev = |comm: &str, pid: u32, prio: u32| format!("prev_comm={comm} prev_pid={pid} prev_prio={prio}");
    let next = |comm: &str, pid: u32, prio: u32| format!("next_comm={comm} next_pid={pid} next_prio={prio}");
    let wakes = |at: &str, flags: &str, by: &str, whom: &str| {
        let wakeup = format!("{by} [000] {flags} {at}: sched_wakeup: {whom} target_cpu=000\n");
        wakeup.replace("sched_wakeup", "sched_waking") + &wakeup
    };
    let lends = |at: &str, by: &str, old: u32, new: u32| {
        format!("{by} [000] d..2. {at}: sched_pi_setprio: comm=l pid=7 oldprio={old} newprio={new}\n")
    };
    let text = [
        switch("1.000000", &prev("swapper/0", 0, 120), "R", &next("l", 7, 97)).replace("x-1", "<idle>-0"),
        wakes("1.000100", "d.h2.", "l-7", "comm=h pid=9 prio=94"),
        switch("1.000101", &prev("l", 7, 97), "R", &next("h", 9, 94)).replace("x-1", "l-7"),
        lends("1.000110", "h-9", 97, 94),
        switch("1.000111", &prev("h", 9, 94), "S", &next("l", 7, 94)).replace("x-1", "h-9"),
        wakes("1.000300", "d.h2.", "l-7", "comm=m pid=8 prio=95"),
        lends("1.000610", "l-7", 94, 97),
        wakes("1.000610", "d..2.", "l-7", "comm=h pid=9 prio=94"),
        switch("1.000611", &prev("l", 7, 97), "R", &next("h", 9, 94)).replace("x-1", "l-7"),
        switch("1.000700", &prev("h", 9, 94), "S", &next("m", 8, 95)).replace("x-1", "h-9"),
        switch("1.005700", &prev("m", 8, 95), "S", &next("l", 7, 97)).replace("x-1", "m-8"),
        switch("1.005800", &prev("l", 7, 97), "S", &next("swapper/0", 0, 120)).replace("x-1", "l-7"),
    ];
    let files = Files::from([("lends.txt".to_owned(), text.concat().into_bytes())]);
    let run = |load: LoadSpec| {
        let mut experiment =
            Experiment::new(crate::machine("vm2", Some(1), &Files::new()).expect("a machine"));
        experiment.loads.push(load);
        experiment.record = true;
        experiment.run().expect("it runs")
    };
    let before = run(LoadSpec::open("lends.txt", &files).expect("a trace"));
    let of = |run: &Run, comm: &str| {
        run.result.tasks.iter().find(|task| task.comm == comm).cloned().expect("it ran")
    };
    assert_eq!(of(&before, "l").nr_involuntary_switches, 2, "by h, and by h again: not by m");
    let after = run(written(&before, "txt", Programs::Told));
    assert!(
        after.result.notes.iter().any(|note| note.contains("told by the trace")),
        "{:?}",
        after.result.notes
    );
    for comm in ["l", "m", "h"] {
        assert_same_to_the_end(comm, &of(&before, comm), &of(&after, comm));
    }
}

/// The same, but for what the last CPUs to look at the clock at the end of a run still did: some paths of the
/// kernel, of fewer us than 100.
fn assert_same_to_the_end(who: &str, task: &TaskResult, again: &TaskResult) {
    const LAST: u64 = 100_000;
    let ns = [task, again].map(|task| task.sum_exec_runtime_ns);
    assert!(ns[0].abs_diff(ns[1]) <= LAST, "{who}: {ns:?} ns of CPU time");
    let voluntary = [task, again].map(|task| task.nr_voluntary_switches);
    let involuntary = [task, again].map(|task| task.nr_involuntary_switches);
    for switches in [voluntary, involuntary] {
        assert!(switches[0].abs_diff(switches[1]) <= 1, "{who}: {switches:?} switches");
    }
    let migrations = [task, again].map(|task| task.nr_migrations);
    assert!(migrations[0].abs_diff(migrations[1]) <= 1, "{who}: {migrations:?} migrations");
}

/// What somebody cut out of a run's trace, or changed in it, is replayed by its events or by what it tells,
/// or is an error.
#[test]
fn a_damaged_trace_of_a_run_is_no_panic() {
    let machine = two_cpus();
    let run = recorded_run(&["rt-migrate", "hackbench -g1 -f2 -l5"], Nanos::from_millis(20));
    let mut text = Vec::new();
    logged(&run)
        .write_trace(&mut text, TraceFormat::FtraceText, Programs::Told)
        .expect("memory takes everything");
    let text = String::from_utf8(text).expect("text");
    let (mut told, mut inferred) = (0, 0);
    for variant in 1..60_usize {
        let damaged = |(n, line): (usize, &str)| match (n * 7919 + variant * 104_729) % (1 << (variant % 12))
        {
            0 if variant.is_multiple_of(2) => String::new(),
            0 => format!("{}\n", line.replace(&(variant % 10).to_string(), &(variant * n).to_string())),
            _ => format!("{line}\n"),
        };
        let damaged: String = text.lines().enumerate().map(damaged).collect();
        let files = Files::from([("damaged.txt".to_owned(), damaged.into_bytes())]);
        let Ok(load) = LoadSpec::open("damaged.txt", &files) else { continue };
        let mut again = Experiment::new(machine.clone());
        again.loads.push(load.recorded_on(&machine));
        again.duration = Some(Nanos::from_millis(20));
        if let Ok(run) = again.run() {
            let is_told = run.result.notes.iter().any(|note| note.contains("told by the trace step by step"));
            *if is_told { &mut told } else { &mut inferred } += 1;
        }
    }
    assert!(told > 5 && inferred > 5, "{told} told, {inferred} inferred");
}

#[test]
fn what_a_recorder_would_see_replays_with_the_same_cpu_time_and_switches() {
    for ending in CAN_BE_READ {
        let runs = round_trip(&["periodic -p 10ms,7ms -u 30% -P 50 -R"], ending, Programs::LeftOut);
        assert_eq!(assert_same(&runs, "periodic", 10, 0), 2, "{ending}");
    }
}

/// Bursts of three microseconds, half of which is the kernel's work: what that costs is not paid twice, nor
/// are the interrupts that come on top of each other's tasks.
#[test]
fn bursts_of_microseconds_come_back_too() {
    for ending in CAN_BE_READ {
        let runs = round_trip(&["cyclictest -t3 -p90 -i200"], ending, Programs::LeftOut);
        assert_eq!(assert_same(&runs, "cyclictest", 50, 1), 3, "{ending}");
    }
}

#[test]
fn policies_and_affinities_need_no_guessing() {
    let loads = ["hog -n2 -y batch -a 1", "periodic -p 10ms -u 30% -a 0"];
    for ending in CAN_BE_READ {
        let runs = round_trip(&loads, ending, Programs::LeftOut);
        // When a fair task is preempted depends on virtual times from before the trace.
        assert_eq!(assert_same(&runs, "hog", 10, 20), 2, "{ending}");
        assert_eq!(assert_same(&runs, "periodic", 10, 20), 1, "{ending}");
        let facts = |run: &Run| -> Vec<String> {
            let facts = logged(run).facts.tasks.iter();
            let ours =
                facts.filter(|note| ["hog", "periodic"].iter().any(|name| note.comm.starts_with(name)));
            ours.map(|note| format!("{} {:?} {}", note.comm, note.facts.policy, note.facts.cpus)).collect()
        };
        assert_eq!(facts(&runs[0]), ["hog Batch 1", "hog Batch 1", "periodic0 Other 0"]);
        assert_eq!(facts(&runs[1]), facts(&runs[0]), "{ending}");
    }
    let idle = ["hog -n2 -y idle -a 1", "hog -n1 -a 1"];
    let runs = round_trip(&idle, "dat", Programs::LeftOut);
    assert_eq!(assert_same(&runs, "hog", 30, 20), 3);
}

/// A run's own trace knows the groups in which its tasks were: run again it has them, with their limits; and
/// not if it is asked not to.
#[test]
fn groups_come_back() {
    let mut experiment = Experiment::new(two_cpus());
    let words = |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    let group = |word: &String| crate::groups::group(word).expect("a group");
    let member = |word: &String| crate::groups::member(word).expect("a member");
    let described = ["a=cpu.weight:50", "a/b=cpu.max:20000/100000,cpu.max.burst:5000", "c=cpu.idle:1"];
    let text = schema::ExperimentText {
        groups: words(&described).iter().map(group).collect(),
        members: words(&["a/b=1000", "c=1001"]).iter().map(member).collect(),
        ..schema::ExperimentText::default()
    };
    experiment.groups = crate::groups::Groups::of_text(&text).expect("legal");
    experiment.loads.push(LoadSpec::open("hog -n 3 -a 1", &Files::new()).expect("a load"));
    experiment.duration = Some(Nanos::from_micros(500_500));
    experiment.record = true;
    let run = experiment.run().expect("it runs");
    for ending in CAN_BE_READ {
        let name = format!("run.{ending}");
        let mut bytes = Vec::new();
        let format = TraceFormat::of(Path::new(&name)).expect("a format");
        logged(&run).write_trace(&mut bytes, format, Programs::Told).expect("memory takes everything");
        let files = Files::from([(name.clone(), bytes)]);
        let back_with = |groups, described: &[&str]| {
            let file = Some(schema::FileText { groups, ..schema::FileText::default() });
            let again = schema::ExperimentText {
                loads: vec![schema::LoadText { load: name.clone(), file }],
                machine: schema::MachineText { cpus: Some(2), ..schema::MachineText::default() },
                groups: described.iter().map(|word| crate::groups::group(word).expect("a group")).collect(),
                ..schema::ExperimentText::default()
            };
            Experiment::open(&again, &files).expect("our own file").run().expect("it runs").result
        };
        let back = |groups| back_with(groups, &[]);
        let told = back(schema::RecordedGroups::Recorded);
        let of = |result: &schema::RunResult| -> Vec<_> {
            result.groups.iter().map(|group| (group.name.clone(), group.weight, group.max)).collect()
        };
        assert_eq!(of(&told), of(&run.result), "{ending}");
        let limited = |result: &schema::RunResult| result.groups[1].stat;
        assert_eq!(limited(&told).nr_throttled, limited(&run.result).nr_throttled, "{ending}");
        // What is said of a group comes on top of what was recorded of it, and takes nothing from others.
        let more = back_with(schema::RecordedGroups::Recorded, &["a/b=cpu.max:40000"]);
        let mut expected = of(&run.result);
        let max = expected[1].2.as_mut().expect("a limit");
        max.quota_ns = 40_000_000;
        assert_eq!(of(&more), expected, "{ending}");
        assert!(back(schema::RecordedGroups::Flat).groups.is_empty(), "{ending}");
    }
}

/// So do groups of real-time tasks, with the kernel that has them. Who says that it has none gets none, and
/// hears of it.
#[test]
fn groups_of_real_time_tasks_come_back() {
    let described = [
        "a=cpu.rt_runtime_us:60000,cpu.rt_period_us:200000",
        "a/b=cpu.rt_runtime_us:20000,cpu.rt_period_us:100000",
    ];
    let text = schema::ExperimentText {
        loads: vec![schema::LoadText { load: "hog -n 2 -y fifo -p 50".to_owned(), file: None }],
        machine: schema::MachineText { cpus: Some(1), ..schema::MachineText::default() },
        groups: described.iter().map(|word| crate::groups::group(word).expect("a group")).collect(),
        members: vec![crate::groups::member("a/b=hog").expect("a member")],
        settings: vec![schema::KernelChange { at_ns: 0, setting: "rt_throttle=groups".to_owned() }],
        ..schema::ExperimentText::default()
    };
    let half_a_second =
        |experiment: Experiment| Experiment { duration: Some(Nanos::from_millis(500)), ..experiment };
    let experiment = half_a_second(Experiment::open(&text, &Files::new()).expect("legal"));
    let run = Experiment { record: true, ..experiment }.run().expect("it runs");
    let throttled = |result: &schema::RunResult| result.groups[1].stat.nr_rt_throttled;
    assert!(throttled(&run.result) >= 4, "{:?}", run.result.groups[1].stat);
    for (ending, programs) in
        CAN_BE_READ.iter().flat_map(|ending| [(ending, Programs::Told), (ending, Programs::LeftOut)])
    {
        let name = format!("run.{ending}");
        let mut bytes = Vec::new();
        let format = TraceFormat::of(Path::new(&name)).expect("a format");
        logged(&run).write_trace(&mut bytes, format, programs).expect("memory takes everything");
        let files = Files::from([(name.clone(), bytes)]);
        let back_with = |settings: &[&str], described: &[&str]| {
            let setting = |text: &&str| schema::KernelChange { at_ns: 0, setting: (*text).to_owned() };
            let groups = schema::RecordedGroups::Recorded;
            let file = Some(schema::FileText { groups, ..schema::FileText::default() });
            let again = schema::ExperimentText {
                loads: vec![schema::LoadText { load: name.clone(), file }],
                groups: described.iter().map(|word| crate::groups::group(word).expect("a group")).collect(),
                settings: settings.iter().map(setting).collect(),
                ..schema::ExperimentText::default()
            };
            Experiment::open(&again, &files).expect("our own file").run().expect("it runs").result
        };
        let back = |settings: &[&str]| back_with(settings, &[]);
        let told = back(&[]);
        assert_eq!(told.kernel.rules["rt_throttle"], "groups", "{ending} {programs:?}");
        let note = |result: &schema::RunResult, begins: &str| {
            result.notes.iter().filter(|note| note.contains(begins)).count()
        };
        assert_eq!(note(&told, "rt_throttle=groups, as the recording shows"), 1, "{:?}", told.notes);
        let limits = |result: &schema::RunResult| -> Vec<_> {
            result.groups.iter().map(|group| (group.name.clone(), group.rt)).collect()
        };
        assert_eq!(limits(&told), limits(&run.result), "{ending} {programs:?}");
        if programs == Programs::Told {
            assert_eq!(throttled(&told), throttled(&run.result), "{ending}");
        }
        let without = back(&["rt_throttle=off"]);
        assert_eq!(without.kernel.rules["rt_throttle"], "off");
        assert_eq!(note(&without, "the recorded cpu.rt_runtime_us of group a/b is left out"), 1);
        // The recorded kernel has such groups: another limit needs no other word.
        let less = back_with(&[], &["a/b=cpu.rt_runtime_us:10000"]);
        let changed = less.groups[1].rt.expect("a limit");
        assert_eq!((changed.runtime_ns, changed.period_ns), (Some(10_000_000), 100_000_000), "{ending}");
    }
}

#[test]
fn chrome_gets_the_same_as_perfetto() {
    let mut bytes = Vec::new();
    logged(&recorded())
        .write_trace(&mut bytes, TraceFormat::ChromeJson, Programs::Told)
        .expect("memory takes everything");
    let text = String::from_utf8(bytes).expect("JSON is text");
    for part in ["cyclictest 10", "\"Running\"", "nr_running CPU 1", "wake_", "rq lock waiters CPU 0"] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("schedlab_program"), "it tells no programs");
}
