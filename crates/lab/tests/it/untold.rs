//! What a trace of a foreign recorder does not tell, and the user knows: the groups of its tasks, and of how
//! many CPUs it is.

use lab::schema::{ExperimentText, FileText, Grade, LoadText, MachineText, ReplayVerdict};
use lab::{Experiment, Files, Inspection, Programs, RunResult, TraceFormat, groups, inspect, load_text};

fn load(load: &str) -> LoadText {
    LoadText { load: load.to_owned(), file: None }
}

/// The trace of a run, as the kernel's own text without a word of its groups.
fn trace(text: &ExperimentText) -> String {
    let experiment = Experiment { record: true, ..Experiment::open(text, &Files::new()).expect("sound") };
    let logged = experiment.run().expect("it runs").logged.expect("a log");
    let mut bytes = Vec::new();
    logged.write_trace(&mut bytes, TraceFormat::FtraceText, Programs::LeftOut).expect("memory takes it");
    let text = String::from_utf8(bytes).expect("ASCII");
    text.lines().filter(|line| !line.contains("schedlab: ")).map(|line| format!("{line}\n")).collect()
}

fn run(trace: &str, asked: ExperimentText) -> RunResult {
    let files = Files::from([("t.txt".to_owned(), trace.as_bytes().to_vec())]);
    let reading = FileText { recorded_on: Some(MachineText::default()), ..FileText::default() };
    let text = ExperimentText { loads: vec![load_text("t.txt", &reading, &files)], ..asked };
    Experiment::open(&text, &files).expect("sound").run().expect("it runs").result
}

fn on(cpus: u32) -> MachineText {
    MachineText { cpus: Some(cpus), ..MachineText::default() }
}

/// A task that wants 75 % of a CPU and gets 30: the limit stops it ten times a second.
#[test]
fn the_real_limit_of_a_recording_reaches_its_replay_beside_it() {
    let limit = |text: ExperimentText| ExperimentText {
        groups: vec![groups::group("web=cpu.max:30000/100000").expect("a group")],
        members: vec![groups::member("web=periodic*").expect("a member")],
        ..text
    };
    let recorded = trace(&limit(ExperimentText {
        loads: vec![load("periodic -n 1 -p 20ms -r 15ms")],
        machine: on(1),
        duration_ns: Some(2_000_000_000),
        ..ExperimentText::default()
    }));
    let alone = ExperimentText { machine: on(1), ..ExperimentText::default() };
    let asked = |text: ExperimentText| {
        let result = run(&recorded, text);
        let [replay] = &result.replay[..] else { panic!("one recording") };
        let limited = replay.tasks.iter().find(|task| task.comm == "periodic0").expect("it is replayed");
        let switches = limited.nr_switches;
        let told = result.notes.iter().any(|note| note.contains("taken for those in which it was recorded"));
        (switches.recorded, switches.simulated, told)
    };
    let (recorded_switches, without, told) = asked(alone.clone());
    let stopped = recorded_switches >= 20 && without < recorded_switches - 10;
    assert!(stopped && !told, "it is stopped 20 times in 2 s: {recorded_switches} {without}");
    let (_, with, told) = asked(limit(alone));
    assert!(with.abs_diff(recorded_switches) <= 2 && told, "{with}");
}

/// Endless tasks and messages on two CPUs, and a recorder that sees one of them: who follows whom there, and
/// how long they wait, is as on one CPU.
#[test]
fn a_recording_of_one_of_two_cpus_stands_beside_a_replay_on_one() {
    let both = trace(&ExperimentText {
        loads: vec![load("hog -n 4"), load("hackbench -g1 -l200")],
        machine: on(2),
        duration_ns: Some(2_000_000_000),
        ..ExperimentText::default()
    });
    let one: String = both.lines().filter(|line| !line.contains("[000]")).map(|l| format!("{l}\n")).collect();
    let result = |cpus| run(&one, ExperimentText { machine: on(cpus), ..ExperimentText::default() });
    let files = Files::from([("t.txt".to_owned(), one.as_bytes().to_vec())]);
    let inspected = inspect("t.txt", &Inspection::default(), &files).expect("a trace");
    let note = inspected.notes.iter().find(|note| note.name == "some_cpus").expect("one of two CPUs");
    let said =
        "info: the trace is of 1 of 2 CPUs: it has switches of CPU 1 only, and tasks were sent to CPU 0";
    assert!(note.text.starts_with(said), "{}", note.text);
    let (on_two, on_one) = (result(2), result(1));
    for result in [&on_two, &on_one] {
        let verdict = &result.replay[0].verdict;
        assert_eq!(verdict.finishing_time.grade, Grade::Unknown);
        assert!(verdict.sentence.contains("only some of the machine's CPUs were recorded"), "{verdict:?}");
    }
    let is_told = |warning: &String| warning.contains("switches of CPU 1 only, and tasks were sent to CPU 0");
    assert!(on_two.warnings.iter().any(is_told), "{:?}", on_two.warnings);
    let cpus = |result: &RunResult| result.replay[0].reference.machine.cpus;
    assert_eq!((cpus(&on_two), cpus(&on_one)), (2, 1));
    let off = |result: &RunResult| {
        let ReplayVerdict { order, latency, .. } = &result.replay[0].verdict;
        (order.off_permille, latency.off_permille)
    };
    let ((order_on_two, latency_on_two), (order, latency)) = (off(&on_two), off(&on_one));
    assert!(order < order_on_two && latency < latency_on_two, "{order} {latency}");
}
