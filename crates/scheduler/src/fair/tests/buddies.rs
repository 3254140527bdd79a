//! fair-class 7, A4, A7.

use crate::fair::cfs::pick;
use crate::fair::{Buddies, EntityId};
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuId, CpuMask, Nanos, Policy, Reason, TaskId};

/// Who was picked, and what is left of the references afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    Left,
    Next,
    Last,
}
use Who::{Last, Left, Next};

/// A4: one CPU, granularity 1 ms, leftmost at 10; virtual runtimes of `next` and `last` in ms.
fn a4(mode: &str, next: Option<f64>, last: Option<f64>) -> (Who, bool, bool) {
    let lab = Lab::new(1, "2.6.32", &[mode]);
    let crowd = lab.crowd(0, &[0, 0, 0, 0]);
    let (left, next_task, last_task) = (crowd[1], crowd[2], crowd[3]);
    lab.set_vr(crowd[0], 50.0);
    lab.set_vr(left, 10.0);
    lab.set_vr(next_task, next.unwrap_or(40.0));
    lab.set_vr(last_task, last.unwrap_or(40.0));
    let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    let (next, last) = (next.map(|_| EntityId::of(next_task)), last.map(|_| EntityId::of(last_task)));
    rq.fair.buddies = Buddies { next, last, skip: None };
    let picked = pick(&mut rq, EntityId::of(left)).task();
    let who = if picked == left {
        Left
    } else if picked == next_task {
        Next
    } else {
        Last
    };
    (who, rq.fair.buddies.next.is_some(), rq.fair.buddies.last.is_some())
}

#[test]
fn a4_picking() {
    // next, last, then (picked, next kept, last kept) under v31, rc, tip, after. 6.1 picks as v31 (7.7).
    let table = [
        (
            Some(10.8),
            Some(11.5),
            [(Next, false, true), (Next, false, false), (Next, false, true), (Next, false, true)],
        ),
        (
            None,
            Some(11.5),
            [(Left, false, true), (Left, false, false), (Left, false, false), (Left, false, true)],
        ),
        (
            Some(10.8),
            Some(10.9),
            [(Next, false, true), (Next, false, false), (Next, false, true), (Last, true, false)],
        ),
        (
            Some(11.5),
            Some(10.9),
            [(Last, true, false), (Last, false, false), (Last, false, false), (Last, true, false)],
        ),
    ];
    for (next, last, expected) in table {
        for (mode, expected) in
            ["next_first", "clear_all", "clear_tested", "last_first"].into_iter().zip(expected)
        {
            let mode = alloc::format!("pick_mode={mode}");
            assert_eq!(a4(&mode, next, last), expected, "{mode} next {next:?} last {last:?}");
        }
    }
}

/// 7.3 in the flow: the interrupted task comes back before the leftmost.
#[test]
fn the_last_buddy_gets_the_cpu_back() {
    let runs = |feature: &str| {
        let lab = Lab::new(1, "2.6.32", &[feature]);
        let crowd = lab.crowd(0, &[0, 0, 0, 0, 0]);
        let waker = sleeper_wakes(&lab, crowd[0], 2.0);
        lab.settle();
        assert_eq!(lab.running(0), crowd[0], "the wakee preempted");
        lab.block(0);
        (lab.running(0) == waker, lab.count(Reason::BuddyLast))
    };
    assert_eq!(runs("LAST_BUDDY"), (true, 1));
    assert_eq!(runs("NO_LAST_BUDDY"), (false, 0));
}

/// `sleeper` blocks and wakes `lead` ms left of the task that runs then; all others are a bit left of that
/// one.
fn sleeper_wakes(lab: &Lab, sleeper: TaskId, lead: f64) -> TaskId {
    assert_eq!(lab.block(0), sleeper);
    let runner = lab.running(0);
    lab.set_floor(0, 99.5);
    for p in lab.k.tasks.iter().filter(|p| lab.k.task(*p).on_rq.get()) {
        lab.set_vr(p, if p == runner { 100.0 } else { 99.5 });
    }
    lab.set_vr(sleeper, 100.0 - lead);
    lab.wake_unsettled(0, sleeper);
    runner
}

