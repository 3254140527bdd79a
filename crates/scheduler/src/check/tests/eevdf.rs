//! Picks, lag and protection under EEVDF.

use super::{Watched, state_alarms};
use crate::fair::{FairEntity, Sums};
use crate::testing::Lab;
use crate::{CpuId, Event, GroupId, Nanos, Policy, Reason, SwitchState, TaskId};
use alloc::vec::Vec;

/// Two normal tasks on CPU 0 under EEVDF, and which of them runs; a tick has charged it.
fn two_eevdf(profile: &str) -> (Lab, TaskId, TaskId) {
    let lab = Lab::new(1, profile, &[]);
    let pair = [lab.spawn(Policy::Normal, 0), lab.spawn(Policy::Normal, 0)];
    lab.advance(Nanos::from_micros(100));
    lab.tick(0);
    let runs = lab.running(0);
    let waits = if runs == pair[0] { pair[1] } else { pair[0] };
    assert_eq!(state_alarms(&lab), [""; 0]);
    (lab, runs, waits)
}

/// To whom CPU 0 is said to switch, from the idle task.
fn picks(lab: &Lab, next: TaskId) -> Event {
    Event::Switch { prev: lab.k.idle_task(CpuId(0)), prev_state: SwitchState::Runnable, next }
}

#[test]
fn e5_a_pick_of_one_that_is_not_owed_service_or_not_first() {
    let (lab, runs, waits) = two_eevdf("7.0");
    let mut watched = Watched::new(&lab);
    assert!(watched.raises(picks(&lab, runs), "eevdf-class E5"), "it has run, and is not eligible");
    assert!(!watched.raises(picks(&lab, waits), "eevdf-class E5"));
    // Both at the zero-lag point: the earlier deadline goes first, unless the other one is the buddy.
    let [ours, theirs] = [runs, waits].map(|p| &lab.k.task(p).se);
    ours.vruntime.set(theirs.vruntime.get());
    theirs.eevdf.deadline.set(ours.eevdf.deadline.get() + 1);
    assert!(!watched.raises(picks(&lab, runs), "eevdf-class E5"));
    assert!(watched.raises(picks(&lab, waits), "eevdf-class E5"));
    watched.tell(Event::Decision { task: waits, reason: Reason::BuddyNext });
    assert!(!watched.raises(picks(&lab, waits), "eevdf-class E5"));
}

#[test]
fn e5_one_that_stays_without_protection() {
    let (lab, runs, waits) = two_eevdf("7.0");
    let mut watched = Watched::new(&lab);
    let [ours, theirs] = [runs, waits].map(|p| &lab.k.task(p).se);
    let stays = Event::Decision { task: runs, reason: Reason::PickProtected };
    assert!(watched.raises(stays, "eevdf-class E5"), "it is not eligible");
    ours.vruntime.set(theirs.vruntime.get());
    ours.eevdf.vprot.set(ours.vruntime.get() + 1);
    assert!(!watched.raises(stays, "eevdf-class E5"));
    ours.eevdf.vprot.set(ours.vruntime.get());
    assert!(watched.raises(stays, "eevdf-class E5"), "its protection has ended");
}

#[test]
fn e13_a_slice_that_nobody_gave() {
    let (lab, runs, waits) = two_eevdf("7.0");
    let slice = |p| &lab.k.task(p).se.eevdf.slice;
    let ordinary = slice(waits).get();
    slice(runs).set(ordinary + Nanos(1));
    assert!(state_alarms(&lab).contains(&"eevdf-class E13"));
    // One of its own may be anything from 0.1 to 100 ms.
    lab.k.task(runs).se.eevdf.custom_slice.set(true);
    assert!(!state_alarms(&lab).contains(&"eevdf-class E13"));
    slice(runs).set(Nanos::from_micros(99));
    assert!(state_alarms(&lab).contains(&"eevdf-class E13"));
}

