//! Wakeup preemption, 3.5, row by row; X15; the tick of 3.3; changes of 3.11.

use crate::class::PreemptCause;
use crate::fair::check_preempt_wakeup;
use crate::policy::{sched_setattr_runtime, set_user_nice};
use crate::rq::Resched;
use crate::testing::Lab;
use crate::testing::sched_setscheduler;
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{CpuId, CpuMask, Nanos, Nice, Policy, Reason, TaskId};

pub(super) const WOKEN: PreemptCause = PreemptCause::Wakeup { sync: false };

/// H runs at v 10.5 with a deadline of 20, protected until 15; P stands at 10.5 with a deadline of 11.
pub(super) struct Stage {
    pub lab: Lab,
    pub h: TaskId,
    pub p: TaskId,
}

impl Stage {
    pub fn new(profile: &str, settings: &[&str]) -> Stage {
        let lab = Lab::new(1, profile, settings);
        let tasks = lab.crowd(0, &[0, 0]);
        let [h, p] = [tasks[0], tasks[1]];
        lab.ask_for(h, 10.0);
        lab.stand(h, 10.5, 20.0);
        lab.stand(p, 10.5, 11.0);
        let deadline = lab.k.config.rules.protection.get() == crate::registry::Protection::Deadline;
        lab.protect(if deadline { 20.0 } else { 15.0 });
        lab.forget();
        Stage { lab, h, p }
    }

    pub fn slices(self, ours: f64, theirs: f64) -> Stage {
        self.lab.ask_for(self.h, ours);
        self.lab.ask_for(self.p, theirs);
        self
    }

    pub fn policies(self, ours: Policy, theirs: Policy) -> Stage {
        for (p, policy) in [(self.h, ours), (self.p, theirs)] {
            self.lab.k.task(p).policy.overwrite(policy);
        }
        self
    }

    /// One more entity waits, with a deadline of 30.
    pub fn third(&self, v: f64) -> TaskId {
        let other = self.lab.spawn_unsettled(Policy::Normal, 0, 0, CpuMask::ALL);
        self.lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::No);
        self.lab.protect(15.0);
        self.lab.stand(other, v, 30.0);
        other
    }

    /// The reason of the verdict.
    pub fn check(&self, cause: PreemptCause) -> Reason {
        let mut rq = self.lab.run(self.lab.cpu(0).lock(CpuId(0)));
        check_preempt_wakeup(&mut rq, self.p, cause);
        drop(rq);
        let decided = self.lab.k.platform.events.borrow();
        let last = decided.iter().rev().find_map(|e| match e {
            crate::Event::Decision { task, reason } if *task == self.p => Some(*reason),
            _ => None,
        });
        last.expect("it was decided")
    }

    fn asked(&self) -> bool {
        self.lab.k.rq(CpuId(0)).published.is_asked()
    }

    fn vprot(&self) -> u64 {
        self.lab.k.task(self.h).se.eevdf.vprot.get()
    }
}

/// X15, and the same wakeup with slices that are not shorter.
#[test]
fn x15_a_short_slice_overrides_protection() {
    for (profile, slice, reason) in [
        ("6.6", 0.5, Reason::NoPreemptDeadline),
        ("6.12", 0.5, Reason::PreemptDeadline),
        ("6.18", 0.5, Reason::PreemptShort),
        ("7.0", 0.5, Reason::PreemptShort),
        ("6.12", 10.0, Reason::NoPreemptDeadline),
        ("6.18", 10.0, Reason::NoPreemptDeadline),
        ("7.0", 10.0, Reason::NoPreemptDeadline),
    ] {
        let stage = Stage::new(profile, &[]).slices(10.0, slice);
        assert_eq!(stage.check(WOKEN), reason, "{profile}, slice {slice}");
        assert_eq!(stage.asked(), reason != Reason::NoPreemptDeadline, "{profile}");
    }
    let stage = Stage::new("7.0", &[]).slices(10.0, 10.0);
    stage.check(WOKEN);
    assert_eq!(stage.vprot(), 15_000_000, "v + 10 ms is later: no change");
    for profile in ["6.6", "6.12"] {
        let stage = Stage::new(profile, &[]).slices(10.0, 10.0);
        stage.lab.k.config.set("NO_RUN_TO_PARITY").expect("a legal setting");
        assert_eq!(stage.check(WOKEN), Reason::PreemptDeadline, "3.4, {profile}: no protection at all");
    }
    let stage = Stage::new("6.18", &["NO_PREEMPT_SHORT"]).slices(10.0, 0.5);
    assert_eq!(stage.check(WOKEN), Reason::NoPreemptDeadline);
}

