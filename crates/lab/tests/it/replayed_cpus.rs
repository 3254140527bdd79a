//! Cpusets, partitions and isolated CPUs come back from the trace of a run: its replay is the same run.

use lab::schema::{ExperimentText, FileText, LoadText, MachineText, RecordedGroups};
use lab::{Experiment, Files, LoadSpec, Programs, RunResult, TraceFormat, groups};

/// Hogs in group a and jobs outside, on four CPUs, with such a group.
fn text(described: &[&str]) -> ExperimentText {
    let load = |load: &str| LoadText { load: load.to_owned(), file: None };
    ExperimentText {
        loads: vec![load("hog -n 3"), load("periodic -n 2 -p 10ms -r 2ms")],
        machine: MachineText { cpus: Some(4), ..MachineText::default() },
        groups: described.iter().map(|word| groups::group(word).expect("a group")).collect(),
        members: described.iter().map(|_| groups::member("a=hog").expect("a member")).collect(),
        duration_ns: Some(500_500_000),
        ..ExperimentText::default()
    }
}

/// What each task of the loads did.
fn figures(result: &RunResult) -> Vec<(String, u64, u64, u64)> {
    let of_loads = result.tasks.iter().filter(|task| ["hog", "periodic"].contains(&&*task.comm));
    let mut figures: Vec<_> = of_loads
        .map(|task| {
            let switches = task.nr_voluntary_switches + task.nr_involuntary_switches;
            (task.comm.clone(), task.sum_exec_runtime_ns, switches, task.nr_migrations)
        })
        .collect();
    figures.sort();
    figures
}

/// A run, and what a file of such a name has of it.
struct Recorded {
    result: RunResult,
    files: Files,
}

fn recorded(text: &ExperimentText) -> Recorded {
    let experiment = Experiment { record: true, ..Experiment::open(text, &Files::new()).expect("sound") };
    let run = experiment.run().expect("it runs");
    let mut bytes = Vec::new();
    run.logged
        .expect("a log")
        .write_trace(&mut bytes, TraceFormat::TraceDat, Programs::Told)
        .expect("memory takes it");
    let mut files = Files::from([("run.dat".to_owned(), bytes)]);
    let load = LoadSpec::open("run.dat", &files).expect("our own trace");
    let workload = load.workload_text(&files).expect("it is described").expect("a recording");
    files.insert("run.workload".to_owned(), workload.into_bytes());
    Recorded { result: run.result, files }
}

fn replayed(file: &str, cpus: u32, files: &Files) -> RunResult {
    let again = ExperimentText {
        loads: vec![LoadText { load: file.to_owned(), file: None }],
        machine: MachineText { cpus: Some(cpus), ..MachineText::default() },
        ..ExperimentText::default()
    };
    Experiment::open(&again, files).expect("our own file").run().expect("it runs").result
}

fn is_the_same_run(text: &ExperimentText) {
    let Recorded { result, files } = recorded(text);
    for file in ["run.dat", "run.workload"] {
        let again = replayed(file, 4, &files);
        let (ours, theirs) = (figures(&again), figures(&result));
        assert_eq!(ours.len(), theirs.len(), "{file}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let ((name, time, switches, moves), theirs_time) = (ours, theirs.1);
            assert_eq!((name, switches, moves), (&theirs.0, &theirs.2, &theirs.3), "{file}");
            // The replay goes on for 2 us, which count on CPUs without a tick.
            assert!(
                (theirs_time..=theirs_time + 2_000).contains(time),
                "{file} {name}: {time} {theirs_time}"
            );
        }
        assert_eq!(again.partitions, result.partitions, "{file}");
    }
}

#[test]
fn a_cpuset_comes_back() {
    is_the_same_run(&text(&["a=cpuset.cpus:0"]));
    is_the_same_run(&text(&["a=cpuset.cpus:0,2,cpu.weight:50"]));
}

#[test]
fn partitions_come_back_also_those_of_nobody() {
    is_the_same_run(&text(&["a=cpuset.cpus:2-3,cpuset.cpus.partition:root"]));
    is_the_same_run(&text(&["a", "empty=cpuset.cpus:1,cpuset.cpus.partition:isolated"]));
}

#[test]
fn isolated_cpus_and_those_without_a_tick_come_back() {
    is_the_same_run(&ExperimentText { isolcpus: Some("2-3".to_owned()), ..text(&[]) });
    is_the_same_run(&ExperimentText { nohz_full: Some("1-3".to_owned()), ..text(&[]) });
}

