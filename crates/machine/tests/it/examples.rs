//! Worked examples of machine.md 8.1 that belong to no mechanism with a file of its own, with its numbers.

use crate::script::{Clock, fifo, ideal, ms, run, script, us};
use machine::{
    IdleMonitor, IrqOff, MachineSpec, MutexKind, Outcome, Setup, SoftirqGap, SoftirqSpec, SoftirqTally,
    Spread, Step, TaskSpec,
};
use scheduler::{CpuId, CpuMask, Nanos};

/// A FIFO task of a CPU, and when its steps were asked for.
fn pinned(setup: &mut Setup, cpu: u16, comm: &str, priority: u8, steps: Vec<Step>) -> Clock {
    let (mut task, clock) = script(comm, steps);
    (task.policy, task.cpus) = (fifo(priority), Some(CpuMask::single(CpuId(cpu))));
    setup.spawn_on(Nanos::ZERO, Some(CpuId(cpu)), task);
    clock
}

fn of<'a>(outcome: &'a Outcome, comm: &str) -> &'a machine::TaskOutcome {
    outcome.tasks.iter().find(|task| &*task.comm == comm).expect("it ran")
}

/// M3: HZ is 1000 here. Each pass finds one item of 0.3 ms, which a timer raised while the one before went
/// on; the seventh ends at 2.1 ms, behind the limit of 2. Whom it interrupted goes on then.
#[test]
fn m3_a_soft_interrupt_stops_at_the_first_look_after_two_milliseconds() {
    let mut setup = Setup::new(1);
    let tally = SoftirqTally::default();
    let gap = SoftirqGap::Every(us(299));
    setup.softirq(SoftirqSpec { cpu: CpuId(0), at: ms(4), gap, work: us(300), tally });
    let steps = vec![Step::Compute(us(4_100)), Step::Exit];
    let clock = pinned(&mut setup, 0, "interrupted", 50, steps);
    run(ideal(1), setup);
    // It had computed for 4 ms, and has 0.1 to go before the timer comes again.
    assert_eq!(clock.borrow()[1], us(4_000 + 7 * 300 + 100));
}

/// M2's other limit, ten passes, with pieces of 0.15 ms: ten are over before 2 ms are, at 1.5. (With M2's
/// own of 0.3 ms the round ends after seven here, as in M3, whatever the ticks: limit `interrupts`.) What
/// is left is ksoftirqd's, which the FIFO task does not wait for.
#[test]
fn m2_a_soft_interrupt_stops_after_ten_passes() {
    let goes_on = |piece: u64, gap: u64| {
        let mut setup = Setup::new(1);
        let tally = SoftirqTally::default();
        let gap = SoftirqGap::Every(us(gap));
        setup.softirq(SoftirqSpec { cpu: CpuId(0), at: ms(4), gap, work: us(piece), tally });
        let steps = vec![Step::Compute(us(4_020)), Step::Exit];
        let clock = pinned(&mut setup, 0, "interrupted", 50, steps);
        run(ideal(1), setup);
        clock.borrow()[1]
    };
    // It had computed for 4 ms, and has 20 us to go before the timer comes again.
    assert_eq!(goes_on(150, 149), us(4_000 + 10 * 150 + 20));
    assert_eq!(goes_on(100, 99), us(4_000 + 10 * 100 + 20));
    assert_eq!(goes_on(250, 249), us(4_000 + 8 * 250 + 20), "2 ms are over first");
}

/// M13: who unlocks locks again 1 us later; to get to the CPU of who was woken takes 20. So that one finds
/// the mutex taken each time, and sleeps once more.
#[test]
fn m13_who_locks_again_at_once_wins_against_who_was_woken() {
    const ROUNDS: usize = 30;
    let played = |way: Nanos| {
        let mut spec = ideal(2);
        spec.costs.ipi.shared_cache = way;
        spec.costs.ipi.same_node = way;
        spec.idle_monitor = IdleMonitor::Hlt;
        let mut setup = Setup::new(2);
        let mutex = setup.mutex("m", MutexKind::Plain);
        let round =
            |_| [Step::Lock(mutex), Step::Compute(us(100)), Step::Unlock(mutex), Step::Compute(us(1))];
        pinned(&mut setup, 0, "owner", 50, (0..ROUNDS).flat_map(round).collect());
        let steps = vec![Step::Compute(us(50)), Step::Lock(mutex), Step::Unlock(mutex)];
        let clock = pinned(&mut setup, 1, "waiter", 50, steps);
        let outcome = run(spec, setup);
        let times = clock.borrow();
        // The last one is its end.
        (times[2], of(&outcome, "waiter").counters.nr_voluntary_switches - 1)
    };
    // 101 us a round, the last of which leaves it free at 100; and the way.
    assert_eq!(played(us(20)), (us(101 * 29 + 100 + 20), ROUNDS as u64));
    // Without a way it is there before 1 us is over.
    assert_eq!(played(Nanos::ZERO), (us(100), 1));
}

