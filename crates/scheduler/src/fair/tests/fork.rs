//! fair-class 5.1, 5.2.

use super::ms;
use crate::affinity::set_cpus_allowed;
use crate::fork::wake_up_new_task;
use crate::testing::{Lab, cpus};
use crate::{Policy, Reason};

/// 5.1: where the floor moves between the start of a fork and its end, on the parent's queue.
fn floor_moves_by_3_during_fork(profile: &str) -> i64 {
    let lab = Lab::new(1, profile, &["NO_START_DEBIT"]);
    lab.crowd(0, &[0, 0]);
    lab.set_floor(0, 100.0);
    for p in [1, 2] {
        lab.set_vr(crate::TaskId(p), 100.0);
    }
    let child = lab.fork_start(0, 0);
    lab.set_floor(0, 103.0);
    lab.run(wake_up_new_task(lab.cpu(0), child));
    lab.distance(child)
}

#[test]
fn early33_places_the_child_when_the_fork_starts_and_late32_when_it_ends() {
    assert_eq!(floor_moves_by_3_during_fork("2.6.36"), 0, "relative to the floor as it was");
    assert_eq!(floor_moves_by_3_during_fork("2.6.32"), 0, "at the floor as it is");
    // With the parent ahead of the floor the two differ: 105 - 100 and max(105, 103) - 103.
    let ahead = |profile| {
        let lab = Lab::new(1, profile, &["NO_START_DEBIT"]);
        let crowd = lab.crowd(0, &[0, 0]);
        lab.set_floor(0, 100.0);
        lab.set_vr(crowd[0], 105.0);
        lab.set_vr(crowd[1], 100.0);
        let child = lab.fork_start(0, 0);
        lab.set_floor(0, 103.0);
        lab.run(wake_up_new_task(lab.cpu(0), child));
        lab.distance(child)
    };
    assert_eq!(ahead("2.6.36"), ms(5.0) as i64);
    assert_eq!(ahead("2.6.32"), ms(2.0) as i64);
}

/// 5.2: with the debit the parent and the child change places.
#[test]
fn child_runs_first_hands_the_debit_to_the_parent() {
    for (first, parent_vr, child_vr) in [("0", 0.0, 3.0), ("1", 3.0, 0.0)] {
        let setting = alloc::format!("sched_child_runs_first={first}");
        let lab = Lab::new(1, "2.6.36", &[&setting]);
        let parent = lab.spawn(Policy::Normal, 0);
        lab.set_floor(0, 0.0);
        lab.set_vr(parent, 0.0);
        let child = lab.fork(0, 0);
        assert_eq!((lab.vr(parent), lab.vr(child)), (ms(parent_vr), ms(child_vr)));
        lab.settle();
        assert_eq!(lab.running(0) == child, first == "1");
        assert_eq!(lab.count(Reason::ForkChildFirst), u64::from(first == "1"));
    }
}

/// 5.2: off means that the parent continues.
#[test]
fn a_parent_continues_after_fork() {
    for debit in ["START_DEBIT", "NO_START_DEBIT"] {
        let lab = Lab::new(1, "2.6.36", &[debit]);
        let parent = lab.spawn(Policy::Normal, 0);
        lab.charge(0, 0.3);
        lab.fork(0, 0);
        lab.settle();
        assert_eq!(lab.running(0), parent, "{debit}");
    }
}

/// I9.
#[test]
fn a_child_never_starts_left_of_its_parent() {
    for settings in [["NO_START_DEBIT"], ["START_DEBIT"]] {
        let lab = Lab::new(1, "2.6.36", &settings);
        let crowd = lab.crowd(0, &[0, 0, 0]);
        lab.set_floor(0, 10.0);
        lab.set_vr(crowd[0], 90.0);
        let child = lab.fork(0, 0);
        assert_eq!(lab.vr(child), ms(90.0));
    }
}

/// Found by random runs: under `fork_path=late` the CPU is chosen when the fork starts.
#[test]
fn a_child_whose_affinity_changes_during_the_fork_starts_where_it_may_run() {
    let lab = Lab::new(2, "2.6.32", &[]);
    lab.spawn(Policy::Normal, 0);
    let child = lab.fork_start(0, 0);
    let other = if lab.cpu_of(child) == 0 { 1 } else { 0 };
    lab.run(set_cpus_allowed(lab.cpu(0), child, cpus(&[other])));
    lab.run(wake_up_new_task(lab.cpu(0), child));
    lab.settle();
    assert_eq!((lab.cpu_of(child), lab.k.task(child).stats.nr_migrations.get()), (other, 0));
}