/// Every machine makes the threads that do what interrupts leave: a trace has no programs for them, which a
/// replay would run beside its own. With PREEMPT_RT they are there from the start.
#[test]
fn threads_of_soft_interrupts_are_there_once() {
    let text = ExperimentText { kernel: Some("6.12-rt".to_owned()), ..text(&[]) };
    let Recorded { files, .. } = recorded(&text);
    let again = ExperimentText {
        loads: vec![LoadText { load: "run.dat".to_owned(), file: None }],
        kernel: text.kernel.clone(),
        machine: text.machine.clone(),
        ..ExperimentText::default()
    };
    let replay = Experiment { record: true, ..Experiment::open(&again, &files).expect("our own file") };
    let log = replay.run().expect("it runs").logged.expect("a log").log;
    let named = log.head.tasks.iter().filter(|task| task.comm == "ksoftirqd/0");
    assert_eq!(named.count(), 1);
}

#[test]
fn clamps_come_back() {
    let Recorded { result, files } = recorded(&text(&["a=cpu.uclamp.min:20.5,cpu.uclamp.max:80"]));
    assert!(result.groups[0].clamps.is_some(), "{:?}", result.groups);
    assert_eq!(replayed("run.dat", 4, &files).groups[0].clamps, result.groups[0].clamps);
}

/// On a machine without all of these CPUs there is no such division; the replay says so.
#[test]
fn what_a_smaller_machine_cannot_keep_is_told_of() {
    let partition = text(&["a=cpuset.cpus:1-2,cpuset.cpus.partition:root"]);
    let divided = ExperimentText { isolcpus: Some("3".to_owned()), ..partition };
    let result = replayed("run.dat", 2, &recorded(&divided).files);
    let said = |what: &str| result.warnings.iter().any(|text| text.contains(what));
    assert!(said("the recorded cpuset.cpus 1-2 of group a is left out"), "{:?}", result.warnings);
    assert!(said("the recorded isolcpus=3 is left out"), "{:?}", result.warnings);
}

/// The example of docs/cli.md: threads of rt-tests pin themselves to the CPUs that they may use. Without an
/// option isolated ones are none of these.
#[test]
fn cyclictest_pins_its_threads_within_its_cpuset() {
    let cpus_of = |described: &[&str], isolcpus: Option<&str>, load: &str| -> Vec<u64> {
        let text = ExperimentText {
            loads: vec![LoadText { load: load.to_owned(), file: None }],
            members: described.iter().map(|_| groups::member("rt=cyclictest").expect("a member")).collect(),
            duration_ns: Some(20_500_000),
            isolcpus: isolcpus.map(str::to_owned),
            ..text(described)
        };
        let experiment = Experiment::open(&text, &Files::new()).expect("sound");
        let run = Experiment { record: true, ..experiment }.run().expect("it runs");
        let logged = run.logged.expect("a log");
        let threads = logged.log.head.tasks.iter().filter(|task| task.comm == "cyclictest");
        threads.map(|task| task.cpus.as_ref().expect("pinned").parse().expect("to one CPU")).collect()
    };
    let partition = ["rt=cpuset.cpus:2-3,cpuset.cpus.partition:root"];
    assert_eq!(cpus_of(&partition, None, "cyclictest -t3 -p80 -i1000"), [2, 3, 2]);
    assert_eq!(cpus_of(&partition, None, "cyclictest -a0,3 -t2 -p80 -i1000"), [3, 3]);
    assert_eq!(cpus_of(&[], Some("0,2"), "cyclictest -t3 -p80 -i1000"), [1, 3, 1]);
    assert_eq!(cpus_of(&[], Some("0,2"), "cyclictest -a2 -t1 -p80 -i1000"), [2]);
    assert_eq!(cpus_of(&[], None, "cyclictest -t -p80 -i1000"), [0, 1, 2, 3]);
}

/// Nobody is in a group of the recording, whether a trace has it or a workload file.
#[test]
fn flat_recordings_have_no_groups() {
    let Recorded { files, .. } = recorded(&text(&["a=cpuset.cpus:0"]));
    for file in ["run.dat", "run.workload"] {
        let read = FileText { groups: RecordedGroups::Flat, ..FileText::default() };
        let again = ExperimentText {
            loads: vec![LoadText { load: file.to_owned(), file: Some(read) }],
            machine: MachineText { cpus: Some(4), ..MachineText::default() },
            ..ExperimentText::default()
        };
        let result = Experiment::open(&again, &files).expect("our own file").run().expect("it runs").result;
        assert!(result.groups.is_empty(), "{file}: {:?}", result.groups);
    }
}
