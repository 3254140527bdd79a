//! Pull: rt-class 1.5, 5.1, 5.5, 5.6, E10, E12.

use super::{check_invariants, running};
use crate::RootId;
use crate::migrate::migrate_disable;
use crate::platform::RootLine;
use crate::platform::{Line, Lock};
use crate::testing::{Lab, cpus, deadline, fifo};
use crate::{CpuId, CpuMask, Nanos, Policy, Prio, Reason, TaskId};

const PULL: &str = "NO_RT_PUSH_IPI";

fn prio(policy: Policy) -> Prio {
    policy.normal_prio(Default::default())
}

/// CPU `cpu` runs a pinned task of priority 50, and a movable one of `priority` waits behind it.
fn overload(lab: &Lab, cpu: u16, priority: u8) -> TaskId {
    lab.spawn_allowed(fifo(50), cpu, CpuMask::single(CpuId(cpu)));
    let p = lab.spawn_unsettled(fifo(priority), 0, cpu, CpuMask::single(CpuId(cpu)));
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(cpu), p, CpuMask::ALL));
    p
}

#[test]
fn a_cpu_that_lowers_its_priority_pulls_the_best() {
    let lab = Lab::new(3, "6.1.y", &[PULL]);
    lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
    let [low, high] = [overload(&lab, 1, 20), overload(&lab, 2, 30)];
    lab.block(0);
    assert_eq!(lab.running(0), high, "the walk went on after its first success");
    assert_eq!((lab.cpu_of(low), lab.k.totals.pulls.get()), (0, 2));
    check_invariants(&lab);
}

/// 5.1: only a schedule that leaves something lower behind pulls.
#[test]
fn no_pull_where_an_equal_is_left() {
    let lab = Lab::new(2, "6.1.y", &[PULL]);
    for _ in [0, 1] {
        lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
    }
    overload(&lab, 1, 45);
    lab.block(0);
    assert_eq!(lab.k.totals.pulls.get(), 0);
    lab.block(0);
    assert_eq!(lab.k.totals.pulls.get(), 1);
}

/// Both filter and the check under the locks are strict.
#[test]
fn nothing_is_pulled_for_an_equal_priority() {
    for filter in ["next_prio", "none"] {
        let lab = Lab::new(2, "6.1.y", &[PULL, &alloc::format!("pull_filter={filter}")]);
        lab.spawn_allowed(fifo(30), 0, cpus(&[0]));
        lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
        overload(&lab, 1, 30);
        lab.block(0);
        let reason = if filter == "none" { Reason::PullNothing } else { Reason::PullSkipped };
        assert_eq!((lab.k.totals.pulls.get(), lab.count(reason)), (0, 1), "{filter}");
    }
}

/// 5.5 step 1: with nobody overloaded, one shared line is read and no lock is taken.
#[test]
fn no_overload_no_lock() {
    let lab = Lab::new(2, "6.1.y", &[PULL]);
    lab.spawn(fifo(10), 0);
    lab.forget();
    lab.block(0);
    assert_eq!(lab.lines_touched(|line| line == Line::Root(RootId(0), RootLine::Rto)), 1);
    assert_eq!(*lab.k.platform.locks.borrow(), [Lock::Rq(CpuId(0))]);
}

/// E12: a task that has just been woken elsewhere and preempts there is not taken away.
#[test]
fn e12_a_task_about_to_run_is_not_pulled() {
    let lab = Lab::new(2, "6.1.y", &[PULL]);
    lab.spawn_allowed(fifo(5), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(50), 1, cpus(&[1]));
    let woken = lab.spawn_unsettled(fifo(60), 0, 1, CpuMask::ALL);
    lab.block_unsettled(0);
    assert_eq!((lab.count(Reason::PullPreempts), lab.cpu_of(woken)), (1, 1));
    lab.settle();
    assert_eq!(lab.running(1), woken);
}

