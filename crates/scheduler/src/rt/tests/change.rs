//! Changes of priority, class and affinity: rt-class 2.1, 5.1, 7.3, E8, E9, E19, E20.

use super::{check_invariants, running, sleeper};
use crate::affinity::set_cpus_allowed;
use crate::testing::sched_setscheduler;
use crate::testing::{Lab, cpus, deadline, fifo, rr};
use crate::{CpuId, CpuMask, Policy, Reason, TaskId};
use alloc::vec::Vec;

fn set_policy(lab: &Lab, cpu: u16, p: TaskId, policy: Policy) {
    lab.run(sched_setscheduler(lab.cpu(cpu), p, policy));
}

fn queue(lab: &Lab, cpu: u16) -> Vec<TaskId> {
    lab.k.rq(CpuId(cpu)).inspect().map(|rq| rq.rt.queued(&lab.k.tasks).collect()).unwrap_or_default()
}

/// 2.1: to the tail when it rises, to the head when it drops, not at all when it stays.
#[test]
fn place_after_a_change_of_priority() {
    for (place, expected) in [("head", [0, 1, 2]), ("tail", [1, 2, 0])] {
        let lab = Lab::new(1, "6.1.y", &[&alloc::format!("setscheduler_place={place}")]);
        lab.spawn(fifo(90), 0);
        let p = lab.spawn(fifo(30), 0);
        let others = [0, 1].map(|_| lab.spawn(fifo(20), 0));
        set_policy(&lab, 0, p, fifo(20));
        let all = [p, others[0], others[1]];
        assert_eq!(queue(&lab, 0)[1..], expected.map(|i| all[i]), "{place}");
        set_policy(&lab, 0, p, rr(20));
        assert_eq!(queue(&lab, 0)[1..], expected.map(|i| all[i]), "{place}: same priority, not moved");
    }
    let lab = Lab::new(1, "6.1.y", &[]);
    lab.spawn(fifo(90), 0);
    let [p, other] = [fifo(10), fifo(20)].map(|policy| lab.spawn(policy, 0));
    set_policy(&lab, 0, p, fifo(20));
    assert_eq!(queue(&lab, 0)[1..], [other, p], "raised: behind its new equals");
}

/// 7.3: the running task drops: pull, and make room if something here beats it now.
#[test]
fn the_running_task_drops() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let p = lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
    let here = lab.spawn_allowed(fifo(30), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let there = lab.spawn_allowed(fifo(40), 1, CpuMask::ALL);
    set_policy(&lab, 0, p, fifo(50));
    assert_eq!(lab.cpu_of(there), 1, "nothing here or there beats it yet");
    set_policy(&lab, 0, p, fifo(20));
    assert_eq!(lab.cpu_of(there), 0, "pulled");
    lab.settle();
    assert_eq!(lab.running(0), there);
    lab.block(0);
    assert_eq!(lab.running(0), here);
    check_invariants(&lab);
}

/// 7.3, E19: a waiting task rises: it reschedules its CPU if it beats the running one, and is never pushed.
#[test]
fn e19_a_raised_waiter_is_not_pushed() {
    let lab = Lab::new(2, "6.1.y", &[]);
    lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let p = lab.spawn_allowed(fifo(20), 0, CpuMask::ALL);
    lab.block(1);
    lab.spawn_allowed(fifo(30), 1, cpus(&[1]));
    assert_eq!(lab.cpu_of(p), 1, "pulled, then preempted");
    let lab = Lab::new(2, "6.1.y", &[]);
    lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(30), 1, cpus(&[1]));
    let p = lab.spawn_allowed(fifo(20), 0, CpuMask::ALL);
    set_policy(&lab, 0, p, fifo(40));
    lab.settle();
    assert_eq!(lab.cpu_of(p), 0, "it beats what CPU 1 runs, and nobody moves it");
    set_policy(&lab, 0, p, fifo(70));
    lab.settle();
    assert_eq!(lab.running(0), p);
}

/// 5.1: a task enters the class while it waits in an overloaded queue: pushed, or it preempts.
#[test]
fn entering_the_class_pushes_or_preempts() {
    for post_push in ["post_push=callback_locked", "post_push=tail_relock"] {
        let lab = Lab::new(2, "6.1.y", &[post_push]);
        lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
        lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
        let p = lab.spawn_allowed(Policy::Normal, 0, CpuMask::ALL);
        lab.block(1);
        assert_eq!(lab.k.totals.pushes.get(), 0);
        set_policy(&lab, 1, p, fifo(20));
        lab.settle();
        assert_eq!((lab.running(1), lab.k.totals.pushes.get()), (p, 1), "{post_push}");

        let q = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        set_policy(&lab, 0, q, fifo(70));
        lab.settle();
        assert_eq!(lab.running(0), q, "{post_push}");
        check_invariants(&lab);
    }
}

