//! The unit examples of 7.1 that need no course of events: X1 to X11.

use super::near;
use crate::affinity::set_cpus_allowed;
use crate::fair::Sums;
use crate::fair::eevdf::{join_tree, lag_limit, leave_tree, reweight_queued, set_protect_slice};
use crate::fair::queue::{EntityId, FairEntity, Weight};
use crate::fork::{sched_fork, wake_up_new_task};
use crate::policy::{sched_setattr_runtime, set_user_nice};
use crate::schedule::sched_yield;
use crate::testing::sched_setscheduler;
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuId, CpuMask, IDLE_POLICY_WEIGHT, Nanos, Nice, Pid, Policy, TaskId, TaskState};
use alloc::vec::Vec;

const MS: u64 = 1_000_000;

fn entity(weight: u64) -> FairEntity {
    let se = FairEntity::default();
    se.reset(weight);
    se
}

fn of_nice(nice: i8) -> u64 {
    Nice::new(nice).expect("-20 to 19").weight()
}

#[test]
fn x1_virtual_time_of_a_request() {
    for (real, weight, virtual_time) in [
        (3_000_000, of_nice(5), 9_170_149),
        (1_400_000, of_nice(19), 95_573_333),
        (700_000, of_nice(-20), 8_075),
        (700_000, IDLE_POLICY_WEIGHT, 238_933_333),
    ] {
        let found = entity(weight).vdelta(real);
        assert!(found.abs_diff(virtual_time) <= 1, "{real} at weight {weight}: {found}");
    }
}

/// Three entities on CPU 0: the first runs.
fn three(profile: &str, nices: [i8; 3]) -> (Lab, [TaskId; 3]) {
    let lab = Lab::new(1, profile, &[]);
    let tasks = lab.crowd(0, &nices);
    (lab, [tasks[0], tasks[1], tasks[2]])
}

#[test]
fn x2_zero_lag_point_and_who_is_eligible() {
    for profile in ["6.18", "6.18.y"] {
        let (lab, [c, a, b]) = three(profile, [0, 0, 5]);
        {
            let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
            [a, b].iter().for_each(|p| leave_tree(&mut rq, &lab.k.task(*p).se));
            rq.fair.eevdf.v0 = 10 * MS;
            for (p, v) in [(a, 10 * MS), (b, 13 * MS), (c, 11 * MS)] {
                lab.k.task(p).se.vruntime.set(v);
                lab.k.task(p).se.eevdf.deadline.set(20 * MS);
            }
            [a, b].iter().for_each(|p| join_tree(&mut rq, EntityId::of(*p), &lab.k.task(*p).se));
            assert_eq!((rq.fair.eevdf.sum_wv, rq.fair.eevdf.sum_w), (1_005_000_000, 1359));
        }
        let eligible = |p: TaskId| {
            let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
            Sums::of(&lab.k.tasks, &rq.fair).eligible(lab.vr(p))
        };
        for _ in 0..2 {
            assert_eq!([a, b, c].map(eligible), [true, false, false]);
            assert_eq!(lab.zero_lag_point(0), 10_851_447, "{profile}");
        }
        let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        let moved = (rq.fair.eevdf.v0, rq.fair.eevdf.sum_wv);
        let expected = if profile == "6.18" { (10 * MS, 1_005_000_000) } else { (10_851_447, -152_116_473) };
        assert_eq!(moved, expected, "{profile}");
    }
}

#[test]
fn x3_the_zero_lag_point_is_rounded_to_the_left() {
    let lab = Lab::new(1, "6.18", &[]);
    let tasks = lab.crowd(0, &[0, 19]);
    lab.take_cpu();
    lab.stand(tasks[0], 995e-6, 1.0);
    lab.stand(tasks[1], 1002e-6, 1.0);
    assert_eq!(lab.zero_lag_point(0), 995);
    let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    let sums = Sums::of(&lab.k.tasks, &rq.fair);
    assert!(sums.eligible(995) && !sums.eligible(1002));
    assert!(!sums.eligible(996), "exactly V is eligible, and nothing right of it");
}

