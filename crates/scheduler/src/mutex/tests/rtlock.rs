//! machine.md 1.3: spinlocks that sleep; M25 and M26.

use super::*;
use crate::mutex::{OwnerSeen, spin_on_owner};
use crate::{CpuMask, Reason, TaskState};

/// A fair task A of CPU 0 has the lock and was preempted by a pinned FIFO 50.
fn preempted_owner() -> (Bench, TaskId, TaskId, MutexId) {
    let bench = Bench::new(2, "6.1-rt", &[]);
    let a = bench.lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    let m = bench.lab.k.mutexes.create_rtlock();
    assert!(bench.lock(a, m));
    let fifo_50 = bench.lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    assert_eq!(bench.lab.running(0), fifo_50);
    (bench, a, fifo_50, m)
}

/// M25: the owner is off its CPU, so the waiter sleeps at once, in state D, and lends nothing among fair
/// tasks; the owner goes on when it may, and wakes it.
#[test]
fn m25_a_fair_task_sleeps_for_the_lock_of_a_preempted_one() {
    let (bench, a, fifo_50, m) = preempted_owner();
    let b = bench.lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    assert!(!bench.lock(b, m));
    assert_eq!(bench.lab.k.task(b).state.get(), TaskState::Uninterruptible);
    assert_eq!((bench.voluntary_switches(b), bench.setprios().len()), (1, 0));
    assert_eq!(bench.waits(), [0, 1, 0, 0]);
    assert_eq!(bench.lab.running(0), fifo_50);
    bench.lab.block(0);
    assert_eq!(bench.lab.running(0), a);
    bench.unlock(a, m);
    assert_eq!((bench.owner(m), bench.lab.running(1)), (Some(b), b));
}

/// M26: a FIFO 80 lends its priority; the owner preempts the FIFO 50 at once.
#[test]
fn m26_a_real_time_waiter_has_the_owner_go_on_at_once() {
    let (bench, a, _, m) = preempted_owner();
    let b = bench.lab.spawn_allowed(fifo(80), 1, cpus(&[1]));
    assert!(!bench.lock(b, m));
    assert_eq!((bench.lab.running(0), bench.prio(a)), (a, 80));
    bench.unlock(a, m);
    assert_eq!((bench.owner(m), bench.prio(a)), (Some(b), 0));
}

/// The lock is free and for a fair task that was woken for it: another fair task may take it meanwhile, of a
/// mutex of user space it may not; and no real-time task takes it from its equal.
#[test]
fn fair_tasks_steal_from_their_equals_real_time_tasks_do_not() {
    for (policy, rtlock, steals) in
        [(Policy::Normal, true, true), (Policy::Normal, false, false), (fifo(7), true, false)]
    {
        let bench = Bench::new(3, "6.1-rt", &["rtmutex_spin=never"]);
        let [owner, waiter, thief] =
            [0, 1, 2].map(|cpu| bench.lab.spawn_allowed(policy, cpu, CpuMask::single(crate::CpuId(cpu))));
        let m = if rtlock { bench.lab.k.mutexes.create_rtlock() } else { bench.pi() };
        assert!(bench.lock(owner, m) && !bench.lock(waiter, m));
        bench.unlock_unsettled(owner, m);
        let outcome = bench.try_lock(thief, m).expect("a legal lock");
        assert_eq!(outcome == LockOutcome::Acquired, steals, "{policy:?}, of the kernel: {rtlock}");
    }
}

/// machine.md 1.3: while the owner is on its CPU the waiter spins; when that leaves it, the waiter sleeps.
#[test]
fn a_waiter_spins_while_the_owner_runs_and_then_sleeps() {
    let bench = Bench::new(2, "6.1-rt", &[]);
    let [owner, waiter] =
        [0, 1].map(|cpu| bench.lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(crate::CpuId(cpu))));
    let m = bench.lab.k.mutexes.create_rtlock();
    assert!(bench.lock(owner, m));
    assert_eq!(bench.try_lock(waiter, m), Ok(LockOutcome::Spin));
    assert_eq!(bench.waits(), [1, 0, 0, 0]);
    bench.lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    assert_eq!(spin_on_owner(bench.on_cpu(waiter), waiter, m), OwnerSeen::SleepNow);
    assert_eq!(bench.waits(), [1, 1, 0, 0]);
}

/// Of a mutex of user space its own switches tell.
#[test]
fn only_locks_of_the_kernel_tell_how_they_are_waited_for() {
    let bench = Bench::new(2, "6.1-rt", &["rtmutex_spin=never"]);
    let [owner, waiter] =
        [0, 1].map(|cpu| bench.lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(crate::CpuId(cpu))));
    let m = bench.pi();
    assert!(bench.lock(owner, m) && !bench.lock(waiter, m));
    assert_eq!(bench.waits(), [0; 4]);
}

impl Bench {
    /// Who began to spin and who slept: for spinlocks of the kernel, then for its mutexes.
    fn waits(&self) -> [u64; 4] {
        [Reason::RtlockSpins, Reason::RtlockSleeps, Reason::MutexSpins, Reason::MutexSleeps]
            .map(|reason| self.lab.count(reason))
    }
}