/// deadline-groups E7.5: the same behind a soft interrupt, which keeps its CPU from switching for as long as
/// it takes: whoever lowers meanwhile locks that CPU, finds that the waiting task beats the fair one there,
/// and leaves it.
#[test]
fn who_waits_for_a_soft_interrupt_is_not_pulled() {
    let lab = Lab::new(3, "6.18", &[PULL]);
    let fair = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    for cpu in [1, 2] {
        lab.spawn_allowed(fifo(50), cpu, cpus(&[cpu]));
    }
    let waiters = [1, 1].map(|priority| lab.spawn_unsettled(fifo(priority), 0, 0, CpuMask::ALL));
    lab.forget();
    for cpu in [1, 2] {
        lab.block_unsettled(cpu);
        assert!(lab.k.platform.locks.borrow().contains(&Lock::Rq(CpuId(0))), "CPU {cpu} has looked");
        lab.forget();
        assert_eq!((lab.running(0), lab.idle(cpu)), (fair, true));
    }
    assert_eq!(waiters.map(|p| lab.cpu_of(p)), [0, 0]);
    assert_eq!((lab.count(Reason::PullPreempts), lab.k.totals.pulls.get()), (2, 0));
    // It ends: one runs here, and there is room for the other.
    lab.settle();
    assert_eq!(lab.running(0), waiters[0]);
    assert_ne!(lab.cpu_of(waiters[1]), 0);
}

/// E10, pull: of K CPUs that lower at once, each locks the overloaded one, and one gets the task.
#[test]
fn e10_the_herd() {
    let lab = Lab::new(4, "6.1.y", &[PULL, "pull_filter=none"]);
    let pinned = [0, 1, 2].map(|cpu| lab.spawn_allowed(fifo(60), cpu, cpus(&[cpu])));
    let p = overload(&lab, 3, 20);
    // All three read the overload mask before any of them has the lock.
    let herd = |cpu: u16| {
        lab.k.task(lab.running(cpu)).state.overwrite(crate::TaskState::Interruptible);
        crate::schedule::schedule(lab.cpu(cpu), crate::schedule::Entry::Call)
    };
    let at_source = |lock| lock == Lock::Rq(CpuId(3));
    let mut nested = false;
    lab.meanwhile(at_source, herd(0), |_| {
        if !core::mem::replace(&mut nested, true) {
            let mut nested = false;
            lab.meanwhile(at_source, herd(1), |_| {
                if !core::mem::replace(&mut nested, true) {
                    lab.run(herd(2));
                }
            });
        }
    });
    assert_eq!(lab.cpu_of(p), 2);
    assert_eq!((lab.k.totals.pulls.get(), lab.count(Reason::PullNothing)), (1, 2));
    assert!(pinned.iter().all(|p| !running(&lab).contains(p)));
    lab.settle();
    check_invariants(&lab);
}

/// rt-class 11.1: no tick has moved the clock of the queue from which it is taken.
#[test]
fn who_is_pulled_has_waited_until_then() {
    let lab = Lab::new(2, "6.1.y", &[PULL]);
    lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let p = overload(&lab, 0, 20);
    lab.advance(Nanos(700_000));
    lab.block(1);
    assert_eq!(lab.cpu_of(p), 1);
    assert!(lab.k.task(p).stats.wait_sum.get() >= Nanos(700_000), "{:?}", lab.k.task(p).stats.wait_sum);
}

/// 5.5d: what was read before the lock was dropped is stale: something better arrived here meanwhile.
#[test]
fn the_own_queue_is_looked_at_again_after_the_lock_was_dropped() {
    let lab = Lab::new(2, "6.1.y", &[PULL]);
    lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let p = overload(&lab, 0, 20);
    let mut better = None;
    lab.k.task(lab.running(1)).state.overwrite(crate::TaskState::Interruptible);
    let path = crate::schedule::schedule(lab.cpu(1), crate::schedule::Entry::Call);
    lab.meanwhile(
        |lock| lock == Lock::Rq(CpuId(0)),
        path,
        |_| {
            if better.is_none() {
                better = Some(lab.spawn_unsettled(fifo(30), 0, 1, cpus(&[1])));
            }
        },
    );
    assert_eq!((lab.cpu_of(p), lab.count(Reason::PullNothing)), (0, 1));
    assert_eq!(Some(lab.running(1)), better);
}