#[test]
fn x4_the_limit_of_lag() {
    type Limits = [i64; 2];
    let rows: [(i8, f64, Limits, Limits); 3] = [
        (0, 0.7, [1_400_000, 4_000_000], [1_700_000, 4_700_000]),
        (5, 0.7, [4_279_403, 12_226_865], [5_196_417, 14_366_567]),
        (0, 3.0, [6_000_000, 6_000_000], [4_000_000, 7_000_000]),
    ];
    for (nice, slice, own, longest) in rows {
        for (rule, expected) in [("own", own), ("longest", longest)] {
            for (hz, expected) in [1000, 250].into_iter().zip(expected) {
                let settings = [alloc::format!("hz={hz}"), alloc::format!("lag_limit={rule}")];
                let lab = Lab::new(1, "6.18.y", &settings.each_ref().map(|s| s.as_str()));
                let tasks = lab.crowd(0, &[0, nice]);
                lab.ask_for(tasks[1], slice);
                let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
                let limit = lag_limit(&rq, &lab.k.task(tasks[1]).se);
                assert!(near(limit, expected), "nice {nice} slice {slice} {settings:?}: {limit}");
            }
        }
    }
}

/// eevdf-class 2.4, E8: the lag that an entity keeps is within the limit, on both sides.
#[test]
fn x4_lag_is_clamped_when_an_entity_leaves() {
    for (v, kept) in [(0.0, 1_700_000), (200.0, -1_700_000), (99.0, 500_000)] {
        let lab = Lab::new(1, "6.18.y", &["NO_DELAY_DEQUEUE"]);
        let tasks = lab.crowd(0, &[0, 0]);
        lab.stand(tasks[1], 100.0, 101.0);
        lab.stand(tasks[0], v, v + 1.0);
        lab.block(0);
        assert_eq!(lab.k.task(tasks[0]).se.eevdf.vlag.get(), kept);
    }
}

#[test]
fn x5_inflation() {
    let rows = [
        (1.0, 0, 98_500_000, 99_200_000, 99_500_000, 1_000_000),
        (1.0, 5, 98_836_426, 100_976_127, 99_836_425, 999_999),
        (-1.0, 0, 101_500_000, 102_200_000, 100_500_000, -1_000_000),
        (-1.0, 5, 101_163_574, 103_303_275, 100_163_574, -1_000_000),
        (0.0, 0, 100_000_000, 100_700_000, 100_000_000, 0),
    ];
    for (vlag, nice, v, d, mean, lag) in rows {
        let lab = Lab::new(1, "6.18.y", &[]);
        let tasks = lab.crowd(0, &[0, 0]);
        let n = lab.sleeper(nice, vlag);
        tasks.iter().for_each(|p| lab.stand(*p, 100.0, 101.0));
        lab.wake_unsettled(0, n);
        assert_eq!(lab.standing_at(n), [v, d], "{vlag} nice {nice}");
        assert_eq!((lab.zero_lag_point(0), lab.lag_of(n)), (mean, lag), "{vlag} nice {nice}");
    }
}

/// 3.2: without PLACE_LAG, and in an empty queue, nothing is owed.
#[test]
fn lag_is_forgotten_in_an_empty_queue_and_without_place_lag() {
    for (settings, others) in [(&["NO_PLACE_LAG"][..], 2), (&[], 0)] {
        let lab = Lab::new(1, "6.18.y", settings);
        let tasks = lab.crowd(0, &[0, 0]);
        let n = lab.sleeper(0, 1.0);
        tasks.iter().for_each(|p| lab.stand(*p, 100.0, 101.0));
        if others == 0 {
            tasks.iter().for_each(|p| lab.run(sched_setscheduler(lab.cpu(0), *p, fifo(1))));
        }
        let v = lab.zero_lag_point(0);
        lab.wake_unsettled(0, n);
        assert_eq!(lab.standing_at(n), [v, v.wrapping_add(700_000)]);
    }
}

#[test]
fn x6_a_child_starts_at_the_zero_lag_point_with_half_a_request() {
    for (settings, request) in [(&[][..], 700_000), (&["NO_PLACE_DEADLINE_INITIAL"], 1_400_000)] {
        let lab = Lab::new(2, "6.18.y", settings);
        let tasks: Vec<_> = (0..2).map(|_| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]))).collect();
        lab.stand(tasks[0], 100.0, 101.0);
        lab.stand(tasks[1], 104.0, 105.0);
        let child = lab.k.tasks.create(Pid(50), Policy::Normal, Nice::default(), cpus(&[0]));
        lab.run(sched_fork(lab.cpu(0), child));
        lab.run(wake_up_new_task(lab.cpu(0), child));
        assert_eq!(lab.standing_at(child), [102 * MS, 102 * MS + request]);
        assert_eq!(lab.lag_of(child), 0, "eligible");
    }
}

