//! fair-class 6.1 to 6.3, A5.

use super::ms;
use crate::testing::Lab;
use crate::{CpuId, CpuMask, Policy, Reason};

/// A5: 2.6.32, 4 CPUs (15 / 3 / 3 ms), `n` tasks on CPU 0 of which the running one has had `ran` ms and is
/// `lag` ms right of the leftmost: whether the tick reschedules.
fn a5(profile: &str, settings: &[&str], n: usize, ran: f64, lag: f64) -> bool {
    let lab = Lab::new(4, profile, settings);
    let crowd = lab.crowd(0, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..n]);
    for p in &crowd[1..] {
        lab.set_vr(*p, 100.0);
    }
    lab.set_vr(crowd[0], 100.0 + lag);
    lab.set_ran(0, ran);
    lab.tick_asks(0)
}

#[test]
fn a5_before_and_after_seed_004() {
    for (n, ran, lag, before, after) in [
        (2, 4.0, 8.0, false, true),
        (2, 2.9, 20.0, false, false),
        (2, 7.6, 0.0, true, true),
        (10, 3.2, 0.0, true, true),
        (2, 4.0, -1.0, false, false),
    ] {
        assert_eq!(a5("tip", &[], n, ran, lag), before, "before: {n} {ran} {lag}");
        assert_eq!(a5("2.6.32", &[], n, ran, lag), after, "after: {n} {ran} {lag}");
    }
}

/// 6.1 step 1: the slice, 7.5 ms of two, is used up by whoever has had more.
#[test]
fn a_slice_ends_after_its_last_nanosecond() {
    assert!(!a5("2.6.32", &[], 2, 7.5, 0.0));
    assert!(a5("2.6.32", &[], 2, 7.500_001, 0.0));
}

/// 6.3.
#[test]
fn an_unsigned_comparison_takes_a_negative_lag_for_a_huge_one() {
    assert!(a5("2.6.32", &["tick_cmp_unsigned=on"], 2, 4.0, -1.0));
    assert!(!a5("2.6.32", &["tick_cmp_unsigned=on"], 2, 4.0, 1.0));
}

/// 6.1 steps 3 and the precondition.
#[test]
fn without_wakeup_preempt_only_the_slice_counts() {
    assert!(!a5("2.6.32", &["NO_WAKEUP_PREEMPT"], 2, 4.0, 8.0));
    assert!(a5("2.6.32", &["NO_WAKEUP_PREEMPT"], 2, 7.6, 0.0));
    assert!(!a5("2.6.32", &[], 1, 16.0, 0.0), "alone: nobody to make room for");
    assert!(a5("2.6.32", &["NO_WAKEUP_PREEMPT"], 1, 16.0, 0.0));
}

/// fair-placement 3.2: in 6.1 the feature has no say at the tick.
#[test]
fn the_tick_of_6_1_does_not_ask_for_wakeup_preempt() {
    let always = &["tick_check=always", "NO_WAKEUP_PREEMPT"];
    assert!(a5("2.6.32", always, 2, 4.0, 8.0) && a5("2.6.32", &[], 2, 4.0, 8.0));
    assert!(!a5("2.6.32", always, 1, 16.0, 0.0), "alone: nobody to make room for");
}

/// fair-placement 3.2: beside others the slice of a SCHED_IDLE task, 70 us of 24 ms, is 0.75 ms at least, not
/// scaled by the number of CPUs, and up to 5.15 min_granularity, 3 ms on 8 CPUs.
#[test]
fn since_5_16_a_sched_idle_task_soon_makes_room() {
    let slice = |profile: &str, other: Policy| {
        let lab = Lab::new(8, profile, &[]);
        lab.spawn(Policy::Idle, 0);
        lab.spawn_unsettled(other, 0, 0, CpuMask::single(CpuId(0)));
        assert_eq!(lab.k.task(lab.running(0)).policy.get(), Policy::Idle);
        lab.slice(0)
    };
    assert_eq!(slice("6.1.y", Policy::Normal), 750_000);
    assert_eq!(slice("5.15", Policy::Normal), 3_000_000);
    assert_eq!(slice("5.10", Policy::Normal), 24_000_000 * 3 / 1027, "no least slice at all");
    assert_eq!(slice("6.1.y", Policy::Idle), 12_000_000, "a half among equals");
}

/// fair-placement 3.2: the credit of its sleep is another matter.
#[test]
fn the_least_slice_of_a_sched_idle_task_has_a_rule_of_its_own() {
    let slice = |rule: &str| {
        let lab = Lab::new(8, "6.1.y", &[rule]);
        lab.spawn(Policy::Idle, 0);
        lab.spawn_unsettled(Policy::Normal, 0, 0, CpuMask::single(CpuId(0)));
        lab.slice(0)
    };
    assert_eq!(slice("idle_least_slice=equal"), 3_000_000);
    assert_eq!(slice("idle_short_sleeper=off"), 750_000);
}

