//! What is said of a replay: when the build is done, whose tasks they are, and how far to trust it.
//!
//! `fixtures/build.txt` is a made-up trace of one CPU: the recorder's child becomes make, which forks cc1 and
//! ld; each has 10 ms of work, ld under SCHED_FIFO for most of it. A kernel thread works again 180 ms after
//! all are done.

use schema::{Grade, LoadResult, Policy, ReplayFidelity, ReplayFinish, RunResult};
use std::process::{Command, Output};

const BUILD: &str = "tests/fixtures/build.txt";

fn schedlab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_schedlab")).args(args).output().expect("the binary of this package")
}

fn run(args: &[&str]) -> RunResult {
    let output = schedlab(&[&["run", BUILD, "--format", "json"], args].concat());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    RunResult::from_json(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|e| panic!("{e}: {error}"))
}

fn finish(result: &RunResult) -> ReplayFinish {
    let [LoadResult::Replay(replay)] = result.loads.as_slice() else { panic!("a replay") };
    replay.finish.clone().expect("tasks exit")
}

#[test]
fn a_build_is_done_sooner_on_two_cpus_although_a_kernel_thread_lives_on() {
    let (one, two) = (run(&["--cpus", "1"]), run(&["--cpus", "2"]));
    for result in [&one, &two] {
        let finish = finish(result);
        assert_eq!((finish.comm.as_deref(), finish.tasks), (Some("make"), 3));
        // make's sched_process_exit, after the first event.
        assert_eq!(finish.recorded_s.map(|s| s.as_ns()), Some(20_500_000));
        assert!(result.engine.simulated_ns > 200_000_000, "the kernel thread's work is replayed, too");
    }
    // Two jobs of 10 ms beside each other in place of one after the other.
    let ms = |result| finish(result).seconds.map(|s| s.as_ns() / 1_000_000);
    assert_eq!([ms(&one), ms(&two)], [Some(20), Some(10)]);
}

#[test]
fn the_tasks_of_the_recorded_command_are_marked_and_come_first_in_the_table() {
    let result = run(&[]);
    let of_command = |task: &&schema::TaskResult| task.of_command;
    let comms: Vec<&str> = result.tasks.iter().filter(of_command).map(|task| task.comm.as_str()).collect();
    assert_eq!(comms, ["make", "cc1", "ld"]);
}

#[test]
fn inspect_puts_the_recorded_command_first_too() {
    let text = String::from_utf8(schedlab(&["inspect", BUILD]).stdout).expect("UTF-8");
    let rows = text.lines().skip_while(|line| !line.starts_with("task ")).skip(1);
    let names: Vec<&str> = rows.take(4).filter_map(|row| row.split(':').next()).collect();
    let (command, others) = names.split_at(3);
    let command: std::collections::BTreeSet<&&str> = command.iter().collect();
    assert_eq!(command, ["make", "cc1", "ld"].iter().collect());
    assert!(!others.iter().any(|name| ["make", "cc1", "ld"].contains(name)), "{text}");
}

#[test]
fn a_task_has_the_class_of_its_cpu_time_and_its_changes_are_told() {
    let result = run(&[]);
    let task = |comm| result.tasks.iter().find(|task| task.comm == comm).expect("a task");
    let ld = task("ld");
    // Kernel priority 60 is SCHED_FIFO 39; it exits with priority 120.
    assert_eq!((ld.policy, ld.rt_priority), (Policy::Fifo, 39));
    let [fair, fifo] = ld.time_under.as_slice() else { panic!("{:?}", ld.time_under) };
    assert!(fair.policy == Policy::Other && fifo.policy == Policy::Fifo);
    assert!(fifo.cpu_time_ns > 8_000_000 && fair.cpu_time_ns < 2_000_000);
    assert_eq!(fair.cpu_time_ns + fifo.cpu_time_ns, ld.sum_exec_runtime_ns);
    assert!(task("cc1").time_under.is_empty());
    let text = String::from_utf8(schedlab(&["run", BUILD]).stdout).expect("text");
    assert!(text.contains("FF 39*") && text.contains("\n* had another class or priority, too"), "{text}");
}

/// The demo's recording: 26 tasks on 2 CPUs.
const DEMO: &str = "../../demo/mix-rtover.dat";

