//! fair-placement 5.5; and affinity that changes while the task does: what random runs found.

use super::set_cpus_allowed;
use crate::platform::Lock;
use crate::stop::migration_cpu_stop;
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuId, Nanos, Policy};
use alloc::vec::Vec;

#[test]
fn a_waiting_task_that_begins_to_run_before_it_can_be_moved_is_stopped() {
    let lab = Lab::new(2, "6.1.y", &["NO_TTWU_QUEUE"]);
    lab.spawn_allowed(fifo(9), 1, cpus(&[1]));
    let p = lab.spawn_allowed(fifo(5), 1, cpus(&[1]));
    let mut blocked = false;
    let destination = |lock| lock == Lock::Rq(CpuId(0));
    lab.meanwhile(destination, set_cpus_allowed(lab.cpu(0), p, cpus(&[0])), |_| {
        if !blocked {
            blocked = true;
            lab.block_unsettled(1);
            assert_eq!(lab.running(1), p);
        }
    });
    lab.settle();
    assert_eq!((lab.cpu_of(p), lab.running(0)), (0, p));
}

#[test]
fn a_task_on_its_way_arrives_where_it_may_run_by_then() {
    let lab = Lab::new(3, "6.1.y", &["NO_TTWU_QUEUE"]);
    let p = lab.spawn_allowed(fifo(5), 0, cpus(&[0]));
    lab.run(set_cpus_allowed(lab.cpu(2), p, cpus(&[1])));
    assert!(lab.take_ipi(CpuId(0)).is_some());
    let mut changed = false;
    let destination = |lock| lock == Lock::Rq(CpuId(1));
    lab.meanwhile(destination, migration_cpu_stop(lab.cpu(0)), |_| {
        if !changed {
            changed = true;
            lab.run(set_cpus_allowed(lab.cpu(2), p, cpus(&[2])));
        }
    });
    lab.settle();
    assert_eq!((lab.cpu_of(p), lab.running(2)), (2, p));
}

/// Where four hogs of CPU 4 go, one after the other, that may not stay there. CPU 0 asks but for the third,
/// and what it asks for the second is no move.
fn destinations(profile: &str, settings: &[&str]) -> Vec<u16> {
    let lab = Lab::new(8, profile, settings);
    let go = |by: u16, to: &[u16]| {
        let p = lab.spawn_allowed(Policy::Normal, 4, cpus(&[4]));
        lab.run(set_cpus_allowed(lab.cpu(by), p, cpus(to)));
        lab.settle();
        lab.cpu_of(p)
    };
    [(0, &[1, 3, 5][..]), (0, &[1, 3, 4, 5]), (6, &[1, 3, 5]), (0, &[1, 3, 5])]
        .map(|(by, to)| go(by, to))
        .into()
}

/// 5.5: the count of each CPU begins at 0 and goes round, also where the task may stay.
#[test]
fn since_5_7_tasks_that_may_not_stay_are_spread() {
    for profile in ["6.1", "5.10", "6.18.y"] {
        assert_eq!(destinations(profile, &[]), [1, 4, 1, 5], "{profile}");
        assert_eq!(destinations(profile, &["affinity_cpu=first"]), [1, 4, 1, 1], "{profile}");
    }
    for profile in ["5.4", "4.4", "2.6.36"] {
        assert_eq!(destinations(profile, &[]), [1, 4, 1, 1], "{profile}");
    }
}

/// 5.5: one that runs goes where one that waits goes, whether a thread or an interrupt moves it.
#[test]
fn a_running_task_goes_where_its_affinity_says() {
    for settings in [&["affinity_cpu=first"][..], &["affinity_cpu=first", "stopper=interrupt"]] {
        let lab = Lab::new(8, "6.1", settings);
        let p = lab.spawn_allowed(Policy::Normal, 4, cpus(&[4]));
        lab.run(set_cpus_allowed(lab.cpu(4), p, cpus(&[2, 5])));
        lab.settle();
        assert_eq!((lab.cpu_of(p), lab.running(2)), (2, p), "{settings:?}");
    }
}

/// 5.5: since 4.3 a running task begins a new stint, unless it had these CPUs already.
#[test]
fn a_running_fair_task_begins_a_new_stint_with_another_affinity() {
    // How much CPU time it had when its stint began: another affinity after 2 ms, the same one after 4.
    let begun = |profile: &str, setting: &str| {
        let lab = Lab::new(2, profile, &[setting]);
        let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0, 1]));
        for _ in 0..2 {
            lab.advance(Nanos::from_millis(2));
            lab.run(set_cpus_allowed(lab.cpu(1), p, cpus(&[0])));
            lab.settle();
            assert_eq!(lab.running(0), p);
        }
        lab.k.task(p).stats.prev_sum_exec_runtime.get()
    };
    for profile in ["6.1", "4.4", "6.6", "6.18.y"] {
        assert_eq!(begun(profile, "affinity_stint=new"), Nanos::from_millis(2), "{profile}");
        assert_eq!(begun(profile, "affinity_stint=same"), Nanos::ZERO, "{profile}");
        assert_eq!(begun(profile, "hz=250"), Nanos::from_millis(2), "{profile}");
    }
    assert_eq!(begun("4.1", "hz=250"), Nanos::ZERO);
}

/// eevdf-class 3.4, 3.8: who comes back keeps what is left of its request.
#[test]
fn another_affinity_keeps_lag_and_deadline() {
    let lab = Lab::new(2, "6.18.y", &[]);
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0, 1]));
    let other = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    let place = |p| {
        let se = &lab.k.task(p).se;
        [se.vruntime.get(), se.eevdf.deadline.get()]
    };
    let (waits, was) = (if lab.running(0) == p { other } else { p }, [place(p), place(other)]);
    lab.run(set_cpus_allowed(lab.cpu(1), waits, cpus(&[0, 1])));
    lab.run(set_cpus_allowed(lab.cpu(1), waits, cpus(&[0])));
    let moved = |now: [u64; 2], was: [u64; 2]| now.iter().zip(was).map(|(n, w)| n.abs_diff(w)).max();
    assert!(moved(place(p), was[0]) <= Some(2) && moved(place(other), was[1]) <= Some(2));
    assert_ne!(lab.running(0), waits);
}