/// 5.1: the last RT task of a CPU leaves the class there: pull.
#[test]
fn leaving_the_class_pulls() {
    let lab = Lab::new(2, "6.1.y", &[]);
    lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
    let p = lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let waiting = lab.spawn_allowed(fifo(20), 0, CpuMask::ALL);
    set_policy(&lab, 1, p, Policy::Normal);
    lab.settle();
    assert_eq!(lab.running(1), waiting);
    check_invariants(&lab);
}

/// E8: affinity narrowed to one CPU while pushable. E20: widened again: pushable, overloaded, and nobody
/// pushes.
#[test]
fn e8_and_e20_affinity_of_a_waiter() {
    let lab = Lab::new(2, "6.1.y", &[]);
    lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
    let busy = lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let p = lab.spawn_allowed(fifo(20), 0, CpuMask::ALL);
    let pushable =
        || lab.k.rq(CpuId(0)).inspect().is_some_and(|rq| rq.rt.pushable(&lab.k.tasks).any(|t| t == p));
    assert!(pushable() && lab.k.root_domain(CpuId(0)).rt.rto_count() == 1);
    lab.run(set_cpus_allowed(lab.cpu(0), p, cpus(&[0])));
    assert!(!pushable() && lab.k.root_domain(CpuId(0)).rt.rto_count() == 0);
    check_invariants(&lab);
    lab.block(1);
    assert!(lab.idle(1));
    lab.run(set_cpus_allowed(lab.cpu(0), p, CpuMask::ALL));
    lab.settle();
    assert!(pushable() && lab.k.root_domain(CpuId(0)).rt.rto_count() == 1);
    assert!(lab.idle(1), "no balancing follows from an affinity");
    lab.wake(1, busy);
    lab.block(1);
    assert_eq!(lab.running(1), p);
}

/// E9: the running task may no longer run here: the stopper moves it, which is a forced migration.
#[test]
fn e9_the_stopper_moves_a_running_task() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let p = lab.spawn(fifo(20), 0);
    lab.run(set_cpus_allowed(lab.cpu(0), p, cpus(&[1])));
    lab.settle();
    assert_eq!(running(&lab), [TaskId(0), p]);
    let stats = &lab.k.task(p).stats;
    assert_eq!((stats.nr_migrations.get(), stats.nr_involuntary_switches.get()), (1, 1));
    check_invariants(&lab);
}

/// 2.1: a queued task keeps its place when its affinity changes.
#[test]
fn affinity_does_not_move_a_task_in_its_list() {
    let lab = Lab::new(2, "6.1.y", &[]);
    lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let waiting = [0, 1].map(|_| lab.spawn_allowed(fifo(20), 0, cpus(&[0])));
    lab.run(set_cpus_allowed(lab.cpu(0), waiting[0], CpuMask::ALL));
    assert_eq!(queue(&lab, 0)[1..], waiting);
}

/// 2.1: yield goes behind equals, and never lets a lower task run (E14).
#[test]
fn e14_yield() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let [a, b] = [0, 1].map(|_| lab.spawn(fifo(20), 0));
    lab.spawn(fifo(10), 0);
    let sched_yield = || {
        lab.run(crate::schedule::sched_yield(lab.cpu(0)));
        lab.running(0)
    };
    assert_eq!([sched_yield(), sched_yield()], [b, a]);
    lab.block(0);
    assert_eq!(sched_yield(), b, "alone at its priority it goes on");
    assert_eq!(lab.k.task(b).stats.nr_involuntary_switches.get(), 1);
}

/// A sleeper's changes are fields only.
#[test]
fn a_sleeper_changes_without_consequences() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let p = sleeper(&lab, fifo(20), 0, CpuMask::ALL);
    set_policy(&lab, 1, p, fifo(30));
    lab.run(set_cpus_allowed(lab.cpu(1), p, cpus(&[1])));
    check_invariants(&lab);
    lab.wake(0, p);
    assert_eq!(lab.running(1), p);
}

/// 5.1: only a running task that *drops* pulls, and only the last RT task that leaves the class does.
#[test]
fn what_does_not_pull() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let p = lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(10), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let waiting = lab.spawn_allowed(fifo(30), 1, cpus(&[1]));
    set_policy(&lab, 0, p, fifo(20));
    lab.run(set_cpus_allowed(lab.cpu(0), waiting, CpuMask::ALL));
    set_policy(&lab, 0, p, fifo(25));
    lab.settle();
    assert_eq!(
        (lab.running(0), lab.cpu_of(waiting)),
        (p, 1),
        "raised, though still lower than what waits there"
    );
    set_policy(&lab, 0, p, Policy::Normal);
    lab.settle();
    assert_eq!((lab.k.totals.pulls.get(), lab.cpu_of(waiting)), (0, 1), "another RT task is left here");
}

