//! Which switches tell how long the path from a wakeup takes, and of which kind it is.

use super::super::Recording;
use super::trace;
use machine::{CountedFrom, Situation, WakePaths};
use scheduler::Nanos;

const ROUNDS: u64 = 12;

/// A recording in which these lines happen 12 times. `+5` is 5 µs, `+w` is 6, 7, 8 … µs, into a round.
fn rounds(round: &str) -> Recording {
    let mut script = String::from("0 0 idle R z/120\n1 0 z S idle\n0 1 idle R y/120\n1 1 y S idle\n");
    for n in 0..ROUNDS {
        for line in round.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (time, rest) = line.split_once(' ').expect("a time");
            let into = if time == "+w" { 6 + n } else { time.parse().expect("microseconds") };
            script += &format!("{} {rest}\n", 1_000 + n * 1_000 + into);
        }
    }
    Recording::extract(&trace(&script))
}

/// Name, number, shortest and longest time of each kind that shows, in µs.
fn found(paths: &WakePaths) -> Vec<String> {
    let us = |time: Nanos| time.0 / 1000;
    let kind = |kind: Situation| {
        let times = paths.of(kind)?;
        let (shortest, longest) = (us(times.percentile(0)), us(times.percentile(999)));
        Some(format!("{} {} {shortest}-{longest}", kind.name(), times.measured()))
    };
    Situation::ALL.into_iter().filter_map(kind).collect()
}

fn check(round: &str, expected: &[&str]) {
    assert_eq!(found(&rounds(round).paths), expected);
}

#[test]
fn an_idle_cpu_switches_to_the_woken_task() {
    check("+0 0 irq@idle wakes a\n+w 0 idle R a\n+90 0 a S idle", &["interrupt-idle 12 6-17"]);
    check("+0 0 irq@idle wakes a/10\n+w 0 idle R a/10\n+90 0 a/10 S idle", &["interrupt-idle 12 6-17"]);
}

#[test]
fn a_real_time_task_preempts_a_lower_one() {
    let round = |waker: &str| {
        format!(
            "+0 0 idle R b\n+2 0 {waker} wakes a/10\n+w 0 b R+ a/10\n+90 0 a/10 S b\n+95 0 b S idle\n+96 0 \
             irq@idle waking b\n"
        )
    };
    check(&round("irq@b"), &["interrupt-lower 12 4-15"]);
    check(&round("b"), &["task-lower 12 4-15"]);
}

#[test]
fn other_cpus_queue_the_task_or_leave_it_to_its_own() {
    let end = "+w 0 idle R a\n+90 0 a S idle\n+95 1 b S idle";
    check(&format!("+0 1 idle R b\n+2 1 b wakes a on 0\n{end}"), &["elsewhere-idle 12 4-15"]);
    let handed_over = "+0 1 idle R b\n+1 1 b waking a on 0\n+2 0 irq@idle wakeup a on 0\n";
    check(&format!("{handed_over}{end}"), &["handed-over-idle 12 4-15"]);
}

#[test]
fn what_else_happens_meanwhile_is_no_path() {
    // Another task was first.
    check("+0 0 irq@idle wakes a\n+3 0 idle R b\n+5 0 b S a\n+90 0 a S idle", &[]);
    // The task that ran had to end its work.
    check("+0 0 idle R b\n+2 0 irq@b wakes a/10\n+w 0 b S a/10\n+90 0 a/10 S idle", &[]);
    // Its equal, and a higher one.
    check(
        "+0 0 idle R b/10\n+2 0 irq@b/10 wakes a/10\n+w 0 b/10 R a/10\n+90 0 a/10 S b/10\n+95 0 b/10 S idle",
        &[],
    );
    // Fair tasks share: who waits for how long is the scheduler's doing.
    check("+0 0 idle R b\n+2 0 irq@b wakes a\n+w 0 b R+ a\n+90 0 a S b\n+95 0 b S idle", &[]);
    // It was pulled by another CPU.
    check("+0 0 irq@idle wakes a on 0\n+w 1 idle R a\n+90 1 a S idle", &[]);
}

#[test]
fn a_task_that_had_inherited_a_higher_priority_was_no_lower_one() {
    let round = "+0 0 idle R b\n+1 0 b inherits 5\n+2 0 irq@b wakes a/10\n+3 0 b/5 inherits 120\n\
                 +w 0 b R+ a/10\n+90 0 a/10 S b\n+95 0 b S idle";
    check(round, &[]);
}

#[test]
fn a_trace_without_sched_wakeup_counts_from_sched_waking() {
    let recording = rounds("+0 0 irq@idle waking a\n+w 0 idle R a\n+90 0 a S idle");
    assert_eq!(recording.paths.counted_from, CountedFrom::Waking);
    assert_eq!(found(&recording.paths), ["interrupt-idle 12 6-17"]);
    // Such a trace does not tell who queued it.
    let end = "+w 0 idle R a\n+90 0 a S idle\n+95 1 b S idle";
    let expected = ["elsewhere-idle 12 6-17", "handed-over-idle 12 6-17"];
    check(&format!("+0 1 idle R b\n+0 1 b waking a on 0\n{end}"), &expected);
    // Nor whether it went elsewhere when it was woken, or was pushed there later.
    check(&format!("+0 1 idle R b\n+0 1 b waking a on 1\n{end}"), &[]);
}

/// What hides behind an unknown context is a timer, if the times say so.
#[test]
fn timers_are_told_from_tasks_without_flags() {
    let round = "+0 0 idle R b\n+200 0 ?@b wakes a/10\n+206 0 b R+ a/10\n+290 0 a/10 S b\n+900 0 b S idle";
    check(round, &["interrupt-lower 12 6-6"]);
}

#[test]
fn nine_say_too_little_and_what_takes_much_longer_is_something_else() {
    let few = |times: &[u64]| {
        let lines = |(n, time): (usize, &u64)| {
            let at = 10_000 * (n as u64 + 1);
            format!("{at} 0 irq@idle wakes a\n{} 0 idle R a\n{} 0 a S idle\n", at + time, at + 5_000)
        };
        let script: String = times.iter().enumerate().map(lines).collect();
        found(&Recording::extract(&trace(&format!("0 0 idle R z\n1 0 z S idle\n{script}"))).paths)
    };
    assert!(few(&[7; 9]).is_empty());
    assert_eq!(few(&[7; 10]), ["interrupt-idle 10 7-7"]);
    assert_eq!(few(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), ["interrupt-idle 10 0-1"], "in whole microseconds");
    assert_eq!(few(&[7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 700, 701]), ["interrupt-idle 12 7-700"]);
}

#[test]
fn paths_go_through_the_workload_file() {
    let recording = rounds("+0 0 irq@idle wakes a\n+w 0 idle R a\n+90 0 a S idle");
    let read = Recording::from_text(&recording.to_text(crate::replay::Origin::default()))
        .expect("our own file")
        .recording;
    assert_eq!(read.paths, recording.paths);
    assert!(!read.paths.is_empty());
    let refused = |line: &str| {
        let text = format!("schedlab-workload 1\ncpus 1\nspan 1s\n{line}\n");
        Recording::from_text(&text).expect_err("nonsense").problem
    };
    assert!(refused("paths from here").contains("sched_wakeup"));
    assert!(refused("path somehow-idle of 3: 1us").contains("interrupt-idle"));
    assert!(refused("path task-idle of 3: 2us 1us").contains("ascend"));
    assert!(refused("path task-idle of 1: 1us 2us").contains("count"));
    assert!(refused("path task-idle 1us").contains("path KIND of COUNT"));
}