fn fidelity_of(args: &[&str]) -> ReplayFidelity {
    let output = schedlab(&[&["run", DEMO, "--machine", "vm2", "--format", "json"], args].concat());
    let result = RunResult::from_json(&String::from_utf8_lossy(&output.stdout)).expect("our own JSON");
    let [fidelity] = result.replay.as_slice() else { panic!("{} replays", result.replay.len()) };
    fidelity.clone()
}

#[test]
fn a_what_if_is_judged_by_the_replay_on_the_recorded_machine() {
    let (same, what_if) = (fidelity_of(&[]), fidelity_of(&["--cpus", "4", "--set", "search=linear"]));
    assert_eq!(same, what_if);
    assert_eq!((same.reference.machine.cpus, same.reference.profile.as_str()), (2, "6.18.y"));
}

/// docs/cli.md: such a trace replays as the run that it was.
#[test]
fn the_trace_of_a_run_replays_with_the_cpu_times_and_switches_of_every_task() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("own.dat").display().to_string();
    let machine = ["--machine", "laptop", "--cpus", "2"];
    let loads = ["run", "cyclictest -t2 -p80 -i1000 -l50", "hackbench -g1 -l5", "--trace", &trace];
    assert!(schedlab(&[&loads[..], &machine].concat()).status.success());
    let output = schedlab(&[&["run", &trace, "--format", "json"], &machine[..]].concat());
    let result = RunResult::from_json(&String::from_utf8_lossy(&output.stdout)).expect("our own JSON");
    let tasks = &result.replay[0].tasks;
    assert!(tasks.len() > 40, "{} tasks", tasks.len());
    for task in tasks {
        for (what, figure) in [("CPU time", &task.cpu_time_ns), ("switches", &task.nr_switches)] {
            assert_eq!(figure.recorded, figure.simulated, "{what} of {} {}", task.comm, task.pid);
        }
    }
}

#[test]
fn a_replay_ends_with_its_verdict() {
    let text = String::from_utf8(schedlab(&["run", DEMO, "--machine", "vm2"]).stdout).expect("text");
    let verdict = text.rsplit("\n\n").next().expect("sections");
    assert!(verdict.starts_with("verdict: the replay of ") && verdict.contains("for CPU time ("), "{text}");
    assert!(text.contains("latency max  recorded "), "{text}");
}

#[test]
fn when_the_command_is_done_is_a_question_of_its_own() {
    let verdict = |more: &[&str]| run(more).replay[0].verdict.clone();
    // make, cc1 and ld have exited after some 20 ms.
    let answer = verdict(&[]).finishing_time;
    assert!(answer.grade == Grade::Good && answer.off_permille < 30, "{answer:?}");
    assert!((15_000..25_000).contains(&answer.counted), "{answer:?}");
    assert!(verdict(&[]).sentence.contains("finishing time ("), "{}", verdict(&[]).sentence);
}

#[test]
fn a_comparison_says_when_the_build_is_done_and_never_that_a_model_is_exact() {
    let output = schedlab(&["compare", BUILD, "--with", "cpus=2", "--repeat", "2"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(!text.contains("exact"), "{text}");
    assert!(text.contains("\n  replay of make finished: 1.97 "), "{text}");
    let mut table = text.lines().skip_while(|line| !line.contains(" metric ")).skip(2);
    assert!(table.next().is_some_and(|row| row.starts_with("+ replay of make")), "{text}");
    assert!(text.contains("\nverdict: the replay of "), "{text}");
}

fn task<'a>(result: &'a RunResult, comm: &str) -> &'a schema::TaskResult {
    result.tasks.iter().find(|task| task.comm == comm).unwrap_or_else(|| panic!("no task {comm}"))
}

#[test]
fn tasks_of_a_recording_can_be_changed() {
    let changed =
        ["--policy", "make=rr:10", "--nice", "kworker*=-5", "--scale", "cc1=1.5", "--without", "irq/9"];
    let (before, after) = (run(&[]), run(&changed));
    // The policy goes to the descendants, for all of their time.
    let policies = ["make", "cc1", "ld"].map(|comm| task(&after, comm).policy);
    assert_eq!(policies, [Policy::Rr; 3]);
    assert!(task(&after, "ld").time_under.is_empty());
    assert_eq!(task(&after, "kworker/0:1").nice, -5);
    let cpu_time = |result, comm| task(result, comm).sum_exec_runtime_ns as f64 / 1e6;
    assert!((cpu_time(&after, "cc1") - 1.5 * cpu_time(&before, "cc1")).abs() < 0.1);
    assert!((cpu_time(&after, "ld") - cpu_time(&before, "ld")).abs() < 0.1);
    assert!(!after.tasks.iter().any(|task| task.comm == "irq/9"));
    // It is judged by what was recorded.
    assert_eq!(after.replay, before.replay);
    assert!(
        after.notes.iter().any(|note| note.starts_with("changed: make: policy rr:10 (3 of")),
        "{:?}",
        after.notes
    );
}

