//! RCU callbacks (machine.md 2.4): when they are called, how many at a go, and who waits meanwhile.

use crate::script::{Clock, fifo, ideal, ms, script, us};
use machine::{ForkKind, Machine, MachineSpec, Outcome, RunOptions, Setup, Step, TaskSpec, Tracing};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos};
use schema::{LogEvent, LogInterrupt};

/// Ticks of 4 ms: callbacks of time 0 wait for the grace period from 4 ms to here.
const READY: Nanos = ms(16);

/// A machine on which nothing costs time but a callback.
fn machine(cpus: usize, callback: Nanos) -> MachineSpec {
    let mut spec = ideal(cpus);
    spec.rcu_callback = Some(callback);
    spec
}

/// Children of a kind that do this and end, one after the other, each of which is waited for.
fn children(number: usize, kind: ForkKind, child: impl Fn() -> TaskSpec) -> impl Iterator<Item = Step> {
    (0..number).flat_map(move |_| [Step::Fork { child: Box::new(child()), kind }, Step::WaitChild])
}

/// A task of a CPU that leaves so many callbacks, two for each thread that it creates and joins, in no time.
fn leaves(cpu: u16, callbacks: usize, then: Step) -> TaskSpec {
    let cpus = Some(CpuMask::single(CpuId(cpu)));
    let thread = move || TaskSpec { cpus, ..script("thread", []).0 };
    let steps = children(callbacks / 2, ForkKind::Thread, thread);
    TaskSpec { cpus, ..script("leaves", steps.chain([then])).0 }
}

/// A FIFO task that sleeps until then.
fn sleeper(until: Nanos) -> (TaskSpec, Clock) {
    let (task, clock) = script("sleeper", [Step::SleepUntil(until), Step::SleepUntil(ms(70))]);
    (TaskSpec { policy: fifo(90), ..task }, clock)
}

