//! machine.md 3.2: who spins for a PI mutex, and what makes it stop. Times are the machine's: its tests have
//! M7 to M12.

use super::Bench;
use crate::mutex::{LockOutcome, OwnerSeen, spin_on_owner};
use crate::registry::RtmutexSpin;
use crate::rq::Resched;
use crate::testing::{cpus, fifo};
use crate::{CpuId, MutexId, TaskId, TaskState};

/// As [`Bench::pinned`], but waiters spin; the first task owns the mutex.
fn spinning<const N: usize>(priorities: [u8; N]) -> (Bench, [TaskId; N], MutexId) {
    let (bench, tasks) = Bench::pinned(priorities);
    bench.lab.k.config.rules.rtmutex_spin.set(RtmutexSpin::OwnerOnCpu);
    let m = bench.pi();
    assert!(bench.lock(tasks[0], m));
    (bench, tasks, m)
}

impl Bench {
    fn looks(&self, p: TaskId, m: MutexId) -> OwnerSeen {
        spin_on_owner(self.on_cpu(p), p, m)
    }

    /// It begins to spin.
    fn spin(&self, p: TaskId, m: MutexId) {
        assert_eq!(self.try_lock(p, m), Ok(LockOutcome::Spin));
        assert_eq!(self.looks(p, m), OwnerSeen::Runs);
    }

    /// Whether it spins, and nobody has told it to look again.
    fn is_undisturbed(&self, p: TaskId) -> bool {
        self.lab.k.task(p).pi.spins_for().is_some()
    }
}

#[test]
fn the_top_waiter_spins_until_the_unlock_and_is_never_switched() {
    let (b, [owner, waiter], m) = spinning([10, 20]);
    b.spin(waiter, m);
    assert_eq!(b.lab.k.task(waiter).state.get(), TaskState::Interruptible);
    assert_eq!(b.prio(owner), 20, "it lends its priority all the same");
    assert!(b.is_undisturbed(waiter));
    assert!(b.unlock_unsettled(owner, m));
    assert!(!b.is_undisturbed(waiter));
    assert_eq!(b.looks(waiter, m), OwnerSeen::Released);
    assert!(b.resume(waiter, m));
    assert_eq!((b.voluntary_switches(waiter), b.prio(owner)), (0, 10));
}

#[test]
fn with_the_rule_off_it_sleeps() {
    let (b, [_, waiter], m) = spinning([10, 20]);
    b.lab.k.config.rules.rtmutex_spin.set(RtmutexSpin::Never);
    assert_eq!(b.try_lock(waiter, m), Ok(LockOutcome::Sleep));
}

#[test]
fn an_owner_that_leaves_its_cpu_sends_the_spinner_to_sleep() {
    let (b, [owner, waiter], m) = spinning([10, 20]);
    b.spin(waiter, m);
    b.lab.spawn_allowed(fifo(99), 0, cpus(&[0]));
    assert!(!b.lab.k.task_running(owner) && !b.is_undisturbed(waiter));
    assert_eq!(b.looks(waiter, m), OwnerSeen::SleepNow);
}

#[test]
fn nobody_spins_for_an_owner_that_does_not_run() {
    let (b, [_, waiter], m) = spinning([10, 20]);
    b.lab.spawn_allowed(fifo(99), 0, cpus(&[0]));
    assert_eq!(b.try_lock(waiter, m), Ok(LockOutcome::Sleep));
}

#[test]
fn only_the_top_waiter_spins_and_a_higher_one_takes_its_place() {
    let (b, [_, first, higher, lower], m) = spinning([10, 20, 30, 5]);
    b.spin(first, m);
    assert_eq!(b.try_lock(lower, m), Ok(LockOutcome::Sleep));
    assert!(b.is_undisturbed(first));
    b.spin(higher, m);
    assert!(!b.is_undisturbed(first));
    assert_eq!(b.looks(first, m), OwnerSeen::SleepNow);
}

#[test]
fn a_waiter_that_rises_to_the_top_displaces_the_spinner_but_sleeps_on() {
    let (b, [_, first, second], m) = spinning([10, 20, 15]);
    b.spin(first, m);
    assert!(!b.lock(second, m));
    b.lab.run(crate::testing::sched_setscheduler(b.lab.cpu(0), second, fifo(40)));
    assert!(!b.is_undisturbed(first));
    assert_eq!(b.looks(first, m), OwnerSeen::SleepNow);
    assert_eq!(b.lab.k.task(second).state.get(), TaskState::Interruptible);
    assert!(!b.lab.k.task_running(second));
}

#[test]
fn a_spinner_that_has_to_reschedule_sleeps() {
    let (b, [_, waiter], m) = spinning([10, 20]);
    b.spin(waiter, m);
    b.lab.k.rq(CpuId(1)).published.resched.overwrite(Resched::Full);
    assert_eq!(b.looks(waiter, m), OwnerSeen::SleepNow);
    b.lab.k.rq(CpuId(1)).published.resched.overwrite(Resched::No);
}

/// The one that was woken for it has the first claim; a released mutex that one may not take is no reason to
/// spin.
#[test]
fn who_may_not_take_a_released_mutex_sleeps() {
    let (b, [owner, first, late], m) = spinning([10, 20, 5]);
    b.spin(first, m);
    b.unlock_unsettled(owner, m);
    assert_eq!(
        b.try_lock(late, m),
        Ok(LockOutcome::Spin),
        "it is to look once more, as the kernel tries once more"
    );
    assert_eq!(b.looks(late, m), OwnerSeen::Released);
    let outcome = b.lab.run(crate::mutex::lock_resume(b.on_cpu(late), late, m));
    assert_eq!(outcome, Ok(LockOutcome::Sleep));
}