/// What the state checks say once something about the task that waits is wrong.
fn wrong_about_the_waiting(profile: &str, breaks: impl FnOnce(&FairEntity)) -> Vec<&'static str> {
    let (lab, _, waits) = two_eevdf(profile);
    breaks(&lab.k.task(waits).se);
    state_alarms(&lab)
}

#[test]
fn e1_a_weight_that_is_not_in_the_sum() {
    let alarms = wrong_about_the_waiting("7.0", |se| se.set_weight(15));
    assert!(alarms.contains(&"eevdf-class E1"), "{alarms:?}");
    let (lab, ..) = two_eevdf("7.0");
    lab.k.rq(CpuId(0)).published.nr_delayed.overwrite(1);
    assert_eq!(state_alarms(&lab), ["eevdf-class E1"], "nobody sleeps in the queue");
}

#[test]
fn e2_and_e3_a_virtual_time_that_is_not_in_the_sum() {
    let alarms = wrong_about_the_waiting("7.0", |se| se.vruntime.set(se.vruntime.get().wrapping_add(4)));
    for invariant in ["eevdf-class E2", "eevdf-class E3"] {
        assert!(alarms.contains(&invariant), "{alarms:?}");
    }
}

#[test]
fn e4_nobody_who_is_owed_service() {
    let far_right = |se: &FairEntity| {
        for time in [&se.vruntime, &se.eevdf.deadline] {
            time.set(time.get().wrapping_add(1_000_000_000));
        }
    };
    let alarms = wrong_about_the_waiting("7.0", far_right);
    assert!(alarms.contains(&"eevdf-class E4"), "{alarms:?}");
}

#[test]
fn e6_one_that_waits_and_does_not_compete() {
    let alarms = wrong_about_the_waiting("7.0", |se| se.eevdf.on_rq.set(false));
    assert!(alarms.contains(&"eevdf-class E6"), "{alarms:?}");
}

#[test]
fn e7_a_sleeper_that_runs() {
    let (lab, runs, _) = two_eevdf("7.0");
    lab.k.task(runs).se.eevdf.sched_delayed.set(true);
    assert!(state_alarms(&lab).contains(&"eevdf-class E7"));
    let (lab, runs, waits) = two_eevdf("7.0");
    assert_eq!(lab.block(0), runs);
    assert!(lab.k.task(runs).se.eevdf.sched_delayed.get(), "it has run for more than it was owed");
    let mut watched = Watched::new(&lab);
    assert!(!watched.raises(picks(&lab, waits), "eevdf-class E7"));
    assert!(watched.raises(picks(&lab, runs), "eevdf-class E7"));
}

#[test]
fn e9_a_request_that_should_have_ended() {
    let ends = |by: u64| move |se: &FairEntity| se.eevdf.deadline.set(se.vruntime.get().wrapping_sub(by));
    assert!(!wrong_about_the_waiting("7.0", ends(0)).contains(&"eevdf-class E9"));
    assert!(wrong_about_the_waiting("7.0", ends(1)).contains(&"eevdf-class E9"));
}

/// Where the reference is the zero-lag point it may go back.
#[test]
fn e12_a_reference_that_goes_back() {
    for (profile, alarms) in [("6.6", true), ("7.0", false)] {
        let (lab, ..) = two_eevdf(profile);
        let mut watched = Watched::new(&lab);
        lab.run(lab.cpu(0).lock(CpuId(0))).fair.eevdf.v0 -= 1;
        assert_eq!(watched.alarms().contains(&"eevdf-class E12"), alarms, "{profile}");
    }
}

#[test]
fn e14_one_that_waits_with_a_relative_deadline() {
    assert_eq!(wrong_about_the_waiting("7.0", |se| se.eevdf.rel_deadline.set(true)), ["eevdf-class E14"]);
}

#[test]
fn e16_a_slice_that_the_tree_does_not_know() {
    let longer = |se: &FairEntity| {
        se.eevdf.custom_slice.set(true);
        se.eevdf.slice.set(Nanos::from_millis(100));
    };
    assert_eq!(wrong_about_the_waiting("7.0", longer), ["eevdf-class E16"]);
}