fn run(kernel: &str, spec: MachineSpec, setup: Setup) -> Outcome {
    let config = Config::of_profile(kernel).expect("a profile");
    config.set("hz=250").expect("a setting");
    let options =
        RunOptions { duration: ms(60), check: true, trace: Tracing::Everything, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run")
}

/// When such events happen.
fn times(outcome: &Outcome, is: impl Fn(u16, &LogEvent) -> bool) -> Vec<Nanos> {
    let log = outcome.log.as_ref().expect("a log");
    log.iter().filter(|r| is(r.cpu.0, &r.event)).map(|r| Nanos(r.time.0)).collect()
}

fn ticks(outcome: &Outcome, of: u16) -> Vec<Nanos> {
    let irq = LogInterrupt::Tick {};
    times(outcome, |cpu, event| cpu == of && *event == LogEvent::IrqHandlerEntry { irq })
}

/// What soft interrupts take altogether.
fn in_softirqs(outcome: &Outcome) -> Nanos {
    let all: Vec<_> = [LogEvent::SoftirqEntry {}, LogEvent::SoftirqExit {}]
        .iter()
        .map(|bound| times(outcome, |_, event| event == bound).into_iter().sum::<Nanos>())
        .collect();
    all[1] - all[0]
}

/// A busy CPU with so many callbacks that are ready at once. When a FIFO task runs whose timer expires then,
/// so that the round ends with the go under way; and, without it, when the round ends and ksoftirqd is woken.
fn first_go(callbacks: usize, each: Nanos, expires: Nanos) -> (Nanos, Nanos, Option<Nanos>) {
    let of = |beside: Option<TaskSpec>| {
        let mut setup = Setup::new(1);
        setup.spawn(Nanos::ZERO, leaves(0, callbacks, Step::Compute(ms(100))));
        if let Some(task) = beside {
            setup.spawn(Nanos::ZERO, task);
        }
        run("6.1", machine(1, each), setup)
    };
    let (task, clock) = sleeper(expires);
    of(Some(task));
    let alone = of(None);
    let ends = times(&alone, |_, event| matches!(event, LogEvent::SoftirqExit {}));
    let woken = times(&alone, |_, event| matches!(event, LogEvent::SchedWakeupNew { .. }));
    let ran = clock.borrow()[1];
    (ran - READY, ends[0] - READY, woken.iter().find(|at| **at > Nanos::ZERO).map(|at| *at - READY))
}

/// machine.md M31.
#[test]
fn m31_a_go_ends_by_its_number_or_by_the_clock() {
    // 10 000 callbacks, which the clock does not end; the other 10 000 are the next pass of the round.
    assert_eq!(first_go(20_000, Nanos(250), ms(17)), (us(2_500), us(5_000), None));
    // The first look at the clock after 3 ms is that after 6016 callbacks. The second pass begins before the
    // jiffy is over, and is the last.
    let go = us(3_008);
    assert_eq!(first_go(20_000, Nanos(500), ms(17)), (go, go * 2, Some(go * 2)));
    // 39, a 128th of what is there; ten passes take 39, four times 38 ... 36.
    let passes = Nanos(250 * 373);
    assert_eq!(first_go(5_000, Nanos(250), READY + us(1)), (Nanos(250 * 39), passes, Some(passes)));
}

/// machine.md 4.2, row call_rcu: a thread leaves 2, a process 2.6, one that executes another program 20.
#[test]
fn each_end_and_exec_leaves_what_was_counted() {
    let ends = || script("child", []).0;
    let execs = || script("child", [Step::Exec("other".into())]).0;
    let called = |number, kind, child: fn() -> TaskSpec| {
        let mut setup = Setup::new(1);
        let steps = children(number, kind, child).chain([Step::Compute(ms(100))]);
        setup.spawn(Nanos::ZERO, script("leaves", steps).0);
        in_softirqs(&run("6.1", machine(1, us(1)), setup)).0 / 1_000
    };
    assert_eq!(called(5, ForkKind::Thread, ends), 10);
    assert_eq!(called(5, ForkKind::Fork, ends), 13);
    assert_eq!(called(4, ForkKind::Fork, ends), 10, "and four tenths of one");
    assert_eq!(called(5, ForkKind::Vfork, execs), 100);
}

/// machine.md 2.4, 5.3: an idle CPU keeps its tick until its callbacks are called, all in one go; but one who
/// wants it ends that.
#[test]
fn an_idle_cpu_ticks_for_its_callbacks_and_calls_all_of_them() {
    let idle = |wakes: Nanos| {
        let mut setup = Setup::new(1);
        let (task, clock) = sleeper(wakes);
        setup.spawn(Nanos::ZERO, task);
        setup.spawn(Nanos::ZERO, leaves(0, 5_000, Step::SleepUntil(ms(70))));
        let outcome = run("6.1", machine(1, Nanos(250)), setup);
        (outcome, clock)
    };
    let (outcome, _) = idle(ms(50));
    let ended = times(&outcome, |_, event| matches!(event, LogEvent::SoftirqExit {}));
    assert_eq!(ended, [READY + us(1_250)]);
    assert_eq!(ticks(&outcome, 0), [ms(4), ms(8), ms(12), READY]);
    // It looks for him after each 32 callbacks.
    let (_, clock) = idle(READY + us(100));
    assert_eq!(clock.borrow()[1], READY + us(104));
}

/// fair-placement 5.1: nor is the tick of a CPU stopped that may do without beside one task.
#[test]
fn a_tick_beside_a_single_task_does_not_stop_before_callbacks_are_called() {
    let ticks_with = |callbacks| {
        let mut setup = Setup::new(2);
        setup.nohz_full([CpuId(1)].into_iter().collect());
        setup.spawn(Nanos::ZERO, leaves(1, callbacks, Step::Compute(ms(50))));
        ticks(&run("6.18.y", machine(2, Nanos(250)), setup), 1)
    };
    let expected = [ms(4), ms(8), ms(12), READY, READY + ms(4)];
    assert_eq!(ticks_with(20), expected, "the last one finds nothing");
    assert!(ticks_with(0).len() <= 1);
}

/// machine.md 1.9, 2.4: with PREEMPT_RT a thread calls them, which who is higher preempts.
#[test]
fn threads_that_call_them_hold_up_nobody() {
    let mut setup = Setup::new(1);
    let (task, clock) = sleeper(ms(17));
    setup.spawn(Nanos::ZERO, task);
    setup.spawn(Nanos::ZERO, leaves(0, 20_000, Step::SleepUntil(ms(55))));
    let outcome = run("6.12-rt", machine(1, Nanos(250)), setup);
    assert_eq!(clock.borrow()[1], ms(17));
    let thread = outcome.tasks.iter().find(|task| &*task.comm == "ksoftirqd/0").expect("it is there");
    assert_eq!(thread.counters.sum_exec_runtime, us(5_000));
}

/// Who leaves none has no use for any of this: not one event is another one.
#[test]
fn without_callbacks_nothing_changes() {
    let of = |spec| -> Vec<_> {
        let mut setup = Setup::new(2);
        for at in 0..3 {
            let steps = (1..20).flat_map(|n| [Step::Compute(us(700)), Step::SleepUntil(ms(2 * n + at))]);
            setup.spawn(Nanos::ZERO, script("task", steps.chain([Step::SleepUntil(ms(70))])).0);
        }
        // The thread that would have to do the work is there from the start.
        let log = run("6.1", spec, setup).log.expect("a log");
        log.into_iter().filter(|record| record.time.0 > 0).collect()
    };
    assert!(of(machine(2, us(1))) == of(ideal(2)));
}
