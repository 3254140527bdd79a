//! machine.md 3.4: who spins for a mutex of the kernel, who sleeps, and who gets it next.

use super::Bench;
use crate::mutex::{LockOutcome, OwnerSeen, lock_resume, spin_on_owner};
use crate::registry::{Config, MutexSpin, PROFILES};
use crate::rq::Resched;
use crate::testing::{cpus, fifo};
use crate::{CpuId, CpuMask, MutexId, Policy, Reason, TaskId, TaskState};

/// Each of these tasks runs on a CPU of its own; the first has the mutex.
fn stage<const N: usize>(rule: MutexSpin, priorities: [u8; N]) -> (Bench, [TaskId; N], MutexId) {
    let (bench, tasks) = Bench::pinned(priorities);
    bench.lab.k.config.rules.mutex_spin.set(rule);
    let m = bench.lab.k.mutexes.create_of_kernel(&bench.lab.k.config.rules);
    assert!(bench.lock(tasks[0], m));
    (bench, tasks, m)
}

impl Bench {
    pub(super) fn sees(&self, p: TaskId, m: MutexId) -> OwnerSeen {
        spin_on_owner(self.on_cpu(p), p, m)
    }

    pub(super) fn begins_to_spin(&self, p: TaskId, m: MutexId) {
        assert_eq!((self.try_lock(p, m), self.sees(p, m)), (Ok(LockOutcome::Spin), OwnerSeen::Runs));
    }

    pub(super) fn falls_asleep(&self, p: TaskId, m: MutexId) {
        assert_eq!(self.try_lock(p, m), Ok(LockOutcome::Sleep));
        self.sleep(p);
    }

    pub(super) fn tries_again(&self, p: TaskId, m: MutexId) -> LockOutcome {
        self.lab.run(lock_resume(self.on_cpu(p), p, m)).expect("a legal lock")
    }

    /// A sleeper is woken when the owner unlocks, and finds that one who spins has it.
    pub(super) fn is_robbed(&self, sleeper: TaskId, thief: TaskId, owner: TaskId, m: MutexId) {
        self.lab.k.config.rules.mutex_spin.set(MutexSpin::Never);
        self.falls_asleep(sleeper, m);
        self.lab.k.config.rules.mutex_spin.set(MutexSpin::Osq);
        self.begins_to_spin(thief, m);
        assert!(self.unlock_unsettled(owner, m));
        assert!(self.resume(thief, m), "it is on its CPU");
        self.lab.settle();
    }

    /// It spins, and nobody has told it to look again.
    fn has_no_news(&self, p: TaskId) -> bool {
        self.lab.k.task(p).pi.spins_for().is_some()
    }

    pub(super) fn is_asked(&self, cpu: u16, asked: Resched) {
        self.lab.k.rq(CpuId(cpu)).published.resched.overwrite(asked);
    }

    pub(super) fn state(&self, p: TaskId) -> TaskState {
        self.lab.k.task(p).state.get()
    }
}

#[test]
fn it_spins_while_the_owner_runs_and_has_the_mutex_without_a_switch() {
    let (b, [owner, other], m) = stage(MutexSpin::Osq, [10, 20]);
    b.begins_to_spin(other, m);
    assert_eq!((b.state(other), b.prio(owner)), (TaskState::Running, 10), "nothing is inherited");
    assert!(!b.unlock_unsettled(owner, m), "nobody is to be woken");
    assert!(!b.has_no_news(other));
    assert_eq!(b.sees(other, m), OwnerSeen::Released);
    assert!(b.resume(other, m));
    assert_eq!((b.owner(m), b.voluntary_switches(other)), (Some(other), 0));
    assert_eq!((b.lab.count(Reason::MutexSpins), b.lab.count(Reason::MutexSleeps)), (1, 0));
}

/// 3.1: before 2.6.29.
#[test]
fn where_nobody_spins_it_sleeps_in_state_d() {
    let (b, [owner, other], m) = stage(MutexSpin::Never, [10, 20]);
    assert!(!b.lock(other, m));
    assert_eq!((b.state(other), b.voluntary_switches(other)), (TaskState::Uninterruptible, 1));
    b.unlock(owner, m);
    assert_eq!(b.owner(m), Some(other));
}

