//! fair-class 4, A1, A2.

use super::ms;
use crate::Nice;
use crate::class::{DequeueKind, deactivate_task, move_queued_task};
use crate::fair::queue::update_curr;
use crate::fork::sched_exec;
use crate::policy::set_user_nice;
use crate::testing::sched_setscheduler;
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuId, NICE_0_LOAD, Nanos, Policy};

/// A1: 2.6.32, one CPU, the running parent and two others, minv 100, vr(P) 101.
fn a1(settings: &[&str], child_nice: i8) -> u64 {
    let lab = Lab::new(1, "2.6.32", settings);
    let crowd = lab.crowd(0, &[0, 0, 0]);
    lab.set_floor(0, 100.0);
    for (p, vr) in crowd.iter().zip([101.0, 100.0, 102.0]) {
        lab.set_vr(*p, vr);
    }
    let child = lab.fork(0, child_nice);
    lab.vr(child)
}

#[test]
fn a1_a_new_task_starts_one_virtual_slice_right_of_the_floor() {
    assert_eq!(a1(&[], 0), ms(101.25));
    let nice_5 = a1(&[], 5);
    assert!(nice_5.abs_diff(ms(101.5028)) < 1000, "{nice_5}");
}

#[test]
fn a1_without_start_debit_it_starts_level_with_its_parent() {
    assert_eq!(a1(&["NO_START_DEBIT"], 0), ms(101.0));
}

/// A2: where a sleeper of this virtual runtime wakes, with minv 200.
fn a2(profile: &str, cpus: usize, settings: &[&str], own: f64) -> u64 {
    let lab = Lab::new(cpus, profile, settings);
    let sleeper = lab.spawn(Policy::Normal, 0);
    lab.block(0);
    lab.set_floor(0, 200.0);
    lab.set_vr(sleeper, own);
    lab.wake_unsettled(0, sleeper);
    lab.vr(sleeper)
}

#[test]
fn a2_a_sleeper_gets_at_most_half_a_latency() {
    for (own, placed) in [(150.0, 197.5), (199.0, 199.0), (230.0, 230.0)] {
        assert_eq!(a2("2.6.32", 1, &[], own), ms(placed), "own {own}");
    }
    assert_eq!(a2("2.6.32", 4, &[], 150.0), ms(192.5));
    assert_eq!(a2("2.6.35", 1, &[], 150.0), ms(197.0));
}

#[test]
fn a2_a_whole_latency_without_gentle_fair_sleepers() {
    assert_eq!(a2("2.6.32", 1, &["NO_GENTLE_FAIR_SLEEPERS"], 150.0), ms(195.0));
    assert_eq!(a2("2.6.31", 1, &[], 150.0), ms(180.0));
    assert_eq!(a2("2.6.31", 4, &[], 130.0), ms(140.0));
}

#[test]
fn no_credit_without_fair_sleepers() {
    assert_eq!(a2("2.6.32", 1, &["NO_FAIR_SLEEPERS"], 150.0), ms(200.0));
}

#[test]
fn a_normalized_credit_depends_on_weight() {
    let credit = |settings: &[&str]| {
        let lab = Lab::new(1, "2.6.32", settings);
        let sleeper = lab.crowd(0, &[5])[0];
        lab.block(0);
        lab.set_floor(0, 200.0);
        lab.set_vr(sleeper, 100.0);
        lab.wake_unsettled(0, sleeper);
        -lab.distance(sleeper) as u64
    };
    assert_eq!(credit(&[]), ms(2.5));
    assert_eq!(credit(&["NORMALIZED_SLEEPER"]), ms(5.0) * NICE_0_LOAD / 335 / 2);
}

/// 4.1: consequences to test.
#[test]
fn slices_share_the_period_by_weight() {
    let slice = |profile, nices: &[i8]| {
        let lab = Lab::new(1, profile, &[]);
        lab.crowd(0, nices);
        lab.slice(0)
    };
    assert_eq!(slice("2.6.36", &[0, 0]), ms(3.0), "latency / n");
    assert_eq!(slice("2.6.36", &[0; 8]), ms(0.75), "8 tasks: the last unstretched period");
    assert_eq!(slice("2.6.36", &[0; 20]), ms(0.75), "20 tasks: min_granularity each");
    assert_eq!(slice("2.6.35", &[0; 4]), ms(2.0), "nr_latency 3");
    assert_eq!(slice("2.6.36", &[19, 0]), 86_622, "15/1039 of the latency, no lower bound");
}

/// 4.1, 7.7: the floor of a slice.
#[test]
fn base_slice_is_a_lower_bound() {
    let slice = |setting: &str, nices: &[i8]| {
        let lab = Lab::new(1, "2.6.36", &[setting]);
        lab.crowd(0, nices);
        lab.slice(0)
    };
    assert_eq!(slice("BASE_SLICE", &[19, 0]), ms(0.75));
    assert_eq!(slice("NO_BASE_SLICE", &[19, 0]), 86_622);
    assert_eq!(slice("BASE_SLICE", &[0, 0]), ms(3.0));
}

