//! rt-class 7.2, 7.4, 7.5; E15, E17; P13 for one mutex.

use super::{Bench, kernel_prio};
use crate::mutex::{FastPath, LockOutcome, lock_fast, unlock_fast};
use crate::testing::{cpus, fifo};
use crate::{Class, Event, Policy, Reason, SwitchState, TaskId, TaskState};
use alloc::vec;
use alloc::vec::Vec;

#[test]
fn without_contention_no_kernel_is_entered() {
    let (b, [p]) = Bench::pinned([10]);
    let m = b.pi();
    b.lab.forget();
    assert_eq!(lock_fast(b.on_cpu(p), p, m), FastPath::Done);
    assert_eq!(b.owner(m), Some(p));
    assert_eq!(unlock_fast(b.on_cpu(p), p, m), Ok(FastPath::Done));
    assert_eq!(b.owner(m), None);
    assert!(b.lab.k.platform.locks.borrow().is_empty());
}

#[test]
fn the_top_waiter_boosts_the_owner() {
    let (b, [owner, low, mid, high]) = Bench::pinned([10, 5, 20, 30]);
    let m = b.pi();
    assert!(b.lock(owner, m));
    b.lab.forget();
    assert!(!b.lock(mid, m));
    assert_eq!(b.prio(owner), 20);
    // Not the top waiter: nothing changes, and nothing is told.
    assert!(!b.lock(low, m));
    assert!(!b.lock(high, m));
    assert_eq!(b.prio(owner), 30);
    assert_eq!(b.setprios(), [(owner, kernel_prio(fifo(20))), (owner, kernel_prio(fifo(30)))]);
    assert_eq!((b.lab.count(Reason::Boosted), b.lab.count(Reason::Deboosted)), (2, 0));
}

#[test]
fn a_waiter_sleeps_interruptibly_with_one_voluntary_switch() {
    let (b, [owner, waiter]) = Bench::pinned([10, 20]);
    let m = b.pi();
    b.lock(owner, m);
    b.lab.forget();
    b.lock(waiter, m);
    assert_eq!(b.lab.k.task(waiter).state.get(), TaskState::Interruptible);
    assert_eq!(b.voluntary_switches(waiter), 1);
    let events = b.lab.k.platform.events.borrow();
    let mut left_in = events.iter().filter_map(|event| match event {
        Event::Switch { prev, prev_state, .. } if *prev == waiter => Some(*prev_state),
        _ => None,
    });
    assert!(left_in.any(|state| state == SwitchState::Interruptible));
}

#[test]
fn waiters_are_served_by_priority_then_first_come_first_served() {
    let (b, [owner, a, first, second, top]) = Bench::pinned([50, 10, 20, 20, 30]);
    let m = b.pi();
    b.lock(owner, m);
    for p in [a, first, second, top] {
        b.lock(p, m);
    }
    let mut served = vec![];
    let mut holder = owner;
    for _ in 0..4 {
        b.unlock(holder, m);
        holder = b.owner(m).expect("the next waiter took it");
        served.push(holder);
    }
    assert_eq!(served, [top, first, second, a]);
}

#[test]
fn the_next_owner_inherits_from_those_that_still_wait() {
    let (b, [owner, thief, low]) = Bench::pinned([5, 30, 20]);
    let m = b.pi();
    b.lock(owner, m);
    b.lock(low, m);
    b.unlock_unsettled(owner, m);
    assert!(b.lock(thief, m));
    // Priority 20 still waits: what remains of the thief when it drops is that.
    b.lab.run(crate::testing::sched_setscheduler(b.lab.cpu(0), thief, fifo(10)));
    assert_eq!(b.prio(thief), 20);
    b.settle();
    b.unlock(thief, m);
    assert_eq!((b.prio(thief), b.owner(m)), (10, Some(low)));
}

#[test]
fn an_owner_has_the_best_of_what_all_its_mutexes_lend() {
    let (b, [owner, w20, w30, w25]) = Bench::pinned([10, 20, 30, 25]);
    let (m, n, o) = (b.pi(), b.pi(), b.pi());
    for mutex in [m, n, o] {
        b.lock(owner, mutex);
    }
    b.lock(w20, m);
    b.lock(w30, n);
    b.lock(w25, o);
    assert_eq!(b.prio(owner), 30);
    b.unlock(owner, n);
    assert_eq!(b.prio(owner), 25);
    b.unlock(owner, m);
    assert_eq!(b.prio(owner), 25);
    b.unlock(owner, o);
    assert_eq!(b.prio(owner), 10);
    assert_eq!([m, n, o].map(|m| b.owner(m)), [Some(w20), Some(w30), Some(w25)]);
}