/// 0.6: a child asks for the slices that its parent chose.
#[test]
fn a_child_inherits_its_parents_slice() {
    let lab = Lab::new(1, "6.18.y", &[]);
    let parent = lab.spawn(Policy::Normal, 0);
    for (asked, has, custom) in
        [(3 * MS, 3 * MS, true), (1, 100_000, true), (u64::MAX, 100 * MS, true), (0, 700_000, false)]
    {
        lab.run(sched_setattr_runtime(lab.cpu(0), parent, Nanos(asked)));
        let child = lab.fork_start(0, 0);
        for p in [parent, child] {
            let kept = &lab.k.task(p).se.eevdf;
            assert_eq!((kept.slice.get(), kept.custom_slice.get()), (Nanos(has), custom));
        }
        lab.k.task(child).state.overwrite(TaskState::Dead);
    }
}

/// 0.6: 6.6 takes the call, and the slice stays that of all.
#[test]
fn a_kernel_without_custom_slices_ignores_the_wish() {
    for (profile, slice) in [("6.6", 750_000), ("6.12", 3 * MS)] {
        let lab = Lab::new(1, profile, &[]);
        let p = lab.spawn(Policy::Normal, 0);
        lab.run(sched_setattr_runtime(lab.cpu(0), p, Nanos(3 * MS)));
        assert_eq!(lab.k.task(p).se.eevdf.slice.get(), Nanos(slice), "{profile}");
    }
    let lab = Lab::new(1, "6.1", &[]);
    let p = lab.spawn(Policy::Normal, 0);
    lab.run(sched_setattr_runtime(lab.cpu(0), p, Nanos(3 * MS)));
    assert!(!lab.k.task(p).se.eevdf.custom_slice.get(), "CFS has no slices to ask for");
}

#[test]
fn x7_migration_takes_lag_and_the_distance_to_the_deadline_along() {
    let lab = Lab::new(2, "6.18.y", &[]);
    let spawn = |nice, cpu| {
        let p = lab.spawn_unsettled(Policy::Normal, nice, cpu, cpus(&[cpu]));
        lab.settle();
        p
    };
    let (a, n) = (spawn(0, 0), spawn(0, 0));
    let (x, y) = (spawn(0, 1), spawn(5, 1));
    for (p, v, d) in [(a, 50.0, 50.7), (n, 49.0, 49.6), (x, 900.0, 900.7), (y, 903.0, 905.0)] {
        lab.stand(p, v, d);
    }
    assert_eq!([lab.zero_lag_point(0), lab.zero_lag_point(1)], [49_500_000, 900_739_514]);
    lab.run(set_cpus_allowed(lab.cpu(0), n, cpus(&[1])));
    assert_eq!((lab.cpu_of(n), lab.k.task(n).se.eevdf.vlag.get()), (1, 500_000));
    assert_eq!(lab.standing_at(n), [899_862_767, 900_462_767]);
    assert_eq!((lab.zero_lag_point(1), lab.lag_of(n)), (900_362_766, 499_999));
    assert_eq!(lab.k.task(n).stats.exec_start.get(), Nanos::ZERO, "not cache-hot");
}

#[test]
fn without_place_rel_deadline_a_migrated_entity_makes_a_new_request() {
    let lab = Lab::new(2, "6.18.y", &["NO_PLACE_REL_DEADLINE"]);
    let [a, n] = [(); 2].map(|()| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0])));
    lab.stand(a, 50.0, 51.0);
    lab.stand(n, 49.0, 49.6);
    lab.run(set_cpus_allowed(lab.cpu(0), n, cpus(&[1])));
    assert_eq!(lab.deadline(n).wrapping_sub(lab.vr(n)), 1_400_000);
}

