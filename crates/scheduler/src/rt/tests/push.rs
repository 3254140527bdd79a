//! Push: rt-class 1.4, 1.6, 5.2 to 5.4, E1, E2, E5 to E7.

use super::super::push::{HowMany, push_asked, push_rt_task, push_rt_tasks};
use super::super::push_away::push_away;
use super::{check_invariants, running, sleeper};
use crate::platform::Lock;
use crate::testing::{Lab, LockFilter, cpus, deadline, fifo, sched_setscheduler};
use crate::{CpuId, CpuMask, Policy, Reason, TaskId};

const V6_1: &str = "6.1.y";

/// A task that waits on `cpu`, where something better runs; nobody has acted on it yet.
fn waiter(lab: &Lab, priority: u8, cpu: u16, allowed: &[u16]) -> TaskId {
    let p = lab.spawn_unsettled(fifo(priority), 0, cpu, CpuMask::single(CpuId(cpu)));
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(cpu), p, cpus(allowed)));
    p
}

fn push(lab: &Lab, cpu: u16) {
    let me = lab.cpu(cpu);
    lab.run(async { drop(push_rt_tasks(me.lock(me.id).await).await) });
}

/// What CPU `cpu` gives away while other CPUs act before each lock of a queue that it takes.
fn push_meanwhile(lab: &Lab, cpu: u16, at: LockFilter, others: impl FnMut(Lock)) {
    let me = lab.cpu(cpu);
    lab.meanwhile(at, async { drop(push_rt_tasks(me.lock(me.id).await).await) }, others);
}

/// E1: two pinned tasks. By depth the CPU is overloaded, and others pull in vain.
#[test]
fn e1_two_pinned_tasks() {
    for (rule, overloaded, locked) in [("migratory", false, false), ("depth", true, true)] {
        let settings = [alloc::format!("overload_rule={rule}"), "pull_filter=none".into()];
        let lab = Lab::new(2, V6_1, &settings.each_ref().map(|s| s.as_str()));
        for priority in [10, 20] {
            lab.spawn_allowed(fifo(priority), 0, cpus(&[0]));
        }
        assert_eq!(lab.k.root_domain(CpuId(0)).rt.rto_count() == 1, overloaded, "{rule}");
        lab.spawn_allowed(fifo(5), 1, cpus(&[1]));
        lab.forget();
        lab.block(1);
        let asked = lab.k.platform.locks.borrow().contains(&Lock::Rq(CpuId(0)));
        assert_eq!(asked, locked, "{rule}");
        assert_eq!(lab.count(Reason::PullNothing) > 0, locked, "{rule}");
        check_invariants(&lab);
    }
}

/// E2: a pinned waiter before a movable one. Scanning by depth stops at the pinned one.
#[test]
fn e2_a_pinned_waiter_strands_a_movable_one_by_depth_only() {
    for (settings, moved) in [
        (&["overload_rule=migratory", "push_source=pushable_list"], true),
        (&["overload_rule=migratory", "push_source=queue_scan"], true),
        (&["overload_rule=depth", "push_source=queue_scan"], false),
    ] {
        let lab = Lab::new(2, V6_1, settings);
        lab.spawn_allowed(fifo(30), 0, cpus(&[0]));
        lab.spawn_allowed(fifo(20), 0, cpus(&[0]));
        let low = waiter(&lab, 10, 0, &[0, 1]);
        push(&lab, 0);
        assert_eq!(lab.cpu_of(low), u16::from(moved), "{settings:?}");
    }
}

