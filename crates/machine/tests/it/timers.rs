//! How late a task's timer is: the way of its interrupt, who brings it along, and a way to the task that
//! has gone cold (machine.md 5.1, 5.7, 6.1).

use crate::script::{fifo, ideal, ms, run, run_with, script, us};
use machine::{ColdPath, IrqOff, MachineSpec, RunOptions, Setup, Spread, Step};
use scheduler::{CpuId, Nanos};

/// From the end of its way to the guest on, an interrupt costs nothing here.
const WAY: Nanos = Nanos(7_000);

/// One CPU, on which an interrupt is under way for [`WAY`].
fn virtual_machine() -> MachineSpec {
    let mut spec = ideal(1);
    spec.noise.timer_delivery = Some(Spread::Constant(WAY));
    spec
}

/// Each FIFO task sleeps until one of these times; when it executes.
fn woken(spec: MachineSpec, until: &[Nanos], beside: Option<Step>) -> Vec<Nanos> {
    let mut setup = Setup::new(1);
    setup.hold_cpu_dma_latency();
    let sleeper = |(n, time): (usize, &Nanos)| {
        let (mut task, clock) = script("sleeper", [Step::SleepUntil(*time)]);
        task.policy = fifo(90 - n as u8);
        setup.spawn(Nanos::ZERO, task);
        clock
    };
    let clocks: Vec<_> = until.iter().enumerate().map(sleeper).collect();
    if let Some(step) = beside {
        setup.spawn(Nanos::ZERO, script("beside", [step]).0);
    }
    run(spec, setup);
    clocks.iter().map(|clock| clock.borrow()[1]).collect()
}

#[test]
fn a_timer_alone_is_late_by_the_way_of_its_interrupt() {
    assert_eq!(woken(virtual_machine(), &[us(1_500)], None), [us(1_507)]);
    assert_eq!(woken(virtual_machine(), &[us(1_500)], Some(Step::Compute(ms(3)))), [us(1_507)]);
    assert_eq!(woken(ideal(1), &[us(1_500)], None), [us(1_500)]);
}

#[test]
fn one_interrupt_serves_all_that_have_expired() {
    let expiries = [us(1_500), us(1_505), us(1_508)];
    assert_eq!(woken(virtual_machine(), &expiries, None), [us(1_507), us(1_507), us(1_515)]);
}

/// machine.md M16: the tick at 4 ms takes 3 us; a timer that expires meanwhile is served in its interrupt,
/// and one that expired just before it is brought along.
#[test]
fn m16_a_timer_that_expires_beside_the_tick_is_served_in_its_interrupt() {
    let mut spec = virtual_machine();
    spec.costs.tick = us(3);
    let hog = || Some(Step::Compute(ms(9)));
    assert_eq!(woken(spec.clone(), &[us(4_001)], hog()), [us(4_003)]);
    assert_eq!(woken(spec.clone(), &[us(3_999)], hog()), [us(4_003)]);
    assert_eq!(woken(spec, &[us(3_990)], hog()), [us(3_997)]);
}

/// A timer that expires while the handler sets the hardware for the next one is served before anybody runs:
/// the lower task is woken on the CPU of the higher one, and pushed from there, not placed elsewhere at
/// once.
#[test]
fn what_expires_while_the_timer_is_set_is_served_before_the_switch() {
    let mut spec = ideal(2);
    (spec.noise.timer_delivery, spec.costs.timer_program) = (Some(Spread::Constant(WAY)), us(5));
    let mut setup = Setup::new(2);
    setup.hold_cpu_dma_latency();
    let mut sleeper = |priority, until| {
        let (mut task, clock) = script("sleeper", [Step::SleepUntil(until), Step::Compute(us(50))]);
        task.policy = fifo(priority);
        setup.spawn_on(Nanos::ZERO, Some(CpuId(0)), task);
        clock
    };
    let (high, low) = (sleeper(50, us(1_500)), sleeper(40, us(1_509)));
    run(spec, setup);
    // Served at 1507 and 1512; each time the hardware takes 5 us, and only then is there a switch.
    assert_eq!(high.borrow()[1], us(1_517));
    assert_eq!(low.borrow()[1], us(1_517));
}

/// Most of the time the host has the CPU: then a timer is late by the rest of that, seldom by its own way.
#[test]
fn a_cpu_that_its_host_has_needs_not_be_fetched() {
    let latest = |per_second: u32| {
        let mut spec = virtual_machine();
        let length = Spread::Constant(us(20));
        spec.noise.irq_off.push(IrqOff {
            what: "host".into(),
            per_minute_per_cpu: 60 * per_second,
            length,
            device: false,
        });
        let expiries: Vec<_> = (1..60).map(|n| us(333 * n)).collect();
        let woken = woken(spec, &expiries, None);
        let mut late: Vec<_> = woken.iter().zip(&expiries).map(|(at, due)| *at - *due).collect();
        late.sort_unstable();
        late
    };
    let (seldom, often) = (latest(1), latest(20_000));
    assert!(seldom.iter().all(|late| *late == WAY), "{seldom:?}");
    assert!(often[2] < WAY && often[59 - 3] > WAY, "{often:?}");
}

