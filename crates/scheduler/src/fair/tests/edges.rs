//! Where a comparison of CFS just holds, and where it just does not (fair-class 2.5, 4 to 7).

use super::*;
use crate::class::{DequeueKind, deactivate_task};
use crate::fair::cfs::{preempted_by_higher_class, sleeper_threshold};
use crate::testing::{fifo, sched_setscheduler};

/// 4.1: `n ≤ nr_latency` tasks share the latency. Of 5 and 2 ms that is three.
#[test]
fn as_many_tasks_as_nr_latency_share_the_latency() {
    let slice = |n: usize| {
        let lab = Lab::new(1, "2.6.36", &["sched_latency_ns=5000000", "sched_min_granularity_ns=2000000"]);
        lab.crowd(0, &[0; 4][..n]);
        lab.slice(0)
    };
    assert_eq!([3, 4].map(slice), [5_000_000_u64.div_ceil(3), 2_000_000]);
}

/// fair-placement 3.2: the least slice is min_granularity, 2.25 ms on four CPUs, and 0.75 ms for a SCHED_IDLE
/// task beside others: not for other light tasks, nor where all are SCHED_IDLE.
#[test]
fn the_least_slice_is_short_for_sched_idle_beside_others() {
    let slice = |policy: Policy, nice: i8, heavy: Policy| {
        let lab = Lab::new(4, "6.1.y", &[]);
        let p = lab.spawn_unsettled(policy, nice, 0, cpus(&[0]));
        lab.settle();
        lab.spawn_unsettled(heavy, 0, 0, cpus(&[0]));
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        // So that its share is next to nothing, whoever is beside it.
        rq.fair.load = 1 << 40;
        sched_slice(&rq, lab.k.task(p))
    };
    assert_eq!(slice(Policy::Idle, 0, Policy::Normal), 750_000);
    assert_eq!(slice(Policy::Normal, 19, Policy::Normal), 2_250_000);
    assert_eq!(slice(Policy::Idle, 0, Policy::Idle), 2_250_000);
}

/// 6.1 step 4: whoever has had min_granularity, 3 ms, may be asked to make room; step 5: by whom it is ahead
/// of by more than the slice, 7.5 ms. (2.6.32, four CPUs, two tasks.)
#[test]
fn the_tick_asks_beyond_its_limits() {
    let asks = |rule: &str, ran: f64, ahead: f64| {
        let lab = Lab::new(4, "2.6.32", &[rule]);
        let crowd = lab.crowd(0, &[0, 0]);
        lab.set_vr(crowd[1], 100.0);
        lab.set_vr(crowd[0], 100.0 + ahead);
        lab.set_ran(0, ran);
        lab.tick_asks(0)
    };
    for rule in ["tick_cmp_unsigned=off", "tick_cmp_unsigned=on"] {
        assert_eq!([2.999_999, 3.0].map(|ran| asks(rule, ran, 8.0)), [false, true], "{rule}");
        assert_eq!([7.5, 7.500_001].map(|ahead| asks(rule, 3.0, ahead)), [false, true], "{rule}");
    }
}

/// 2.5: a task enters or leaves the CPU more than three latencies, 18 ms, away from the floor: that is
/// counted.
#[test]
fn who_is_far_from_the_floor_is_counted() {
    let counted = |away: f64| {
        let lab = Lab::new(1, "2.6.36", &[]);
        let crowd = lab.crowd(0, &[0, 0]);
        lab.set_floor(0, 100.0);
        lab.set_vr(crowd[1], 100.0);
        lab.set_vr(crowd[0], 100.0 + away);
        let spread = || lab.k.rq(CpuId(0)).inspect().expect("nobody holds the lock").fair.nr_spread_over;
        let before = spread();
        lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::Full);
        lab.settle();
        spread() - before
    };
    assert_eq!([17.0, 18.0, 18.000_001, 19.0].map(counted), [0, 0, 1, 1]);
}