/// E5: the head of the pushable list cannot move, the second could. `stop` leaves both, and a CPU that lowers
/// its priority takes the second; `drop_and_continue` gets there by itself.
#[test]
fn e5_the_head_blocks_the_rest_of_the_list() {
    for (rule, pushed) in [("stop", false), ("retry3", false), ("drop_and_continue", true)] {
        let lab = Lab::new(3, V6_1, &[&alloc::format!("push_fail={rule}")]);
        lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
        lab.spawn_allowed(fifo(40), 1, cpus(&[1]));
        let (head, second) = (waiter(&lab, 30, 0, &[0, 1]), waiter(&lab, 20, 0, &[0, 2]));
        push(&lab, 0);
        assert_eq!((lab.cpu_of(head), lab.cpu_of(second)), (0, if pushed { 2 } else { 0 }), "{rule}");
        if !pushed {
            lab.spawn_allowed(fifo(5), 2, cpus(&[2]));
            lab.block(2);
            assert_eq!(lab.running(2), second, "{rule}: pulled by a scan for what is allowed there");
        }
    }
}

/// 1.4, 5.3: a task that `drop_and_continue` dropped is invisible to pushes, and comes back as a preempted
/// task does.
#[test]
fn a_dropped_task_is_not_pushable_until_its_next_event() {
    let lab = Lab::new(2, V6_1, &["push_fail=drop_and_continue"]);
    lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
    let busy = lab.spawn_allowed(fifo(40), 1, cpus(&[1]));
    let p = waiter(&lab, 30, 0, &[0, 1]);
    let pushable =
        || lab.k.rq(CpuId(0)).inspect().is_some_and(|rq| rq.rt.pushable(&lab.k.tasks).any(|t| t == p));
    assert!(pushable());
    push(&lab, 0);
    assert!(!pushable() && lab.count(Reason::PushNoTarget) == 1);
    assert_eq!(lab.running(1), busy);
    push(&lab, 0);
    assert_eq!(lab.count(Reason::PushNoTarget), 1, "nothing left to try");
    lab.block(0);
    lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
    assert_eq!(lab.count(Reason::PushNoTarget), 2, "it ran, was preempted, and was tried once more");
}

/// E6: the target rises between search and lock: three tries, then the task stays.
#[test]
fn e6_three_tries() {
    let lab = Lab::new(5, V6_1, &[]);
    lab.spawn_allowed(fifo(40), 4, cpus(&[4]));
    let p = waiter(&lab, 30, 4, &[0, 1, 2, 3, 4]);
    let mut tries = 0;
    push_meanwhile(
        &lab,
        4,
        |lock| matches!(lock, Lock::Rq(cpu) if cpu < CpuId(4)),
        |lock| {
            let Lock::Rq(target) = lock else { unreachable!() };
            tries += 1;
            lab.spawn_unsettled(fifo(50), 0, target.0, CpuMask::single(target));
        },
    );
    assert_eq!((tries, lab.cpu_of(p)), (3, 4));
    assert_eq!((lab.count(Reason::PushNoTarget), lab.k.totals.pushes.get()), (1, 0));
    assert!(lab.idle(3), "a fourth try would have succeeded");
    lab.settle();
    check_invariants(&lab);
}

/// 5.4 step 2: a target that has risen by the time it is found is not even locked.
#[test]
fn a_target_that_rose_is_not_locked() {
    for (verify, locked) in [("on", false), ("off", true)] {
        let lab = Lab::new(2, V6_1, &[&alloc::format!("wake_verify_target={verify}")]);
        lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
        waiter(&lab, 30, 0, &[0, 1]);
        lab.k.rq(CpuId(1)).published.rt_highest.overwrite(fifo(35).normal_prio(Default::default()));
        lab.forget();
        push(&lab, 0);
        assert_eq!(lab.k.platform.locks.borrow().contains(&Lock::Rq(CpuId(1))), locked, "{verify}");
    }
}

/// E7: while the own lock was dropped the candidate went elsewhere; the push goes on with the next one.
#[test]
fn e7_the_candidate_is_gone() {
    for source in ["pushable_list", "queue_scan"] {
        let lab = Lab::new(3, V6_1, &[&alloc::format!("push_source={source}")]);
        lab.spawn_allowed(fifo(40), 2, cpus(&[2]));
        let (first, second) = (waiter(&lab, 30, 2, &[1, 2]), waiter(&lab, 20, 2, &[0, 1, 2]));
        let mut stolen = false;
        push_meanwhile(
            &lab,
            2,
            |lock| lock == Lock::Rq(CpuId(1)),
            |_| {
                if !stolen {
                    stolen = true;
                    // Somebody re-pins the candidate, which thereby leaves the pushable list.
                    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), first, cpus(&[2])));
                }
            },
        );
        assert_eq!((lab.cpu_of(first), lab.cpu_of(second)), (2, 0), "{source}");
        assert_eq!(lab.count(Reason::PushChanged), 1, "{source}");
        lab.settle();
        check_invariants(&lab);
    }
}

