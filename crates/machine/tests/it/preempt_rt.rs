//! PREEMPT_RT: timers and soft interrupts in threads (machine.md 1.7, 1.8, 1.13).

use crate::script::{Clock, fifo, ideal, ms, script, us};
use machine::{
    Arrival, ChannelSpec, IrqOff, Machine, MachineSpec, Operation, Outcome, Outside, RunOptions, Setup,
    SoftirqGap, SoftirqSpec, SoftirqTally, Spread, Step, Stretch, TaskSpec, Tracing,
};
use scheduler::registry::Config;
use scheduler::{CpuId, Nanos};
use schema::{LogEvent, LogInterrupt};

/// A kernel with settings, for a second, under the checks.
fn run(kernel: &[&str], spec: MachineSpec, setup: Setup) -> Outcome {
    let config = Config::of_profile(kernel[0]).expect("a profile");
    kernel[1..].iter().for_each(|setting| config.set(setting).expect("a setting"));
    let options = RunOptions { trace: Tracing::Everything, check: true, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run")
}

/// Who comes onto CPU 0 in this time, one after the other.
fn come(outcome: &Outcome, from: Nanos, to: Nanos) -> Vec<String> {
    let name = |pid: i32| {
        let task = outcome.tasks.iter().find(|t| t.pid.0 == pid);
        task.map_or_else(|| "idle".to_owned(), |t| t.comm.to_string())
    };
    let log = outcome.log.as_ref().expect("asked for");
    let within = log.iter().filter(|r| r.cpu.0 == 0 && from.0 <= r.time.0 && r.time.0 < to.0);
    let next = within.filter_map(|r| match &r.event {
        LogEvent::SchedSwitch { next, .. } => Some(name(next.pid.0)),
        _ => None,
    });
    next.collect()
}

/// A task that sleeps until these times, then works for so long each time; when it was through with what.
fn sleeper(comm: &str, until: &[Nanos], work: Nanos) -> (TaskSpec, Clock) {
    script(comm, until.iter().flat_map(|at| [Step::SleepUntil(*at), Step::Compute(work)]))
}

fn hog() -> TaskSpec {
    script("hog", [Step::Compute(Nanos::from_secs(2))]).0
}

/// Work for the soft interrupt of CPU 0, raised once.
fn raised_once(setup: &mut Setup, at: Nanos, work: Nanos) -> SoftirqTally {
    let tally = SoftirqTally::default();
    setup.softirq(SoftirqSpec {
        cpu: CpuId(0),
        at,
        gap: SoftirqGap::Every(Nanos::from_secs(9)),
        work,
        tally: tally.clone(),
    });
    tally
}

/// machine.md 1.13, recorded in a guest of 6.1-rt: a FIFO sleeper costs two switches, over an idle CPU and
/// over a hog; a fair one, whose timer expires in ktimers, three.
#[test]
fn a_fair_sleeper_costs_a_switch_more_than_a_fifo_one() {
    let switches = |kernel: &[&str], is_fifo: bool, beside: bool| {
        let mut setup = Setup::new(1);
        let (mut task, _) = sleeper("sleeper", &[us(100_300)], us(50));
        if is_fifo {
            task.policy = fifo(90);
        }
        setup.spawn(Nanos::ZERO, task);
        if beside {
            setup.spawn(Nanos::ZERO, hog());
        }
        come(&run(kernel, ideal(1), setup), us(100_200), us(100_500)).join(" ")
    };
    for (kernel, fair) in [
        (&["6.1"][..], "sleeper"),
        (&["6.1-rt"], "ktimers/0 sleeper"),
        (&["6.18-rt"], "ktimers/0 sleeper"),
        (&["6.12-rt"], "ksoftirqd/0 sleeper"),
        (&["6.1-rt", "timer_thread=ksoftirqd"], "ksoftirqd/0 sleeper"),
        (&["6.1-rt", "hrtimer_context=all_hard"], "sleeper"),
    ] {
        assert_eq!(switches(kernel, true, false), "sleeper idle", "{kernel:?}");
        assert_eq!(switches(kernel, true, true), "sleeper hog", "{kernel:?}");
        assert_eq!(switches(kernel, false, false), format!("{fair} idle"), "{kernel:?}");
        // Under EEVDF a hog may be protected from a sleeper.
        if kernel[0].starts_with("6.1-") || kernel[0] == "6.1" {
            assert_eq!(switches(kernel, false, true), format!("{fair} hog"), "{kernel:?}");
        }
    }
}

/// machine.md 1.8: the policy counts, at the time of the call, and not the priority that a task is lent.
#[test]
fn a_task_that_becomes_fair_sleeps_by_a_soft_timer_from_then_on() {
    let mut setup = Setup::new(1);
    let steps = [
        Step::SleepUntil(ms(10)),
        Step::SetPolicy { target: None, policy: scheduler::Policy::Normal },
        Step::SleepUntil(ms(20)),
    ];
    let (mut task, _) = script("sleeper", steps);
    task.policy = fifo(90);
    setup.spawn(Nanos::ZERO, task);
    let outcome = run(&["6.1-rt"], ideal(1), setup);
    assert_eq!(come(&outcome, ms(10), ms(11)), ["sleeper", "idle"]);
    assert_eq!(come(&outcome, ms(20), ms(21)), ["ktimers/0", "sleeper", "idle"]);
}

/// machine.md 1.8, M30: ksoftirqd of 6.12-rt competes as a fair task, ktimers does not; and whom FIFO 1 does
/// not beat, ktimers waits for, and all whose timers it serves.
#[test]
fn a_fair_sleeper_waits_for_whoever_its_timer_thread_waits_for() {
    let runs_at = |kernel: &str, setup_hog: &dyn Fn(&mut Setup)| {
        let mut setup = Setup::new(1);
        let (task, clock) = sleeper("sleeper", &[us(100_300)], us(50));
        setup.spawn(Nanos::ZERO, task);
        setup_hog(&mut setup);
        run(&[kernel], ideal(1), setup);
        clock.borrow()[1]
    };
    let five_ms = |setup: &mut Setup| {
        let (mut task, _) = sleeper("fifo", &[us(100_200)], ms(5));
        task.policy = fifo(10);
        setup.spawn(Nanos::ZERO, task);
    };
    for kernel in ["6.1-rt", "6.12-rt", "6.18-rt"] {
        assert_eq!(runs_at(kernel, &five_ms), us(105_200), "{kernel}: behind FIFO 10");
        assert_eq!(runs_at(kernel, &|_| ()), us(100_300), "{kernel}: alone");
    }
}

/// machine.md M5: an interrupt wakes FIFO 90 and raises 5 us of soft interrupt. On the way out, 0.3 us; then
/// the switch, 1 us. Without PREEMPT_RT the soft interrupt goes first, with it after the task.
#[test]
fn m5_a_soft_interrupt_goes_before_the_woken_task_or_after_it() {
    let first_instruction = |kernel: &str| {
        let mut setup = Setup::new(1);
        let (mut task, clock) = script("fifo", [Step::SleepUntil(Nanos(100_000_100))]);
        task.policy = fifo(90);
        setup.spawn(Nanos::ZERO, task);
        setup.spawn(Nanos::ZERO, hog());
        let tally = raised_once(&mut setup, ms(100), us(5));
        let mut spec = ideal(1);
        // Two timers of the machine are two interrupts; the second comes before the first one's way out ends.
        spec.noise.timer_delivery = Some(machine::Spread::Constant(Nanos::ZERO));
        (spec.costs.irq_exit, spec.costs.schedule) = (Nanos(150), Nanos(1_000));
        let outcome = run(&[kernel], spec, setup);
        assert_eq!(tally.counts().done, 1, "{kernel}");
        let at = clock.borrow()[1];
        (at, come(&outcome, ms(100), us(100_020)))
    };
    assert_eq!(first_instruction("6.1").0, Nanos(100_006_300));
    let (at, come) = first_instruction("6.1-rt");
    assert_eq!(at, Nanos(100_001_300));
    assert_eq!(come[0], "fifo");
    assert!(come.iter().any(|comm| comm == "ksoftirqd/0"), "it serves the timer's work: {come:?}");
}

/// machine.md 1.7: up to 6.17 a timer's thread waits until the round of another one is over, and lends it its
/// priority meanwhile; from 6.18 on it comes in between.
#[test]
fn the_lock_of_the_soft_interrupts_lets_a_timer_wait_for_a_whole_round() {
    let woken = |settings: &[&str]| {
        let mut setup = Setup::new(1);
        raised_once(&mut setup, ms(100), ms(20));
        let (task, clock) = sleeper("sleeper", &[us(100_500)], us(50));
        setup.spawn(Nanos::ZERO, task);
        setup.spawn(Nanos::ZERO, hog());
        let kernel = [&["6.1-rt"], settings].concat();
        let outcome = run(&kernel, ideal(1), setup);
        let at = clock.borrow()[1];
        (at, come(&outcome, us(100_400), ms(119)))
    };
    let (at, came) = woken(&[]);
    assert!((us(120_000)..us(121_000)).contains(&at), "the 20 ms are served first: {at}");
    assert_eq!(came.last().map(String::as_str), Some("ksoftirqd/0"), "beside a hog, boosted: {came:?}");
    let (at, _) = woken(&["softirq_lock=none"]);
    assert_eq!(at, us(100_500));
}

/// machine.md 1.7: periodic balancing is the thread's as well; without PREEMPT_RT the tick does it.
#[test]
fn balancing_is_done_by_a_thread() {
    let ran = |kernel: &str| {
        let mut setup = Setup::new(2);
        for _ in 0..5 {
            setup.spawn(Nanos::ZERO, hog());
        }
        let outcome = run(&[kernel], ideal(2), setup);
        let thread = outcome.tasks.iter().find(|t| &*t.comm == "ksoftirqd/0");
        thread.map_or(0, |t| t.counters.nr_voluntary_switches)
    };
    assert_eq!(ran("6.1"), 0);
    assert!(ran("6.1-rt") > 20, "{}", ran("6.1-rt"));
}

/// deadline-groups D2, machine.md M2 and M4: a round leaves to ksoftirqd what it does not get done, at once
/// when somebody asks to run. It is a fair task: a hog beside it gets its share, and it its own.
#[test]
fn without_preempt_rt_ksoftirqd_does_what_a_round_leaves() {
    let mut setup = Setup::new(1);
    let tally = SoftirqTally::default();
    // More than the CPU can do: 0.4 ms in each 0.3.
    let each = SoftirqSpec {
        cpu: CpuId(0),
        at: ms(100),
        gap: SoftirqGap::Every(us(300)),
        work: us(400),
        tally: tally.clone(),
    };
    setup.softirq(each);
    setup.spawn(Nanos::ZERO, hog());
    let outcome = run(&["6.1"], ideal(1), setup);
    let ran = |comm: &str| {
        outcome.tasks.iter().find(|t| &*t.comm == comm).map_or(Nanos::ZERO, |t| t.counters.sum_exec_runtime)
    };
    assert!(ran("ksoftirqd/0") > ms(1), "it has taken over: {}", ran("ksoftirqd/0"));
    assert!(tally.counts().done > 2_000, "{:?}", tally.counts());
}

/// machine.md 1.6: a handler of 30 us delays a FIFO 90 task wherever it comes, in a thread by its hard part
/// alone; a task below FIFO 50 waits for the thread.
#[test]
fn a_handler_in_a_thread_delays_only_tasks_below_it() {
    let latest = |threads: &str, priority: u8| {
        let mut spec = ideal(1);
        spec.noise.irq_off.push(IrqOff {
            what: "network".into(),
            per_minute_per_cpu: 540_000,
            length: Spread::Constant(us(30)),
            device: true,
        });
        let mut setup = Setup::new(1);
        let until: Vec<Nanos> = (1..900).map(ms).collect();
        let (mut task, clock) = script("task", until.iter().map(|at| Step::SleepUntil(*at)));
        task.policy = fifo(priority);
        setup.spawn(Nanos::ZERO, task);
        setup.spawn(Nanos::ZERO, hog());
        run(&["6.1-rt", threads], spec, setup);
        let late = clock.borrow()[1..].iter().zip(&until).map(|(at, due)| at.0 - due.0).max();
        late.expect("it has slept")
    };
    assert!((20_000..200_000).contains(&latest("irq_threads=driver", 90)));
    let hard = latest("irq_threads=forced", 90);
    assert!((1..=1_000).contains(&hard), "{hard}");
    assert!((20_000..=200_000).contains(&latest("irq_threads=forced", 40)));
}

/// A reader of a device's message at this priority; when it has it, and who came onto the CPU for that. The
/// soft interrupt has 20 ms to do from 100 ms on, the message comes 0.5 ms later.
fn reads(priority: u8, settings: &[&str]) -> (Nanos, Vec<String>) {
    let mut setup = Setup::new(1);
    raised_once(&mut setup, ms(100), ms(20));
    let channel = setup.channel(ChannelSpec::new(1));
    setup.outside(Outside { at: us(100_500), by: Arrival::Own, cpu: Some(CpuId(0)), channel, every: None });
    let (mut task, clock) = script("reader", [Step::Receive(channel)]);
    task.policy = fifo(priority);
    setup.spawn(Nanos::ZERO, task);
    setup.spawn(Nanos::ZERO, hog());
    let outcome = run(&[&["6.1-rt"], settings].concat(), ideal(1), setup);
    let at = clock.borrow()[1];
    (at, come(&outcome, us(100_400), at + Nanos(1)))
}

/// machine.md 1.6, 1.7: the thread of the interrupt wakes the reader; up to 6.17 it first waits until the
/// whole round of another thread is over.
#[test]
fn a_message_of_a_device_comes_by_a_thread_that_may_have_to_wait_for_a_round() {
    let (at, came) = reads(80, &["softirq_lock=none"]);
    assert_eq!(at, us(100_500));
    assert_eq!(came[..2], ["irq/24-dev", "reader"]);
    let (at, came) = reads(80, &[]);
    assert!((us(120_000)..us(121_000)).contains(&at), "{at}");
    assert_eq!(came[..4], ["irq/24-dev", "ksoftirqd/0", "irq/24-dev", "reader"], "it lends its priority");
    let (at, came) = reads(80, &["irq_threads=driver"]);
    assert_eq!((at, &*came[0]), (us(100_500), "reader"));
}

/// machine.md M6: an interrupt that comes while its thread works makes it look once more, however many come.
/// At ten times as many as it can handle, the thread has the CPU to itself, and no backlog behind it.
#[test]
fn m6_interrupts_that_come_meanwhile_are_one_more_pass() {
    let mut spec = ideal(1);
    spec.noise.irq_off.push(IrqOff {
        what: "network".into(),
        per_minute_per_cpu: 6_000_000,
        length: Spread::Constant(Nanos(100_500)),
        device: true,
    });
    let mut setup = Setup::new(1);
    // Below the thread it runs only where that sleeps; above, always.
    let (mut above, clock) = script("above", [Step::SleepUntil(ms(500)), Step::Compute(ms(10))]);
    above.policy = fifo(60);
    setup.spawn(Nanos::ZERO, above);
    let outcome = run(&["6.1-rt", "sched_rt_runtime_us=-1"], spec, setup);
    let thread = outcome.tasks.iter().find(|t| &*t.comm == "irq/24-dev").expect("a thread");
    let (ran, slept) = (thread.counters.sum_exec_runtime, thread.counters.nr_voluntary_switches);
    assert!(ran > ms(450) && slept < 20, "{ran}, {slept} sleeps");
    assert_eq!(clock.borrow().len(), 3);
}

/// machine.md M6, its figures: the thread needs 50 us for a run, and three interrupts that come while it
/// does the first, or begin it, are two runs; one is one. They come at random moments here, so those times
/// are looked for in which the thread has the CPU and just one, or just three of them come, the third
/// before the first run is over.
#[test]
fn m6_three_interrupts_are_two_runs() {
    const RUN: Nanos = us(50);
    const HARD_PART: Nanos = Nanos(500);
    let mut spec = ideal(1);
    spec.noise.irq_off.push(IrqOff {
        what: "network".into(),
        per_minute_per_cpu: 60 * 4_000,
        length: Spread::Constant(RUN + HARD_PART),
        device: true,
    });
    let mut setup = Setup::new(1);
    setup.spawn(Nanos::ZERO, hog());
    let outcome = run(&["6.1-rt", "sched_rt_runtime_us=-1"], spec, setup);
    let pid = outcome.tasks.iter().find(|t| &*t.comm == "irq/24-dev").expect("a thread").pid;
    let log = outcome.log.as_ref().expect("asked for");
    let mut came: Vec<Nanos> = Vec::new();
    let (mut of_one, mut of_three) = (0, 0);
    for record in log {
        match &record.event {
            LogEvent::IrqHandlerEntry { irq: LogInterrupt::IrqsOff { .. } } => {
                came.push(Nanos(record.time.0))
            }
            LogEvent::SchedSwitch { prev, .. } if prev.pid.0 == pid.0 => {
                let Some(first) = came.first().map(|at| *at + HARD_PART) else { continue };
                // The hard parts of those that come meanwhile are not the thread's.
                let ran = Nanos(record.time.0) - first - HARD_PART * (came.len() as u64 - 1);
                match came[..] {
                    [_] => {
                        assert_eq!(ran, RUN, "at {first}");
                        of_one += 1;
                    }
                    [_, _, third] if third < first + RUN => {
                        assert_eq!(ran, RUN * 2, "at {first}");
                        of_three += 1;
                    }
                    _ => {}
                }
                came.clear();
            }
            _ => {}
        }
    }
    assert!(of_one > 1_000 && of_three > 20, "{of_one} and {of_three} of 4000");
}

/// machine.md 1.2, 1.3: a fork takes 133 sleeping locks, the exit 88, an exec 168, and each costs twice what
/// a spinlock does, which is in the cost of the operation.
#[test]
fn sleeping_locks_make_operations_dearer() {
    let took = |locks: &str| {
        let mut spec = ideal(1);
        (spec.costs.exec, spec.costs.lock_uncontended) = (us(450), Nanos(15));
        let mut setup = Setup::new(1);
        let (task, clock) = script("task", [Step::Exec("other".into())]);
        setup.spawn(Nanos::ZERO, task);
        run(&["6.12-rt", locks], spec, setup);
        let clock = clock.borrow();
        clock[1] - clock[0]
    };
    assert_eq!(took("kernel_locks=sleeping") - took("kernel_locks=spin"), Nanos(168 * 15));
}

/// machine.md 1.11, 4.1: a FIFO task beside one that does nothing but exec waits for an atomic section of
/// that in a quarter of the cases under preempt_model=full, and in a fortieth where locks sleep.
#[test]
fn sleeping_locks_let_tasks_be_preempted_that_have_one() {
    let late = |locks: &str| {
        let mut spec = ideal(1);
        spec.costs.exec = us(450);
        let (points, atomic_percent) = (None, 25);
        let exec = Stretch { points, atomic_percent, atomic_mean: Nanos(1_500), atomic_max: us(20) };
        spec.stretches.set(Operation::Exec, exec);
        let times: Vec<Nanos> = (1..1_600).map(|n| us(613 * n)).collect();
        let (mut timer, clock) = script("timer", times.iter().map(|at| Step::SleepUntil(*at)));
        timer.policy = fifo(80);
        let execs = std::iter::repeat_with(|| Step::Exec("make".into())).take(2_200);
        let mut setup = Setup::new(1);
        setup.spawn(Nanos::ZERO, timer);
        setup.spawn(Nanos::ZERO, script("execs", execs).0);
        run(&["6.12-rt", locks, "irq_threads=driver"], spec, setup);
        let clock = clock.borrow();
        clock[1..].iter().zip(&times).filter(|(at, due)| at > due).count()
    };
    let (spin, sleeping) = (late("kernel_locks=spin"), late("kernel_locks=sleeping"));
    assert!(spin.abs_diff(400) < 60, "a quarter of 1599: {spin}");
    assert!(sleeping.abs_diff(40) < 20, "a tenth of that: {sleeping}");
}
