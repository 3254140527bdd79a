//! fair-class 5.3 to 5.8, A3.

use super::ms;
use crate::fork::do_exit;
use crate::rq::Resched;
use crate::testing::sched_setscheduler;
use crate::testing::{Lab, fifo};
use crate::{Nanos, TaskId};
use alloc::vec::Vec;

/// CPU time, timeout (ms) and penalty of a task.
fn state(lab: &Lab, p: TaskId) -> (f64, f64, u8) {
    let task = lab.k.task(p);
    let ms = |n: Nanos| n.0 as f64 / 1e6;
    (ms(task.stats.sum_exec_runtime.get()), ms(task.se.pen_timeout.get()), task.se.penalty.get())
}

/// The state of A3 and 5.7: P and two others runnable, sum_exec(P) 50, no penalty.
fn a3(settings: &[&str]) -> (Lab, TaskId) {
    let lab = Lab::new(1, "2.6.35.2+D", &["NO_START_DEBIT", "START_NICE"]);
    for s in settings {
        lab.k.config.set(s).expect("legal");
    }
    let parent = lab.crowd(0, &[0, 0, 0])[0];
    lab.charge(0, 0.0);
    let stats = &lab.k.task(parent).stats;
    stats.sum_exec_runtime.set(Nanos::from_millis(50));
    stats.prev_sum_exec_runtime.set(Nanos::from_millis(50));
    (lab, parent)
}

#[test]
fn a3_two_forks_then_expiry() {
    let (lab, p) = a3(&[]);
    let first = lab.fork(0, 0);
    assert_eq!(state(&lab, p), (50.0, 52.0, 1));
    assert_eq!(state(&lab, first), (0.0, 2.0, 1));

    let mut vr = lab.vr(p);
    let mut moved = |lab: &Lab, by: f64| {
        let now = lab.vr(p);
        assert_eq!(now.wrapping_sub(vr), ms(by));
        vr = now;
    };
    lab.charge(0, 1.0);
    moved(&lab, 2.0);

    let second = lab.fork(0, 0);
    assert_eq!(state(&lab, p), (51.0, 55.0, 2), "6/4 = 1.5, shifted by the old penalty: 3");
    assert_eq!(state(&lab, second), (0.0, 4.0, 2));

    lab.charge(0, 3.5);
    assert_eq!(state(&lab, p), (54.5, 55.0, 2));
    moved(&lab, 14.0);
    lab.charge(0, 1.0);
    assert_eq!(state(&lab, p), (55.5, 0.0, 0));
    moved(&lab, 4.0);
    lab.charge(0, 1.0);
    moved(&lab, 1.0);
}

#[test]
fn a3_sleep_ends_the_parents_penalty_and_not_the_childs() {
    let (lab, p) = a3(&[]);
    let child = lab.fork(0, 0);
    lab.block(0);
    assert_eq!(state(&lab, p), (50.0, 0.0, 0));
    assert_eq!(state(&lab, child), (0.0, 2.0, 1));
}

#[test]
fn no_penalty_without_start_nice() {
    let (lab, p) = a3(&["NO_START_NICE"]);
    let child = lab.fork(0, 0);
    assert_eq!((state(&lab, p).2, state(&lab, child).2), (0, 0));
}

/// 5.6: switching the feature off ends nothing.
#[test]
fn a_penalty_outlives_its_feature() {
    let (lab, p) = a3(&[]);
    lab.fork(0, 0);
    lab.k.config.set("NO_START_NICE").expect("legal");
    let vr = lab.vr(p);
    lab.charge(0, 1.0);
    assert_eq!(lab.vr(p).wrapping_sub(vr), ms(2.0));
}

/// 5.7: k quick forks give penalty k, at most 8, and a window of slice × (1 + 2 + 4 + …).
#[test]
fn quick_forks_add_up_to_eight() {
    let (lab, p) = a3(&["sched_min_granularity_ns=100000", "sched_latency_ns=100000"]);
    let mut windows = Vec::new();
    for fork in 1..=10u8 {
        let before = state(&lab, p).1.max(50.0);
        lab.fork(0, 0);
        let (_, timeout, penalty) = state(&lab, p);
        assert_eq!(penalty, fork.min(8));
        windows.push(((timeout - before) / 0.1).round() as u64);
    }
    assert_eq!(windows, [1, 2, 4, 8, 16, 32, 64, 128, 256, 256]);
}