#[test]
fn it_stops_and_sleeps_when_the_owner_leaves_its_cpu() {
    let (b, [owner, other], m) = stage(MutexSpin::Osq, [10, 20]);
    b.begins_to_spin(other, m);
    b.lab.spawn_allowed(fifo(99), 0, cpus(&[0]));
    assert!(!b.lab.k.task_running(owner) && !b.has_no_news(other));
    assert_eq!(b.sees(other, m), OwnerSeen::Released);
    assert_eq!(b.tries_again(other, m), LockOutcome::Sleep);
    assert_eq!(b.state(other), TaskState::Uninterruptible);
}

#[test]
fn it_sleeps_at_once_for_an_owner_that_does_not_run() {
    let (b, [_, other], m) = stage(MutexSpin::Osq, [10, 20]);
    b.lab.spawn_allowed(fifo(99), 0, cpus(&[0]));
    assert_eq!(b.try_lock(other, m), Ok(LockOutcome::Sleep));
}

/// It leaves its CPU runnable; when it has it again, it does not spin any more.
#[test]
fn it_stops_when_it_has_to_reschedule() {
    let (b, [owner, other], m) = stage(MutexSpin::Osq, [10, 20]);
    b.begins_to_spin(other, m);
    b.is_asked(1, Resched::Full);
    assert_eq!((b.sees(other, m), b.state(other)), (OwnerSeen::SleepNow, TaskState::Running));
    b.is_asked(1, Resched::No);
    assert!(b.lab.k.task_running(owner));
    assert_eq!(b.tries_again(other, m), LockOutcome::Sleep);
}

#[test]
fn who_has_to_reschedule_does_not_begin_to_spin() {
    let (b, [_, other], m) = stage(MutexSpin::Osq, [10, 20]);
    b.is_asked(1, Resched::Full);
    assert_eq!(b.try_lock(other, m), Ok(LockOutcome::Sleep));
    b.is_asked(1, Resched::No);
}

#[test]
fn with_the_queue_only_its_head_looks_and_the_next_follows() {
    let (b, [owner, first, second], m) = stage(MutexSpin::Osq, [10, 20, 30]);
    b.begins_to_spin(first, m);
    b.begins_to_spin(second, m);
    b.unlock_unsettled(owner, m);
    assert_eq!((b.has_no_news(first), b.has_no_news(second)), (false, true));
    assert_eq!(b.sees(second, m), OwnerSeen::Runs, "it is not its turn, though the mutex is free");
    assert!(b.resume(first, m) && !b.has_no_news(second));
    assert_eq!(b.sees(second, m), OwnerSeen::Runs);
    b.unlock_unsettled(first, m);
    assert_eq!(b.sees(second, m), OwnerSeen::Released);
}

/// 3.1: from 2.6.29 to 3.14.
#[test]
fn without_the_queue_all_look() {
    let (b, [owner, first, second], m) = stage(MutexSpin::OwnerOnCpu, [10, 20, 30]);
    b.begins_to_spin(first, m);
    b.begins_to_spin(second, m);
    b.unlock_unsettled(owner, m);
    assert_eq!((b.has_no_news(first), b.has_no_news(second)), (false, false));
    assert_eq!(b.sees(second, m), OwnerSeen::Released);
    assert!(b.resume(second, m));
    assert_eq!(b.sees(first, m), OwnerSeen::Runs, "the second was quicker");
}

#[test]
fn a_queued_one_leaves_when_it_has_to_reschedule_and_the_others_stay_in_order() {
    let (b, [owner, first, second, third], m) = stage(MutexSpin::Osq, [10, 20, 30, 40]);
    [first, second, third].into_iter().for_each(|p| b.begins_to_spin(p, m));
    b.is_asked(2, Resched::Full);
    assert_eq!(b.sees(second, m), OwnerSeen::SleepNow);
    b.is_asked(2, Resched::No);
    b.unlock_unsettled(owner, m);
    assert!(b.resume(first, m));
    b.unlock_unsettled(first, m);
    assert_eq!(b.sees(third, m), OwnerSeen::Released);
}

#[test]
fn sleepers_are_served_as_they_come_whatever_their_priorities() {
    let (b, [owner, low, high], m) = stage(MutexSpin::Never, [10, 20, 30]);
    assert!(!b.lock(low, m) && !b.lock(high, m));
    b.unlock(owner, m);
    assert_eq!(b.owner(m), Some(low));
    b.unlock(low, m);
    assert_eq!(b.owner(m), Some(high));
}