/// Owner, a woken waiter that has not run yet, and a third task of the given priority that now locks.
fn between_unlock_and_take(third: u8) -> (Bench, [TaskId; 3], crate::MutexId) {
    let (b, tasks) = Bench::pinned([10, 20, third]);
    let [owner, waiter, _] = tasks;
    let m = b.pi();
    b.lock(owner, m);
    b.lock(waiter, m);
    assert!(b.unlock_unsettled(owner, m), "waiters are woken by the kernel");
    assert_eq!(b.owner(m), None);
    assert_eq!(b.lab.k.task(waiter).state.get(), TaskState::Running);
    (b, tasks, m)
}

#[test]
fn between_unlock_and_take_user_space_cannot_grab_it() {
    let (b, [owner, _, third], m) = between_unlock_and_take(30);
    for p in [owner, third] {
        assert_eq!(lock_fast(b.on_cpu(p), p, m), FastPath::EnterKernel);
    }
}

#[test]
fn a_lower_or_equal_task_cannot_steal() {
    for third in [5, 20] {
        let (b, [_, waiter, late], m) = between_unlock_and_take(third);
        assert_eq!(b.try_lock(late, m), Ok(LockOutcome::Sleep));
        b.sleep(late);
        b.lab.settle();
        assert!(b.resume(waiter, m));
        assert_eq!((b.owner(m), b.lab.count(Reason::Stolen)), (Some(waiter), 0));
    }
}

/// E17.
#[test]
fn a_higher_task_steals_and_the_woken_waiter_sleeps_again() {
    let (b, [_, waiter, thief], m) = between_unlock_and_take(30);
    assert_eq!(b.try_lock(thief, m), Ok(LockOutcome::Acquired));
    assert_eq!((b.owner(m), b.lab.count(Reason::Stolen)), (Some(thief), 1));
    b.lab.settle();
    assert!(!b.resume(waiter, m));
    assert_eq!(b.voluntary_switches(waiter), 2);
    b.waiting.borrow_mut().clear();
    b.unlock(thief, m);
    assert!(b.resume(waiter, m));
    assert_eq!(b.lab.count(Reason::Stolen), 1);
}

/// The futex word keeps its waiters bit until the kernel clears it.
#[test]
fn the_last_waiter_unlocks_through_the_kernel_once() {
    let (b, [owner, waiter]) = Bench::pinned([10, 20]);
    let m = b.pi();
    b.lock(owner, m);
    b.lock(waiter, m);
    b.unlock(owner, m);
    assert!(b.unlock_unsettled(waiter, m));
    assert!(b.lock(owner, m));
    assert!(!b.unlock_unsettled(owner, m));
}

#[test]
fn a_mutex_whose_owner_exited_stays_locked() {
    let (b, [owner, waiter]) = Bench::pinned([10, 20]);
    let m = b.pi();
    b.lock(owner, m);
    b.lab.run(crate::fork::do_exit(b.on_cpu(owner)));
    b.lab.k.tasks.reap(owner);
    let heir = b.lab.spawn_allowed(fifo(5), 0, cpus(&[0]));
    assert_eq!(heir, owner, "the slot is reused");
    assert!(!b.lock(waiter, m));
    assert_eq!(b.prio(heir), 5);
}

/// A low owner on CPU 0 boosted by a waiter that also ran there last; CPU 1 runs something lower than both.
fn boosted_owner_on_the_waiters_cpu(settings: &[&str]) -> (Bench, [TaskId; 3], crate::MutexId) {
    let b = Bench::new(2, "2.6.36", settings);
    let m = b.pi();
    let other = b.lab.spawn_allowed(fifo(1), 1, cpus(&[1]));
    let owner = b.lab.spawn(fifo(10), 0);
    b.lock(owner, m);
    b.lab.block(0);
    let waiter = b.lab.spawn(fifo(20), 0);
    b.lock(waiter, m);
    b.lab.wake(0, owner);
    assert_eq!((b.lab.running(0), b.prio(owner)), (owner, 20));
    assert_eq!((b.lab.running(1), b.lab.cpu_of(waiter)), (other, 0));
    b.lab.forget();
    (b, [owner, waiter, other], m)
}