/// 5.7: a shell that waits for its child; the child's penalty lasts for one slice of its own.
#[test]
fn a_parent_that_waits_leaves_its_child_penalised_for_one_slice() {
    let (lab, parent) = a3(&[]);
    let child = lab.fork(0, 0);
    lab.block(0);
    assert_eq!(state(&lab, parent).2, 0);
    while lab.running(0) != child {
        lab.charge(0, 5.0);
        lab.tick(0);
    }
    lab.charge(0, 2.0);
    assert_eq!(state(&lab, child), (2.0, 2.0, 1), "exactly at its end");
    lab.charge(0, 0.1);
    assert_eq!(state(&lab, child).2, 0);
}

/// 5.7: a fork per interval that is shorter than the window it adds: the penalty never ends until the task
/// sleeps.
#[test]
fn a_steady_forker_stays_at_eight_until_it_sleeps() {
    let (lab, parent) = a3(&[]);
    let mut vr = lab.vr(parent);
    for fork in 1..=30 {
        lab.fork(0, 0);
        vr = lab.vr(parent);
        lab.charge(0, 0.3);
        assert_eq!(state(&lab, parent).2, fork.min(8));
    }
    assert_eq!(lab.vr(parent).wrapping_sub(vr), ms(0.3 * 256.0), "1/256 of its weight");
    lab.block(0);
    assert_eq!(state(&lab, parent), (59.0, 0.0, 0));
}

/// 5.7: what a child leaves behind when it exits, and what it keeps when its parent does.
#[test]
fn exits_give_nothing_back_and_take_nothing_along() {
    let (lab, _) = a3(&[]);
    let child = lab.fork(0, 0);
    lab.run(do_exit(lab.cpu(0)));
    assert_eq!(state(&lab, child), (0.0, 2.0, 1), "the parent is gone");

    let (lab, parent) = a3(&[]);
    let child = lab.fork(0, 0);
    lab.set_floor(0, 0.0);
    for p in lab.k.tasks.iter().skip(1) {
        lab.set_vr(p, if p == child { 0.0 } else { 0.1 });
    }
    lab.k.rq(crate::CpuId(0)).published.resched.overwrite(Resched::Full);
    lab.settle();
    assert_eq!(lab.running(0), child);
    lab.run(do_exit(lab.cpu(0)));
    assert_eq!(state(&lab, parent), (50.0, 52.0, 1));
}

/// 5.7: a real-time parent is not current on the fair queue.
#[test]
fn a_fork_by_a_real_time_task_imposes_nothing() {
    let (lab, parent) = a3(&[]);
    lab.run(sched_setscheduler(lab.cpu(0), parent, fifo(10)));
    lab.settle();
    let child = lab.fork(0, 0);
    assert_eq!((state(&lab, parent).2, state(&lab, child)), (0, (0.0, 0.0, 0)));
}

/// 5.7, last row: a slice too small to count.
#[test]
fn a_window_of_nothing_ends_with_the_next_charge() {
    let (lab, parent) = a3(&["sched_latency_ns=100000"]);
    lab.k.task(parent).se.set_weight(0);
    lab.fork(0, 0);
    assert_eq!(state(&lab, parent), (50.0, 50.0, 1));
    lab.k.task(parent).se.set_weight(1024);
    lab.charge(0, 0.001);
    assert_eq!(state(&lab, parent).2, 0);
}

