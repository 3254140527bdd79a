//! Queue positions, picking, slices (rt-class 1.2, 1.3, 2.1).

use crate::affinity::set_cpus_allowed;
use crate::platform::Line;
use crate::schedule::sched_yield;
use crate::testing::{Lab, cpus, fifo, rr, sched_setscheduler};
use crate::{CpuId, CpuMask, Nanos, Reason};

#[test]
fn the_best_priority_runs_first_come_first_served_among_equals() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let [a, b, c] =
        [fifo(10), fifo(10), fifo(20)].map(|policy| lab.spawn_unsettled(policy, 0, 0, cpus(&[0])));
    lab.settle();
    assert_eq!(lab.running(0), c);
    lab.block(0);
    assert_eq!(lab.running(0), a);
    lab.block(0);
    assert_eq!(lab.running(0), b);
    lab.block(0);
    assert!(lab.idle(0));
}

#[test]
fn a_preempted_task_resumes_before_equals_that_wait() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let [a, b] = [0, 1].map(|_| lab.spawn(fifo(10), 0));
    let high = lab.spawn(fifo(20), 0);
    assert_eq!(lab.running(0), high);
    lab.block(0);
    assert_eq!(lab.running(0), a);
    lab.block(0);
    assert_eq!(lab.running(0), b);
}

/// E13, and 1.2: at the end of its slice an RR task goes behind its equals, if it has any.
#[test]
fn rr_slice() {
    let lab = Lab::new(1, "6.1.y", &["sched_rr_timeslice_ms=3"]);
    let a = lab.spawn(rr(10), 0);
    let tick = || {
        lab.advance(Nanos::from_millis(1));
        lab.tick(0);
    };
    (0..10).for_each(|_| tick());
    assert_eq!((lab.running(0), lab.count(Reason::RrSlice)), (a, 0), "alone: never rotated");
    tick();
    let b = lab.spawn(rr(10), 0);
    tick();
    assert_eq!(lab.running(0), b, "the slice began at tick 10 and does not restart when company comes");
    for expected in [b, b, a, a, a, b, b, b, a] {
        tick();
        assert_eq!(lab.running(0), expected);
    }
}

/// 1.2: 100 ms by default, and for a tunable of zero or less; counted in ticks.
#[test]
fn rr_slice_length() {
    for (settings, ticks) in [
        (&[][..], 100),
        (&["hz=250"], 25),
        (&["sched_rr_timeslice_ms=0"], 100),
        (&["sched_rr_timeslice_ms=-1", "hz=100"], 10),
        (&["sched_rr_timeslice_ms=30"], 30),
    ] {
        let lab = Lab::new(1, "6.1.y", settings);
        let a = lab.spawn(rr(10), 0);
        let b = lab.spawn(rr(10), 0);
        (1..ticks).for_each(|_| lab.tick(0));
        assert_eq!(lab.running(0), a, "{settings:?}");
        lab.tick(0);
        assert_eq!(lab.running(0), b, "{settings:?}");
    }
}

/// FIFO has no slice, and a sleep or a preemption does not fill an RR slice up again.
#[test]
fn what_does_not_touch_the_slice() {
    let lab = Lab::new(1, "6.1.y", &["sched_rr_timeslice_ms=3"]);
    let fifo_task = lab.spawn(fifo(10), 0);
    lab.spawn(fifo(10), 0);
    (0..200).for_each(|_| lab.tick(0));
    assert_eq!(lab.running(0), fifo_task);

    let lab = Lab::new(1, "6.1.y", &["sched_rr_timeslice_ms=3"]);
    let a = lab.spawn(rr(10), 0);
    lab.tick(0);
    lab.block(0);
    lab.wake(0, a);
    let b = lab.spawn(rr(10), 0);
    lab.tick(0);
    lab.spawn(fifo(20), 0);
    lab.tick(0);
    lab.block(0);
    assert_eq!(lab.running(0), a);
    lab.tick(0);
    assert_eq!(lab.running(0), b, "its third tick of running");
}

/// A task that was put and picked again did not wait; one that was preempted did.
#[test]
fn waiting_times() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let p = lab.spawn(fifo(10), 0);
    lab.run(sched_yield(lab.cpu(0)));
    assert_eq!(lab.k.task(p).stats.wait_start.get(), None);
    lab.advance(Nanos::from_millis(1));
    lab.spawn(fifo(20), 0);
    lab.advance(Nanos::from_millis(5));
    lab.block(0);
    let stats = &lab.k.task(p).stats;
    assert_eq!(lab.running(0), p);
    assert_eq!((stats.wait_sum.get(), stats.wait_max.get()), (Nanos::from_millis(5), Nanos::from_millis(5)));
    assert_eq!((stats.wait_start.get(), stats.sum_exec_runtime.get()), (None, Nanos::from_millis(1)));
}

/// 10.1: the line of a queue in which others read its best priority and its `next` is written where one of
/// them changes, and only there.
#[test]
fn the_line_that_others_read_is_written_where_it_changes() {
    let rq_0 = |lab: &Lab| lab.lines_touched(|line| line == Line::Rq(CpuId(0)));
    let lab = Lab::new(2, "6.1.y", &[]);
    lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
    let runs = lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
    let [pinned, movable] = [20, 20].map(|priority| lab.spawn_allowed(fifo(priority), 0, cpus(&[0])));
    lab.run(set_cpus_allowed(lab.cpu(0), movable, CpuMask::ALL));
    // A queued task is taken out and put back: two changes, or none.
    for (p, to, written) in [(pinned, 25, 0), (movable, 25, 2), (runs, 65, 2)] {
        lab.forget();
        lab.run(sched_setscheduler(lab.cpu(0), p, fifo(to)));
        assert_eq!(rq_0(&lab), written, "{p:?}");
    }
    // A task that is preempted is the first pushable one, if it may move.
    let switch = |preempted| {
        let lab = Lab::new(2, "6.1.y", &[]);
        lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
        lab.spawn_allowed(fifo(50), 0, preempted);
        lab.spawn_unsettled(fifo(60), 0, 0, cpus(&[0]));
        lab.forget();
        lab.settle();
        rq_0(&lab)
    };
    assert_eq!(switch(CpuMask::ALL), switch(cpus(&[0])) + 1);
}