#[test]
fn who_is_left_out_still_wakes_those_that_wait_for_it() {
    let result = run(&["--without", "ld"]);
    assert!(task(&result, "ld").sum_exec_runtime_ns < 1_000_000);
    assert!(finish(&result).seconds.is_some(), "make waits for it and ends");
}

#[test]
fn an_arm_of_a_comparison_has_its_own_loads_and_changes() {
    let workload = concat!(env!("CARGO_TARGET_TMPDIR"), "/build.workload");
    let written = schedlab(&["workload", BUILD, "-o", workload]);
    assert_eq!(written.status.code(), Some(0));
    let load = format!("load={workload} scale=cc1=2");
    let args =
        ["compare", BUILD, "--with", &load, "--with", "without=cc1", "--repeat", "2", "--format", "json"];
    let text = String::from_utf8(schedlab(&args).stdout).expect("text");
    let answer: schema::comparison::Comparison = serde_json::from_str(&text).expect("our own JSON");
    let [double, without] = answer.variants.as_slice() else { panic!("two variants") };
    let cpu_time = |variant: &schema::comparison::VariantComparison| {
        let metric = variant.metrics.iter().find(|metric| metric.metric.key == "tasks.cc1.cpu_time");
        metric.map(|metric| metric.variant / metric.base)
    };
    assert!(cpu_time(double).is_some_and(|times| (times - 2.0).abs() < 0.05), "{:?}", cpu_time(double));
    assert!(cpu_time(without).is_none_or(|times| times < 0.1), "{:?}", cpu_time(without));
}

#[test]
fn a_task_that_is_not_there_is_an_error() {
    for args in
        [&["run", BUILD, "--nice", "nobody=1"][..], &["compare", "hog", "--with", "policy=hog=fifo:1"]]
    {
        let output = schedlab(args);
        let error = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("no recording among the loads has a task"), "{error}");
    }
}

#[test]
fn only_the_tasks_that_were_asked_for_are_told_of() {
    let comms =
        |args: &[&str]| -> Vec<String> { run(args).tasks.into_iter().map(|task| task.comm).collect() };
    assert_eq!(comms(&["--task", "c*", "--task", "9"]), ["cc1", "ld"]);
    let text = String::from_utf8(schedlab(&["inspect", BUILD, "--task", "cc1"]).stdout).expect("text");
    assert!(text.contains("cc1:8") && !text.contains("ld:9"), "{text}");
    let args = ["compare", BUILD, "--with", "cpus=2", "--repeat", "2", "--task", "cc1", "--full"];
    let text = String::from_utf8(schedlab(&args).stdout).expect("text");
    assert!(text.contains(" cc1: CPU time") && text.contains(" replay of make"), "{text}");
    assert!(!text.contains(" ld: ") && !text.contains(" context switches"), "{text}");
    let error = String::from_utf8(schedlab(&["run", BUILD, "--task", "nobody"]).stderr).expect("text");
    assert!(error.contains("there is no task nobody"), "{error}");
}

#[test]
fn a_part_of_a_trace_is_inspected_as_if_nothing_else_had_been_recorded() {
    let inspect = |args: &[&str]| {
        let output = schedlab(&[&["inspect", BUILD, "--format", "json"], args].concat());
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let (all, part) = (inspect(&[]), inspect(&["--from", "190ms", "--to", "0.21"]));
    // The kernel thread's second work: two wakeups and two switches.
    let switches = |result: &serde_json::Value| result["events"]["sched_switch"].as_u64();
    assert_eq!((switches(&part), part["duration_ns"].as_u64()), (Some(2), Some(60_000)));
    assert!(switches(&all) > Some(10));
    let output = schedlab(&["inspect", BUILD, "--from", "9s"]);
    let error = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.code() == Some(2) && error.contains("is behind the end of the trace"), "{error}");
}