/// 5.5c: the first pushable task is not allowed here, the second is; both sources find it. A task that the
/// push dropped from the pushable list is found only by the scan.
#[test]
fn pull_source() {
    for source in ["pushable_list", "queue_scan"] {
        let lab = Lab::new(3, "6.1.y", &[PULL, &alloc::format!("pull_source={source}")]);
        lab.spawn_allowed(fifo(5), 0, cpus(&[0]));
        let first = overload(&lab, 1, 30);
        lab.run(crate::affinity::set_cpus_allowed(lab.cpu(1), first, cpus(&[1, 2])));
        let second = overload(&lab, 1, 20);
        lab.block_unsettled(0);
        assert_eq!(lab.running(0), second, "{source}");
    }
    for (source, found) in [("pushable_list", false), ("queue_scan", true)] {
        let settings = [PULL, "push_fail=drop_and_continue", "pull_filter=none"];
        let lab = Lab::new(2, "6.1.y", &settings);
        lab.k.config.set(&alloc::format!("pull_source={source}")).expect("a legal setting");
        lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
        let p = overload(&lab, 1, 20);
        let me = lab.cpu(1);
        lab.run(async { drop(super::super::push::push_rt_tasks(me.lock(me.id).await).await) });
        lab.block(0);
        assert_eq!(lab.running(0) == p, found, "{source}");
    }
}

/// 1.5: what counts as `next`.
#[test]
fn next_by_definition() {
    let next = |lab: &Lab| lab.k.rq(CpuId(0)).published.rt_next.get();
    let lab = Lab::new(2, "6.1.y", &["next_def=first_pushable"]);
    lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
    lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
    assert_eq!(next(&lab), Prio::NO_RT, "a pinned waiter does not count");
    lab.spawn_allowed(fifo(30), 0, CpuMask::ALL);
    assert_eq!(next(&lab), prio(fifo(30)));
    lab.spawn_unsettled(fifo(60), 0, 0, CpuMask::ALL);
    assert_eq!(next(&lab), prio(fifo(60)), "a task about to preempt counts");

    let lab = Lab::new(2, "6.1.y", &["next_def=second_best"]);
    lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
    let spawn = |priority| lab.spawn_allowed(fifo(priority), 0, cpus(&[0]));
    spawn(50);
    assert_eq!(next(&lab), Prio::NO_RT, "better than nothing: next is the old best, none");
    spawn(60);
    assert_eq!(
        next(&lab),
        prio(fifo(50)),
        "the new one beats everything: next is the old best, pinned or not"
    );
    spawn(60);
    assert_eq!(next(&lab), prio(fifo(60)), "equal to the best");
    lab.block(0);
    assert_eq!(next(&lab), Prio::NO_RT, "one at or above next left: looked for again, and all are pinned");
    let waiting = lab.spawn_allowed(fifo(40), 0, CpuMask::ALL);
    assert_eq!(next(&lab), prio(fifo(40)), "in between: looked for again");
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), waiting, cpus(&[0])));
    assert_eq!(next(&lab), Prio::NO_RT);

    let lab = Lab::new(2, "6.1.y", &["next_def=second_best"]);
    lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
    lab.spawn(fifo(60), 0);
    let [left, stays] = [40, 30].map(|priority| lab.spawn_unsettled(fifo(priority), 0, 0, CpuMask::ALL));
    assert_eq!((next(&lab), lab.cpu_of(stays)), (prio(fifo(40)), 0));
    lab.run(crate::testing::sched_setscheduler(lab.cpu(0), left, Policy::Normal));
    assert_eq!(next(&lab), prio(fifo(30)), "the one that executes does not count");
}

