//! Timer slack (machine.md 5.2): the clock is programmed for a sleeper's hard expiry, and any timer interrupt
//! of its CPU between the soft one and that wakes it.

use crate::script::{fifo, ideal, ms, script, us};
use machine::{Machine, MachineSpec, RunOptions, Setup, Spread, Step, TaskSpec};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos, Policy};

/// Beside what the sleeper sleeps.
type Beside = Vec<TaskSpec>;

/// Ticks come every 4 ms, as where that was measured.
fn run_under(profile: &str, spec: MachineSpec, setup: Setup) {
    let config = Config::of_profile(profile).expect("it exists");
    config.set("hz=250").expect("a setting");
    let options = RunOptions { check: true, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run");
}

fn run(spec: MachineSpec, setup: Setup) {
    run_under("6.1", spec, setup);
}

/// When a fair task with this slack that sleeps until `until` on CPU 0 executes again.
fn woken(spec: MachineSpec, until: Nanos, slack: Nanos, beside: Beside) -> Nanos {
    let mut setup = Setup::new(spec.topology.cpus);
    let (mut sleeper, clock) = script("sleeper", [Step::SleepUntil(until)]);
    (sleeper.timer_slack, sleeper.cpus) = (slack, Some(CpuMask::single(CpuId(0))));
    setup.spawn_on(Nanos::ZERO, Some(CpuId(0)), sleeper);
    for task in beside {
        setup.spawn(Nanos::ZERO, task);
    }
    run(spec, setup);
    let times = clock.borrow();
    times[1]
}

/// A FIFO task of a CPU that sleeps until each of these times.
fn timers(cpu: u16, until: &[Nanos]) -> TaskSpec {
    let (mut task, _) = script("timer", until.iter().copied().map(Step::SleepUntil));
    (task.policy, task.cpus) = (fifo(50), Some(CpuMask::single(CpuId(cpu))));
    task
}

/// One that computes on a CPU for so long, lower than the sleeper: it keeps the tick there.
fn hog(cpu: u16, length: Nanos) -> TaskSpec {
    let mut task = script("hog", [Step::Compute(length)]).0;
    (task.policy, task.cpus) = (Policy::Idle, Some(CpuMask::single(CpuId(cpu))));
    task
}

#[test]
fn m14_alone_a_sleeper_is_late_by_its_slack() {
    assert_eq!(woken(ideal(1), us(1_000), us(50), vec![]), us(1_050));
    let mut spec = ideal(1);
    spec.noise.timer_delivery = Some(Spread::Constant(us(7)));
    assert_eq!(woken(spec, us(1_000), us(50), vec![]), us(1_057), "and by the way of its interrupt");
}

/// Timers have had slack since 2.6.28 (prctl(2), PR_SET_TIMERSLACK).
#[test]
fn before_2_6_28_a_sleeper_has_no_slack() {
    let config = Config::of_profile("2.6.23-rt5").expect("it exists");
    let mut setup = Setup::new(1);
    let (mut sleeper, clock) = script("sleeper", [Step::SleepUntil(us(1_000))]);
    sleeper.timer_slack = us(50);
    setup.spawn(Nanos::ZERO, sleeper);
    let machine = Machine::new(ideal(1), config, setup, RunOptions::default()).expect("a machine");
    machine.run().expect("a sound run");
    assert_eq!(clock.borrow()[1], us(1_000));
}

/// The CPU ticks at 1020, and each 4 ms later.
#[test]
fn m15_a_tick_in_the_slack_wakes_the_sleeper() {
    let mut setup = Setup::new(1);
    setup.tick_at(CpuId(0), us(1_020));
    let (mut sleeper, clock) = script("sleeper", [Step::SleepUntil(us(1_000))]);
    sleeper.timer_slack = us(50);
    setup.spawn(Nanos::ZERO, sleeper);
    setup.spawn(Nanos::ZERO, hog(0, ms(9)));
    run(ideal(1), setup);
    assert_eq!(clock.borrow()[1], us(1_020));
}

#[test]
fn a_tick_counts_from_the_soft_expiry_to_the_hard_one() {
    let beside_a_tick = |slack| woken(ideal(1), us(3_980), slack, vec![hog(0, ms(9))]);
    assert_eq!(beside_a_tick(us(50)), ms(4));
    assert_eq!(beside_a_tick(us(20)), ms(4), "at its end");
    assert_eq!(beside_a_tick(us(19)), us(3_999), "before the tick");
    assert_eq!(woken(ideal(1), us(4_001), us(50), vec![hog(0, ms(9))]), us(4_051), "a tick before it");
}

/// And one that begins as it comes: what the tick's handler takes is not looked at again.
#[test]
fn what_begins_while_the_handler_works_is_not_served_by_it() {
    let mut spec = ideal(1);
    spec.costs.tick = us(3);
    assert_eq!(woken(spec.clone(), us(4_000), us(50), vec![hog(0, ms(9))]), us(4_003));
    assert_eq!(woken(spec, us(4_001), us(50), vec![hog(0, ms(9))]), us(4_051));
}

#[test]
fn another_task_s_timer_in_the_slack_wakes_the_sleeper() {
    assert_eq!(woken(ideal(1), us(1_000), us(50), vec![timers(0, &[us(1_030)])]), us(1_030));
    assert_eq!(woken(ideal(2), us(1_000), us(50), vec![timers(1, &[us(1_030)])]), us(1_050), "elsewhere");
    let mut spec = ideal(1);
    spec.noise.timer_delivery = Some(Spread::Constant(us(7)));
    assert_eq!(woken(spec, us(1_000), us(50), vec![timers(0, &[us(1_030)])]), us(1_037));
}

/// machine.md 5.1: timers are gone through by their hard expiries, up to one that may not expire yet. The
/// interrupt at 1020 finds that of 1100 before the sleeper's, whose hard expiry is at 1500.
#[test]
fn a_timer_between_hides_the_sleeper_until_it_expires() {
    assert_eq!(woken(ideal(1), us(1_000), us(500), vec![timers(0, &[us(1_020)])]), us(1_020));
    let both = vec![timers(0, &[us(1_020)]), timers(0, &[us(1_100)])];
    assert_eq!(woken(ideal(1), us(1_000), us(500), both), us(1_100));
    // The tick at 4 ms is such a timer as well.
    let tick = vec![timers(0, &[us(3_800)]), hog(0, ms(9))];
    assert_eq!(woken(ideal(1), us(3_700), us(500), tick), ms(4));
}

/// 5.2: real-time tasks have none. Three of one priority, each with the slack of a fair task.
#[test]
fn real_time_sleepers_have_no_slack() {
    let mut setup = Setup::new(1);
    let clocks = [us(1_000), us(1_030)].map(|until| {
        let (mut task, clock) = script("fifo", [Step::SleepUntil(until)]);
        (task.policy, task.timer_slack) = (fifo(50), us(50));
        setup.spawn(Nanos::ZERO, task);
        clock
    });
    run(ideal(1), setup);
    assert_eq!(clocks.map(|clock| clock.borrow()[1]), [us(1_000), us(1_030)]);
}

/// 1.8: with PREEMPT_RT the tick raises the soft interrupt in which a fair sleeper's timer expires, and its
/// thread wakes it.
#[test]
fn with_preempt_rt_the_thread_of_timers_wakes_it_in_its_slack() {
    let woken = |until| {
        let mut setup = Setup::new(1);
        let (mut sleeper, clock) = script("sleeper", [Step::SleepUntil(until)]);
        sleeper.timer_slack = us(50);
        setup.spawn(Nanos::ZERO, sleeper);
        setup.spawn(Nanos::ZERO, hog(0, ms(9)));
        let mut spec = ideal(1);
        spec.costs.context_switch = us(2);
        run_under("6.1-rt", spec, setup);
        let times = clock.borrow();
        times[1]
    };
    // Two switches: to ktimers/0, and to the sleeper.
    assert_eq!(woken(us(5_100)), us(5_154));
    // The tick also raises balancing, so that ksoftirqd/0 runs in between.
    assert_eq!(woken(us(3_980)), us(4_006));
}

/// 5.2: a fair nanosleep(1 ms) with 500 us of slack was late by 500 us at the median, but a tenth of them by
/// 23 to 241 us at most: others had timers on that CPU. Here these are the tick and one that comes about as
/// often, at no regular times.
#[test]
fn company_wakes_some_of_the_sleepers_early() {
    // Ticks do not keep step with it.
    const LENGTH: Nanos = Nanos(1_037_000);
    let lates = |beside: Beside| {
        let mut setup = Setup::new(1);
        let (mut sleeper, clock) = script("sleeper", (0..300).map(|_| Step::SleepFor(LENGTH)));
        sleeper.timer_slack = us(500);
        setup.spawn(Nanos::ZERO, sleeper);
        for task in beside {
            setup.spawn(Nanos::ZERO, task);
        }
        run(ideal(1), setup);
        let mut lates: Vec<Nanos> = clock.borrow().windows(2).map(|at| at[1] - at[0] - LENGTH).collect();
        lates.sort_unstable();
        lates
    };
    let company: Vec<Nanos> = (1..200).map(|n| us(3_000 * n + n * n * 613 % 2_000)).collect();
    let (alone, together) = (lates(vec![]), lates(vec![hog(0, ms(900)), timers(0, &company)]));
    assert_eq!((alone[0], alone[299]), (us(500), us(500)));
    assert_eq!((together[150], together[299]), (us(500), us(500)));
    assert!((us(23)..=us(241)).contains(&together[30]), "{}", together[30]);
}