/// 4.3, last row.
#[test]
fn a_sched_idle_sleeper_of_6_1_gets_a_min_granularity() {
    let credit = |rule: &str| {
        let lab = Lab::new(1, "2.6.36", &[rule]);
        let sleeper = lab.spawn(Policy::Idle, 0);
        lab.block(0);
        lab.set_floor(0, 200.0);
        lab.set_vr(sleeper, 100.0);
        lab.wake_unsettled(0, sleeper);
        -lab.distance(sleeper) as u64
    };
    assert_eq!(credit("idle_short_sleeper=on"), ms(0.375), "0.75 ms, halved");
    assert_eq!(credit("idle_short_sleeper=off"), ms(3.0));
}

/// 2.5: a waiting task holds the floor back at 100; the running one is at 110.
fn leftmost_departs(rule: &str) -> (u64, u64) {
    let lab = Lab::new(2, "2.6.36", &[rule]);
    let crowd = lab.crowd(0, &[0, 0]);
    for cpu in [0, 1] {
        lab.set_floor(cpu, 100.0);
    }
    lab.set_vr(crowd[0], 110.0);
    lab.set_vr(crowd[1], 100.0);
    let mut from = lab.run(lab.cpu(0).lock(CpuId(0)));
    let mut to = lab.run(lab.cpu(0).lock(CpuId(1)));
    move_queued_task(&mut from, &mut to, crowd[1]);
    (lab.floor(0), lab.vr(crowd[1]))
}

#[test]
fn the_floor_moves_before_a_task_leaves_or_after() {
    assert_eq!(
        leftmost_departs("floor_order=with_task"),
        (ms(110.0), ms(100.0)),
        "level with the floor as it was"
    );
    assert_eq!(
        leftmost_departs("floor_order=without_task"),
        (ms(110.0), ms(90.0)),
        "10 left of the floor as it is"
    );
    assert_eq!(leftmost_departs("floor_order=one_step"), (ms(110.0), ms(90.0)));
}

/// 2.4: the running task holds the floor back at 100, another one waits at 110. The running one blocks.
#[test]
fn since_4_9_a_task_that_blocks_no_longer_holds_the_floor_back() {
    let floor = |profile, settings: &[&str]| {
        let lab = Lab::new(1, profile, settings);
        let crowd = lab.crowd(0, &[0, 0]);
        lab.set_floor(0, 100.0);
        lab.set_vr(crowd[0], 100.0);
        lab.set_vr(crowd[1], 110.0);
        assert_eq!(lab.block(0), crowd[0]);
        lab.floor(0)
    };
    for profile in ["6.1", "4.19"] {
        assert_eq!(floor(profile, &[]), ms(110.0), "{profile}");
        assert_eq!(floor(profile, &["blocked_floor=held"]), ms(100.0), "{profile}");
    }
    for profile in ["4.4", "4.0", "2.6.32"] {
        assert_eq!(floor(profile, &[]), ms(100.0), "{profile}");
    }
}

/// 2.4: the last task of a queue blocks while its CPU looks for work elsewhere; what it is charged then moves
/// no floor.
#[test]
fn the_time_of_a_task_that_has_blocked_moves_no_floor() {
    let floor = |rule| {
        let lab = Lab::new(1, "6.1", &[rule]);
        let p = lab.crowd(0, &[0])[0];
        lab.set_floor(0, 100.0);
        lab.set_vr(p, 100.0);
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        deactivate_task(&mut rq, p, DequeueKind::Sleep);
        lab.advance(Nanos::from_millis(1));
        rq.update_clock();
        update_curr(&mut rq);
        drop(rq);
        (lab.vr(p), lab.floor(0))
    };
    assert_eq!(floor("blocked_floor=released"), (ms(101.0), ms(100.0)));
    assert_eq!(floor("blocked_floor=held"), (ms(101.0), ms(101.0)));
}

/// 2.5: a SCHED_IDLE task has run for 3 ms, not charged yet; somebody arrives who was level with the floor
/// elsewhere.
#[test]
fn a_task_enters_by_the_floor_before_or_after_the_charge() {
    let enters = |rule: &str| {
        let lab = Lab::new(2, "2.6.36", &[rule]);
        let idle = lab.spawn_allowed(Policy::Idle, 1, cpus(&[1]));
        let p = lab.crowd(0, &[0, 0])[1];
        for cpu in [0, 1] {
            lab.set_floor(cpu, 100.0);
        }
        lab.set_vr(idle, 100.0);
        lab.set_vr(p, 100.0);
        lab.advance(Nanos::from_millis(3));
        let mut from = lab.run(lab.cpu(0).lock(CpuId(0)));
        let mut to = lab.run(lab.cpu(0).lock(CpuId(1)));
        move_queued_task(&mut from, &mut to, p);
        lab.distance(p)
    };
    assert_eq!(enters("floor_order=with_task"), 0);
    // 3 ms × 1024/3 right of it, by which the floor moved.
    assert_eq!(enters("floor_order=without_task"), -(ms(1024.0) as i64));
    assert_eq!(enters("floor_order=one_step"), -(ms(1024.0) as i64));
}