/// 3.5: `cancel` is for good, and only for who is eligible, shorter, and earlier or against an ineligible
/// one.
#[test]
fn a_shorter_slice_cancels_the_protection() {
    let kept = |p: (f64, f64), h_at: f64, slice: f64| {
        let stage = Stage::new("6.12", &[]).slices(10.0, slice);
        stage.lab.stand(stage.h, h_at, 20.0);
        stage.lab.stand(stage.p, p.0, p.1);
        stage.check(WOKEN);
        stage.vprot() == stage.lab.deadline(stage.h)
    };
    assert!(!kept((10.5, 11.0), 10.5, 0.5));
    assert!(kept((10.5, 11.0), 10.5, 10.0), "of equal slices neither is shorter");
    assert!(kept((10.6, 11.0), 10.5, 0.5), "it is not eligible");
    assert!(kept((10.5, 20.0), 10.5, 0.5), "its deadline is not earlier");
    assert!(!kept((10.5, 21.0), 10.6, 0.5), "the running one is not eligible");
}

/// 3.5, steps 3 to 7.
#[test]
fn policies_and_pending_requests() {
    use Policy::{Batch, Idle, Normal};
    let rows = [
        ("6.18.y", Normal, Normal, Reason::NoPreemptDeadline),
        ("6.18.y", Normal, Batch, Reason::NoPreemptPolicy),
        ("6.18.y", Normal, Idle, Reason::NoPreemptPolicy),
        ("6.18.y", Idle, Idle, Reason::NoPreemptPolicy),
        ("6.18.y", Idle, Normal, Reason::PreemptIdlePolicy),
        ("6.18.y", Idle, Batch, Reason::PreemptIdlePolicy),
    ];
    for (profile, ours, theirs, reason) in rows {
        let stage = Stage::new(profile, &[]).slices(10.0, 10.0).policies(ours, theirs);
        assert_eq!(stage.check(WOKEN), reason, "{ours:?} {theirs:?}");
    }
    let off = |profile, ours| Stage::new(profile, &["NO_WAKEUP_PREEMPT"]).policies(ours, Normal).check(WOKEN);
    assert_eq!([off("6.6", Normal), off("6.6", Idle)], [Reason::NoPreemptOff, Reason::PreemptIdlePolicy]);
    assert_eq!([off("6.12", Normal), off("6.12", Idle)], [Reason::NoPreemptOff; 2]);
    let stage = Stage::new("6.18.y", &[]).policies(Idle, Normal);
    stage.lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::Full);
    assert_eq!(stage.check(WOKEN), Reason::PreemptPending);
}

/// 3.5 step 5: who has to make room is not picked again for its protection.
#[test]
fn a_sched_idle_task_loses_its_protection() {
    for (profile, cancelled) in [("6.12", false), ("6.12.y", true), ("6.18", true)] {
        let stage = Stage::new(profile, &[]).policies(Policy::Idle, Policy::Normal);
        let before = stage.vprot();
        stage.check(WOKEN);
        assert_eq!(stage.vprot() != before, cancelled, "{profile}");
    }
}