/// 5.6: what the two ways of taking a second lock do to the first one.
#[test]
fn double_lock() {
    let locks = |rule: &str, puller: u16, source: u16| {
        let lab = Lab::new(2, "6.1.y", &[PULL, rule]);
        lab.spawn_allowed(fifo(60), puller, cpus(&[puller]));
        overload(&lab, source, 20);
        lab.forget();
        lab.block_unsettled(puller);
        assert_eq!(lab.k.totals.pulls.get(), 1);
        lab.k.platform.locks.borrow().iter().copied().collect::<alloc::vec::Vec<_>>()
    };
    let rq = |cpu| Lock::Rq(CpuId(cpu));
    assert_eq!(locks("double_lock=fair", 1, 0), [rq(1), rq(0), rq(1)]);
    assert_eq!(locks("double_lock=fair", 0, 1), [rq(0), rq(0), rq(1)]);
    assert_eq!(locks("double_lock=trylock", 1, 0), [rq(1), rq(0)]);
}

/// 5.5c: the kernels that scanned did so only where two RT tasks were left.
#[test]
fn a_scan_needs_two_tasks() {
    for (source, found) in [("pushable_list", true), ("queue_scan", false)] {
        let lab = Lab::new(2, "6.1.y", &[&alloc::format!("pull_source={source}")]);
        let p = lab.spawn_unsettled(fifo(20), 0, 0, CpuMask::ALL);
        let me = lab.cpu(1);
        let candidate = lab.run(async {
            super::super::pushable::pick_highest_pushable_task(&me.lock(CpuId(0)).await, CpuId(1))
        });
        assert_eq!(candidate == Some(p), found, "{source}");
    }
}

/// 5.5c: a task that waits for the stopper to take it to the only CPU that it may use now is left to that.
#[test]
fn a_scan_passes_over_who_is_bound_to_the_puller() {
    for (allowed, found) in [(cpus(&[0]), false), (cpus(&[0, 2]), true)] {
        let lab = Lab::new(3, "6.1.y", &["pull_source=queue_scan"]);
        let p = overload(&lab, 1, 20);
        lab.k.task(p).set_cpus_allowed(&crate::shared::Unseen, allowed);
        let me = lab.cpu(0);
        let candidate = lab.run(async {
            super::super::pushable::pick_highest_pushable_task(&me.lock(CpuId(1)).await, CpuId(0))
        });
        assert_eq!(candidate == Some(p), found, "{allowed:?}");
    }
}

/// 5.5 step 4: outside schedule() a pull asks for one.
#[test]
fn a_pull_reschedules() {
    let lab = Lab::new(2, "6.1.y", &[PULL]);
    overload(&lab, 1, 20);
    let me = lab.cpu(0);
    let flagged =
        lab.run(async { super::super::pull::pull_rt_task(me.lock(me.id).await).await.need_resched() });
    assert!(flagged && lab.k.totals.pulls.get() == 1);
}

/// 1.6: one task that waits behind a fair one is overload by the pushable list alone.
#[test]
fn a_single_waiting_task_is_overload_by_the_pushable_list_alone() {
    let is_overload = |rule: &str| {
        let lab = Lab::new(2, "6.1.y", &[PULL, rule]);
        lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        // In its queue, before its CPU looks.
        lab.spawn_unsettled(fifo(30), 0, 1, cpus(&[0, 1]));
        check_invariants(&lab);
        lab.k.root_domain(CpuId(0)).rt.rto_mask().contains(CpuId(1))
    };
    assert!(is_overload("overload_rule=pushable"));
    assert!(!is_overload("overload_rule=migratory"));
}