/// 5.4 step 4: the candidate ran, or its affinity no longer holds the target.
#[test]
fn revalidation_after_the_lock_was_dropped() {
    for source in ["pushable_list", "queue_scan"] {
        let pushed = |act: &dyn Fn(&Lab, TaskId)| {
            let lab = Lab::new(3, V6_1, &[&alloc::format!("push_source={source}"), "push_fail=stop"]);
            lab.spawn_allowed(fifo(40), 2, cpus(&[2]));
            let p = waiter(&lab, 30, 2, &[0, 2]);
            let mut done = false;
            push_meanwhile(
                &lab,
                2,
                |lock| lock == Lock::Rq(CpuId(0)),
                |_| {
                    if !done {
                        done = true;
                        act(&lab, p);
                    }
                },
            );
            lab.cpu_of(p) != 2
        };
        assert!(pushed(&|_, _| {}), "{source}");
        let runs = |lab: &Lab, p| {
            lab.block_unsettled(2);
            assert_eq!(lab.running(2), p);
        };
        assert!(!pushed(&runs), "{source}");
        let elsewhere =
            |lab: &Lab, p| lab.run(crate::affinity::set_cpus_allowed(lab.cpu(1), p, cpus(&[1, 2])));
        assert!(
            !pushed(&|lab, p| {
                elsewhere(lab, p);
                lab.spawn_allowed(fifo(50), 1, cpus(&[1]));
            }),
            "{source}"
        );
    }
}

/// 5.4 step 4: the candidate is no real-time task any more. (It goes before all of them where it is.)
#[test]
fn a_candidate_that_left_the_class_is_not_pushed() {
    for source in ["pushable_list", "queue_scan"] {
        let lab = Lab::new(2, V6_1, &[&alloc::format!("push_source={source}")]);
        lab.spawn_allowed(fifo(40), 1, cpus(&[1]));
        let p = waiter(&lab, 30, 1, &[0, 1]);
        let mut once = true;
        push_meanwhile(
            &lab,
            1,
            |lock| lock == Lock::Rq(CpuId(0)),
            |_| {
                if core::mem::take(&mut once) {
                    lab.run(sched_setscheduler(lab.cpu(1), p, deadline(5, 10, 10)));
                }
            },
        );
        lab.settle();
        assert_eq!((once, lab.running(1)), (false, p), "{source}");
    }
}

/// 5.3: with another candidate each time, `retry3` gives up after three restarts; `stop` goes on.
#[test]
fn retry3_restarts_three_times() {
    for (rule, searches) in [("retry3", 4), ("stop", 6)] {
        let lab = Lab::new(2, V6_1, &[&alloc::format!("push_fail={rule}")]);
        lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
        (10..16).for_each(|priority| _ = waiter(&lab, priority, 1, &[0, 1]));
        let mut seen = 0;
        let me = lab.cpu(1);
        let attempt = async { drop(push_rt_task(me.lock(me.id).await).await) };
        lab.meanwhile(
            |lock| lock == Lock::Rq(CpuId(0)),
            attempt,
            |_| {
                seen += 1;
                let first = lab.k.rq(CpuId(1)).inspect().and_then(|rq| rq.rt.pushable(&lab.k.tasks).next());
                lab.run(crate::affinity::set_cpus_allowed(
                    lab.cpu(0),
                    first.expect("one is left"),
                    cpus(&[1]),
                ));
            },
        );
        assert_eq!(seen, searches, "{rule}");
    }
}