/// 3.5: a new task preempts like a woken one up to 6.18; from 7.0 on only with a shorter slice.
#[test]
fn forks() {
    let fork = |profile, slice| {
        let stage = Stage::new(profile, &[]).slices(10.0, slice);
        stage.lab.protect(0.0);
        stage.check(PreemptCause::Fork)
    };
    assert_eq!(fork("6.18.y", 10.0), Reason::PreemptDeadline);
    assert_eq!(fork("7.0", 10.0), Reason::NoPreemptNew);
    assert_eq!(fork("7.0", 0.5), Reason::PreemptShort);
    // Nor does one that sleeps in the queue, whose nice value has changed.
    for (profile, reason) in [("6.18.y", Reason::PreemptDeadline), ("7.0", Reason::NoPreemptNew)] {
        let stage = Stage::new(profile, &[]).slices(10.0, 10.0);
        stage.lab.protect(0.0);
        stage.lab.k.task(stage.p).se.eevdf.sched_delayed.set(true);
        assert_eq!(stage.check(WOKEN), reason, "{profile}");
    }
}

/// 3.5: what a wakeup that does not win takes from the protection.
#[test]
fn trimming() {
    let vprot = |rule: &str, slice, settings: &[&str]| {
        let settings: alloc::vec::Vec<_> = settings.iter().copied().chain([rule]).collect();
        let stage = Stage::new("6.18.y", &settings).slices(10.0, slice);
        // Not eligible, so that it does not win whatever its slice.
        stage.lab.stand(stage.p, 10.6, 11.0);
        stage.check(WOKEN);
        stage.vprot()
    };
    let (kept, shortened) = (15_000_000, 11_000_000);
    assert_eq!(vprot("trim=short", 0.5, &[]), shortened);
    assert_eq!(vprot("trim=always", 0.5, &[]), shortened);
    assert_eq!(vprot("trim=never", 0.5, &[]), kept);
    assert_eq!(vprot("trim=short", 0.5, &["NO_RUN_TO_PARITY"]), kept);
    assert_eq!(vprot("trim=always", 0.5, &["NO_RUN_TO_PARITY"]), kept);
    // The shortest slice is that of a third one.
    let stage = Stage::new("6.18.y", &["trim=short"]).slices(1.0, 1.0);
    stage.lab.stand(stage.p, 10.6, 11.0);
    stage.check(WOKEN);
    assert_eq!(stage.vprot(), kept, "equal slices are not short");
    let stage = Stage::new("6.18.y", &["trim=always"]).slices(1.0, 1.0);
    stage.lab.stand(stage.p, 10.6, 11.0);
    stage.check(WOKEN);
    assert_eq!(stage.vprot(), 11_500_000);
}

/// 3.5, 3.6: how the next buddy is recorded, and when a pick follows it.
#[test]
fn next_buddy() {
    let next = |profile: &str, settings: &[&str], cause, d: f64| {
        let stage = Stage::new(profile, settings).slices(10.0, 10.0);
        stage.lab.stand(stage.p, 10.5, d);
        let other = stage.third(10.5);
        let mut rq = stage.lab.run(stage.lab.cpu(0).lock(CpuId(0)));
        rq.fair.buddies.next = Some(crate::fair::EntityId::of(other));
        drop(rq);
        stage.check(cause);
        let rq = stage.lab.run(stage.lab.cpu(0).lock(CpuId(0)));
        rq.fair.buddies.next == Some(crate::fair::EntityId::of(stage.p))
    };
    for (profile, settings, cause, d, expected) in [
        ("6.18.y", &["NEXT_BUDDY"][..], WOKEN, 40.0, true),
        ("6.18.y", &["NEXT_BUDDY"], PreemptCause::Fork, 11.0, false),
        ("6.18.y", &["NO_NEXT_BUDDY"], WOKEN, 11.0, false),
        ("7.0", &["NEXT_BUDDY"], WOKEN, 40.0, false),
        ("7.0", &["NEXT_BUDDY"], WOKEN, 30.0, true),
        ("7.0", &["NO_NEXT_BUDDY"], WOKEN, 11.0, false),
    ] {
        assert_eq!(next(profile, settings, cause, d), expected, "{profile} {settings:?} {cause:?} {d}");
    }
    let follows = |settings: &[&str], v: f64| {
        let stage = Stage::new("6.18.y", settings).slices(10.0, 10.0);
        let other = stage.third(v);
        stage.lab.run(stage.lab.cpu(0).lock(CpuId(0))).fair.buddies.next =
            Some(crate::fair::EntityId::of(other));
        stage.lab.would_pick(0) == Some(other)
    };
    assert!(follows(&[], 10.5), "before the protected one");
    assert!(!follows(&["NO_PICK_BUDDY"], 10.5));
    assert!(!follows(&[], 10.6), "it is not eligible");
}