/// 7.3: the running task dropped, and while its queue's lock was dropped for the pull, it went to sleep:
/// nobody has to make room.
#[test]
fn the_task_that_dropped_is_gone_after_the_pull() {
    let lab = Lab::new(3, "6.1.y", &[]);
    let p = lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let other = lab.spawn_allowed(fifo(50), 1, cpus(&[1]));
    lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(70), 2, cpus(&[2]));
    let waiting = lab.spawn_allowed(fifo(55), 0, cpus(&[0]));
    lab.run(set_cpus_allowed(lab.cpu(0), waiting, cpus(&[0, 2])));
    let path = sched_setscheduler(lab.cpu(2), p, fifo(20));
    let mut once = true;
    lab.meanwhile(
        |lock| lock == crate::platform::Lock::Rq(CpuId(0)),
        path,
        |_| {
            if core::mem::take(&mut once) {
                lab.block_unsettled(1);
            }
        },
    );
    assert!(!once && lab.running(1) == other);
    assert!(!lab.k.rq(CpuId(1)).published.is_asked());
}

/// 5.1: only a task that may move makes its CPU push. (The other one waits since its affinity was widened:
/// E20.)
#[test]
fn a_pinned_task_that_enters_the_class_pushes_nobody() {
    for post_push in ["post_push=callback_locked", "post_push=tail_relock"] {
        let lab = Lab::new(2, "6.1.y", &[post_push]);
        lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
        let waiting = lab.spawn_allowed(fifo(20), 0, cpus(&[0]));
        lab.run(set_cpus_allowed(lab.cpu(0), waiting, CpuMask::ALL));
        let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        set_policy(&lab, 0, p, fifo(10));
        lab.settle();
        assert_eq!((lab.cpu_of(waiting), lab.k.totals.pushes.get()), (0, 0), "{post_push}");
    }
}

/// 5.1, 5.4: while the push of a task that entered the class waits for a lock, the task runs elsewhere, or
/// has run and sleeps: nobody here has to make room for it.
#[test]
fn who_is_gone_after_the_push_does_not_preempt() {
    let is_asked = |act: &dyn Fn(&Lab)| {
        let lab = Lab::new(2, "6.1.y", &["post_push=tail_relock", "NO_RT_PUSH_IPI"]);
        lab.spawn_allowed(fifo(10), 0, cpus(&[0]));
        lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
        let p = lab.spawn_allowed(Policy::Normal, 1, CpuMask::ALL);
        let mut once = true;
        lab.meanwhile(
            |lock| lock == crate::platform::Lock::Rq(CpuId(0)),
            sched_setscheduler(lab.cpu(1), p, fifo(20)),
            |_| {
                if core::mem::take(&mut once) {
                    act(&lab);
                }
            },
        );
        assert!(!once && lab.idle(1));
        let asked = lab.k.rq(CpuId(1)).published.is_asked();
        lab.settle();
        (asked, lab.running(0) == p)
    };
    let sleeps = |lab: &Lab| {
        lab.block_unsettled(1);
        lab.block_unsettled(1);
    };
    assert_eq!(is_asked(&sleeps), (false, false));
    let is_pulled = |lab: &Lab| {
        lab.block_unsettled(0);
        lab.block_unsettled(1);
    };
    assert_eq!(is_asked(&is_pulled), (false, true));
}

/// 5.1, deadline-groups A: who leaves the deadline class makes room for real-time tasks that are better than
/// what it is now; for the other classes their own rules see to it.
#[test]
fn who_leaves_the_deadline_class_makes_room_for_better_ones() {
    for (waits, becomes, drops) in [
        (fifo(60), fifo(50), 1),
        (fifo(50), fifo(50), 0),
        (fifo(40), fifo(50), 0),
        (fifo(40), Policy::Normal, 0),
    ] {
        let lab = Lab::new(1, "6.1.y", &[]);
        let p = lab.spawn(deadline(5, 10, 10), 0);
        lab.spawn(waits, 0);
        assert_eq!(lab.running(0), p);
        set_policy(&lab, 0, p, becomes);
        assert_eq!(lab.count(Reason::PrioDropped), drops, "{waits:?} waits for {becomes:?}");
        lab.settle();
        assert_eq!(lab.running(0) == p, drops == 0 && becomes != Policy::Normal);
    }
}