/// What an unlock tells, in order: wakeups, moves and changes of priority.
fn story(b: &Bench) -> Vec<&'static str> {
    let name = |e: &Event| match e {
        Event::Waking { .. } => Some("waking"),
        Event::Wakeup { .. } => Some("wakeup"),
        Event::Migrate { .. } => Some("migrate"),
        Event::PiSetprio { .. } => Some("pi_setprio"),
        _ => None,
    };
    b.lab.k.platform.events.borrow().iter().filter_map(name).collect()
}

/// 7.5, rule deboost_order: while it wakes, the unlocker still equals the waiter.
#[test]
fn wake_then_deboost_routes_the_waiter_away_from_its_equal() {
    let (b, [owner, waiter, _], m) = boosted_owner_on_the_waiters_cpu(&["deboost_order=wake_then_deboost"]);
    b.unlock_unsettled(owner, m);
    assert_eq!(story(&b), ["waking", "migrate", "wakeup", "pi_setprio"]);
    b.settle();
    assert_eq!((b.lab.running(0), b.lab.running(1)), (owner, waiter));
    assert_eq!(b.involuntary_switches(owner), 0);
}

/// The same with seed 000 applied: the waiter stays, and preempts only when the deboost reschedules.
#[test]
fn wake_then_deboost_after_seed_000_preempts_by_the_deboost() {
    let settings = ["deboost_order=wake_then_deboost", "wake_route=strictly_higher"];
    let (b, [owner, waiter, _], m) = boosted_owner_on_the_waiters_cpu(&settings);
    b.unlock_unsettled(owner, m);
    assert_eq!(story(&b), ["waking", "wakeup", "pi_setprio"]);
    assert_eq!(b.lab.count(Reason::PreemptPrio), 0);
    b.settle();
    assert_eq!((b.lab.running(0), b.lab.running(1)), (waiter, owner), "the preempted owner is pushed");
    assert_eq!(b.involuntary_switches(owner), 1);
}

/// 7.5, the other value: the waiter meets an owner that has already dropped, and preempts it itself.
#[test]
fn deboost_then_wake_lets_the_waiter_preempt() {
    let settings = ["deboost_order=deboost_then_wake", "wake_route=strictly_higher"];
    let (b, [owner, waiter, _], m) = boosted_owner_on_the_waiters_cpu(&settings);
    b.unlock_unsettled(owner, m);
    assert_eq!(story(&b), ["pi_setprio", "waking", "wakeup"]);
    assert_eq!(b.lab.count(Reason::PreemptPrio), 1);
    b.settle();
    assert_eq!((b.lab.running(0), b.lab.running(1)), (waiter, owner), "the preempted owner is pushed");
    assert_eq!(b.involuntary_switches(owner), 1);
}

/// rt-class 10.2, unlock with waiters: which locks, in which order.
#[test]
fn locks_of_the_unlock_path() {
    use crate::CpuId;
    use crate::platform::Lock::{MutexWait, Pi, Rq};
    let (b, [owner, waiter], m) = {
        let (b, tasks) = Bench::pinned([10, 20]);
        let m = b.pi();
        (b, tasks, m)
    };
    b.lock(owner, m);
    b.lab.forget();
    assert_eq!(b.try_lock(waiter, m), Ok(LockOutcome::Sleep));
    let taken = |b: &Bench| core::mem::take(&mut *b.lab.k.platform.locks.borrow_mut());
    assert_eq!(taken(&b), [MutexWait(m), Pi(waiter), Pi(owner), Rq(CpuId(0))]);
    b.sleep(waiter);
    b.lab.forget();
    b.unlock_unsettled(owner, m);
    let woken = taken(&b);
    assert_eq!(woken[..4], [MutexWait(m), Pi(owner), Rq(CpuId(0)), Pi(waiter)]);
}

/// E15, first half: the boosted owner beats what its CPU runs.
#[test]
fn a_boosted_preempted_owner_reschedules_its_cpu() {
    let b = Bench::sleeping(2, &[]);
    let m = b.pi();
    let owner = b.lab.spawn_allowed(fifo(10), 0, cpus(&[0]));
    b.lock(owner, m);
    let hog = b.lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    let waiter = b.lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    assert_eq!(b.lab.running(0), hog);
    assert!(!b.lock(waiter, m));
    assert_eq!((b.lab.running(0), b.prio(owner)), (owner, 60));
    b.unlock(owner, m);
    assert_eq!((b.lab.running(0), b.lab.running(1)), (hog, waiter));
}