/// 3.5: a waker that is about to sleep decides at once under `wake_buddy=deadline`: it never preempts,
/// because it was charged a moment ago (eevdf-class U9).
#[test]
fn sync_wakeups_under_wake_buddy_deadline() {
    let sync = PreemptCause::Wakeup { sync: true };
    let stage = Stage::new("7.0", &["NEXT_BUDDY"]).slices(10.0, 10.0);
    stage.lab.protect(0.0);
    assert_eq!(stage.check(sync), Reason::NoPreemptDeadline);
    let stage = Stage::new("7.0", &["NEXT_BUDDY", "sched_migration_cost_ns=0"]).slices(10.0, 10.0);
    assert_eq!(stage.check(sync), Reason::PreemptDeadline);
    let stage = Stage::new("7.0", &[]).slices(10.0, 10.0);
    stage.lab.protect(0.0);
    assert_eq!(stage.check(sync), Reason::PreemptDeadline, "without NEXT_BUDDY the pick is asked");
}

/// 3.5: in the form of 7.0 the question lets go whoever sleeps in the queue and would be picked.
#[test]
fn the_real_pick_finishes_sleepers() {
    for (profile, delayed) in [("6.18.y", true), ("7.0", false)] {
        let lab = Lab::new(1, profile, &[]);
        let tasks = lab.crowd(0, &[0, 0]);
        lab.stand(tasks[0], 12.0, 12.3);
        lab.stand(tasks[1], 10.0, 10.7);
        let sleeper = lab.block(0);
        let p = lab.sleeper_beside(tasks[1]);
        // V has passed the sleeper without a pick.
        lab.stand(sleeper, 9.0, 9.5);
        lab.stand(tasks[1], 10.0, 10.7);
        lab.protect(0.0);
        lab.run(try_to_wake_up(lab.cpu(0), p, WakeFlags::default()));
        assert_eq!(lab.k.task(sleeper).se.eevdf.sched_delayed.get(), delayed, "{profile}");
    }
}

impl Lab {
    /// A task that sleeps, while `runs` runs.
    fn sleeper_beside(&self, runs: TaskId) -> TaskId {
        let p = self.spawn_unsettled(Policy::Normal, 0, 0, CpuMask::ALL);
        assert_eq!(self.running(0), runs);
        self.stand(p, 0.0, 1.0);
        self.protect(0.0);
        self.k.rq(CpuId(0)).published.resched.overwrite(Resched::Full);
        self.run(crate::schedule::schedule(self.cpu(0), crate::schedule::Entry::Preemption));
        assert_eq!(self.block_unsettled(0), p);
        assert_eq!(self.running(0), runs);
        self.k.task(p).se.eevdf.vlag.set(0);
        p
    }
}

/// 3.3: what a charge asks for, at the very nanosecond.
#[test]
fn when_charging_asks_for_a_reschedule() {
    let asks = |profile: &str, settings: &[&str], [v, d, vprot]: [f64; 3], other: f64| {
        let lab = Lab::new(1, profile, settings);
        let tasks = lab.crowd(0, &[0, 0]);
        lab.stand(tasks[0], v, d);
        lab.stand(tasks[1], other, other + 5.0);
        lab.protect(vprot);
        lab.charge(0, 1.0);
        lab.k.rq(CpuId(0)).published.is_asked()
    };
    let ns = 1e-6;
    for profile in ["6.6", "6.12", "6.18", "7.0"] {
        assert!(asks(profile, &[], [10.0, 11.0, 11.0], 10.0), "{profile}: v = d ends the request");
        assert!(!asks(profile, &[], [10.0, 11.0 + ns, 11.0 + ns], 10.0), "{profile}: not yet");
    }
    // Not protected, and eligible.
    assert!(asks("6.18", &[], [10.0, 13.0, 11.0], 20.0));
    assert!(!asks("6.18", &[], [10.0, 13.0, 11.0 + ns], 20.0));
    assert!(!asks("6.12", &[], [10.0, 13.0, 5.0], 20.0), "eligible");
    assert!(asks("6.12", &[], [10.0, 13.0, 5.0], 10.0), "lost");
    assert!(!asks("6.12", &[], [10.0, 13.0, 13.0], 10.0), "protected");
    assert!(!asks("6.12", &["NO_PREEMPT_SHORT"], [10.0, 13.0, 5.0], 10.0));
    assert!(!asks("6.6", &[], [10.0, 13.0, 5.0], 10.0));
}