/// 1.6: a preempted task that may move is overload by the pushable list, once it has stopped running.
#[test]
fn a_preempted_task_is_overload_by_the_pushable_list() {
    for (preempted, overloaded) in [(CpuMask::ALL, true), (cpus(&[0]), false)] {
        let lab = Lab::new(2, "6.1.y", &["overload_rule=pushable"]);
        lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
        lab.spawn_allowed(fifo(50), 0, preempted);
        lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
        assert_eq!(lab.k.root_domain(CpuId(0)).rt.rto_mask().contains(CpuId(0)), overloaded);
        check_invariants(&lab);
    }
}

/// 5.1: a deadline task that another one preempts is still here: the CPU does not lower its priority.
#[test]
fn a_preempted_deadline_task_does_not_pull() {
    let lab = Lab::new(2, "6.1.y", &[PULL]);
    let waiting = overload(&lab, 1, 20);
    let deadlines = [(1, 2), (0, 100)].map(|(cpu, ms)| lab.spawn(deadline(1, ms, ms), cpu));
    assert_eq!(running(&lab), [deadlines[1], deadlines[0]]);
    let earlier = lab.spawn(deadline(5, 10, 10), 0);
    assert_eq!((lab.running(0), lab.cpu_of(deadlines[1])), (earlier, 0));
    assert_eq!((lab.cpu_of(waiting), lab.k.totals.pulls.get()), (1, 0));
}

/// `rt_balance=off`: nobody takes or gives, whatever the route.
#[test]
fn without_balancing_nobody_takes_or_gives() {
    for route in ["cfs_load", "not_preempting", "any_rt", "strictly_higher", "ge_or_pinned"] {
        for source in ["pushable_list", "queue_scan"] {
            let route = alloc::format!("wake_route={route}");
            let settings = [&route, "rt_balance=off", &alloc::format!("push_source={source}"), PULL];
            let lab = Lab::new(2, "6.1.y", &settings);
            lab.spawn_allowed(fifo(40), 1, cpus(&[1]));
            let p = overload(&lab, 0, 20);
            let woken = lab.spawn_unsettled(fifo(10), 0, 0, CpuMask::ALL);
            lab.settle();
            lab.block(1);
            let me = lab.cpu(0);
            lab.run(async { drop(super::super::push::push_rt_tasks(me.lock(me.id).await).await) });
            assert_eq!([p, woken].map(|p| lab.cpu_of(p)), [0, 0], "{settings:?}");
            assert!(lab.idle(1), "{settings:?}");
        }
    }
}

/// 8.3: the source's running task is asked to leave only if it is a real-time task that may go, and only
/// once.
#[test]
fn whom_a_pull_has_pushed_away() {
    let asked = |runs: Policy, movable: bool, held: bool| {
        let lab = Lab::new(3, "6.1.y", &[PULL]);
        lab.with_stoppers();
        for cpu in [1, 2] {
            lab.spawn_allowed(fifo(50), cpu, CpuMask::single(CpuId(cpu)));
        }
        let widen = || lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), lab.running(0), CpuMask::ALL));
        lab.spawn_allowed(fifo(20), 0, cpus(&[0]));
        widen();
        migrate_disable(lab.cpu(0));
        lab.spawn_allowed(fifo(10), 0, cpus(&[0]));
        lab.spawn_allowed(runs, 0, cpus(&[0]));
        if movable {
            widen();
        }
        if held {
            migrate_disable(lab.cpu(0));
        }
        let before = lab.count(Reason::PushHeld);
        // The stopper has not yet come when CPU 2 asks, too.
        for cpu in [1, 2] {
            lab.block_unsettled(cpu);
        }
        assert_eq!(lab.count(Reason::PushHeld), before + 2);
        lab.count(Reason::PushAway)
    };
    assert_eq!(asked(fifo(60), true, false), 1);
    assert_eq!(asked(fifo(60), false, false), 0, "pinned");
    assert_eq!(asked(fifo(60), true, true), 0, "it may not migrate either");
    assert_eq!(asked(deadline(5, 10, 10), true, false), 0, "of a higher class");
}
