//! fair-class 6.6, the steps 8a and 8b of 6.4, step 2 of 8.3, A6.

use super::ms;
use crate::class::PreemptCause;
use crate::fair::averages::approach;
use crate::rq::Resched;
use crate::testing::Lab;
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{CpuId, Nanos, Reason, TaskId};

fn us(value: u64) -> Nanos {
    Nanos::from_micros(value)
}

fn settings(lab: Lab, all: &[&str]) -> Lab {
    all.iter().for_each(|s| lab.k.config.set(s).expect("legal"));
    lab
}

/// A6: 2.6.32, 4 CPUs, so granularity 3 ms; six tasks are runnable with the wakee, whose avg_wakeup is 20 µs;
/// the running one has had 50 µs.
fn a6(all: &[&str], lead: f64) -> bool {
    let lab = settings(Lab::new(4, "2.6.32", &[]), all);
    lab.crowd(0, &[0; 6]);
    let wakee = lab.block(0);
    lab.set_floor(0, 100.0);
    for p in lab.k.tasks.iter().skip(4) {
        lab.set_vr(p, if p == wakee { 100.0 - lead } else { 100.0 });
    }
    lab.k.task(wakee).se.averages.wakeup.set(us(20));
    lab.set_ran(0, 0.05);
    lab.wake_unsettled(0, wakee);
    lab.decided_last(Reason::PreemptVruntime)
}

#[test]
fn a6_an_adaptive_granularity_follows_the_wakees_habit() {
    assert!(a6(&[], 0.25) && !a6(&[], 0.15), "min(3, 2 × 0.020 × 6 − 0.050) = 0.190");
    assert!(a6(&["NO_ADAPTIVE_GRAN"], 3.1) && !a6(&["NO_ADAPTIVE_GRAN"], 2.9));
}

/// 6.5 step 2: the running task's stint counts down to zero, and no further; a slow waker has the usual
/// granularity.
#[test]
fn an_adaptive_granularity_is_between_zero_and_the_usual_one() {
    let lab = Lab::new(1, "2.6.32", &[]);
    let crowd = lab.crowd(0, &[0, 0]);
    let needs = |avg_wakeup, ran| {
        lab.k.task(crowd[1]).se.averages.wakeup.set(avg_wakeup);
        lab.set_ran(0, ran);
        let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        crate::fair::cfs::granularity(&rq, &lab.k.task(crowd[0]).se, &lab.k.task(crowd[1]).se)
    };
    assert_eq!(needs(us(100), 0.1), ms(0.3), "2 × 0.1 × 2 − 0.1");
    assert_eq!(needs(us(100), 0.5), 0);
    assert_eq!(needs(Nanos::from_millis(5), 0.1), ms(1.0));
}

/// 7.3: when picking nobody runs, so a buddy is measured by the usual granularity.
#[test]
fn the_granularity_is_never_adaptive_when_picking() {
    let lab = Lab::new(1, "2.6.32", &[]);
    let crowd = lab.crowd(0, &[0, 0]);
    lab.k.task(crowd[1]).se.averages.wakeup.set(Nanos::ZERO);
    let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    rq.fair.curr = None;
    let (buddy, left) = (&lab.k.task(crowd[0]).se, &lab.k.task(crowd[1]).se);
    assert_eq!(crate::fair::cfs::granularity(&rq, buddy, left), ms(1.0));
}

#[test]
fn averages_move_by_an_eighth_and_round_down() {
    assert_eq!(approach(Nanos(1000), Nanos(2000)), Nanos(1125));
    assert_eq!(approach(Nanos(1000), Nanos(1007)), Nanos(1000));
    assert_eq!(approach(Nanos(1000), Nanos(999)), Nanos(999), "towards minus infinity");
}

/// Makes a runnable task the running one of CPU 0, by virtual time.
fn let_run(lab: &Lab, p: TaskId) {
    lab.set_floor(0, 1000.0);
    for other in lab.k.tasks.iter().skip(1).filter(|other| lab.k.task(*other).on_rq.get()) {
        lab.set_vr(other, if other == p { 1000.0 } else { 1001.0 });
    }
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::Full);
    lab.settle();
    assert_eq!(lab.running(0), p);
}

/// One CPU of 2.6.32 (granularity 1 ms, migration cost 0.5 ms) where the first of three tasks runs and the
/// others sleep.
fn waker() -> (Lab, [TaskId; 3]) {
    let lab = Lab::new(1, "2.6.32", &[]);
    let all: [TaskId; 3] = lab.crowd(0, &[0, 0, 0]).try_into().expect("three");
    for p in [all[1], all[2]] {
        let_run(&lab, p);
        lab.block(0);
    }
    let_run(&lab, all[0]);
    let averages = &lab.k.task(all[0]).se.averages;
    [&averages.wakeup, &averages.overlap, &averages.running].iter().for_each(|a| a.set(us(1000)));
    (lab, all)
}

