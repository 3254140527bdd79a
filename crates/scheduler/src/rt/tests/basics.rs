//! Queue positions, picking, slices (rt-class 1.2, 1.3, 2.1).

use crate::Nanos;
use crate::testing::{Lab, cpus, fifo, rr};

#[test]
fn the_best_priority_runs_first_come_first_served_among_equals() {
    let lab = Lab::new(1, "6.1", &[]);
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
    let lab = Lab::new(1, "6.1", &[]);
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
    let lab = Lab::new(1, "6.1", &["sched_rr_timeslice_ms=3"]);
    let a = lab.spawn(rr(10), 0);
    let tick = || {
        lab.advance(Nanos::from_millis(1));
        lab.tick(0);
    };
    (0..10).for_each(|_| tick());
    assert_eq!(lab.running(0), a, "alone: never rotated");
    tick();
    let b = lab.spawn(rr(10), 0);
    tick();
    assert_eq!(lab.running(0), b, "the slice began at tick 10 and does not restart when company comes");
    (0..3).for_each(|_| tick());
    assert_eq!(lab.running(0), a);
}