/// 3.3: the next request begins where the charge ends; overrun is not deducted from it. Alone nobody asks.
#[test]
fn a_request_begins_where_the_last_charge_ends() {
    let lab = Lab::new(1, "6.18.y", &[]);
    let p = lab.spawn(Policy::Normal, 0);
    lab.stand(p, 10.0, 10.7);
    lab.charge(0, 1.0);
    assert!(!lab.k.rq(CpuId(0)).published.is_asked(), "alone");
    assert_eq!(lab.standing_at(p), [11_000_000, 11_700_000]);
}

/// 3.1: who is picked again is neither put back nor set anew: its protection is what it was.
#[test]
fn picked_again_means_untouched() {
    let lab = Lab::new(1, "6.18.y", &["hz=250"]);
    let tasks = lab.crowd(0, &[0, 0]);
    lab.stand(tasks[0], 10.0, 10.7);
    lab.stand(tasks[1], 12.0, 13.0);
    lab.protect(10.7);
    let started = lab.k.task(tasks[0]).stats.prev_sum_exec_runtime.get();
    lab.charge(0, 0.8);
    lab.settle();
    assert_eq!(lab.running(0), tasks[0]);
    assert_eq!(lab.k.task(tasks[0]).se.eevdf.vprot.get(), 10_700_000);
    assert_eq!(lab.k.task(tasks[0]).stats.prev_sum_exec_runtime.get(), started);
}

/// 3.4: a change of nice, or another slice, renews the protection of the running one under
/// `protect_when=set_next` only.
#[test]
fn when_protection_begins() {
    for (rule, renewed) in [("protect_when=pick", false), ("protect_when=set_next", true)] {
        let lab = Lab::new(1, "6.18.y", &[rule]);
        let tasks = lab.crowd(0, &[0, 0]);
        lab.protect(1.0);
        lab.run(set_user_nice(lab.cpu(0), tasks[0], Nice::new(-1).expect("-20 to 19")));
        let vprot = || lab.k.task(tasks[0]).se.eevdf.vprot.get();
        assert_eq!(vprot() != 1_000_000, renewed, "{rule}");
        lab.protect(1.0);
        lab.run(sched_setattr_runtime(lab.cpu(0), tasks[0], Nanos::from_millis(3)));
        assert_eq!(vprot() != 1_000_000, renewed, "{rule}");
    }
}

/// 3.11.
#[test]
fn what_follows_from_another_nice_value() {
    let asked = |nice: i8, of_running: bool, alone: bool| {
        let lab = Lab::new(1, "6.18.y", &[]);
        let tasks = lab.crowd(0, if alone { &[0] } else { &[0, 0] });
        lab.protect(1000.0);
        let p = tasks[usize::from(!of_running)];
        lab.run(set_user_nice(lab.cpu(0), p, Nice::new(nice).expect("-20 to 19")));
        lab.k.rq(CpuId(0)).published.is_asked()
    };
    assert!(asked(1, true, false), "the running one got worse");
    assert!(!asked(-1, true, false), "it got better");
    assert!(!asked(1, true, true), "it is alone");
    assert!(!asked(-1, false, false), "a waiting one is compared, and does not win");
    let lab = Lab::new(1, "6.18.y", &[]);
    let p = lab.spawn(Policy::Normal, 0);
    lab.spawn(Policy::Normal, 0);
    lab.run(sched_setscheduler(lab.cpu(0), p, Policy::Batch));
    assert!(!lab.k.rq(CpuId(0)).published.is_asked(), "the same priority");
}