#[test]
fn x8_picking() {
    let at = |name| [(10.0, 13.0), (12.0, 12.5), (11.0, 12.9)]["ABC".find(name).expect("a name")];
    for (curr, unprotected, protected) in [('A', 'C', 'A'), ('B', 'C', 'C'), ('C', 'C', 'C')] {
        for (until, expected) in [(0.0, unprotected), (100.0, protected)] {
            let order = ["ABC", "BCA", "CAB"].into_iter().find(|o| o.starts_with(curr)).expect("one");
            let (lab, tasks) = three("6.18.y", [0; 3]);
            for (p, name) in tasks.into_iter().zip(order.chars()) {
                let (v, d) = at(name);
                lab.stand(p, v, d);
            }
            lab.protect(until);
            assert_eq!(lab.zero_lag_point(0), 11 * MS);
            let picked = lab.would_pick(0).and_then(|p| tasks.iter().position(|t| *t == p));
            assert_eq!(picked.and_then(|at| order.chars().nth(at)), Some(expected), "curr {curr}");
        }
    }
    let (lab, tasks) = three("6.18.y", [0; 3]);
    lab.take_cpu();
    for (p, name) in tasks.into_iter().zip("ABC".chars()) {
        let (v, d) = at(name);
        lab.stand(p, v, d);
    }
    assert_eq!(lab.would_pick(0), Some(tasks[2]), "nobody runs");
}

/// 3.6: of equal deadlines the running entity loses, and then the one that came first wins.
#[test]
fn x8_ties() {
    let (lab, tasks) = three("6.18.y", [0; 3]);
    tasks.iter().for_each(|p| lab.stand(*p, 10.0, 12.0));
    lab.protect(0.0);
    assert_eq!(lab.would_pick(0), Some(tasks[1]));
    lab.stand(tasks[0], 10.0, 12.0 - 1e-6);
    assert_eq!(lab.would_pick(0), Some(tasks[0]), "a nanosecond earlier it stays");
    lab.stand(tasks[0], 10.0, 12.0);
    lab.stand(tasks[1], 10.0, 12.0);
    assert_eq!(lab.would_pick(0), Some(tasks[2]), "the other one has come later now");
}

#[test]
fn x9_protection_by_the_shortest_slice() {
    let vprot = |rule: &str, settings: &[&str], first: [f64; 2], other: [f64; 2]| {
        let settings: Vec<_> = settings.iter().copied().chain([rule]).collect();
        let lab = Lab::new(1, "6.18.y", &settings);
        let tasks = lab.crowd(0, &[0, 0]);
        for (p, [slice, d]) in tasks.iter().zip([first, other]) {
            lab.ask_for(*p, slice);
            lab.stand(*p, 10.0, d);
        }
        let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        let se = &lab.k.task(tasks[0]).se;
        set_protect_slice(&rq, se);
        se.eevdf.vprot.get()
    };
    let (l, s) = ([3.0, 13.0], [0.7, 10.7]);
    assert_eq!(vprot("protection=shortest", &[], l, s), 10_700_000);
    assert_eq!(vprot("protection=shortest", &[], s, l), 10_700_000, "its own deadline");
    assert_eq!(vprot("protection=deadline", &[], l, s), 13 * MS);
    let shorter = [0.3, 10.3];
    assert_eq!(vprot("protection=shortest", &["NO_RUN_TO_PARITY"], l, shorter), 10_700_000, "the base slice");
    assert_eq!(vprot("protection=shortest", &[], [3.0, 10.1], s), 10_100_000, "never behind its deadline");
}

#[test]
fn x10_yield() {
    for (rule, v, then, picks_itself) in [
        ("deadline", 10.0, [10.0, 11.6], true),
        ("deadline", 10.4, [10.4, 11.6], false),
        ("forfeit", 10.0, [10.9, 11.6], false),
        ("forfeit", 10.4, [10.4, 10.9], false),
    ] {
        let rule = alloc::format!("yield_form={rule}");
        let lab = Lab::new(1, "6.18.y", &[rule.as_str()]);
        let tasks = lab.crowd(0, &[0, 0]);
        lab.stand(tasks[0], v, 10.9);
        lab.stand(tasks[1], 10.2, 10.95);
        lab.run(sched_yield(lab.cpu(0)));
        assert_eq!(lab.standing_at(tasks[0]), then.map(|t| (t * 1e6) as u64), "{rule} at {v}");
        assert_eq!(lab.running(0) == tasks[0], picks_itself, "{rule} at {v}");
    }
}

/// 3.9: whoever is alone on its CPU has nobody to yield to.
#[test]
fn yield_alone_changes_nothing() {
    let lab = Lab::new(1, "6.18.y", &[]);
    let p = lab.spawn(Policy::Normal, 0);
    let before = lab.standing_at(p);
    lab.run(sched_yield(lab.cpu(0)));
    assert_eq!(lab.standing_at(p), before);
}

