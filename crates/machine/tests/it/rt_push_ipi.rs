//! The question of 2026: what RT_PUSH_IPI does that pull does not (deadline-groups E4, E7).

use crate::script::{fifo, ideal, ms, script, us};
use machine::{Machine, MutexKind, RunOptions, Setup, Step};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos};

/// E7.7, hypothesis H2: FIFO 80 spins on CPU 0, FIFO 60 on CPU 1, and on CPU 2 FIFO 90 works 0.1 ms of each
/// 1.1 ms. A FIFO 50 task that may run on `allowed` took a PI mutex before the others came, and waits on CPU
/// 0. At 5 ms a FIFO 77 task on CPU 2 wants the mutex. When does it get it?
fn taken_at(setting: &str, allowed: &[u16]) -> Option<Nanos> {
    let mut setup = Setup::new(3);
    let mutex = setup.mutex("m", MutexKind::Pi);
    let mut pinned = |at: Nanos, cpus: &[u16], priority: u8, steps: Vec<Step>| {
        let (mut task, times) = script("task", steps);
        task.policy = fifo(priority);
        task.cpus = Some(cpus.iter().map(|cpu| CpuId(*cpu)).collect::<CpuMask>());
        setup.spawn_on(at, Some(CpuId(cpus[0])), task);
        times
    };
    let forever = || vec![Step::Compute(Nanos::from_secs(10))];
    // The first of `allowed` is CPU 0. It runs there until the FIFO 80 task comes.
    pinned(Nanos::ZERO, allowed, 50, vec![Step::Lock(mutex), Step::Compute(ms(2)), Step::Unlock(mutex)]);
    pinned(us(10), &[1], 60, forever());
    let beats = (0..900).flat_map(|n| [Step::Compute(us(100)), Step::SleepUntil(us(1_100 * (n + 1)))]);
    pinned(us(20), &[2], 90, beats.collect());
    pinned(us(50), &[0], 80, forever());
    let waiter = pinned(ms(5), &[2], 77, vec![Step::Lock(mutex), Step::Compute(us(1)), Step::Unlock(mutex)]);
    let config = Config::of_profile("6.1").expect("a profile");
    config.set(setting).and_then(|()| config.set("rt_throttle=off")).expect("legal settings");
    let options = RunOptions { check: true, ..RunOptions::default() };
    Machine::new(ideal(3), config, setup, options).and_then(Machine::run).expect("a sound run");
    // It asks for its second step once it has the mutex.
    waiter.borrow().get(1).copied()
}

/// The owner is boosted to 77 while it waits, and nothing is pushed for that. CPU 1 could run it. The next
/// time that the FIFO 90 task sleeps, CPU 2 falls to something below 77: with RT_PUSH_IPI it asks CPU 0 to
/// push, to whatever CPU; with pull it can only take for itself what may not run there.
#[test]
fn a_boosted_owner_with_an_affinity_is_pushed_by_the_next_request_and_never_pulled() {
    let by_ipi = taken_at("RT_PUSH_IPI", &[0, 1]).expect("it gets the mutex");
    // 2 ms less what the owner had done before it was preempted.
    assert!(by_ipi > ms(6) && by_ipi < ms(5) + us(1_100) + ms(2), "{by_ipi}");
    assert_eq!(taken_at("NO_RT_PUSH_IPI", &[0, 1]), None, "not within a second");
}

/// E7.8: without the affinity the waiter's own sleep lowers CPU 2, whose pull takes the owner at once.
#[test]
fn without_the_affinity_there_is_no_difference() {
    let [by_ipi, by_pull] =
        ["RT_PUSH_IPI", "NO_RT_PUSH_IPI"].map(|setting| taken_at(setting, &[0, 1, 2]).expect("it gets it"));
    assert!(by_ipi < ms(8) && by_pull < ms(8), "{by_ipi}, {by_pull}");
    assert!(by_ipi.0.abs_diff(by_pull.0) < 100_000, "{by_ipi}, {by_pull}");
}