#[test]
fn e8_a_lag_beyond_its_limit() {
    for profile in ["6.6", "7.0"] {
        let (lab, ..) = two_eevdf(profile);
        let sleeps = lab.block(0);
        // A sleeper that has not left keeps no lag yet.
        let p = if lab.k.task(sleeps).se.eevdf.on_rq.get() { lab.block(0) } else { sleeps };
        let mut watched = Watched::new(&lab);
        let state = SwitchState::Interruptible;
        let leaves = Event::Switch { prev: p, prev_state: state, next: lab.k.idle_task(CpuId(0)) };
        assert!(!watched.raises(leaves, "eevdf-class E8"));
        for lag in [1_000_000_000, -1_000_000_000] {
            lab.k.task(p).se.eevdf.vlag.set(lag);
            assert!(watched.raises(leaves, "eevdf-class E8"), "{profile}: {lag}");
        }
    }
}

#[test]
fn e8_a_debt_that_turned_into_a_claim() {
    let (lab, ..) = two_eevdf("7.0");
    let p = lab.block(0);
    let q = lab.block(0);
    let p = if lab.k.task(p).se.eevdf.on_rq.get() { q } else { p };
    let mut watched = Watched::new(&lab);
    let let_go = Event::Decision { task: p, reason: Reason::DelayedFinished };
    lab.k.task(p).se.eevdf.vlag.set(0);
    assert!(!watched.raises(let_go, "eevdf-class E8"));
    lab.k.task(p).se.eevdf.vlag.set(1);
    assert!(watched.raises(let_go, "eevdf-class E8"));
    lab.k.config.set("NO_DELAY_ZERO").expect("legal");
    assert!(!watched.raises(let_go, "eevdf-class E8"));
}

#[test]
fn e10_a_protection_beyond_the_request_or_that_grows() {
    // 6.18 also protects who comes back after a change, which begins a new stint.
    for profile in ["7.0", "6.18"] {
        protection_grows_or_is_too_long(profile);
    }
}

fn protection_grows_or_is_too_long(profile: &str) {
    let (lab, runs, _) = two_eevdf(profile);
    let mut watched = Watched::new(&lab);
    let kept = &lab.k.task(runs).se.eevdf;
    let until = kept.vprot.get();
    kept.vprot.set(until - 1);
    assert!(!watched.alarms().contains(&"eevdf-class E10"), "it may shrink");
    kept.vprot.set(until);
    assert_eq!(watched.alarms(), ["eevdf-class E10"]);
    kept.vprot.set(kept.deadline.get());
    watched.alarms();
    assert!(!watched.raises(picks(&lab, runs), "eevdf-class E10"));
    kept.vprot.set(kept.deadline.get() + 1);
    watched.alarms();
    assert!(watched.raises(picks(&lab, runs), "eevdf-class E10"));
}

#[test]
fn e11_one_that_enters_elsewhere_than_it_left() {
    let (lab, _, waits) = two_eevdf("7.0");
    let mut watched = Watched::new(&lab);
    let se = &lab.k.task(waits).se;
    let v = lab.k.rq(CpuId(0)).inspect().and_then(|rq| Sums::of(&lab.k.tasks, &rq.fair).zero_lag_point());
    let lag = v.expect("two compete").wrapping_sub(se.vruntime.get()) as i64;
    let enters = Event::WakeupNew { task: waits, target: CpuId(0) };
    se.eevdf.vlag.set(lag);
    assert!(!watched.raises(enters, "eevdf-class E11"));
    se.eevdf.vlag.set(lag + 4);
    assert!(watched.raises(enters, "eevdf-class E11"));
    watched.tell(Event::Decision { task: waits, reason: Reason::DelayedFinished });
    assert!(!watched.raises(enters, "eevdf-class E11"), "V has moved since");
    assert!(watched.raises(enters, "eevdf-class E11"), "and not again");
    watched.tell(Event::GroupLeaves { group: GroupId(1), cpu: CpuId(0) });
    assert!(!watched.raises(enters, "eevdf-class E11"), "a group has left");
}