/// X11, by the way that a change of nice takes: off the queue and back on it.
#[test]
fn x11_another_weight_keeps_what_is_owed() {
    for (rule, d) in [("reweight=rescale", 11_000_000), ("reweight=keep", 7_943_284 + MS as i64)] {
        let lab = Lab::new(1, "6.18.y", &[rule, "hz=250"]);
        let tasks = lab.crowd(0, &[0, 0, 0]);
        let [c, a, b] = [tasks[0], tasks[1], tasks[2]];
        for (p, v, d) in [(a, 10.0, 11.0), (b, 12.0, 13.0), (c, 11.0, 12.0)] {
            lab.ask_for(p, 1.0);
            lab.stand(p, v, d);
        }
        lab.run(set_user_nice(lab.cpu(0), a, Nice::new(5).expect("-20 to 19")));
        let [v, deadline] = lab.standing_at(a).map(|t| t as i64);
        assert!(near(v, 7_943_284) && near(deadline, d), "{rule}: {v} {deadline}");
        assert!(near(lab.zero_lag_point(0) as i64, 11 * MS as i64) && near(lab.lag_of(a), 3_056_716));
    }
}

/// X11, on the queue, as the entity of a group: four ways in four kernels.
#[test]
fn x11_another_weight_on_the_queue_by_kernel() {
    type Row = (&'static str, i64, i64, i64);
    const ROWS: [Row; 5] = [
        ("6.6", 10_000_000, 13_056_716, 11_289_131),
        ("6.12", 7_943_284, 11_000_000, 11_000_000),
        ("6.18", 7_943_285, 11_000_001, 11_000_000),
        ("6.18.y", 7_943_284, 11_000_000, 11_000_000),
        ("7.1", 7_943_284, 11_000_000, 11_000_000),
    ];
    for (profile, v, d, zero_lag) in ROWS {
        let lab = Lab::new(1, profile, &["hz=250"]);
        let tasks = lab.crowd(0, &[0, 0, 0]);
        let [c, a, b] = [tasks[0], tasks[1], tasks[2]];
        for (p, v, d) in [(a, 10.0, 11.0), (b, 12.0, 13.0), (c, 11.0, 12.0)] {
            lab.stand(p, v, d);
        }
        {
            let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
            reweight_queued(&mut rq, EntityId::of(a), Weight::from(335));
        }
        let [found_v, found_d] = lab.standing_at(a).map(|t| t as i64);
        assert_eq!((found_v, found_d), (v, d), "{profile}");
        assert_eq!(lab.zero_lag_point(0) as i64, zero_lag, "{profile}");
    }
}

/// 3.8: under `place` V contains a running entity that is placed anew, at (2048 × 10 + 1024 × 12) / 3072, and
/// the half of its lag of 1 ms is inflated by (3072 + 2048) / 3072.
#[test]
fn a_running_entity_that_is_placed_anew_gains_by_it() {
    let moved = |profile| {
        let lab = Lab::new(1, profile, &[]);
        let tasks = lab.crowd(0, &[0, 0]);
        lab.stand(tasks[0], 10.0, 20.0);
        lab.stand(tasks[1], 12.0, 30.0);
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        reweight_queued(&mut rq, EntityId::of(tasks[0]), Weight::from(2048));
        drop(rq);
        lab.standing_at(tasks[0])[0]
    };
    assert_eq!(moved("7.1"), 10_500_000);
    assert!(near(moved("7.0") as i64, 10_666_666 - 833_333), "{}", moved("7.0"));
}

/// 3.12, 6.2: to another CPU and back without running, nothing is lost.
#[test]
fn a_round_trip_keeps_the_lag() {
    let lab = Lab::new(2, "6.18.y", &[]);
    let [a, n] = [(); 2].map(|()| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0])));
    let b = lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    for (p, v) in [(a, 50.0), (n, 49.0), (b, 900.0)] {
        lab.stand(p, v, v + 1.4);
    }
    let before = lab.lag_of(n);
    lab.run(set_cpus_allowed(lab.cpu(0), n, cpus(&[1])));
    lab.run(set_cpus_allowed(lab.cpu(0), n, cpus(&[0])));
    assert_eq!(lab.cpu_of(n), 0);
    assert!((lab.lag_of(n) - before).abs() <= 4, "{before} {}", lab.lag_of(n));
    assert_eq!(lab.deadline(n) - lab.vr(n), 1_400_000);
    lab.run(set_cpus_allowed(lab.cpu(0), n, CpuMask::ALL));
}