fn wake(lab: &Lab, p: TaskId, interrupt: bool) {
    assert!(lab.run(try_to_wake_up(lab.cpu(0), p, WakeFlags { sync: false, interrupt, exiting: false })));
}

#[test]
fn avg_wakeup_averages_the_cpu_time_between_wakeups_of_others() {
    let (lab, [waker, first, second]) = waker();
    let average = || lab.k.task(waker).se.averages.wakeup.get();
    lab.charge(0, 2.0);
    wake(&lab, first, false);
    assert_eq!(average(), us(1125), "2 ms since its start");
    lab.charge(0, 1.125);
    wake(&lab, second, false);
    assert_eq!(average(), us(1125), "1.125 ms since the last");
}

#[test]
fn wakeups_in_interrupts_say_nothing_about_the_interrupted_task() {
    let (lab, [waker, first, _]) = waker();
    lab.charge(0, 2.0);
    wake(&lab, first, true);
    assert_eq!(lab.k.task(waker).se.averages.wakeup.get(), us(1000));
}

#[test]
fn start_runtime_is_the_cpu_time_at_the_own_wakeup() {
    let (lab, [waker, first, _]) = waker();
    lab.charge(0, 5.0);
    lab.block(0);
    lab.wake(0, waker);
    assert_eq!(lab.running(0), waker);
    lab.k.task(waker).se.averages.wakeup.set(us(1000));
    lab.charge(0, 1.8);
    wake(&lab, first, false);
    assert_eq!(lab.k.task(waker).se.averages.wakeup.get(), us(1100), "1.8 ms since it woke");
}

#[test]
fn a_sleep_ends_an_overlap_or_shows_that_nobody_was_woken() {
    let (lab, [waker, first, _]) = waker();
    let averages = &lab.k.task(waker).se.averages;
    lab.charge(0, 1.0);
    wake(&lab, first, false);
    averages.wakeup.set(us(1000));
    lab.charge(0, 0.2);
    lab.block(0);
    assert_eq!(averages.overlap.get(), us(900), "0.2 ms after the wakeup");
    assert_eq!(averages.wakeup.get(), us(1000));
    // Zero for the sleep, then 1.2 ms for the stint.
    assert_eq!(averages.running.get(), approach(approach(us(1000), Nanos::ZERO), us(1200)));

    averages.wakeup.set(us(200));
    lab.wake(0, waker);
    let_run(&lab, waker);
    lab.block(0);
    assert_eq!(averages.wakeup.get(), us(300), "the wakeup granularity counts");
    assert_eq!(averages.overlap.get(), us(900));
}

#[test]
fn a_task_switched_out_while_runnable_overlaps_for_its_stint() {
    for (ran, overlap) in [(0.2, 900), (0.6, 950), (5.0, 1000)] {
        let (lab, [waker, first, _]) = waker();
        wake(&lab, first, false);
        lab.charge(0, ran);
        let_run(&lab, first);
        assert_eq!(lab.k.task(waker).se.averages.overlap.get(), us(overlap), "at most twice 0.5 ms");
    }
}

/// 6.4, steps 8a to 10: what a wakee level with the running task brings about. `close`: both overlap little.
fn verdict(all: &[&str], sync: bool, close: bool) -> Reason {
    let (lab, [runner, wakee, _]) = waker();
    let lab = settings(lab, all);
    let overlap = if close { us(100) } else { us(900) };
    for p in [runner, wakee] {
        lab.k.task(p).se.averages.overlap.set(overlap);
    }
    lab.k.task(wakee).se.averages.running.set(us(999));
    lab.set_floor(0, 500.0);
    lab.set_vr(wakee, 500.0);
    lab.set_vr(runner, 500.0);
    lab.forget();
    lab.run(try_to_wake_up(lab.cpu(0), wakee, WakeFlags { sync, interrupt: false, exiting: false }));
    let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    assert_eq!(
        rq.need_resched(),
        lab.decided_last(Reason::PreemptSync)
            || lab.decided_last(Reason::PreemptOverlap)
            || lab.decided_last(Reason::PreemptRunning)
    );
    let reasons = Reason::ALL.iter().filter(|r| r.name().contains("preempt"));
    reasons.copied().find(|r| lab.decided_last(*r)).expect("decided")
}

#[test]
fn wakeup_sync_preempts_by_the_hint() {
    assert_eq!(verdict(&[], true, true), Reason::NoPreemptRight);
    assert_eq!(verdict(&["WAKEUP_SYNC"], true, false), Reason::PreemptSync);
    assert_eq!(verdict(&["WAKEUP_SYNC"], false, true), Reason::NoPreemptRight);
    assert_eq!(verdict(&["WAKEUP_SYNC", "NO_SYNC_WAKEUPS"], true, true), Reason::NoPreemptRight);
    assert_eq!(
        verdict(&["WAKEUP_SYNC", "NO_WAKEUP_PREEMPT"], true, true),
        Reason::PreemptSync,
        "8a before 9"
    );
}