/// 5.3 step 3: a candidate that beats the running task is about to run here.
#[test]
fn a_candidate_that_is_about_to_run_is_not_pushed() {
    let lab = Lab::new(2, V6_1, &[]);
    lab.spawn_allowed(fifo(10), 0, cpus(&[0]));
    let p = lab.spawn_unsettled(fifo(20), 0, 0, CpuMask::ALL);
    lab.spawn_unsettled(fifo(15), 0, 0, CpuMask::ALL);
    push(&lab, 0);
    assert_eq!((lab.count(Reason::PushPreempts), lab.k.totals.pushes.get()), (1, 0));
    lab.settle();
    assert_eq!(lab.running(0), p);
}

/// 5.4: the push after a switch runs under the lock of schedule, or takes the lock again.
#[test]
fn post_push_keeps_or_retakes_the_lock() {
    for (rule, times) in [("callback_locked", 1), ("tail_relock", 2)] {
        let lab = Lab::new(2, V6_1, &[&alloc::format!("post_push={rule}"), "double_lock=trylock"]);
        let low = lab.spawn(fifo(10), 0);
        lab.spawn_unsettled(fifo(20), 0, 0, CpuMask::ALL);
        lab.forget();
        lab.run(crate::schedule::schedule(lab.cpu(0), crate::schedule::Entry::Preemption));
        let own = lab.k.platform.locks.borrow().iter().filter(|lock| **lock == Lock::Rq(CpuId(0))).count();
        assert_eq!((own, lab.cpu_of(low)), (times, 1), "{rule}");
    }
}

/// 1.4: a preempted task keeps its turn in the queue, but not in the pushable list.
#[test]
fn a_preempted_task_is_pushed_after_equals_that_waited() {
    let lab = Lab::new(1, V6_1, &[]);
    let [a, b] = [0, 1].map(|_| lab.spawn_allowed(fifo(10), 0, CpuMask::ALL));
    lab.spawn(fifo(20), 0);
    let lists = lab.k.rq(CpuId(0)).inspect().map(|rq| {
        let queued: alloc::vec::Vec<_> = rq.rt.queued(&lab.k.tasks).skip(1).collect();
        (queued, rq.rt.pushable(&lab.k.tasks).next())
    });
    // One CPU: nothing is movable.
    assert_eq!(lists, Some((alloc::vec![a, b], None)));

    let lab = Lab::new(2, V6_1, &["wake_route=strictly_higher"]);
    lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
    let [a, b] = [0, 1].map(|_| lab.spawn_unsettled(fifo(10), 0, 0, CpuMask::ALL));
    lab.settle();
    lab.spawn_allowed(fifo(20), 0, cpus(&[0]));
    let rq = lab.k.rq(CpuId(0)).inspect().expect("no path is under way");
    let queued: alloc::vec::Vec<_> = rq.rt.queued(&lab.k.tasks).skip(1).collect();
    let pushable: alloc::vec::Vec<_> = rq.rt.pushable(&lab.k.tasks).collect();
    assert_eq!((queued, pushable), (alloc::vec![a, b], alloc::vec![b, a]));
}

/// A preempted task goes to the CPU that is lowest, and everything is told.
#[test]
fn the_preempted_task_is_pushed_after_the_switch() {
    let lab = Lab::new(3, "2.6.36+S0", &[]);
    let low = lab.spawn(fifo(10), 0);
    lab.spawn_allowed(fifo(5), 1, cpus(&[1]));
    let high = sleeper(&lab, fifo(20), 0, CpuMask::ALL);
    lab.wake(0, high);
    assert_eq!(running(&lab), [high, running(&lab)[1], low]);
    check_invariants(&lab);
}

/// 1.6, 5.3 step 1: a task that waits for a lower class to make room does not make its CPU overloaded.
#[test]
fn pushable_does_not_imply_overloaded() {
    let lab = Lab::new(2, V6_1, &[]);
    lab.spawn_unsettled(fifo(10), 0, 0, CpuMask::ALL);
    assert_eq!(lab.k.root_domain(CpuId(0)).rt.rto_count(), 0);
    push(&lab, 0);
    assert_eq!((lab.count(Reason::PushPreempts), lab.k.totals.pushes.get()), (0, 0));
}

