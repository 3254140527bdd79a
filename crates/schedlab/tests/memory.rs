//! What replaying a long recording costs in memory, results included: at most 300 bytes an event, 2 KB a
//! task, and 200 MB.
//!
//! Linux tells the most memory that a process has ever had: this replays a recording in a process of its own,
//! then one of three times as long, and sees by how much that has grown.
#![cfg(target_os = "linux")]

use lab::{Experiment, LoadSpec};
use schedlab::files::Disk;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

const EVENTS_A_TASK: u64 = 5;
const BYTES_AN_EVENT: u64 = 300;
const BYTES_A_TASK: u64 = 2_048;
/// What there may be besides, and the tasks of the largest recording for which the bound was asked: of the
/// growth it is this much a task.
const BYTES_BESIDES: u64 = 200 << 20;
const MOST_TASKS: u64 = 200_000;

/// The most memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the line is there");
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().expect("a number");
    kilobytes << 10
}

/// A recording of a task that makes `children`, one after the other, each of which runs for 50 µs and ends.
fn recording(children: u64) -> PathBuf {
    let mut text = String::from("# tracer: nop\n# entries-in-buffer/entries-written: 9/9   #P:2\n");
    let idle = "<idle>-0 [000] d..2. 1.000000";
    let first =
        "prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=7 next_prio=120";
    writeln!(text, "{idle}: sched_wakeup: comm=w pid=9 prio=120 target_cpu=001").expect("a string takes it");
    writeln!(text, "{idle}: sched_switch: {first}").expect("a string takes it");
    for n in 0..children {
        let (pid, us) = (1_000 + n, 1_000_020 + n * 80);
        let at = |us: u64| format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
        let switch = |prev: &str, next: &str| {
            format!(
                "sched_switch: prev_comm=sh prev_pid={prev} ==> next_comm=sh next_pid={next} next_prio=120"
            )
        };
        let events = [
            (0, "7", format!("sched_process_fork: comm=sh pid=7 child_comm=sh child_pid={pid}")),
            (1, "7", format!("sched_wakeup_new: comm=sh pid={pid} prio=120 target_cpu=000")),
            (2, "7", switch("7 prev_prio=120 prev_state=R", &pid.to_string())),
            (52, &pid.to_string(), format!("sched_process_exit: comm=sh pid={pid} prio=120")),
            (54, &pid.to_string(), switch(&format!("{pid} prev_prio=120 prev_state=Z"), "7")),
        ];
        assert_eq!(events.len() as u64, EVENTS_A_TASK);
        for (after, by, event) in events {
            writeln!(text, "sh-{by} [000] d..2. {}: {event}", at(us + after)).expect("a string takes it");
        }
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{children}-children.txt"));
    fs::write(&path, text).expect("a file can be made");
    path
}

/// Names the file that a process of its own is to replay: what is measured must not have made the file.
const FILE: &str = "SCHEDLAB_MEMORY_TEST_FILE";

/// Replays a file, beside its recording and with all results. Returns the number of tasks.
fn replay(path: &Path) -> usize {
    let load = LoadSpec::open(path.to_str().expect("our own name"), &Disk).expect("a recording");
    let machine = machine::MachineSpec::builtin("vm2").expect("a machine");
    let machine = machine.into();
    let load = load.recorded_on(&machine);
    let run = Experiment { loads: vec![load], ..Experiment::new(machine) }.run().expect("a run");
    assert!(!run.result.replay.is_empty(), "beside its recording");
    assert!(!report::text::run(&run.result, report::text::Rows::All).is_empty());
    run.result.tasks.len()
}

/// The tasks of the file, and the most memory of a process that does nothing but replay it.
fn measure(path: &Path) -> [u64; 2] {
    let this = std::env::current_exe().expect("this binary");
    let output = Command::new(this).env(FILE, path).arg("--nocapture").output().expect("it runs again");
    let text = String::from_utf8(output.stdout).expect("text");
    let line = text.lines().find_map(|line| line.split_once("measured "));
    let (_, figures) = line.unwrap_or_else(|| panic!("no figures in {text}"));
    let mut figures = figures.split(' ').map(|figure| figure.parse().expect("a number"));
    [(); 2].map(|()| figures.next().expect("two figures"))
}

#[test]
fn a_replay_takes_300_bytes_an_event_2_kb_a_task_and_200_mb_at_most() {
    if let Some(path) = std::env::var_os(FILE) {
        let tasks = replay(Path::new(&path));
        return println!("measured {tasks} {}", peak());
    }
    let files = [recording(8_000), recording(24_000)];
    // Each in a process of its own: both at a time.
    let [[tasks, memory], [more_tasks, more]] = thread::scope(|scope| {
        files.each_ref().map(|file| scope.spawn(|| measure(file))).map(|run| run.join().expect("measured"))
    });
    assert_eq!(more_tasks - tasks, 16_000);
    let growth = more.saturating_sub(memory) / (more_tasks - tasks);
    println!("{growth} bytes a task with {EVENTS_A_TASK} events, {more} bytes for {more_tasks} tasks");
    // Less than its events have would mean that this measures nothing.
    let most = BYTES_A_TASK + EVENTS_A_TASK * BYTES_AN_EVENT + BYTES_BESIDES / MOST_TASKS;
    assert!((EVENTS_A_TASK * 56..=most).contains(&growth), "{growth} bytes a task, {most} allowed");
    for path in files {
        fs::remove_file(path).expect("it is ours");
    }
}
