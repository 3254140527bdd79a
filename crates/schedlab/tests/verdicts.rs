//! What is said of a replay: when the build is done, whose tasks they are, and how far to trust it.
//!
//! `fixtures/build.txt` is a made-up trace of one CPU: the recorder's child becomes make, which forks cc1 and ld; each has
//! 10 ms of work, ld under SCHED_FIFO for most of it. A kernel thread works again 180 ms after all are done.

use report::schema::{LoadResult, Policy, ReplayFidelity, ReplayFinish, RunResult};
use std::process::{Command, Output};

const BUILD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/build.txt");

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
    let of_command = |task: &&report::schema::TaskResult| task.of_command;
    let comms: Vec<&str> = result.tasks.iter().filter(of_command).map(|task| task.comm.as_str()).collect();
    assert_eq!(comms, ["make", "cc1", "ld"]);
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
const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/mix-rtover.dat");

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
    assert_eq!((same.reference.machine.cpus, same.reference.profile.as_str()), (2, "6.1"));
}

#[test]
fn a_replay_ends_with_its_verdict() {
    let text = String::from_utf8(schedlab(&["run", DEMO, "--machine", "vm2"]).stdout).expect("text");
    let verdict = text.rsplit("\n\n").next().expect("sections");
    assert!(verdict.starts_with("verdict: the replay of ") && verdict.contains("for CPU time ("), "{text}");
    assert!(text.contains("latency max  recorded "), "{text}");
}