/// 5.4: with `queue_scan` the push after a switch is tried whenever the CPU is overloaded; with the list,
/// only if something is on it.
#[test]
fn what_starts_the_push_after_a_switch() {
    for (source, tried) in [("queue_scan", 1), ("pushable_list", 0)] {
        let lab = Lab::new(2, V6_1, &["overload_rule=depth", &alloc::format!("push_source={source}")]);
        for priority in [10, 20] {
            lab.spawn_allowed(fifo(priority), 0, cpus(&[0]));
        }
        assert_eq!(lab.count(Reason::PushNoTarget), tried, "{source}");
    }
}

/// 5.4 step 4: a better task came while the own lock was dropped. The candidate is not the first any more,
/// though it still waits here; whoever scans the queue has no first one.
#[test]
fn what_has_to_hold_still() {
    for (rule, source, changed) in [
        ("first_pushable", "pushable_list", 1),
        ("first_pushable", "queue_scan", 0),
        ("still_queued", "pushable_list", 0),
    ] {
        let settings = ["push_revalidate", "push_source"].iter().zip([rule, source]);
        let settings: alloc::vec::Vec<_> =
            settings.map(|(name, value)| alloc::format!("{name}={value}")).collect();
        let lab = Lab::new(2, V6_1, &[&settings[0], &settings[1]]);
        lab.spawn_allowed(fifo(40), 1, cpus(&[1]));
        let p = waiter(&lab, 20, 1, &[0, 1]);
        let mut better = None;
        push_meanwhile(
            &lab,
            1,
            |lock| lock == Lock::Rq(CpuId(0)),
            |_| _ = better.get_or_insert_with(|| waiter(&lab, 30, 1, &[0, 1])),
        );
        let goes = if changed == 1 { better } else { Some(p) };
        assert_eq!(lab.count(Reason::PushChanged), changed, "{settings:?}");
        assert_eq!(goes.map(|p| lab.cpu_of(p)), Some(0), "{settings:?}");
    }
}

/// 1.4: the rules change while a task is queued that `drop_and_continue` had dropped: it is pushable again,
/// and nobody else is. (No kernel can do that.)
#[test]
fn a_dropped_task_comes_back_with_another_rule() {
    let lab = Lab::new(2, V6_1, &["push_fail=drop_and_continue"]);
    lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
    let runs = lab.spawn(fifo(40), 0);
    lab.spawn_allowed(fifo(35), 0, cpus(&[0]));
    let dropped = waiter(&lab, 30, 0, &[0, 1]);
    push(&lab, 0);
    let pushable = || {
        let rq = lab.k.rq(CpuId(0)).inspect().expect("no path is under way");
        rq.rt.pushable(&lab.k.tasks).collect::<alloc::vec::Vec<_>>()
    };
    assert_eq!((lab.running(0), pushable()), (runs, [].into()));
    lab.k.config.set("push_fail=stop").expect("a legal setting");
    for _ in [0, 1] {
        lab.run(super::super::rules_changed(lab.cpu(1)));
        assert_eq!(pushable(), [dropped]);
    }
    check_invariants(&lab);
}

/// 8.3: a request by interrupt that finds a candidate which may not migrate has the running task pushed away
/// instead, provided that this is a real-time task, and that a lower CPU exists for it. Other pushes do
/// nothing.
#[test]
fn when_the_running_task_is_pushed_away() {
    let away = |asked: bool, runs: Policy, there: u8| {
        let lab = Lab::new(2, "6.1-rt", &["push_ipi_bail=off"]);
        lab.with_stoppers();
        lab.spawn_allowed(fifo(there), 1, cpus(&[1]));
        let held = lab.spawn_allowed(fifo(30), 0, cpus(&[0]));
        lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), held, CpuMask::ALL));
        crate::migrate::migrate_disable(lab.cpu(0));
        lab.block(0);
        lab.spawn(runs, 0);
        lab.wake_unsettled(0, held);
        lab.spawn_unsettled(fifo(5), 0, 0, cpus(&[0]));
        let before = lab.count(Reason::PushHeld);
        if asked {
            let me = lab.cpu(0);
            lab.run(async { push_asked(me.lock(me.id).await, HowMany::All).await });
        } else {
            push(&lab, 0);
        }
        assert_eq!(lab.count(Reason::PushHeld), before + 1);
        lab.count(Reason::PushAway)
    };
    assert_eq!(away(true, fifo(60), 10), 1);
    assert_eq!(away(true, fifo(60), 90), 0, "no lower CPU");
    assert_eq!(away(true, Policy::Normal, 10), 0, "a fair task runs");
    assert_eq!(away(false, fifo(60), 10), 0, "nobody asked");
}

