//! fair-class 6.4, 6.5, 6.8, A6.

use crate::rq::Resched;
use crate::testing::Lab;
use crate::{CpuMask, Nanos, Policy, Reason};

/// A sleeper of this policy and nice value wakes `lead` ms left of a running task; whether it gets the CPU,
/// and why.
struct Wakeup {
    wakee: Policy,
    nice: i8,
    runner: Policy,
    runner_nice: i8,
    lead: f64,
    penalty: u8,
}

const PLAIN: Wakeup =
    Wakeup { wakee: Policy::Normal, nice: 0, runner: Policy::Normal, runner_nice: 0, lead: 0.0, penalty: 0 };

impl Wakeup {
    fn on(&self, profile: &str, settings: &[&str]) -> Option<Reason> {
        let lab = Lab::new(1, profile, settings);
        let runner = lab.spawn_unsettled(self.runner, self.runner_nice, 0, CpuMask::ALL);
        lab.settle();
        let sleeper = lab.spawn_unsettled(self.wakee, self.nice, 0, CpuMask::ALL);
        // Let the sleeper run once so that it can block.
        lab.set_vr(runner, 100.0);
        lab.set_vr(sleeper, 50.0);
        lab.k.rq(crate::CpuId(0)).published.resched.overwrite(Resched::Full);
        lab.settle();
        assert_eq!(lab.block(0), sleeper);
        lab.set_floor(0, 100.0);
        lab.set_vr(runner, 100.0);
        lab.set_vr(sleeper, 100.0 - self.lead);
        lab.k.task(sleeper).se.penalty.set(self.penalty);
        lab.k.task(sleeper).se.pen_timeout.set(Nanos::NEVER);
        lab.wake_unsettled(0, sleeper);
        let reasons = Reason::ALL.iter().filter(|r| r.name().contains("preempt"));
        let found = reasons.filter(|r| lab.decided_last(**r)).last().copied();
        let asked = lab.k.rq(crate::CpuId(0)).published.is_asked();
        let preempts = found.is_some_and(|r| !r.name().starts_with("no_"));
        assert_eq!(asked, preempts, "{found:?}");
        found
    }
}

#[test]
fn a_wakee_needs_more_than_the_granularity() {
    for (lead, reason) in [
        (-1.0, Reason::NoPreemptRight),
        (0.0, Reason::NoPreemptRight),
        (1.0, Reason::NoPreemptGran),
        (1.1, Reason::PreemptVruntime),
    ] {
        assert_eq!(Wakeup { lead, ..PLAIN }.on("2.6.36", &[]), Some(reason), "lead {lead}");
    }
    assert_eq!(
        Wakeup { lead: 1.5, ..PLAIN }.on("2.6.36", &["sched_wakeup_granularity_ns=2000000"]),
        Some(Reason::NoPreemptGran)
    );
}

/// A6, last line; 6.5.
#[test]
fn the_granularity_is_in_the_wakees_time() {
    let light = |lead| Wakeup { nice: 5, lead, ..PLAIN };
    // 1 ms × 1024/335 = 3.06.
    assert_eq!(light(3.0).on("2.6.35", &["sched_latency_ns=20000000"]), Some(Reason::NoPreemptGran));
    assert_eq!(light(3.1).on("2.6.35", &["sched_latency_ns=20000000"]), Some(Reason::PreemptVruntime));
    let penalised = |lead| Wakeup { penalty: 1, lead, ..PLAIN };
    assert_eq!(penalised(1.9).on("2.6.35.2+D", &[]), Some(Reason::NoPreemptGran));
    assert_eq!(penalised(2.1).on("2.6.35.2+D", &[]), Some(Reason::PreemptVruntime));
}

#[test]
fn without_asym_gran_it_is_in_the_runners_time() {
    let light = Wakeup { nice: 5, lead: 1.1, ..PLAIN };
    assert_eq!(light.on("2.6.32", &[]), Some(Reason::NoPreemptGran));
    assert_eq!(light.on("2.6.32", &["NO_ASYM_GRAN"]), Some(Reason::PreemptVruntime));
    let heavy_runner = Wakeup { runner_nice: -5, lead: 0.5, ..PLAIN };
    assert_eq!(heavy_runner.on("2.6.32", &["NO_ASYM_GRAN"]), Some(Reason::PreemptVruntime));
}

