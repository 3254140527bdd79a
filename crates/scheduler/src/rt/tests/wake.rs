//! Where a woken task goes, and what follows: rt-class 3.2 to 3.5 and 3.7, 2.3, E3, E4, E21.

use super::{check_invariants, running, sleeper};
use crate::RootId;
use crate::platform::RootLine;
use crate::rq::Resched;
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuMask, Event, Reason, TaskId};

const BEFORE_S0: &str = "2.6.36";
const AFTER_S0: &str = "2.6.36+S0";
const V2_6_37: &str = "2.6.37";
const V6_1: &str = "6.1.y";

/// What runs on CPU 0 when p, whose last CPU it is, wakes; p has user priority 50.
#[derive(Clone, Copy)]
enum Curr {
    Idle,
    Rt { priority: u8, pinned: bool },
}

const LOWER: Curr = Curr::Rt { priority: 40, pinned: false };
const LOWER_PINNED: Curr = Curr::Rt { priority: 40, pinned: true };
const EQUAL: Curr = Curr::Rt { priority: 50, pinned: false };
const HIGHER: Curr = Curr::Rt { priority: 60, pinned: false };

/// The other CPU of the machine: L(p) is CPU 1, or none.
#[derive(Clone, Copy, PartialEq)]
enum Other {
    Idle,
    Higher,
}

/// What came of it.
#[derive(PartialEq, Debug)]
struct Outcome {
    /// CPU of the sched_wakeup event.
    woken_on: u16,
    p_runs: bool,
    /// CPU on which `curr` runs in the end.
    curr_runs_on: Option<u16>,
}

fn stays_waiting(curr_on: u16) -> Outcome {
    Outcome { woken_on: 0, p_runs: false, curr_runs_on: Some(curr_on) }
}

fn moves() -> Outcome {
    Outcome { woken_on: 1, p_runs: true, curr_runs_on: Some(0) }
}

/// p preempts on its CPU, and `curr` ends on that one.
fn preempts(curr_on: Option<u16>) -> Outcome {
    Outcome { woken_on: 0, p_runs: true, curr_runs_on: curr_on }
}

fn wake(kernel: &str, settings: &[&str], curr: Curr, p_pinned: bool, other: Other) -> Outcome {
    let lab = Lab::new(2, kernel, settings);
    let p = sleeper(&lab, fifo(50), 0, if p_pinned { cpus(&[0]) } else { CpuMask::ALL });
    if other == Other::Higher {
        lab.spawn_allowed(fifo(70), 1, cpus(&[1]));
    }
    let curr = match curr {
        Curr::Idle => TaskId(0),
        Curr::Rt { priority, pinned } => {
            let allowed = if pinned { cpus(&[0]) } else { CpuMask::ALL };
            lab.spawn_allowed(fifo(priority), 0, allowed)
        }
    };
    lab.forget();
    assert!(lab.wake(0, p));
    check_invariants(&lab);
    let woken_on = lab.k.platform.events.borrow().iter().find_map(|event| match event {
        Event::Wakeup { task, target } if *task == p => Some(target.0),
        _ => None,
    });
    let place = |task| running(&lab).iter().position(|t| *t == task).map(|cpu| cpu as u16);
    Outcome {
        woken_on: woken_on.expect("it was woken"),
        p_runs: place(p).is_some(),
        curr_runs_on: place(curr),
    }
}

/// Each row of 3.7, L(p) = the other CPU.
#[test]
fn decision_table_of_3_7() {
    let check = |curr, pinned, before: Outcome, after: Outcome, v6: Outcome| {
        for (kernel, expected) in [(BEFORE_S0, before), (AFTER_S0, after), (V6_1, v6)] {
            assert_eq!(wake(kernel, &[], curr, pinned, Other::Idle), expected, "{kernel}");
        }
    };
    check(Curr::Idle, false, preempts(None), preempts(None), preempts(None));
    check(LOWER, false, moves(), preempts(Some(1)), preempts(Some(1)));
    check(LOWER_PINNED, false, moves(), preempts(None), moves());
    check(EQUAL, false, moves(), stays_waiting(0), moves());
    check(HIGHER, false, moves(), moves(), moves());
    check(EQUAL, true, preempts(Some(1)), preempts(Some(1)), preempts(Some(1)));
    check(HIGHER, true, stays_waiting(0), stays_waiting(0), stays_waiting(0));
    check(LOWER, true, preempts(Some(1)), preempts(Some(1)), preempts(Some(1)));
}

