//! Replays that cannot go on.

use super::super::{Recording, Replay};
use super::play::Run;

/// What a run of a workload file with these tasks says: each its pid, its name and its steps. All begin at
/// once, the first two on a CPU each, but for those that another one forks.
fn notes<const N: usize>(tasks: [(u32, &str, &str); N]) -> Vec<String> {
    let forked = |pid: u32| tasks.iter().any(|(.., steps)| steps.contains(&format!("fork {pid}")));
    let task = |(n, (pid, name, steps)): (usize, &(u32, &str, &str))| {
        let begin = if forked(*pid) { "forked".to_owned() } else { format!("runnable cpu {}", n % 2) };
        format!("task {pid} {name}\n  begin {begin}\n    {}\n", steps.replace(", ", "\n    "))
    };
    let tasks: String = tasks.iter().enumerate().map(task).collect();
    let head = "schedlab-workload 1\ncpus 2\nspan 1ms\nmutex 0 kind=plain name=inferred\ndevice 0 at-once=1 \
                name=disk\n";
    let text = format!("{head}{tasks}");
    let read = Recording::from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Run::of(&Replay::of_workload(read), 2).notes
}

fn deadlock<const N: usize>(tasks: [(u32, &str, &str); N], expected: &str) {
    assert_eq!(notes(tasks), [format!("deadlock of the replay at {expected}")]);
}

#[test]
fn tasks_that_wait_for_each_other_are_named() {
    deadlock(
        [(7, "a", "run 100us, receive, wake 8, exit"), (8, "b", "run 50us, receive, wake 7, exit")],
        "0.000100000 s: its last 2 tasks sleep for good; a (7) waits for b (8), which waits for a (7)",
    );
}

#[test]
fn a_wakeup_that_nobody_makes_is_missed() {
    deadlock(
        [(7, "a", "run 100us, receive, receive, exit"), (8, "b", "run 50us, wake 7, exit")],
        "0.000100000 s: its last task sleeps for good; a (7) waits for a wakeup that no task is left to make",
    );
}

#[test]
fn who_does_not_exist_yet_waits_for_its_parent() {
    deadlock(
        [
            (7, "a", "run 20us, receive, wake 8, exit"),
            (8, "b", "run 10us, receive, fork 9, exit"),
            (9, "c", "wake 7, exit"),
        ],
        "0.000020000 s: its last 2 tasks sleep for good; a (7) waits for c (9), which waits for b (8), which \
         waits for a (7)",
    );
}

#[test]
fn a_mutex_whose_owner_sleeps_for_good_is_not_unlocked() {
    deadlock(
        [
            (7, "a", "lock 0, run 10us, receive, unlock 0, exit"),
            (8, "b", "run 30us, lock 0, wake 7, unlock 0, exit"),
        ],
        "0.000030000 s: its last 2 tasks sleep for good; a (7) waits for b (8), which waits for a (7)",
    );
}

/// The worker has something to do for `z`, too, but nobody waits for that.
#[test]
fn of_a_worker_the_piece_of_work_decides_for_whom_it_waits() {
    deadlock(
        [
            (7, "x", "run 10us, receive, wake 8, exit"),
            (8, "y", "run 10us, receive, wake 5 work 1, exit"),
            (9, "z", "receive, wake 5 work 0, exit"),
            (5, "kworker/0:1", "work 0, run 10us, work 1, run 10us, rest 2, wake 7, stop"),
            (6, "kworker/1:1", "receive, wake 5 work 2, stop"),
        ],
        "0.000010000 s: its last 5 tasks sleep for good; x (7) waits for kworker/0:1 (5), which waits for kworker/1:1 (6), \
         which waits for a wakeup that no task is left to make",
    );
}

#[test]
fn who_waits_for_time_a_device_or_a_running_task_is_not_stuck() {
    let none: [&str; 0] = [];
    assert_eq!(notes([(7, "a", "receive, exit"), (8, "b", "sleep 300us, wake 7, exit")]), none);
    assert_eq!(notes([(7, "a", "submit 300us to 0 wakes 7, served 300us, exit")]), none);
    assert_eq!(notes([(7, "a", "receive, exit"), (8, "b", "outside 300us, wake 7, exit")]), none);
    assert_eq!(notes([(7, "a", "receive, exit"), (8, "b", "fork 9, exit"), (9, "c", "wake 7, exit")]), none);
    assert_eq!(
        notes([
            (7, "a", "lock 0, run 50us, unlock 0, exit"),
            (8, "b", "run 10us, lock 0, run 50us, unlock 0, exit"),
        ]),
        none
    );
}