/// 5.7: the grandchild.
#[test]
fn a_penalised_child_that_forks_passes_on_one_more() {
    let (lab, _) = a3(&[]);
    let child = lab.fork(0, 0);
    lab.block(0);
    for _ in 0..10 {
        if lab.running(0) == child {
            break;
        }
        lab.charge(0, 5.0);
        lab.tick(0);
    }
    assert_eq!(lab.running(0), child);
    lab.charge(0, 0.5);
    let (sum, timeout, penalty) = state(&lab, child);
    assert_eq!((sum, timeout, penalty), (0.5, 2.0, 1));
    let grandchild = lab.fork(0, 0);
    // Remaining window 1.5 plus the child's slice 6/3 shifted once.
    assert_eq!(state(&lab, grandchild), (0.0, 5.5, 2));
}

/// 5.7: both features: the debit is slice × 4^penalty.
#[test]
fn with_start_debit_the_child_starts_four_to_the_penalty_slices_later() {
    let (lab, p) = a3(&["START_DEBIT"]);
    lab.set_floor(0, 1000.0);
    lab.set_vr(p, 1000.0);
    let child = lab.fork(0, 0);
    assert_eq!(lab.distance(child), ms(1.5 * 4.0) as i64, "6/4 × 4^1");
    let child = lab.fork(0, 0);
    assert_eq!(lab.distance(child), ms(1.2 * 16.0) as i64, "6/5 × 4^2");
}

/// 5.6, last row; D17.
#[test]
fn a_penalty_survives_real_time_and_never_changes_the_load() {
    let (lab, p) = a3(&[]);
    lab.fork(0, 0);
    let load = |lab: &Lab| lab.k.rq(crate::CpuId(0)).published.load.get();
    assert_eq!(load(&lab), 4 * 1024);
    lab.run(sched_setscheduler(lab.cpu(0), p, fifo(10)));
    lab.settle();
    assert_eq!(load(&lab), 3 * 1024);
    lab.block(0);
    assert_eq!(state(&lab, p).2, 1, "sleeping while real-time");
    lab.wake(0, p);
    lab.run(sched_setscheduler(lab.cpu(0), p, crate::Policy::Normal));
    assert_eq!(load(&lab), 4 * 1024);
    assert_eq!(state(&lab, p).2, 1);
}

/// 13.6: a hog against a task that forks each millisecond of its CPU time and waits only while 20 children
/// live, which use 3 ms each. The hog's share of 4 s, and how many children came to an end.
fn fork_storm(settings: &[&str]) -> (f64, usize) {
    let lab = Lab::new(1, "2.6.35.2+D", settings);
    let [hog, forker] = lab.crowd(0, &[0, 0])[..] else { unreachable!() };
    let had = |p: TaskId| lab.k.task(p).stats.sum_exec_runtime.get();
    let (mut alive, mut ended, mut forked_at) = (0, 0, Nanos::ZERO);
    for step in 1..=40_000 {
        lab.forget();
        lab.charge(0, 0.1);
        let running = lab.running(0);
        if running == forker && had(forker) >= forked_at + Nanos::from_millis(1) {
            forked_at = had(forker);
            lab.fork(0, 0);
            alive += 1;
            if alive == 20 {
                lab.block(0);
            }
        } else if running != hog && running != forker && had(running) >= Nanos::from_millis(3) {
            lab.run(do_exit(lab.cpu(0)));
            lab.k.tasks.reap(running);
            (alive, ended) = (alive - 1, ended + 1);
            lab.wake_unsettled(0, forker);
        }
        lab.settle();
        if step % 10 == 0 {
            lab.tick(0);
        }
    }
    (had(hog).0 as f64 / ms(4_000.0) as f64, ended)
}

#[test]
fn the_forking_family_pays_for_a_fork_storm() {
    let (hog, _) = fork_storm(&["NO_START_DEBIT", "NO_START_NICE"]);
    assert!((0.15..0.3).contains(&hog), "none: {hog}");
    let (hog, _) = fork_storm(&["START_DEBIT", "NO_START_NICE"]);
    assert!((0.15..0.3).contains(&hog), "START_DEBIT: {hog}");
    let (hog, children) = fork_storm(&["NO_START_DEBIT", "START_NICE"]);
    assert!(hog > 0.9, "START_NICE: {hog}");
    assert!(children > 5, "the family still makes progress: {children}");
}
