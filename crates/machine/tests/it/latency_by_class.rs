//! Wakeup latencies of tasks that become real-time: a wait belongs to the policy under which it began.

use crate::script::{fifo, ideal, ms, run_with, script};
use machine::{
    FIRST_PID, LatencyByClass, LatencyTally, Outcome, OutsideChange, RunOptions, Setup, Step, TimedChange,
};
use scheduler::{Nanos, Pid, Policy};

/// On one CPU: from 0 to 6 ms and from 9 to 11 ms something more urgent runs. The task waits from 1 ms to 6,
/// as a fair one, and wakes up at 10 ms, as a real-time one.
fn late_twice(steps: Vec<Step>, changes: Vec<TimedChange>) -> Outcome {
    let mut setup = Setup::new(1);
    let (mut urgent, _) =
        script("urgent", [Step::Compute(ms(6)), Step::SleepFor(ms(3)), Step::Compute(ms(2))]);
    urgent.policy = fifo(90);
    setup.spawn(Nanos::ZERO, urgent);
    setup.spawn(ms(1), script("late", steps).0);
    let options = RunOptions { changes, ..RunOptions::default() };
    run_with(ideal(1), "6.1", setup, options).expect("it runs")
}

fn by_class(outcome: &Outcome, comm: &str) -> Option<LatencyByClass> {
    outcome.tasks.iter().find(|task| &*task.comm == comm).expect("a task of this name").latency_by_class
}

fn once(latency: Nanos) -> LatencyTally {
    LatencyTally { count: 1, sum: latency, max: latency }
}

#[test]
fn waits_from_before_a_task_was_real_time_are_those_of_a_fair_one() {
    let become_one = Step::SetPolicy { target: None, policy: fifo(80) };
    let outcome = late_twice(vec![become_one, Step::SleepFor(ms(4)), Step::Compute(ms(1))], Vec::new());
    let expected = LatencyByClass { realtime: once(ms(1)), fair: once(ms(5)) };
    assert_eq!(by_class(&outcome, "late"), Some(expected));
    assert_eq!(by_class(&outcome, "urgent"), None, "which was nothing else");
}

#[test]
fn a_wait_is_of_the_policy_under_which_it_began() {
    let change = OutsideChange::Policy { pid: Pid(FIRST_PID + 1), policy: fifo(80) };
    let changes = vec![TimedChange { at: ms(3), change }];
    let outcome = late_twice(vec![Step::SleepFor(ms(4)), Step::Compute(ms(1))], changes);
    let expected = LatencyByClass { realtime: once(ms(1)), fair: once(ms(5)) };
    assert_eq!(by_class(&outcome, "late"), Some(expected));
}

#[test]
fn who_stays_in_the_fair_class_was_in_no_other() {
    let batch = Step::SetPolicy { target: None, policy: Policy::Batch };
    let outcome = late_twice(vec![batch, Step::SleepFor(ms(4)), Step::Compute(ms(1))], Vec::new());
    assert_eq!(by_class(&outcome, "late"), None);
}