/// The same rows where no CPU is lower than p: it stays in every era.
#[test]
fn decision_table_of_3_7_without_a_target() {
    for kernel in [BEFORE_S0, AFTER_S0, V6_1] {
        let outcome = |curr| wake(kernel, &[], curr, false, Other::Higher);
        assert_eq!(outcome(LOWER), preempts(None), "{kernel}: nobody is low enough for curr either");
        assert_eq!(outcome(LOWER_PINNED), preempts(None), "{kernel}");
        assert_eq!(outcome(EQUAL), stays_waiting(0), "{kernel}");
        assert_eq!(outcome(HIGHER), stays_waiting(0), "{kernel}");
    }
}

/// Companion patch of 2.6.37: as after S0, but not behind or over a pinned one.
#[test]
fn higher_or_pinned_routes_around_a_pinned_task() {
    assert_eq!(wake(V2_6_37, &[], LOWER_PINNED, false, Other::Idle), moves());
    assert_eq!(wake(V2_6_37, &[], LOWER, false, Other::Idle), preempts(Some(1)));
    assert_eq!(wake(V2_6_37, &[], EQUAL, false, Other::Idle), stays_waiting(0));
}

/// The 2007 series asks whether p beats the best *queued* task, not the running one.
#[test]
fn not_preempting_looks_at_the_queue() {
    let settings = &["wake_route=not_preempting"];
    assert_eq!(wake(V6_1, settings, EQUAL, false, Other::Idle), moves());
    assert_eq!(wake(V6_1, settings, LOWER_PINNED, false, Other::Idle), preempts(None));

    for (route, on) in [("wake_route=not_preempting", 1), ("wake_route=ge_or_pinned", 0)] {
        let lab = Lab::new(2, V6_1, &[route]);
        let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
        // Queued, better than p, and not running yet.
        lab.spawn_unsettled(fifo(60), 0, 0, cpus(&[0]));
        lab.wake_unsettled(0, p);
        assert_eq!(lab.cpu_of(p), on, "{route}");
    }
}

/// E3: without a search and without a push, p waits until some CPU lowers its priority.
#[test]
fn e3_an_equal_waits_though_another_cpu_is_lower() {
    let lab = Lab::new(2, AFTER_S0, &[]);
    let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
    lab.spawn(fifo(50), 0);
    let low = lab.spawn(fifo(10), 1);
    lab.wake(0, p);
    assert_eq!(lab.running(1), low, "p waits behind its equal");
    lab.block(1);
    assert_eq!(lab.running(1), p, "CPU 1 lowered its priority and pulled it");
}

/// E4: over a pinned lower task, with another CPU idle.
#[test]
fn e4_a_pinned_lower_task_starves_or_not() {
    assert_eq!(wake(AFTER_S0, &[], LOWER_PINNED, false, Other::Idle), preempts(None));
    assert_eq!(wake(V2_6_37, &[], LOWER_PINNED, false, Other::Idle), moves());
}

/// E21: a wakeup that finds the running task already asked to reschedule leaves the push to the switch.
#[test]
fn e21_no_post_push_once_a_reschedule_is_pending() {
    let lab = Lab::new(2, AFTER_S0, &[]);
    let [p, high] = [50, 60].map(|priority| sleeper(&lab, fifo(priority), 0, CpuMask::ALL));
    let low = lab.spawn(fifo(40), 0);
    lab.wake_unsettled(0, high);
    lab.wake_unsettled(0, p);
    assert_eq!((lab.k.totals.pushes.get(), lab.cpu_of(p)), (0, 0));
    lab.settle();
    assert_eq!(running(&lab), [high, p], "the push after the switch took the best of those that wait");
    assert_eq!(lab.cpu_of(low), 0);
}

/// 3.5: the push after a wakeup. Search and verification are kept from routing, so that only the push can
/// move p.
#[test]
fn post_wakeup_push_by_variant() {
    // Whether p, queued behind `curr`, is pushed to the idle CPU 1 at once.
    let pushed =
        |route: &str, curr: Curr, p_allowed: &[u16]| pushes_after_wakeup(route, curr, p_allowed, false);
    let movable = &[0, 1, 2];
    for route in ["not_preempting", "any_rt", "strictly_higher", "higher_or_pinned", "ge_or_pinned"] {
        let route = &alloc::format!("wake_route={route}");
        assert!(pushed(route, HIGHER, movable), "{route}");
        assert!(!pushed(route, HIGHER, &[0]), "{route}: pinned");
        assert!(!pushed(route, LOWER, movable), "{route}: it preempts");
    }
    assert!(pushed("wake_route=any_rt", EQUAL, movable));
    assert!(!pushed("wake_route=strictly_higher", EQUAL, movable));
    assert!(!pushed("wake_route=higher_or_pinned", EQUAL, movable));
    assert!(pushed("wake_route=ge_or_pinned", EQUAL, movable));
    let equal_pinned = Curr::Rt { priority: 50, pinned: true };
    assert!(pushed("wake_route=higher_or_pinned", equal_pinned, movable));
    assert!(!pushed("wake_route=strictly_higher", equal_pinned, movable));
}

