//! Picks, lag and protection under EEVDF.

use super::{Watched, state_alarms};
use crate::fair::Sums;
use crate::testing::Lab;
use crate::{CpuId, Event, GroupId, Nanos, Policy, Reason, SwitchState, TaskId};

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