/// 4.5: up to 2.6.32 both floors are read when the CPU is chosen, later the second one at the enqueue.
#[test]
fn a_change_of_cpu_reads_both_floors_at_once_or_one_by_one() {
    let wakes = |rule: &str| {
        let lab = Lab::new(2, "2.6.36", &[rule]);
        let p = lab.spawn(Policy::Normal, 0);
        lab.block(0);
        lab.set_floor(0, 100.0);
        lab.set_vr(p, 102.0);
        lab.set_floor(1, 500.0);
        crate::class::set_task_cpu(lab.cpu(1), &crate::shared::Unseen, p, CpuId(1));
        lab.set_floor(1, 501.0);
        lab.wake_unsettled(1, p);
        lab.vr(p)
    };
    assert_eq!(wakes("floor_order=one_step"), ms(502.0));
    assert_eq!(wakes("floor_order=without_task"), ms(503.0));
    assert_eq!(wakes("floor_order=with_task"), ms(503.0));
}

/// 4.4, D11: renicing the task that holds the floor back.
#[test]
fn renice_of_the_leftmost_keeps_its_distance_only_since_4_9() {
    let distance = |rule: &str| {
        let lab = Lab::new(1, "2.6.36", &[rule]);
        let crowd = lab.crowd(0, &[0, 0]);
        lab.set_floor(0, 100.0);
        lab.set_vr(crowd[0], 110.0);
        lab.set_vr(crowd[1], 100.0);
        lab.run(set_user_nice(lab.cpu(0), crowd[1], Nice::new(5).expect("legal")));
        lab.distance(crowd[1])
    };
    assert_eq!(distance("floor_order=with_task"), 0);
    assert_eq!(distance("floor_order=without_task"), -(ms(10.0) as i64));
}

/// D12: a round trip without execution changes vr by what the floors advanced meanwhile.
#[test]
fn a_change_of_cpu_keeps_the_distance_from_the_floor() {
    let lab = Lab::new(2, "2.6.32", &[]);
    let p = lab.crowd(0, &[0, 0])[1];
    lab.set_floor(0, 100.0);
    lab.set_floor(1, 5000.0);
    lab.set_vr(p, 103.0);
    let moves = |from: u16, to: u16| {
        let mut from = lab.run(lab.cpu(0).lock(CpuId(from)));
        let mut to = lab.run(lab.cpu(0).lock(CpuId(to)));
        move_queued_task(&mut from, &mut to, p);
    };
    moves(0, 1);
    assert_eq!(lab.vr(p), ms(5003.0));
    lab.set_floor(0, 107.0);
    lab.set_floor(1, 5001.0);
    moves(1, 0);
    assert_eq!(lab.vr(p), ms(109.0), "103 + 7 - 1");
}

/// D11, 4.4: renice and a detour through the real-time class keep the distance.
#[test]
fn renice_and_boost_keep_the_distance_from_the_floor() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let crowd = lab.crowd(0, &[0, 0, 0]);
    lab.charge(0, 2.0);
    let waiting = crowd[1];
    let before = lab.distance(waiting);
    lab.run(set_user_nice(lab.cpu(0), waiting, Nice::new(7).expect("legal")));
    assert_eq!(lab.distance(waiting), before);
    lab.settle();

    let running = lab.running(0);
    let before = lab.distance(running);
    lab.run(sched_setscheduler(lab.cpu(0), running, fifo(5)));
    lab.settle();
    lab.advance(Nanos::from_millis(50));
    lab.set_floor(0, 700.0);
    lab.run(sched_setscheduler(lab.cpu(0), running, Policy::Normal));
    assert_eq!(lab.distance(running), before);
}

/// Found by random runs: the old queue's floor jumped to a task far right before the leaving one had its
/// distance.
#[test]
fn a_task_that_exec_moves_away_keeps_its_distance() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let crowd = lab.crowd(0, &[0, 0]);
    lab.charge(0, 1.0);
    lab.set_vr(crowd[1], 500.0);
    lab.set_vr(crowd[0], 3.0);
    lab.set_floor(0, 3.0);
    lab.set_floor(1, 70.0);
    lab.run(sched_exec(lab.cpu(0)));
    assert_eq!((lab.cpu_of(crowd[0]), lab.distance(crowd[0])), (1, 0));
}

/// Found by random runs: it was placed before the time of a light running task was accounted.
#[test]
fn a_task_without_a_parent_starts_at_the_floor_of_this_moment() {
    let lab = Lab::new(1, "6.1.y", &[]);
    lab.spawn(Policy::Idle, 0);
    lab.advance(Nanos::from_millis(3));
    let p = lab.spawn_unsettled(Policy::Normal, 0, 0, cpus(&[0]));
    assert_eq!(lab.distance(p), 0);
}