/// E21: once the running task is asked to make room, the push is left to the switch, but in the oldest form.
#[test]
fn e21_post_wakeup_push_with_a_reschedule_pending() {
    for route in ["any_rt", "strictly_higher", "higher_or_pinned", "ge_or_pinned", "not_preempting"] {
        let oldest = route == "not_preempting";
        let route = &alloc::format!("wake_route={route}");
        assert_eq!(pushes_after_wakeup(route, HIGHER, &[0, 1, 2], true), oldest, "{route}");
    }
}

/// Whether p, queued behind `curr` on CPU 0 by its wakeup, is pushed to CPU 2 at once; `flagged`: `curr` is
/// asked to reschedule already.
fn pushes_after_wakeup(route: &str, curr: Curr, p_allowed: &[u16], flagged: bool) -> bool {
    let lab = Lab::new(3, V6_1, &[route]);
    let p = sleeper(&lab, fifo(50), 0, cpus(p_allowed));
    lab.spawn_allowed(fifo(70), 1, cpus(&[1]));
    let Curr::Rt { priority, pinned } = curr else { unreachable!("an RT task runs in each case") };
    lab.spawn_allowed(fifo(priority), 0, if pinned { cpus(&[0]) } else { CpuMask::ALL });
    // Selection sees CPU 2 busy; by the time p is queued, it is free.
    let blocker = lab.spawn_allowed(fifo(70), 2, cpus(&[2]));
    lab.k.rq(crate::CpuId(0)).published.resched.overwrite(if flagged { Resched::Full } else { Resched::No });
    lab.meanwhile(
        |lock| lock == crate::platform::Lock::Rq(crate::CpuId(0)),
        crate::wakeup::try_to_wake_up(lab.cpu(0), p, Default::default()),
        |_| {
            if lab.running(2) == blocker {
                lab.block_unsettled(2);
            }
        },
    );
    lab.k.totals.pushes.get() == 1
}

/// 3.3: between search and move the target may have risen.
#[test]
fn wake_verify_target() {
    for (verify, on, reason) in [("on", 0, Reason::WakeTargetRose), ("off", 1, Reason::WakeRouted)] {
        let lab = Lab::new(2, V6_1, &[&alloc::format!("wake_verify_target={verify}")]);
        let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
        lab.spawn(fifo(60), 0);
        // What a search that ran a moment before would have seen: CPU 1 low, its queue no longer.
        lab.k.rq(crate::CpuId(1)).published.rt_highest.overwrite(fifo(55).normal_prio(Default::default()));
        assert_eq!(super::super::select_task_rq(lab.cpu(0), p, Default::default()).0, on);
        assert_eq!(lab.count(reason), 1);
    }
}

/// 2.3: a pinned newcomer evicts an equal that can go elsewhere, and nobody else.
#[test]
fn equal_priority_check() {
    let settings = |rule: &str| [alloc::format!("equal_prio_check={rule}")];
    for rule in ["curr_first", "newcomer_first"] {
        let [rule] = settings(rule);
        let evicts =
            |curr, p_pinned, other| wake(V6_1, &[&rule, "wake_route=strictly_higher"], curr, p_pinned, other);
        assert_eq!(evicts(EQUAL, true, Other::Idle), preempts(Some(1)), "{rule}");
        assert_eq!(evicts(EQUAL, true, Other::Higher), stays_waiting(0), "{rule}: curr has no target");
        assert_eq!(evicts(EQUAL, false, Other::Idle), stays_waiting(0), "{rule}: p has a target itself");
        let equal_pinned = Curr::Rt { priority: 50, pinned: true };
        assert_eq!(evicts(equal_pinned, true, Other::Idle), stays_waiting(0), "{rule}: curr is pinned");
    }
    assert_eq!(wake(V6_1, &["equal_prio_check=off"], EQUAL, true, Other::Idle), stays_waiting(0));
}

