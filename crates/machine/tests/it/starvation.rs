//! Who waits beside something lower, and why (deadline-groups E4): cases made by hand, whose waits are known.

use crate::script::{fifo, ideal, ms, script, us};
use machine::{
    Machine, MutexKind, RunOptions, Setup, SoftirqGap, SoftirqSpec, SoftirqTally, StarvedCounts, Step,
    WaitCounts,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos};

fn run(setup: Setup, cpus: usize, kernel: &str, settings: &[&str]) {
    let config = Config::of_profile(kernel).expect("a profile");
    settings.iter().try_for_each(|setting| config.set(setting)).expect("legal settings");
    let options = RunOptions { check: true, ..RunOptions::default() };
    Machine::new(ideal(cpus), config, setup, options).and_then(Machine::run).expect("a sound run");
}

/// A task of this priority on these CPUs, the first of which it starts on.
fn pinned(setup: &mut Setup, at: Nanos, cpus: &[u16], priority: u8, steps: Vec<Step>) {
    let (mut task, _) = script("task", steps);
    task.policy = fifo(priority);
    task.cpus = Some(cpus.iter().map(|cpu| CpuId(*cpu)).collect::<CpuMask>());
    setup.spawn_on(at, Some(CpuId(cpus[0])), task);
}

fn forever() -> Vec<Step> {
    vec![Step::Compute(Nanos::from_secs(10))]
}

/// An owner of FIFO 50 waits on CPU 0 behind FIFO 80; CPU 1 runs FIFO `beside`. At 5 ms a FIFO 77 task on
/// CPU 2 wants what it has: from then on it is worth 77.
fn boosted(beside: u8, setting: &str) -> WaitCounts {
    let mut setup = Setup::new(3);
    let mutex = setup.mutex("m", MutexKind::Pi);
    let waits = setup.watch_waits();
    let owns = vec![Step::Lock(mutex), Step::Compute(ms(2)), Step::Unlock(mutex)];
    pinned(&mut setup, Nanos::ZERO, &[0, 1], 50, owns);
    pinned(&mut setup, us(10), &[1], beside, forever());
    let beats = (0..900).flat_map(|n| [Step::Compute(us(100)), Step::SleepUntil(us(1_100 * (n + 1)))]);
    pinned(&mut setup, us(20), &[2], 90, beats.collect());
    pinned(&mut setup, us(50), &[0], 80, forever());
    let wants = vec![Step::Lock(mutex), Step::Compute(us(1)), Step::Unlock(mutex)];
    pinned(&mut setup, ms(5), &[2], 77, wants);
    run(setup, 3, "6.1", &[setting, "rt_throttle=off"]);
    waits.counts()
}

/// E7.7: with pull nobody moves it. Until it is boosted CPU 1 runs something higher, from then on something
/// lower, to the end of the run after a second.
#[test]
fn a_bound_owner_that_is_boosted_and_not_moved_is_starved_by_h2() {
    let counts = boosted(60, "NO_RT_PUSH_IPI");
    assert_eq!(counts.starved, StarvedCounts { boosted_bound: 1, ..StarvedCounts::default() });
    assert_eq!(counts.longest_beside_lower, ms(995));
    assert_eq!((counts.longest_boosted, counts.held_up), (Nanos::from_secs(1) - us(50), 0));
}

/// The next request to push comes within 1.1 ms.
#[test]
fn with_rt_push_ipi_it_is_not() {
    let counts = boosted(60, "RT_PUSH_IPI");
    assert!(counts.starved.sum() <= 1 && counts.longest_beside_lower <= us(1_100), "{counts:?}");
}

/// Nothing lower runs where it may go: that is H3, whatever the feature.
#[test]
fn behind_higher_ones_alone_it_is_held_up_and_not_starved() {
    for setting in ["RT_PUSH_IPI", "NO_RT_PUSH_IPI"] {
        let counts = boosted(85, setting);
        assert_eq!((counts.starved.sum(), counts.held_up), (0, 1), "{setting}");
        assert_eq!(counts.longest_beside_lower, Nanos::ZERO, "{setting}");
    }
}

/// H4: FIFO 50 comes 1 ms into a soft interrupt of 5 ms.
#[test]
fn who_waits_for_a_soft_interrupt_waits_for_a_cpu_that_cannot_reschedule() {
    let mut setup = Setup::new(1);
    let waits = setup.watch_waits();
    let (gap, tally) = (SoftirqGap::Every(Nanos::from_secs(9)), SoftirqTally::default());
    setup.softirq(SoftirqSpec { cpu: CpuId(0), at: ms(10), gap, work: ms(5), tally });
    pinned(&mut setup, ms(11), &[0], 50, vec![Step::Compute(us(1))]);
    setup.spawn(Nanos::ZERO, script("hog", forever()).0);
    run(setup, 1, "6.1", &[]);
    let counts = waits.counts();
    assert_eq!(counts.starved, StarvedCounts { not_rescheduled: 1, ..StarvedCounts::default() });
    assert_eq!(counts.longest_beside_lower, ms(4));
}

/// deadline-groups A14, example 10: the server of fair tasks has CPU 0 from 950 to 1000 ms. FIFO 50 wakes
/// there at 960, and CPU 1 idles.
#[test]
fn who_waits_behind_the_fair_server_is_told_apart() {
    let mut setup = Setup::new(2);
    let waits = setup.watch_waits();
    pinned(&mut setup, Nanos::ZERO, &[0], 10, forever());
    let (mut fair, _) = script("fair", forever());
    fair.cpus = Some(CpuMask::single(CpuId(0)));
    setup.spawn(Nanos::ZERO, fair);
    let wakes = vec![Step::SleepUntil(ms(960)), Step::Compute(ms(1))];
    pinned(&mut setup, Nanos::ZERO, &[0, 1], 50, wakes);
    run(setup, 2, "6.12", &["NO_RT_PUSH_IPI"]);
    let counts = waits.counts();
    assert_eq!(counts.starved, StarvedCounts { behind_server: 1, ..StarvedCounts::default() });
    assert!(counts.longest_beside_lower.0.abs_diff(40_000_000) < 4_000_000, "{counts:?}");
}