/// fair-placement 3.2, the figures of the commit that brought the bound: two tasks beside 1000 SCHED_IDLE
/// ones on one of 8 CPUs have turns of 609 ms, of 24 from 6.3 on; without the others of 12, as ever.
#[test]
fn many_light_tasks_do_not_make_turns_longer_than_the_latency() {
    let ends = |rule: &str, light: usize, after: f64| {
        let lab = Lab::new(8, "6.1", &[rule]);
        let two = lab.crowd(0, &[0, 0]);
        for _ in 0..light {
            lab.spawn_unsettled(Policy::Idle, 0, 0, CpuMask::single(CpuId(0)));
        }
        // Nobody is ahead.
        for p in two {
            lab.set_vr(p, 0.0);
        }
        if light == 1000 {
            assert_eq!(lab.slice(0) / 1_000_000, 609);
        }
        lab.set_ran(0, after);
        lab.tick_asks(0)
    };
    assert!(!ends("slice_cap=latency", 1000, 24.0) && ends("slice_cap=latency", 1000, 24.1));
    assert!(!ends("slice_cap=off", 1000, 609.0) && ends("slice_cap=off", 1000, 610.0));
    for rule in ["slice_cap=latency", "slice_cap=off"] {
        assert!(!ends(rule, 0, 12.0) && ends(rule, 0, 12.1));
    }
}

/// 6.2: the limit in virtual time is larger for light tasks, smaller for heavy ones.
#[test]
fn tick_vrt_cmp_converts_the_slice() {
    let asks = |rule: &str, nice: i8, lag: f64| {
        let lab = Lab::new(1, "2.6.36", &[rule]);
        let crowd = lab.crowd(0, &[nice, nice]);
        lab.set_vr(crowd[1], 100.0);
        lab.set_vr(crowd[0], 100.0 + lag);
        lab.set_ran(0, 1.0);
        lab.tick_asks(0)
    };
    // Slice 3 ms; nice 5: 9.17 virtual ms; nice -5: 0.98.
    assert!(asks("tick_vrt_cmp=off", 5, 5.0) && !asks("tick_vrt_cmp=on", 5, 5.0));
    assert!(!asks("tick_vrt_cmp=off", -5, 2.0) && asks("tick_vrt_cmp=on", -5, 2.0));
    for lag in [2.9, 3.1] {
        assert_eq!(asks("tick_vrt_cmp=off", 0, lag), asks("tick_vrt_cmp=on", 0, lag), "D9");
    }
}

/// 6.2: a penalised task's limit.
#[test]
fn tick_vrt_cmp_includes_the_penalty() {
    let asks = |rule: &str, lag: f64| {
        let lab = Lab::new(1, "2.6.36", &[rule]);
        let crowd = lab.crowd(0, &[0, 0]);
        lab.set_vr(crowd[1], 100.0);
        lab.set_vr(crowd[0], 100.0 + lag);
        lab.k.task(crowd[0]).se.penalty.set(1);
        lab.k.task(crowd[0]).se.pen_timeout.set(crate::Nanos::NEVER);
        lab.set_ran(0, 1.0);
        lab.tick_asks(0)
    };
    assert!(asks("tick_vrt_cmp=off", 7.0), "slice × 2");
    assert!(!asks("tick_vrt_cmp=on", 11.0) && asks("tick_vrt_cmp=on", 13.0), "slice × 4");
}

/// D3, D1: whoever exceeds its slice makes room, and equal tasks get equal time.
#[test]
fn equal_tasks_share_a_cpu_slice_by_slice() {
    let lab = Lab::new(1, "2.6.36", &[]);
    let crowd = lab.crowd(0, &[0, 0, 0]);
    for _ in 0..3000 {
        lab.advance(crate::Nanos::from_millis(1));
        lab.tick(0);
    }
    for p in crowd {
        let had = lab.k.task(p).stats.sum_exec_runtime.get().0;
        assert!(had.abs_diff(ms(1000.0)) < ms(4.0), "{had}");
    }
    assert!(lab.count(Reason::TickSlice) > 900);
}

/// D1: shares follow the weights.
#[test]
fn unequal_tasks_share_by_weight() {
    let lab = Lab::new(1, "2.6.36", &[]);
    let crowd = lab.crowd(0, &[0, 5]);
    for _ in 0..20_000 {
        lab.advance(crate::Nanos::from_millis(1));
        lab.tick(0);
    }
    let had = |p| lab.k.task(p).stats.sum_exec_runtime.get().0 as f64;
    let share = had(crowd[1]) / (had(crowd[0]) + had(crowd[1]));
    assert!((share - 335.0 / 1359.0).abs() < 0.01, "{share}");
}

/// 6.7.
#[test]
fn yield_keeps_the_place_unless_compat_or_batch() {
    let yields = |policy, settings: &[&str]| {
        let lab = Lab::new(1, "2.6.36", settings);
        let p = lab.spawn(policy, 0);
        lab.crowd(0, &[0, 0]);
        for (task, vr) in [(1, 100.0), (2, 101.0), (3, 105.0)] {
            lab.set_vr(crate::TaskId(task), vr);
        }
        lab.run(crate::schedule::sched_yield(lab.cpu(0)));
        (lab.running(0) == p, lab.vr(p))
    };
    assert_eq!(yields(Policy::Normal, &[]), (true, ms(100.0)));
    assert_eq!(yields(Policy::Normal, &["sched_compat_yield=1"]), (false, ms(105.0) + 1));
    assert_eq!(yields(Policy::Batch, &[]), (false, ms(105.0) + 1));
    assert_eq!(yields(Policy::Idle, &[]), (true, ms(100.0)));
}