/// E15, second half: it does not, and is pulled by the CPU of the task that it blocks.
#[test]
fn a_boosted_queued_owner_is_pulled_by_the_blockers_cpu() {
    let b = Bench::sleeping(2, &["NO_RT_PUSH_IPI"]);
    let m = b.pi();
    let waiter = b.lab.spawn_allowed(fifo(40), 1, cpus(&[1]));
    let owner = b.lab.spawn(fifo(10), 0);
    b.lock(owner, m);
    let hog = b.lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    assert_eq!((b.lab.running(0), b.lab.running(1), b.lab.cpu_of(owner)), (hog, waiter, 0));
    assert_eq!(b.try_lock(waiter, m), Ok(LockOutcome::Sleep));
    b.lab.settle();
    // The boost alone moves nothing.
    assert_eq!((b.prio(owner), b.lab.cpu_of(owner), b.lab.running(0)), (40, 0, hog));
    b.sleep(waiter);
    b.settle();
    assert_eq!((b.lab.running(0), b.lab.running(1)), (hog, owner));
}

/// 2.1, boost: behind its new equals.
#[test]
fn a_boosted_owner_waits_behind_its_new_equals() {
    let b = Bench::sleeping(2, &[]);
    let m = b.pi();
    let here = cpus(&[0]);
    let owner = b.lab.spawn_allowed(fifo(10), 0, here);
    b.lock(owner, m);
    let hog = b.lab.spawn_allowed(fifo(90), 0, here);
    let equal = b.lab.spawn_allowed(fifo(60), 0, here);
    let waiter = b.lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    b.lock(waiter, m);
    assert_eq!(b.lab.running(0), hog);
    b.lab.block(0);
    assert_eq!(b.lab.running(0), equal);
    b.lab.block(0);
    assert_eq!(b.lab.running(0), owner);
}

/// 2.1 and 2.2, deboost, rule deboost_place: before its old equals, or behind them.
#[test]
fn a_deboosted_owner_does_not_lose_its_turn() {
    for (rule, first) in [("deboost_place=head", 0), ("deboost_place=tail", 1)] {
        let b = Bench::sleeping(2, &[rule]);
        let m = b.pi();
        let here = cpus(&[0]);
        let owner = b.lab.spawn_allowed(fifo(10), 0, here);
        b.lock(owner, m);
        let hog = b.lab.spawn_allowed(fifo(50), 0, here);
        let equal = b.lab.spawn_allowed(fifo(10), 0, here);
        let waiter = b.lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
        b.lock(waiter, m);
        assert_eq!(b.lab.running(0), owner);
        b.unlock(owner, m);
        assert_eq!(b.lab.running(0), hog);
        b.lab.block(0);
        assert_eq!(b.lab.running(0), [owner, equal][first], "{rule}");
    }
}

/// 7.1: non-RT waiters all count as nice 0.
#[test]
fn normal_waiters_are_served_first_come_first_served() {
    let b = Bench::sleeping(3, &["NO_TTWU_QUEUE"]);
    let m = b.pi();
    let normal = |cpu, nice| {
        let p = b.lab.spawn_unsettled(Policy::Normal, nice, cpu, cpus(&[cpu]));
        b.lab.settle();
        p
    };
    let [owner, low, high] = [normal(0, 10), normal(1, 19), normal(2, -20)];
    b.lock(owner, m);
    b.lock(low, m);
    b.lock(high, m);
    assert_eq!(b.lab.k.task(owner).prio.get(), crate::Prio::NICE_0);
    b.unlock(owner, m);
    assert_eq!((b.owner(m), b.lab.k.task(owner).prio.get().0), (Some(low), 130));
}

/// A boosted normal task is served by the real-time class, with its own weight when it comes back.
#[test]
fn a_normal_owner_becomes_real_time_while_a_real_time_task_waits() {
    let b = Bench::sleeping(2, &["NO_TTWU_QUEUE"]);
    let m = b.pi();
    let owner = b.lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    b.lock(owner, m);
    let rival = b.lab.spawn_allowed(fifo(20), 0, cpus(&[0]));
    assert_eq!(b.lab.running(0), rival);
    let waiter = b.lab.spawn_allowed(fifo(30), 1, cpus(&[1]));
    let load = || b.lab.k.rq(crate::CpuId(0)).published.load.get();
    assert_eq!(load(), 1024);
    b.lock(waiter, m);
    assert_eq!((b.lab.running(0), b.lab.k.task(owner).class.get(), load()), (owner, Class::Rt, 0));
    b.unlock(owner, m);
    assert_eq!((b.lab.running(0), b.lab.running(1)), (rival, waiter));
    assert_eq!((b.lab.k.task(owner).class.get(), load()), (Class::Fair, 1024));
}