/// 8.3, 5.4 step 4: while the stopper waits for the second lock, the task that it is to move goes elsewhere,
/// sleeps, runs again, or the target is nothing for it any more.
#[test]
fn the_stopper_looks_again_under_both_locks() {
    let act = |act: &dyn Fn(&Lab, TaskId)| {
        let lab = Lab::new(3, V6_1, &["NO_RT_PUSH_IPI"]);
        lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
        lab.spawn_allowed(fifo(10), 2, cpus(&[2]));
        let p = waiter(&lab, 30, 1, &[0, 1, 2]);
        let mut once = true;
        lab.meanwhile(
            |lock| lock == Lock::Rq(CpuId(0)),
            push_away(lab.cpu(1), p),
            |_| {
                if core::mem::take(&mut once) {
                    act(&lab, p);
                }
            },
        );
        assert!(!once);
        lab.settle();
        check_invariants(&lab);
        (lab.cpu_of(p), lab.k.task(p).on_rq.get(), lab.k.totals.pushes.get())
    };
    assert_eq!(act(&|_, _| {}), (0, true, 1));
    let is_pulled = |lab: &Lab, _| _ = lab.block_unsettled(2);
    assert_eq!(act(&is_pulled), (2, true, 0));
    let sleeps = |lab: &Lab, _| [(); 2].iter().for_each(|()| _ = lab.block_unsettled(1));
    assert_eq!(act(&sleeps), (1, false, 0));
    let runs = |lab: &Lab, p| {
        lab.block_unsettled(1);
        assert_eq!(lab.running(1), p);
    };
    assert_eq!(act(&runs), (0, true, 1), "once it is looked at again, as a running task");
    let may_go_elsewhere =
        |lab: &Lab, p| lab.run(crate::affinity::set_cpus_allowed(lab.cpu(2), p, cpus(&[1, 2])));
    assert_eq!(act(&may_go_elsewhere), (2, true, 1));
    let target_rises = |lab: &Lab, _| _ = lab.spawn_unsettled(fifo(50), 0, 0, cpus(&[0]));
    assert_eq!(act(&target_rises), (2, true, 1));
}

/// 8.3: by the time the stopper comes, the task that it is to move is elsewhere, sleeps, or is no real-time
/// task any more: it does not even look for a CPU.
#[test]
fn the_stopper_comes_too_late() {
    let lab = Lab::new(3, V6_1, &[]);
    lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    lab.spawn_allowed(fifo(10), 2, cpus(&[2]));
    let p = waiter(&lab, 30, 1, &[0, 1, 2]);
    let comes = |cpu: u16| {
        let before = lab.k.totals.rt_searches.get();
        lab.run(push_away(lab.cpu(cpu), p));
        lab.k.totals.rt_searches.get() - before
    };
    assert_eq!(comes(0), 0, "elsewhere");
    lab.run(sched_setscheduler(lab.cpu(1), p, Policy::Normal));
    lab.settle();
    assert_eq!((comes(1), lab.cpu_of(p)), (0, 1), "a fair task");
    lab.run(sched_setscheduler(lab.cpu(1), p, fifo(70)));
    lab.settle();
    assert_eq!(lab.block(1), p);
    assert_eq!(comes(1), 0, "asleep");
    lab.wake(1, p);
    assert_eq!(lab.k.totals.pushes.get(), 0);
}
