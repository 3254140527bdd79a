//! machine.md 3.5: where the writers of a semaphore differ from those that want a mutex of the kernel.

use super::Bench;
use crate::mutex::{LockOutcome, OwnerSeen};
use crate::registry::{Config, MutexSpin, PROFILES};
use crate::rq::Resched;
use crate::testing::{cpus, fifo};
use crate::{MutexId, Nanos, Policy, Reason, TaskId, TaskState};

/// Each of these tasks runs on a CPU of its own; the first has the semaphore.
fn stage<const N: usize>(policies: [Policy; N]) -> (Bench, [TaskId; N], MutexId) {
    let bench = Bench::sleeping(N, &["NO_TTWU_QUEUE"]);
    let mut cpu = 0..;
    let tasks = policies.map(|policy| {
        let c = cpu.next().expect("endless");
        bench.lab.spawn_allowed(policy, c, cpus(&[c]))
    });
    let m = bench.lab.k.mutexes.create_rwsem(&bench.lab.k.config.rules);
    assert!(bench.lock(tasks[0], m));
    (bench, tasks, m)
}

#[test]
fn a_writer_spins_while_the_owner_runs() {
    let (b, [owner, other], m) = stage([fifo(10), fifo(20)]);
    b.begins_to_spin(other, m);
    assert!(!b.unlock_unsettled(owner, m), "nobody is to be woken");
    assert_eq!(b.sees(other, m), OwnerSeen::Released);
    assert!(b.resume(other, m));
    assert_eq!((b.owner(m), b.voluntary_switches(other)), (Some(other), 0));
}

/// A spinner for a mutex would leave its CPU runnable first.
#[test]
fn one_that_has_to_reschedule_sleeps_at_once_if_it_is_still_taken() {
    let (b, [owner, other], m) = stage([fifo(10), fifo(20)]);
    b.begins_to_spin(other, m);
    b.is_asked(1, Resched::Full);
    assert_eq!(b.sees(other, m), OwnerSeen::Released);
    assert_eq!((b.tries_again(other, m), b.state(other)), (LockOutcome::Sleep, TaskState::Uninterruptible));
    b.is_asked(1, Resched::No);
    assert!(b.lab.k.task_running(owner));
}

/// A fair waiter that was woken in vain may be overtaken again for 4 ms; one of a mutex, or a real-time one,
/// gets it next.
#[test]
fn the_first_waiter_is_patient_for_4_ms_unless_it_is_a_real_time_task() {
    let handed_over = |waiter: Policy, after: Nanos| {
        let (b, [owner, sleeper, thief], m) = stage([Policy::Normal, waiter, Policy::Normal]);
        b.is_robbed(sleeper, thief, owner, m);
        b.lab.advance(after);
        let again = b.tries_again(sleeper, m);
        b.unlock_unsettled(thief, m);
        let next = (b.owner(m) == Some(sleeper), b.lab.count(Reason::MutexHandedOver));
        (again, next)
    };
    let (kept, given) = ((false, 0), (true, 1));
    assert_eq!(handed_over(Policy::Normal, Nanos::ZERO), (LockOutcome::Sleep, kept));
    assert_eq!(handed_over(Policy::Normal, Nanos::from_millis(4)), (LockOutcome::Spin, given));
    assert_eq!(handed_over(fifo(5), Nanos::ZERO), (LockOutcome::Spin, given));
}

/// 3.1: writers spin since 3.16. Mutexes did before.
#[test]
fn before_the_queue_writers_sleep() {
    for profile in PROFILES.iter().filter(|profile| profile.is_kernel()) {
        let spins = Config::of_profile(profile.name).expect("a profile").rules.mutex_spin.get();
        let (b, [_, other], m) = stage([fifo(10), fifo(20)]);
        b.lab.k.config.rules.mutex_spin.set(spins);
        let expected = if spins == MutexSpin::Osq { LockOutcome::Spin } else { LockOutcome::Sleep };
        assert_eq!(b.try_lock(other, m), Ok(expected), "{}", profile.name);
    }
}
