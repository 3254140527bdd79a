//! `wake_route=cfs_load`: rt-class 9.

use super::{running, sleeper};
use crate::domains::{LevelKind, Topology, TopologyLevel};
use crate::testing::{Lab, cpus, fifo};
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{CpuId, CpuMask, Nanos, Policy, Reason, TaskId};

const RT5: &str = "2.6.23-rt5";

/// Two nodes of two cores with two threads each.
fn nodes(distance_kind: LevelKind) -> Topology {
    let level =
        |kind, spans: &[&[u16]]| TopologyLevel { kind, spans: spans.iter().map(|s| cpus(s)).collect() };
    Topology {
        cpus: 8,
        levels: [
            level(LevelKind::Smt, &[&[0, 1], &[2, 3], &[4, 5], &[6, 7]]),
            level(LevelKind::Package, &[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
            level(distance_kind, &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
        ]
        .into(),
    }
}

/// Where a task of priority 50, last on CPU `last`, is queued when CPU `waker` wakes it.
fn woken_on(lab: &Lab, waker: u16, p: TaskId, sync: bool) -> u16 {
    lab.run(try_to_wake_up(lab.cpu(waker), p, WakeFlags { sync }));
    lab.cpu_of(p)
}

/// Seed 002: RT tasks are sent behind higher ones, and the push after the wakeup has to repair it.
#[test]
fn blind_to_priority() {
    let lab = Lab::new(4, RT5, &[]);
    let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
    let high = lab.spawn_allowed(fifo(90), 0, cpus(&[0]));
    lab.wake(0, p);
    assert_eq!(lab.count(Reason::WakeLoad), 1);
    assert_eq!(lab.k.totals.pushes.get(), 1, "the waker's CPU runs a higher one: routed there nevertheless");
    assert_eq!(running(&lab)[..2], [high, p]);
}

#[test]
fn to_the_waker_where_its_load_is_lower() {
    // RT tasks on the last CPU and on the waker's.
    let woken = |there: usize, here: usize| {
        let lab = Lab::new(2, RT5, &[]);
        let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
        for cpu in [&[0, 0, 0][..there], &[1, 1, 1][..here]].concat() {
            lab.spawn_allowed(fifo(90), cpu, CpuMask::single(CpuId(cpu)));
        }
        woken_on(&lab, 1, p, false)
    };
    assert_eq!(woken(0, 0), 1, "nothing here, nothing there");
    assert_eq!(woken(1, 0), 1, "here p would be as alone as the one there");
    assert_eq!(woken(0, 1), 0);
    assert_eq!(woken(1, 1), 0);
    assert_eq!(woken(3, 1), 1);
}

/// The loads count RT tasks with twice the weight of nice −20; normal tasks hardly matter beside them.
#[test]
fn weight_of_rt_tasks() {
    let lab = Lab::new(2, RT5, &[]);
    let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
    for _ in 0..3 {
        lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    }
    assert_eq!(woken_on(&lab, 1, p, false), 0, "three normal tasks weigh less than p itself");
}

/// A sync wakeup takes the task to the waker, unless its cache is hot.
#[test]
fn sync_wakeups() {
    let woken = |rested: Nanos, sync| {
        let lab = Lab::new(4, RT5, &[]);
        lab.spawn(fifo(50), 0);
        let p = lab.block(0);
        for _ in 0..2 {
            lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
        }
        lab.advance(rested);
        woken_on(&lab, 1, p, sync)
    };
    assert_eq!(woken(Nanos::from_micros(100), true), 0, "hot");
    assert_eq!(woken(Nanos::from_millis(1), true), 1);
    assert_eq!(woken(Nanos::from_millis(1), false), 0);
}

/// Across nodes there is no affine test, only a comparison of loads (SD_WAKE_BALANCE).
#[test]
fn across_nodes() {
    let lab = Lab::on(&nodes(LevelKind::Numa { distance: 20 }), RT5, &[]);
    let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
    assert_eq!(woken_on(&lab, 4, p, false), 4, "equal loads: to the waker");
    lab.settle();
    lab.block(4);
    lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
    assert_eq!(woken_on(&lab, 1, p, false), 4, "the waker's CPU has an RT task");
}

#[test]
fn a_waker_that_is_not_allowed_leaves_it() {
    let lab = Lab::new(4, RT5, &[]);
    let p = sleeper(&lab, fifo(50), 0, cpus(&[0, 2]));
    for _ in 0..2 {
        lab.spawn_allowed(fifo(90), 0, cpus(&[0]));
    }
    lab.run(async {
        let me = lab.cpu(1);
        assert_eq!(super::super::select_task_rq(me, p, WakeFlags::default()), CpuId(0));
    });
}

/// Step 5: an idle thread of the same core, if the candidate runs exactly one task.
#[test]
fn idle_hardware_threads() {
    let lab = Lab::on(&nodes(LevelKind::Numa { distance: 20 }), RT5, &[]);
    let p = sleeper(&lab, fifo(50), 2, CpuMask::ALL);
    lab.spawn_allowed(fifo(90), 2, cpus(&[2]));
    assert_eq!(woken_on(&lab, 2, p, false), 3);
    lab.settle();
    lab.block(3);
    lab.spawn_allowed(fifo(80), 3, cpus(&[3]));
    lab.spawn_allowed(fifo(80), 3, cpus(&[3]));
    let select = || super::super::select_task_rq(lab.cpu(3), p, WakeFlags::default());
    assert_eq!(select(), CpuId(3), "more than one task: kept");
}