/// M18: one interrupt wakes both, the lower one first, and then the higher one runs.
#[test]
fn m18_of_two_timers_at_once_the_higher_task_runs_first_after_both_wakeups() {
    let mut spec = ideal(1);
    spec.costs.wakeup = us(1);
    spec.noise.timer_delivery = Some(Spread::Constant(Nanos::ZERO));
    let mut setup = Setup::new(1);
    setup.hold_cpu_dma_latency();
    let sleeps = || vec![Step::SleepUntil(ms(1)), Step::Compute(us(10))];
    let lower = pinned(&mut setup, 0, "lower", 80, sleeps());
    let higher = pinned(&mut setup, 0, "higher", 90, sleeps());
    run(spec, setup);
    assert_eq!((higher.borrow()[1], lower.borrow()[1]), (us(1_002), us(1_012)));
}

/// A machine whose host takes each CPU away for 2 ms, about 60 times a second.
fn stolen_from() -> MachineSpec {
    let mut spec = ideal(2);
    spec.noise.irq_off.push(IrqOff {
        what: "host".into(),
        per_minute_per_cpu: 3_600,
        length: Spread::Constant(ms(2)),
        device: false,
    });
    spec
}

/// M32, for a PI mutex: while the host has the CPU of the holder, that counts as on a CPU, so who spins for
/// it burns these 2 ms as well. (Spinlocks of user programs are here such that give up soon and sleep.)
#[test]
fn m32_what_is_stolen_from_a_holder_its_spinner_burns() {
    let played = |spec: MachineSpec| {
        let mut setup = Setup::new(2);
        let mutex = setup.mutex("m", MutexKind::Pi);
        let holds = |length| [Step::Lock(mutex), Step::Compute(length), Step::Unlock(mutex)];
        pinned(&mut setup, 0, "holder", 50, holds(ms(100)).into());
        let steps = [Step::Compute(ms(1)), Step::Lock(mutex), Step::Unlock(mutex)];
        let clock = pinned(&mut setup, 1, "spinner", 50, steps.into());
        let outcome = run(spec, setup);
        let (got, ran) = (clock.borrow()[2], of(&outcome, "spinner").counters);
        // It never sleeps, but for its end.
        assert_eq!((ran.sum_exec_runtime, ran.nr_voluntary_switches), (got, 1));
        got
    };
    assert_eq!(played(ideal(2)), ms(100));
    let got = played(stolen_from());
    assert!((ms(104)..ms(130)).contains(&got), "{got}: about six are expected");
}

/// M35: threads that start 2.6 ms apart, with equal intervals of 1 ms, have these phases.
#[test]
fn m35_threads_of_one_interval_keep_the_phases_of_their_starts() {
    let mut spec = ideal(4);
    spec.noise.thread_start = Some(Spread::Constant(us(2_600)));
    let mut setup = Setup::new(4);
    let clocks: Vec<Clock> = (0..4)
        .map(|n| {
            let steps = (0..20).map(|_| Step::SleepFor(ms(1)));
            let (task, clock): (TaskSpec, Clock) = script("thread", steps);
            setup.spawn_thread(n, task);
            clock
        })
        .collect();
    run(spec, setup);
    let first = clocks[0].borrow()[0];
    let phases = clocks.iter().map(|clock| (clock.borrow()[10] - first).0 / 1_000 % 1_000);
    assert_eq!(phases.collect::<Vec<_>>(), [0, 600, 200, 800]);
}