/// 4.3: what counts as a short sleeper's credit for SCHED_IDLE is a latency for others; SCHED_IDLE tasks are
/// left out of NORMALIZED_SLEEPER.
#[test]
fn the_credit_of_a_sleeper_depends_on_its_policy() {
    let credit = |policy: Policy, nice: i8, settings: &[&str]| {
        let lab = Lab::new(1, "6.1.y", settings);
        let p = lab.spawn_unsettled(policy, nice, 0, CpuMask::ALL);
        lab.settle();
        let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        sleeper_threshold(&rq, &lab.k.task(p).se)
    };
    let normalized = &["NORMALIZED_SLEEPER"][..];
    assert_eq!(credit(Policy::Normal, 0, &[]), ms(3.0));
    assert_eq!(credit(Policy::Idle, 0, &[]), ms(0.375));
    assert_eq!(credit(Policy::Idle, 0, normalized), ms(0.375));
    assert_eq!(credit(Policy::Normal, 5, normalized) / 1000, 9_170, "3 ms × 1024 / 335, rounded");
}

/// 4.3, 4.5: a sleeper that leaves the class takes along what its credit would be if it woke now; a task that
/// waits takes its distance from the floor.
#[test]
fn only_a_sleeper_is_bounded_as_it_leaves_the_class() {
    let takes = |asleep: bool| {
        let lab = Lab::new(1, "2.6.36", &[]);
        let crowd = lab.crowd(0, &[0, 0]);
        let p = if asleep { lab.block(0) } else { crowd[1] };
        lab.set_floor(0, 100.0);
        lab.set_vr(p, 80.0);
        lab.run(sched_setscheduler(lab.cpu(0), p, fifo(1)));
        let floor = if lab.k.task(p).se.is_relative() { 0 } else { lab.floor(0) };
        lag(lab.vr(p), floor)
    };
    assert_eq!([true, false].map(takes), [-3_000_000, -20_000_000]);
}

/// 5.2: parent and child change places if the parent is left of its child, and only where it runs; elsewhere
/// whoever runs is a stranger.
#[test]
fn only_a_parent_that_is_left_of_its_child_lets_it_go_first() {
    let first = |settings: &[&str]| {
        let settings = [settings, &["sched_child_runs_first=1"]].concat();
        let lab = Lab::new(1, "2.6.36", &settings);
        lab.spawn(Policy::Normal, 0);
        lab.charge(0, 1.0);
        lab.fork(0, 0);
        lab.count(Reason::ForkChildFirst)
    };
    assert_eq!([first(&["START_DEBIT"]), first(&["NO_START_DEBIT"])], [1, 0], "level is not left");
    let lab = Lab::new(2, "2.6.36", &["sched_child_runs_first=1", "fork_path=late"]);
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    let stranger = lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    lab.charge(1, 1.0);
    let before = lab.vr(stranger);
    let child = new_task(
        &lab.k,
        NewTask {
            pid: Pid(1000),
            policy: Policy::Normal,
            nice: Nice::default(),
            cpus_allowed: cpus(&[1]),
            kernel_thread: false,
            group: crate::GroupId::ROOT,
        },
    );
    lab.run(sched_fork(lab.cpu(0), child));
    lab.run(wake_up_new_task(lab.cpu(0), child));
    assert_eq!((lab.cpu_of(child), lab.count(Reason::ForkChildFirst)), (1, 0));
    assert!(lab.vr(stranger) == before && lag(before, lab.vr(child)) < 0);
}

/// 6.4 step 8b: a woken task that has shorter stints takes the CPU, one with equal ones does not.
#[test]
fn equal_stints_are_no_reason_to_preempt() {
    let preempts = |theirs: u64| {
        let lab = Lab::new(1, "2.6.32", &["WAKEUP_RUNNING"]);
        let crowd = lab.crowd(0, &[0, 0]);
        let sleeper = lab.block(0);
        lab.set_floor(0, 100.0);
        lab.set_vr(crowd[1], 100.0);
        lab.set_vr(sleeper, 100.0);
        lab.k.task(crowd[1]).se.averages.running.set(Nanos(1000));
        lab.k.task(sleeper).se.averages.running.set(Nanos(theirs));
        lab.k.task(sleeper).se.averages.overlap.set(Nanos::from_secs(1));
        lab.wake_unsettled(0, sleeper);
        lab.decided_last(Reason::PreemptRunning)
    };
    assert_eq!([999, 1000].map(preempts), [true, false]);
}