/// What a wakeup with this lead records on a queue of `n` tasks, the wakee included.
fn recorded(profile: &str, settings: &[&str], n: usize, lead: f64) -> (bool, bool) {
    let lab = Lab::new(1, profile, settings);
    let crowd = lab.crowd(0, &[0; 12][..n]);
    sleeper_wakes(&lab, crowd[0], lead);
    let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    (rq.fair.buddies.next.is_some(), rq.fair.buddies.last.is_some())
}

#[test]
fn a7_the_gate_opens_at_nr_latency() {
    assert_eq!(recorded("2.6.32", &[], 4, 2.0), (false, false));
    assert_eq!(recorded("2.6.32", &[], 5, 2.0), (false, true));
    assert_eq!(recorded("2.6.32", &[], 5, 0.5), (false, false), "no preemption, nothing to remember");
    for (n, lead) in [(4, 2.0), (5, 2.0), (2, 0.5)] {
        assert_eq!(recorded("tip", &[], n, lead), (false, true), "before: {n} {lead}");
    }
    assert_eq!(recorded("2.6.32", &["buddy_gate=off"], 4, 2.0), (false, true));
}

#[test]
fn next_buddy_records_the_wakee_whether_it_preempts_or_not() {
    assert_eq!(recorded("2.6.32", &["NEXT_BUDDY"], 5, 0.5), (true, false));
    assert_eq!(recorded("2.6.32", &["NEXT_BUDDY"], 4, 0.5), (false, false), "gated too");
    assert_eq!(recorded("2.6.31", &[], 2, 0.5), (true, true));
}

/// 7.2, last column: RT wakees; 6.4 step 2.
#[test]
fn preempt_any_remembers_whom_a_real_time_task_interrupted() {
    let last = |rule: &str| {
        let lab = Lab::new(1, "2.6.36", &[rule]);
        lab.crowd(0, &[0; 8]);
        lab.run(lab.cpu(0).lock(CpuId(0))).fair.buddies = Buddies::default();
        lab.spawn_unsettled(fifo(1), 0, 0, CpuMask::ALL);
        let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        rq.fair.buddies.last == Some(EntityId::of(rq.curr))
    };
    assert!(last("last_set=preempt_any"));
    assert!(!last("last_set=preempt_vr"));
    assert!(!last("last_set=preempt_fair"), "since 2.6.37 only a fair task does that");
    assert!(!last("last_set=every_wake"), "the RT test comes first");
}

/// 7.2: forks.
#[test]
fn only_2_6_31_prefers_a_new_task() {
    let next = |mode: &str| {
        let lab = Lab::new(1, "2.6.32", &["NEXT_BUDDY", "buddy_gate=off", mode]);
        lab.crowd(0, &[0, 0]);
        let child = lab.fork(0, 0);
        let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        rq.fair.buddies.next == Some(EntityId::of(child))
    };
    assert!(next("next_set=wake_or_fork"));
    assert!(!next("next_set=wake") && !next("next_set=wake_or_preempt"));
}

/// 7.7: in 6.1 a wakee that preempts is next, whether NEXT_BUDDY is on or not and however few tasks there
/// are.
#[test]
fn a_wakee_that_preempts_is_next_from_2_6_39_on() {
    assert_eq!(recorded("2.6.32", &["next_set=wake_or_preempt"], 2, 2.0), (true, false));
    assert_eq!(
        recorded("2.6.32", &["next_set=wake_or_preempt"], 2, 0.5),
        (false, false),
        "it does not preempt"
    );
    assert_eq!(recorded("2.6.32", &["next_set=wake"], 2, 2.0), (false, false));
}