/// A spinner beats the sleeper that is woken; that one, woken in vain, gets it from the next unlock, before
/// anybody who spins.
#[test]
fn a_spinner_steals_from_a_sleeper_once() {
    let (b, [owner, sleeper, thief, late], m) = stage(MutexSpin::Osq, [10, 20, 30, 40]);
    b.is_robbed(sleeper, thief, owner, m);
    assert_eq!(b.tries_again(sleeper, m), LockOutcome::Spin, "the first waiter may spin, too");
    assert_eq!(b.sees(sleeper, m), OwnerSeen::Runs);
    b.begins_to_spin(late, m);
    assert!(b.unlock_unsettled(thief, m));
    assert_eq!((b.owner(m), b.lab.count(Reason::MutexHandedOver)), (Some(sleeper), 1));
    assert_eq!(b.sees(late, m), OwnerSeen::Runs, "the new owner is on a CPU");
    assert_eq!(b.sees(sleeper, m), OwnerSeen::Released);
    assert_eq!(b.tries_again(sleeper, m), LockOutcome::Acquired);
    assert_eq!(b.voluntary_switches(sleeper), 1);
}

/// A mutex that is on its way to a task that is not on a CPU is nothing to spin for.
#[test]
fn nobody_spins_for_one_that_is_handed_to_a_sleeper() {
    let (b, [owner, sleeper, thief, late], m) = stage(MutexSpin::Osq, [10, 20, 30, 40]);
    b.lab.k.config.rules.mutex_spin.set(MutexSpin::Never);
    b.falls_asleep(sleeper, m);
    b.unlock_unsettled(owner, m);
    assert_eq!(b.try_lock(thief, m), Ok(LockOutcome::Acquired));
    b.lab.settle();
    b.lab.k.config.rules.mutex_spin.set(MutexSpin::Osq);
    assert_eq!(b.tries_again(sleeper, m), LockOutcome::Spin);
    let above = b.lab.spawn_allowed(fifo(99), 1, cpus(&[1]));
    assert_eq!(b.lab.running(1), above);
    b.begins_to_spin(late, m);
    b.unlock_unsettled(thief, m);
    assert_eq!((b.owner(m), b.has_no_news(late)), (Some(sleeper), false));
    assert_eq!(b.sees(late, m), OwnerSeen::Released);
    assert_eq!(b.tries_again(late, m), LockOutcome::Sleep);
}

/// 1.2: with PREEMPT_RT it is an rt_mutex. Its waiter lends its priority, sleeps in state D if the owner does
/// not run, and spins by the rule for those.
#[test]
fn with_preempt_rt_the_owner_inherits() {
    for (settings, outcome) in [(&[][..], LockOutcome::Spin), (&["rtmutex_spin=never"], LockOutcome::Sleep)] {
        let b = Bench::new(2, "6.1-rt", settings);
        let [owner, other] = [(Policy::Normal, 0), (fifo(80), 1)]
            .map(|(policy, cpu)| b.lab.spawn_allowed(policy, cpu, CpuMask::single(CpuId(cpu))));
        let m = b.lab.k.mutexes.create_of_kernel(&b.lab.k.config.rules);
        assert!(b.lock(owner, m));
        assert_eq!(b.try_lock(other, m), Ok(outcome));
        assert_eq!((b.prio(owner), b.state(other)), (80, TaskState::Uninterruptible));
        b.unlock_unsettled(owner, m);
        assert_eq!(b.tries_again(other, m), LockOutcome::Acquired);
        assert_eq!(b.prio(owner), 0);
        let told = [Reason::MutexSpins, Reason::MutexSleeps].map(|reason| b.lab.count(reason));
        assert_eq!(told, if outcome == LockOutcome::Spin { [1, 0] } else { [0, 1] });
    }
}

/// machine.md 3.1: spinning came with 2.6.29, the queue with 3.15.
#[test]
fn each_kernel_spins_as_its_release_did() {
    for profile in PROFILES.iter().filter(|profile| profile.is_kernel()) {
        let config = Config::of_profile(profile.name).expect("a profile");
        let of = |names: &[&str]| names.iter().any(|name| profile.builds_on(name));
        let expected = match () {
            () if of(&["2.6.23-rt5"]) => MutexSpin::Never,
            () if of(&["2.6.36", "3.3"]) => MutexSpin::OwnerOnCpu,
            () => MutexSpin::Osq,
        };
        assert_eq!(config.rules.mutex_spin.get(), expected, "{}", profile.name);
    }
}