/// machine.md 5.1: the hardware is set to the first timer of a CPU; a later one is only written down.
#[test]
fn setting_a_timer_behind_another_one_costs_nothing() {
    let asleep_after = |others: &[Nanos]| {
        let mut spec = virtual_machine();
        spec.costs.timer_program = us(5);
        let mut setup = Setup::new(1);
        for until in others {
            let (mut task, _) = script("other", [Step::SleepUntil(*until)]);
            task.policy = fifo(50);
            setup.spawn(Nanos::ZERO, task);
        }
        let (mut sleeper, _) = script("sleeper", [Step::Compute(ms(1)), Step::SleepUntil(ms(4))]);
        sleeper.policy = fifo(40);
        setup.spawn(Nanos::ZERO, sleeper);
        let (next, clock) = script("next", []);
        setup.spawn(Nanos::ZERO, next);
        run(spec, setup);
        let executes = clock.borrow()[0];
        executes - ms(1)
    };
    assert_eq!(asleep_after(&[]), us(5));
    assert_eq!(asleep_after(&[ms(3)]), us(5));
    assert_eq!(asleep_after(&[ms(5)]), us(10));
}

/// A time that has passed already costs a timer, too: it is set, and its interrupt comes while that goes on.
#[test]
fn a_sleep_until_the_past_costs_an_interrupt() {
    let mut spec = virtual_machine();
    (spec.costs.timer_program, spec.costs.irq_entry) = (us(5), us(1));
    let after = |spec| {
        let mut setup = Setup::new(1);
        let (mut task, clock) = script("late", [Step::Compute(ms(2)), Step::SleepUntil(ms(1))]);
        task.policy = fifo(1);
        setup.spawn(Nanos::ZERO, task);
        run(spec, setup);
        let times = clock.borrow();
        times[2] - times[1]
    };
    assert_eq!(after(spec.clone()), us(11));
    spec.noise.timer_delivery = None;
    assert_eq!(after(spec), Nanos::ZERO);
}

/// machine.md 6.1: a fair task touches 5 bytes in a nanosecond, 256 KiB at most; a halt of its length
/// cools, too.
#[test]
fn what_ran_in_between_makes_the_way_to_a_woken_task_cold() {
    let cold = ColdPath { path: us(10), bytes: 512 << 10, halted: ms(5) };
    let late = |beside, held: bool| {
        let mut spec = ideal(1);
        spec.cold = Some(cold);
        let mut setup = Setup::new(1);
        if held {
            setup.hold_cpu_dma_latency();
        }
        let (mut task, clock) = script("sleeper", [Step::SleepUntil(ms(3))]);
        task.policy = fifo(1);
        setup.spawn(Nanos::ZERO, task);
        if let Some(step) = beside {
            setup.spawn(Nanos::ZERO, script("beside", [step]).0);
        }
        run(spec, setup);
        let woken = clock.borrow()[1];
        woken - ms(3)
    };
    assert_eq!(late(None, true), Nanos::ZERO);
    assert_eq!(late(Some(Step::Compute(ms(9))), true), cold.cost(256 << 10, Nanos::ZERO));
    // 5 bytes for each of 20 us, and then idle, which touches nothing.
    assert_eq!(late(Some(Step::Compute(us(20))), true), cold.cost(100_000, Nanos::ZERO));
    assert_eq!(late(None, false), cold.cost(0, ms(3)));
}

/// machine.md 5.7: the gaps are the machine's, from the seed; without them all start at once.
#[test]
fn threads_start_one_by_one_as_slowly_as_the_machine_says() {
    let starts = |spec: MachineSpec, seed| {
        let mut setup = Setup::new(1);
        let clocks: Vec<_> = (0..3)
            .map(|n| {
                let (task, clock) = script("thread", []);
                setup.spawn_thread(n, task);
                clock
            })
            .collect();
        let options = RunOptions { seed, ..RunOptions::default() };
        run_with(spec, "6.1", setup, options).expect("a run without error");
        clocks.iter().map(|clock| clock.borrow()[0]).collect::<Vec<_>>()
    };
    assert_eq!(starts(ideal(1), 1), [Nanos::ZERO; 3]);
    let mut spec = ideal(1);
    spec.noise.thread_start = Some(Spread::Uniform { min: us(90), max: us(110) });
    let (one, two) = (starts(spec.clone(), 1), starts(spec, 2));
    assert_ne!(one, two);
    for starts in [one, two] {
        assert!((us(90)..=us(110)).contains(&starts[0]), "{starts:?}");
        for pair in starts.windows(2) {
            assert!((us(90)..=us(110)).contains(&(pair[1] - pair[0])), "{starts:?}");
        }
    }
}