/// 7.7, 6.7: the skip buddy.
#[test]
fn a_task_that_yielded_is_passed_over_for_a_near_one() {
    let after_yield = |rule: &str, second: f64| {
        let lab = Lab::new(1, "6.1.y", &[rule]);
        let crowd = lab.crowd(0, &[0, 0, 0]);
        for (p, vr) in crowd.iter().zip([100.0, second, 105.0]) {
            lab.set_vr(*p, vr);
        }
        lab.run(crate::schedule::sched_yield(lab.cpu(0)));
        let kept = lab.run(lab.cpu(0).lock(CpuId(0))).fair.buddies.skip.is_some();
        (lab.running(0) == crowd[0], kept, lab.count(Reason::BuddySkipped))
    };
    assert_eq!(after_yield("yield_mode=skip", 100.9), (false, true, 1));
    assert_eq!(after_yield("yield_mode=skip", 101.1), (true, false, 0), "too far right");
    assert_eq!(after_yield("yield_mode=keep", 100.9), (true, false, 0));
}

/// I6, 6.8.
#[test]
fn a_sched_idle_task_is_never_a_buddy() {
    let lab = Lab::new(1, "tip", &["NEXT_BUDDY"]);
    let idle = lab.spawn(Policy::Idle, 0);
    let other = lab.spawn(Policy::Idle, 0);
    lab.block(0);
    lab.wake_unsettled(0, idle);
    let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    assert_eq!((rq.curr, rq.fair.buddies), (other, Buddies::default()));
}

/// 7.4.
#[test]
fn references_end_with_the_slice_the_queue_or_a_yield() {
    let after = |act: fn(&Lab, TaskId)| {
        let lab = Lab::new(1, "2.6.32", &[]);
        let crowd = lab.crowd(0, &[0, 0, 0]);
        let both = Buddies {
            next: Some(EntityId::of(crowd[0])),
            last: Some(EntityId::of(crowd[0])),
            skip: Some(EntityId::of(crowd[0])),
        };
        lab.run(lab.cpu(0).lock(CpuId(0))).fair.buddies = both;
        act(&lab, crowd[0]);
        let left = lab.run(lab.cpu(0).lock(CpuId(0))).fair.buddies;
        left != Buddies::default()
    };
    assert!(after(|_, _| {}));
    assert!(!after(|lab, _| {
        lab.set_ran(0, 9.0);
        assert!(lab.tick_asks(0));
    }));
    assert!(after(|lab, p| {
        // Step 5 of the tick: too far ahead of the leftmost within its slice.
        lab.set_vr(p, 900.0);
        lab.set_ran(0, 1.2);
        assert!(lab.tick_asks(0));
    }));
    assert!(!after(|lab, p| assert_eq!(lab.block(0), p)));
    assert!(!after(|lab, _| {
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        let curr = rq.curr;
        super::super::yield_task(&mut rq, curr);
    }));
}

/// 7.6: whether CPU 1 may pull a buddy from CPU 0, newly idle or with a task of its own.
#[test]
fn buddies_are_cache_hot_unless_the_balancing_cpu_has_nothing() {
    let pulls = |settings: &[&str], busy: bool| {
        let lab = Lab::new(2, "2.6.32", settings);
        lab.k.config.set("NO_LB_BIAS").expect("legal");
        let local = lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        let crowd = lab.crowd(0, &[0, 0, 0]);
        let both =
            Buddies { next: Some(EntityId::of(crowd[1])), last: Some(EntityId::of(crowd[2])), skip: None };
        lab.run(lab.cpu(0).lock(CpuId(0))).fair.buddies = both;
        lab.advance(Nanos::from_millis(70));
        if busy {
            assert_eq!(lab.running(1), local);
            lab.run(crate::fair::rebalance_domains(lab.cpu(1)));
        } else {
            lab.block_unsettled(1);
        }
        crowd.iter().any(|p| lab.cpu_of(*p) == 1)
    };
    assert!(pulls(&[], false) && !pulls(&[], true), "after");
    let before = &["hot_buddy_dst_busy=off"];
    assert!(!pulls(before, false) && !pulls(before, true), "before");
    let off = &["NO_CACHE_HOT_BUDDY"];
    assert!(pulls(off, false) && pulls(off, true));
}
