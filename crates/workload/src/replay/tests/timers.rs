//! Which wakeups are timers.

use super::super::{Recording, ReplayStep, Waking};
use super::trace;

/// A task that runs `burst(n)` µs after each wakeup, the wakeups as `wake` says from the end of the burst
/// before; the waker's column is `by`.
fn sleeper(by: &str, burst: impl Fn(u64) -> u64, wake: impl Fn(u64, u64) -> u64) -> Vec<Waking> {
    let mut script = String::from("0 0 idle R z\n1 0 z S idle\n");
    let mut slept = 1;
    for n in 0..40 {
        let woken = wake(n, slept);
        slept = woken + 5 + burst(n);
        script += &format!("{woken} 0 {by} wakes a\n{} 0 idle R a\n{slept} 0 a S idle\n", woken + 5);
    }
    let recording = Recording::extract(&trace(&script));
    let task = recording.tasks.iter().find(|task| &*task.comm == "a").expect("it ran");
    let waking = |step: &ReplayStep| if let ReplayStep::Sleep(waking) = step { Some(*waking) } else { None };
    task.steps.iter().filter_map(waking).collect()
}

fn jitter(n: u64) -> u64 {
    (n * n * 7919 + n * 31) % 11
}

#[test]
fn wakeups_at_equal_steps_are_an_absolute_timer() {
    let sleeps = sleeper("irq@idle", |n| 200 + n * 331 % 3000, |n, _| 10_000 * (n + 1) + jitter(n));
    let at = |waking: &Waking| if let Waking::At(at) = waking { Some(at.0) } else { None };
    let times: Vec<u64> = sleeps.iter().filter_map(at).collect();
    assert_eq!(times.len(), 40, "{sleeps:?}");
    assert!(times.windows(2).all(|pair| (pair[1] - pair[0]).abs_diff(10_000_000) < 100), "{times:?}");
    assert!(times[0].abs_diff(10_000_000) <= 1_000, "at the early edge of its jitter: {}", times[0]);
}

#[test]
fn an_absolute_timer_may_skip_periods() {
    let sleeps = sleeper(
        "irq@idle",
        |n| if n % 10 == 7 { 1_500 } else { 50 },
        |n, slept| {
            // As after an overrun: the next whole millisecond.
            (slept / 1000 + 1) * 1000 + jitter(n)
        },
    );
    assert_eq!(sleeps.iter().filter(|waking| matches!(waking, Waking::At(_))).count(), 40, "{sleeps:?}");
}

#[test]
fn equal_sleeps_are_a_relative_timer() {
    let sleeps = sleeper("irq@idle", |n| 200 + n * 331 % 3000, |n, slept| slept + 9_000 + jitter(n));
    let lengths: Vec<u64> = sleeps
        .iter()
        .filter_map(|waking| if let Waking::After(span) = waking { Some(span.0) } else { None })
        .collect();
    assert_eq!(lengths.len(), 39, "all but the first, whose beginning was not seen: {sleeps:?}");
    assert!(lengths.iter().all(|length| length.abs_diff(9_005_000) <= 2_000), "{lengths:?}");
}

#[test]
fn two_lengths_of_sleep_are_two_timers() {
    let sleeps =
        sleeper("irq@idle", |n| 100 + n * 331 % 3000, |n, slept| slept + [500, 7_000][n as usize % 2]);
    let lengths: Vec<u64> = sleeps
        .iter()
        .filter_map(|waking| if let Waking::After(span) = waking { Some(span.0 / 1000) } else { None })
        .collect();
    assert_eq!(lengths[..4], [7_000, 500, 7_000, 500]);
}

#[test]
fn irregular_interrupts_stay_where_they_are() {
    let sleeps = sleeper("irq@idle", |_| 100, |n, slept| slept + 1_000 + (n * n * 7919) % 23_000);
    assert!(
        sleeps.iter().all(|waking| matches!(waking, Waking::Outside { .. } | Waking::Never)),
        "{sleeps:?}"
    );
}

#[test]
fn a_tasks_wakeups_are_no_timer_however_regular() {
    let mut script = String::from("0 0 idle R b\n");
    for n in 1..40 {
        script +=
            &format!("{} 0 b wakes a\n{} 0 b R a\n{} 0 a S b\n", n * 1000, n * 1000 + 5, n * 1000 + 100);
    }
    let recording = Recording::extract(&trace(&script));
    assert_eq!((recording.counts.by_task, recording.counts.by_periodic_timer), (39, 0));
    // The same from text without flags: whoever ran then need not have done it.
    let recording = Recording::extract(&trace(&script.replace("0 b wakes", "0 ?@b wakes")));
    assert_eq!((recording.counts.by_task, recording.counts.by_periodic_timer), (0, 39));
    assert_eq!(recording.counts.context_guessed, 39);
    assert!(!recording.tasks[0].steps.iter().any(|step| matches!(step, ReplayStep::Wake { .. })));
}
