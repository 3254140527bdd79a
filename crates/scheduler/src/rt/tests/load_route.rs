//! `wake_route=cfs_load`: rt-class 9.

use super::{running, sleeper};
use crate::domains::{LevelKind, Topology, TopologyLevel};
use crate::platform::Line;
use crate::shared::Unseen;
use crate::testing::{Lab, cpus, fifo};
use crate::wakeup::WakeFlags;
use crate::{CpuId, CpuMask, Nanos, Policy, Reason, TaskId};

const RT5: &str = "2.6.23-rt5";

/// Two nodes of two cores with two threads each.
fn nodes(distance_kind: LevelKind) -> Topology {
    let level =
        |kind, spans: &[&[u16]]| TopologyLevel { kind, spans: spans.iter().map(|s| cpus(s)).collect() };
    Topology::of(
        8,
        [
            level(LevelKind::Smt, &[&[0, 1], &[2, 3], &[4, 5], &[6, 7]]),
            level(LevelKind::Package, &[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
            level(distance_kind, &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
        ]
        .into(),
    )
}

/// A tick on every CPU: their averaged loads follow.
fn tick(lab: &Lab) {
    lab.advance(Nanos::from_millis(1));
    for cpu in 0..lab.k.cpus() as u16 {
        lab.tick(cpu);
    }
}

/// Where CPU `waker` would wake `p`.
fn woken_on(lab: &Lab, waker: u16, p: TaskId, sync: bool) -> u16 {
    super::super::select_task_rq(lab.cpu(waker), p, WakeFlags { sync, interrupt: false, exiting: false }).0
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
        tick(&lab);
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
    let woken = |settings: &[&str]| {
        let lab = Lab::new(2, RT5, settings);
        let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
        for _ in 0..3 {
            lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        }
        tick(&lab);
        woken_on(&lab, 1, p, false)
    };
    assert_eq!(woken(&[]), 0, "three normal tasks weigh less than p itself");
    assert_eq!(woken(&["rt_load_weight=zero"]), 1, "p weighs nothing");
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
        lab.tick(1);
        lab.advance(rested);
        woken_on(&lab, 1, p, sync)
    };
    assert_eq!(woken(Nanos::from_micros(100), true), 0, "hot");
    assert_eq!([499_999, 500_000].map(|rested| woken(Nanos(rested), true)), [0, 1], "sched_migration_cost");
    assert_eq!(woken(Nanos::from_millis(1), true), 1);
    assert_eq!(woken(Nanos::from_millis(1), false), 0);
}

/// The hint also means that the waker's own weight is about to leave.
#[test]
fn sync_discounts_the_waker() {
    let woken = |sync| {
        let lab = Lab::new(2, RT5, &[]);
        lab.spawn(fifo(50), 0);
        let p = lab.block(0);
        lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
        lab.tick(1);
        woken_on(&lab, 1, p, sync)
    };
    assert_eq!((woken(true), woken(false)), (1, 0), "hot in both cases");
}

/// Across nodes there is no affine test, only a comparison of loads that leaves the task's own out
/// (SD_WAKE_BALANCE).
#[test]
fn across_nodes() {
    let lab = Lab::on(&nodes(LevelKind::Numa { distance: 20 }), RT5, &[]);
    let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
    for _ in 0..3 {
        lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    }
    lab.spawn_allowed(fifo(90), 2, cpus(&[2]));
    tick(&lab);
    let select = |waker| woken_on(&lab, waker, p, false);
    assert_eq!([select(4), select(1)], [4, 0], "from the other node, from the same one");
    assert_eq!(select(2), 0, "an RT task runs at the waker's");
}

#[test]
fn a_waker_that_is_not_allowed_leaves_it() {
    let lab = Lab::new(4, RT5, &[]);
    let p = sleeper(&lab, fifo(50), 0, cpus(&[0, 2]));
    for _ in 0..2 {
        lab.spawn_allowed(fifo(90), 0, cpus(&[0]));
    }
    assert_eq!(woken_on(&lab, 1, p, false), 0);
}

/// Step 5: an idle thread of the same core, if the candidate runs exactly one task.
#[test]
fn idle_hardware_threads() {
    let lab = Lab::on(&nodes(LevelKind::Numa { distance: 20 }), RT5, &[]);
    let p = sleeper(&lab, fifo(50), 2, CpuMask::ALL);
    let select = || woken_on(&lab, 2, p, false);
    assert_eq!(select(), 2, "idle itself");
    let beside = sleeper(&lab, fifo(50), 3, CpuMask::ALL);
    assert_eq!(woken_on(&lab, 3, beside, false), 3, "idle itself: the other thread is not asked");
    lab.spawn_allowed(fifo(90), 2, cpus(&[2]));
    assert_eq!(select(), 3);
    lab.k.task(p).set_cpus_allowed(&Unseen, cpus(&[0, 1, 2]));
    assert_eq!(select(), 2, "the idle thread is not allowed");
    lab.k.task(p).set_cpus_allowed(&Unseen, CpuMask::first_n(8));
    lab.spawn_allowed(fifo(80), 2, cpus(&[2]));
    assert_eq!(select(), 2, "more than one task: kept");
}

/// Tests 3 and 4, with F = 112: the waker's CPU may be loaded that much more, or has to be that much less.
#[test]
fn twelve_percent() {
    let woken = |kind, here: u64, there: u64| {
        let lab = Lab::on(&nodes(kind), RT5, &["rt_load_weight=zero"]);
        let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
        for (cpu, tasks) in [(4, here), (0, there)] {
            (0..tasks)
                .for_each(|_| _ = lab.spawn_unsettled(Policy::Normal, 0, cpu, CpuMask::single(CpuId(cpu))));
        }
        tick(&lab);
        woken_on(&lab, 4, p, false)
    };
    // 25 times 112 are 28 times 100.
    let affine = LevelKind::Package;
    assert_eq!([woken(affine, 28, 25), woken(affine, 29, 25)], [4, 0]);
    let far = LevelKind::Numa { distance: 20 };
    assert_eq!([woken(far, 25, 28), woken(far, 26, 28)], [4, 0]);
}

/// Step 2: where the waker is on the task's last CPU, no load is read.
#[test]
fn no_load_is_read_at_home() {
    let lab = Lab::new(2, RT5, &[]);
    let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
    for (waker, lines) in [(0, 0), (1, 2)] {
        lab.forget();
        woken_on(&lab, waker, p, false);
        assert_eq!(lab.lines_touched(|line| matches!(line, Line::Rq(_))), lines, "by CPU {waker}");
    }
}