#[test]
fn wakeup_overlap_preempts_where_both_overlap_little() {
    assert_eq!(verdict(&["WAKEUP_OVERLAP"], false, true), Reason::PreemptOverlap);
    assert_eq!(verdict(&["WAKEUP_OVERLAP"], true, false), Reason::NoPreemptRight);
    assert_eq!(
        verdict(&["WAKEUP_OVERLAP", "sched_migration_cost_ns=0"], false, true),
        Reason::NoPreemptRight
    );
    assert_eq!(verdict(&["WAKEUP_OVERLAP", "NO_WAKEUP_PREEMPT"], false, true), Reason::PreemptOverlap);
}

/// 6.4: "2.6.31 differs".
#[test]
fn wakeup_overlap_of_2_6_31_takes_the_hint_and_comes_after_wakeup_preempt() {
    let old = |more: &str, sync, close| {
        verdict(&["WAKEUP_OVERLAP", "overlap_check=overlap_or_sync", more], sync, close)
    };
    assert_eq!(old("WAKEUP_PREEMPT", true, false), Reason::PreemptOverlap);
    assert_eq!(old("WAKEUP_PREEMPT", false, true), Reason::PreemptOverlap);
    assert_eq!(old("WAKEUP_PREEMPT", false, false), Reason::NoPreemptRight);
    assert_eq!(old("NO_WAKEUP_PREEMPT", true, true), Reason::NoPreemptOff);
}

#[test]
fn wakeup_running_preempts_who_runs_longer_and_prefers_the_wakee() {
    assert_eq!(verdict(&["WAKEUP_RUNNING"], false, false), Reason::PreemptRunning);
    let (lab, [runner, wakee, _]) = waker();
    let lab = settings(lab, &["WAKEUP_RUNNING"]);
    lab.k.task(wakee).se.averages.running.set(us(999));
    lab.set_floor(0, 500.0);
    lab.set_vr(wakee, 500.4);
    lab.set_vr(runner, 500.0);
    lab.wake(0, wakee);
    assert_eq!(lab.running(0), wakee, "right of the runner, but next");
    lab.set_vr(runner, 500.0);
    lab.block(0);
    lab.k.task(wakee).se.averages.running.set(us(1001));
    lab.wake(0, wakee);
    assert_eq!(lab.running(0), runner);
}

/// 6.4, last column: a preemption by habit records `last` under last_set=preempt_any only.
#[test]
fn preemption_by_habit_remembers_the_interrupted_task_from_2_6_33_on() {
    let remembers = |rule: &str| {
        let lab = Lab::new(1, "2.6.32", &[rule, "WAKEUP_SYNC", "buddy_gate=off"]);
        let wakee = lab.crowd(0, &[0, 0])[0];
        lab.block(0);
        lab.set_vr(wakee, 900.0);
        lab.run(try_to_wake_up(
            lab.cpu(0),
            wakee,
            WakeFlags { sync: true, interrupt: false, exiting: false },
        ));
        let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        rq.fair.buddies.last == Some(crate::fair::EntityId::of(rq.curr))
    };
    assert!(remembers("last_set=preempt_any") && !remembers("last_set=preempt_vr"));
}

/// 8.3 step 2: a sync waker alone on its CPU draws the wakee over, if its hint is believed.
#[test]
fn sync_less_and_sync_more_correct_the_hint() {
    let drawn = |all: &[&str], sync, overlap| {
        let lab = settings(Lab::new(2, "2.6.32", &["NO_SYNC_LESS"]), all);
        let waker = lab.spawn(crate::Policy::Normal, 0);
        let wakee = lab.spawn(crate::Policy::Normal, 1);
        lab.block(1);
        for p in [waker, wakee] {
            lab.k.task(p).se.averages.overlap.set(us(overlap));
        }
        lab.run(try_to_wake_up(lab.cpu(0), wakee, WakeFlags { sync, interrupt: false, exiting: false }));
        lab.cpu_of(wakee) == 0
    };
    assert!(drawn(&[], true, 600) && !drawn(&[], false, 400));
    assert!(!drawn(&["SYNC_LESS"], true, 600), "more than 0.5 ms");
    assert!(drawn(&["SYNC_LESS"], true, 400));
    assert!(drawn(&["SYNC_MORE"], false, 400), "less than 0.5 ms");
    assert!(!drawn(&["SYNC_MORE"], false, 600));
    // 8.7: 2.6.31 cancels without a switch and never adds.
    assert!(!drawn(&["wake_placement=passive_pull"], true, 600));
    assert!(!drawn(&["wake_placement=passive_pull", "SYNC_MORE"], false, 400));
}

/// 6.4 step 8a names wakeups only.
#[test]
fn forks_and_migrations_carry_no_hint() {
    assert_ne!(PreemptCause::Fork, PreemptCause::Wakeup { sync: true });
    let lab = Lab::new(1, "2.6.32", &["WAKEUP_SYNC"]);
    let parent = lab.spawn(crate::Policy::Normal, 0);
    lab.fork(0, 0);
    lab.settle();
    assert_eq!((lab.running(0), lab.count(Reason::PreemptSync)), (parent, 0));
}