/// 6.6: an overlap of sched_migration_cost is neither little nor much.
#[test]
fn an_overlap_of_migration_cost_is_neither_little_nor_much() {
    let is = |overlap_ns| {
        let lab = Lab::new(1, "2.6.32", &["sched_migration_cost_ns=500000"]);
        let crowd = lab.crowd(0, &[0, 0]);
        crowd.iter().for_each(|p| lab.k.task(*p).se.averages.overlap.set(Nanos(overlap_ns)));
        let [a, b] = [0, 1].map(|n| lab.k.task(crowd[n]));
        use crate::fair::averages::{one_overlaps_much, overlap_little};
        [overlap_little(&lab.k, a, b), one_overlaps_much(&lab.k, a, b)]
    };
    assert_eq!([499_999, 500_000, 500_001].map(is), [[true, false], [false, false], [false, true]]);
}

/// 6.7 step 4: under sched_compat_yield the running task goes 1 ns behind the rightmost, unless it is further
/// right already; level with it is not.
#[test]
fn who_is_level_with_the_rightmost_goes_behind_it() {
    let yields = |own: f64| {
        let lab = Lab::new(1, "2.6.36", &["sched_compat_yield=1"]);
        let crowd = lab.crowd(0, &[0, 0]);
        lab.set_vr(crowd[1], 100.0);
        lab.set_vr(crowd[0], own);
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        crate::fair::yield_task(&mut rq, crowd[0]);
        drop(rq);
        lab.vr(crowd[0])
    };
    assert_eq!([99.0, 100.0, 100.000_001].map(yields), [ms(100.0) + 1; 3]);
    assert_eq!(yields(101.0), ms(101.0));
}

/// 7.2, 7.6 and deadline-groups B2: only a task that is runnable becomes the last buddy: neither one that
/// blocks, nor a group.
#[test]
fn only_a_runnable_task_becomes_the_last_buddy() {
    let last = |in_group: bool, blocks: bool, feature: &str| {
        let mut lab = Lab::new(1, "2.6.36", &[feature, "buddy_gate=off"]);
        let group = if in_group { lab.group(crate::GroupId::ROOT, None) } else { crate::GroupId::ROOT };
        let p = lab.spawn_in(group, 0);
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        if blocks {
            deactivate_task(&mut rq, p, DequeueKind::Sleep);
        }
        preempted_by_higher_class(&mut rq);
        rq.fair.buddies.last.is_some()
    };
    assert!(last(false, false, "LAST_BUDDY"));
    assert!(!last(true, false, "LAST_BUDDY") && !last(false, true, "LAST_BUDDY"));
    assert!(!last(false, false, "NO_LAST_BUDDY"));
}

/// 2.6: a task reschedules its CPU if it improved, or if it worsened while running; not if neither (from
/// SCHED_NORMAL to SCHED_BATCH, say).
#[test]
fn another_policy_at_the_same_nice_value_is_no_reason_to_reschedule() {
    let asks = |nice: i8| {
        let lab = Lab::new(1, "2.6.36", &[]);
        let crowd = lab.crowd(0, &[0, 0]);
        let change =
            crate::policy::set_user_nice(lab.cpu(0), crowd[0], Nice::new(nice).expect("a nice value"));
        if nice == 0 {
            lab.run(sched_setscheduler(lab.cpu(0), crowd[0], Policy::Batch));
        } else {
            lab.run(change);
        }
        lab.k.rq(CpuId(0)).published.is_asked()
    };
    assert_eq!([-1, 0, 1].map(asks), [true, false, true]);
}

/// 3.2: what is scaled by the number of CPUs has a value in effect, and so has what follows from it.
#[test]
fn tunables_of_scale_are_known_by_name() {
    let scale = Lab::new(1, "2.6.36", &[]);
    let effective = crate::fair::Granularities::new(&scale.k.config, 1);
    assert_eq!(effective.of_tunable("sched_nr_latency"), Some(8));
    assert_eq!(effective.of_tunable("sched_latency_ns"), Some(6_000_000));
    assert_eq!(effective.of_tunable("sched_migration_cost_ns"), None);
}