/// 2.3: the two orders of asking differ in what they read.
#[test]
fn equal_priority_check_asks_in_the_order_of_its_era() {
    let searches = |rule: &str, curr_allowed| {
        let lab = Lab::new(2, V6_1, &[rule, "wake_route=strictly_higher"]);
        let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
        lab.spawn_allowed(fifo(50), 0, curr_allowed);
        lab.forget();
        lab.wake_unsettled(0, p);
        lab.lines_touched(|line| line == crate::platform::Line::Root(RootId(0), RootLine::CpupriLevel(0)))
    };
    let movable = CpuMask::ALL;
    assert_eq!(searches("equal_prio_check=curr_first", movable), 2, "curr has a target, then p has one");
    assert_eq!(searches("equal_prio_check=newcomer_first", movable), 1, "p has one: no more questions");
    assert_eq!(
        searches("equal_prio_check=newcomer_first", cpus(&[0])),
        0,
        "a pinned curr: no question at all"
    );
}

/// 3.2: a fork is routed like a wakeup since 3.0; before, the child starts on the forking CPU.
#[test]
fn fork_is_routed_by_era() {
    for (kernel, on) in [(V6_1, 1), (BEFORE_S0, 0)] {
        let lab = Lab::new(2, kernel, &[]);
        lab.spawn(fifo(60), 0);
        let child = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
        assert_eq!(super::super::select_task_rq_fork(lab.cpu(0), child).0, on, "{kernel}");
    }
}

/// 3.5, any era: a pinned task makes its CPU push nobody else either, though one waits that could go (E20).
#[test]
fn a_pinned_task_that_is_woken_pushes_nobody() {
    for route in ["any_rt", "strictly_higher", "higher_or_pinned", "ge_or_pinned"] {
        let lab = Lab::new(2, V6_1, &[&alloc::format!("wake_route={route}")]);
        let p = sleeper(&lab, fifo(30), 0, cpus(&[0]));
        lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
        let waiting = lab.spawn_allowed(fifo(20), 0, cpus(&[0]));
        lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), waiting, CpuMask::ALL));
        lab.wake(0, p);
        assert_eq!((lab.cpu_of(waiting), lab.k.totals.pushes.get()), (0, 0), "{route}");
    }
}

/// 3.4: a remote reschedule sends one interrupt, unless the flag is set already.
#[test]
fn one_interrupt_for_a_pending_reschedule() {
    let lab = Lab::new(2, "6.1-rt", &[]);
    let [a, b] = [50, 60].map(|priority| sleeper(&lab, fifo(priority), 1, CpuMask::ALL));
    lab.wake_unsettled(0, a);
    lab.wake_unsettled(0, b);
    assert_eq!(lab.k.platform.ipis.borrow().len(), 1);
}

/// 3.5: a task that already executes is not a reason to push (it was woken while it was being switched away
/// from).
#[test]
fn no_post_push_for_the_running_task() {
    let lab = Lab::new(2, V6_1, &[]);
    let curr = lab.spawn_allowed(fifo(50), 0, CpuMask::ALL);
    let waiting = lab.spawn_unsettled(fifo(40), 0, 0, cpus(&[0]));
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), waiting, CpuMask::ALL));
    let me = lab.cpu(0);
    let cannot_run = |p| lab.run(async { super::super::wants_task_woken(&me.lock(me.id).await, p) });
    assert!(!cannot_run(curr));
    assert!(cannot_run(waiting));
}

/// 2.3: nothing happens for equals once the running task is asked to reschedule.
#[test]
fn no_equal_priority_check_with_a_reschedule_pending() {
    for (flagged, evicts) in [(false, 1), (true, 0)] {
        let lab = Lab::new(2, V6_1, &[]);
        let p = sleeper(&lab, fifo(50), 0, cpus(&[0]));
        lab.spawn_allowed(fifo(50), 0, CpuMask::ALL);
        lab.k.rq(crate::CpuId(0)).published.resched.overwrite(if flagged {
            Resched::Full
        } else {
            Resched::No
        });
        lab.wake_unsettled(0, p);
        assert_eq!(lab.count(Reason::PreemptEqual), evicts);
    }
}

/// 3.7: L(p) can be its last CPU itself; then it stays, whatever the era, and no target is verified.
#[test]
fn the_last_cpu_is_among_the_lowest() {
    let lab = Lab::new(2, BEFORE_S0, &["wake_verify_target=on"]);
    let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
    lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(40), 1, cpus(&[1]));
    lab.wake(1, p);
    assert_eq!((lab.running(0), lab.count(Reason::WakeLowestHere)), (p, 1));
}