/// 6.4 steps 7 to 9; 6.8.
#[test]
fn policies_decide_before_virtual_time() {
    let far = |wakee, runner| Wakeup { wakee, runner, lead: 2.4, ..PLAIN };
    let reason = |w: Wakeup| w.on("2.6.36", &[]);
    assert_eq!(reason(far(Policy::Batch, Policy::Normal)), Some(Reason::NoPreemptPolicy), "D10");
    assert_eq!(reason(far(Policy::Idle, Policy::Normal)), Some(Reason::NoPreemptPolicy), "D10");
    assert_eq!(reason(far(Policy::Idle, Policy::Idle)), Some(Reason::NoPreemptPolicy));
    let right = Wakeup { runner: Policy::Idle, lead: -5.0, ..PLAIN };
    assert_eq!(reason(right), Some(Reason::PreemptIdlePolicy), "even from the right");
    assert_eq!(reason(far(Policy::Normal, Policy::Batch)), Some(Reason::PreemptVruntime));
}

/// 6.4 step 7, 7.7.
#[test]
fn a_batch_wakee_preempts_sched_idle_from_2_6_39_on() {
    let batch = |runner, rule: &str| Wakeup { wakee: Policy::Batch, runner, ..PLAIN }.on("2.6.36", &[rule]);
    for (rule, reason) in [
        ("idle_batch_preempts=on", Reason::PreemptIdlePolicy),
        ("idle_batch_preempts=off", Reason::NoPreemptPolicy),
    ] {
        assert_eq!(batch(Policy::Idle, rule), Some(reason), "{rule}");
        assert_eq!(batch(Policy::Normal, rule), Some(Reason::NoPreemptPolicy), "{rule}");
    }
    let idle = Wakeup { wakee: Policy::Idle, runner: Policy::Idle, ..PLAIN };
    assert_eq!(idle.on("6.1.y", &[]), Some(Reason::NoPreemptPolicy));
}

#[test]
fn wakeup_preempt_off_leaves_only_the_policies() {
    let off = &["NO_WAKEUP_PREEMPT"];
    assert_eq!(Wakeup { lead: 2.4, ..PLAIN }.on("2.6.36", off), Some(Reason::NoPreemptOff));
    let idle = Wakeup { runner: Policy::Idle, ..PLAIN };
    assert_eq!(idle.on("2.6.36", off), Some(Reason::PreemptIdlePolicy));
}

/// 6.4 step 6.
#[test]
fn nothing_is_compared_once_a_reschedule_is_due() {
    let lab = Lab::new(1, "2.6.36", &[]);
    let crowd = lab.crowd(0, &[0, 0]);
    lab.block(0);
    lab.k.rq(crate::CpuId(0)).published.resched.overwrite(Resched::Full);
    lab.wake_unsettled(0, crowd[0]);
    assert!(lab.decided_last(Reason::PreemptPending));
}

/// 11.1: sleeps are counted by kind, waits by their length.
#[test]
fn sleeps_and_waits_are_counted() {
    let lab = Lab::new(1, "2.6.36", &[]);
    let crowd = lab.crowd(0, &[0, 0]);
    lab.charge(0, 1.0);
    lab.block(0);
    lab.charge(0, 5.0);
    lab.wake(0, crowd[0]);
    let stats = &lab.k.task(crowd[0]).stats;
    assert_eq!(stats.sum_sleep_runtime.get(), Nanos::from_millis(5));
    assert_eq!(stats.sleep_max.get(), Nanos::from_millis(5));
    assert_eq!(stats.block_max.get(), Nanos::ZERO);
    assert_eq!(stats.exec_max.get(), Nanos::from_millis(1));
    assert_eq!(lab.k.task(crowd[1]).stats.wait_max.get(), Nanos::from_millis(1));
}
