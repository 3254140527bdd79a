//! Averages and balancing (fair-placement 6.1).

use super::state_alarms;
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuId, Nanos, Policy, TaskId};

/// Two normal tasks on CPU 0 of two, under load tracking.
fn tracked() -> (Lab, TaskId) {
    let lab = Lab::new(2, "6.1.y", &["load_tracking=pelt", "UTIL_EST", "lb=group_type"]);
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.advance(Nanos::from_millis(20));
    lab.tick(0);
    assert_eq!(state_alarms(&lab), [""; 0]);
    (lab, p)
}

#[test]
fn fp1_time_that_has_not_passed() {
    let (lab, _) = tracked();
    let average = &lab.k.rq(CpuId(0)).published.pelt.average;
    average.last_update_time.overwrite(Nanos::from_secs(1));
    assert_eq!(state_alarms(&lab), ["fair-placement I1"]);
    average.last_update_time.overwrite(Nanos::from_millis(1));
    average.period_contrib.overwrite(1024);
    assert_eq!(state_alarms(&lab), ["fair-placement I1"]);
}

#[test]
fn fp2_a_task_that_ran_more_than_it_was_runnable() {
    let (lab, p) = tracked();
    let average = &lab.k.task(p).se.pelt.average;
    average.util_avg.overwrite(average.runnable_avg.get() + 2);
    assert_eq!(state_alarms(&lab), ["fair-placement I2"]);
}

#[test]
fn fp3_an_average_without_a_sum() {
    let (lab, _) = tracked();
    lab.k.rq(CpuId(0)).published.pelt.average.runnable_avg.overwrite(1_000_000);
    assert_eq!(state_alarms(&lab), ["fair-placement I3"]);
}

#[test]
fn fp5_an_estimate_of_nobody() {
    let (lab, _) = tracked();
    lab.k.rq(CpuId(0)).published.pelt.estimated.overwrite(7);
    assert_eq!(state_alarms(&lab), ["fair-placement I5"]);
}

#[test]
fn fp23_load_of_nobody() {
    let (lab, _) = tracked();
    lab.k.rq(CpuId(0)).published.pelt.queued_load.overwrite(7);
    assert_eq!(state_alarms(&lab), ["fair-placement I23"]);
}

#[test]
fn fp6_a_queued_task_that_no_queue_counts() {
    let (lab, p) = tracked();
    let rt = lab.spawn(fifo(1), 1);
    lab.k.task(p).se.pelt.attached.overwrite(false);
    assert_eq!(state_alarms(&lab), ["fair-placement I6"]);
    lab.k.task(rt).se.pelt.attached.overwrite(true);
    assert_eq!(
        state_alarms(&lab),
        ["fair-placement I6", "fair-placement I6"],
        "and a real-time task that one counts"
    );
}

#[test]
fn fp13_an_interval_without_end() {
    let (lab, _) = tracked();
    lab.k.domains(CpuId(1))[0].balance.balance_interval_ms.overwrite(2048);
    assert_eq!(state_alarms(&lab), ["fair-placement I13"]);
}

#[test]
fn fp17_a_cache_that_lost_count() {
    let (lab, _) = tracked();
    lab.k.fair_root.miscount_idle(CpuId(0));
    assert_eq!(state_alarms(&lab), ["fair-placement I17"]);
}

#[test]
fn cf4_a_task_that_looks_for_what_is_not_there() {
    let (lab, _) = tracked();
    lab.k.rq(CpuId(0)).published.pelt.misfit_load.overwrite(1);
    assert_eq!(state_alarms(&lab), ["deadline-groups CF4"]);
}

#[test]
fn fp18_a_cpu_that_is_worth_nothing() {
    let (lab, _) = tracked();
    lab.k.rq(CpuId(1)).published.pelt.capacity.left.overwrite(0);
    assert_eq!(state_alarms(&lab), ["fair-placement I18"]);
}
