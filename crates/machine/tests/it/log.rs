//! What the log of a run says of the hardware, in scenes made by hand: who held a lock, what held an
//! interrupt off, who sent one, what a cold cache costs.

use crate::script::{FREE_CHANNEL, fifo, ideal, ms, run_with, script, us};
use machine::{
    IrqOff, Machine, MachineSpec, RunOptions, Setup, Spread, Step, TaskSpec, TimedSetting, Tracing,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos};
use schema::{LogEvent, LogHeldOff, LogInterrupt, LogIpi, LogLock, LogPrevState, LogRecord};
use std::collections::VecDeque;

const FIRST: schema::Pid = schema::Pid(machine::FIRST_PID);

fn at(time: Nanos) -> schema::Nanos {
    schema::Nanos(time.0)
}

fn cpu(cpu: u16) -> schema::CpuId {
    schema::CpuId(cpu)
}

fn log_of(spec: MachineSpec, setup: Setup) -> Vec<LogRecord> {
    log_with(spec, setup, RunOptions { trace: Tracing::Everything, ..RunOptions::default() })
}

fn log_with(spec: MachineSpec, setup: Setup, options: RunOptions) -> Vec<LogRecord> {
    run_with(spec, "6.1", setup, options).expect("a run without error").log.expect("asked for")
}

/// When it begins: between two ticks.
const BEGIN: Nanos = Nanos::from_micros(1_300);

/// A real-time task for one CPU.
fn bound(comm: &str, to: u16, steps: impl IntoIterator<Item = Step>) -> TaskSpec {
    let (mut spec, _) = script(comm, steps);
    spec.policy = fifo(50);
    spec.cpus = Some(CpuMask::single(CpuId(to)));
    spec
}

/// Readers on CPU 0 sleep; on each of these CPUs somebody wakes one of them at this time.
fn woken_from(setup: &mut Setup, wakers: &[(u16, Nanos)]) {
    for (waker, time) in wakers {
        let channel = setup.channel(FREE_CHANNEL);
        setup.spawn(Nanos::ZERO, bound("reader", 0, [Step::Receive(channel)]));
        let steps = [Step::SpinUntil(*time), Step::Send(channel)];
        setup.spawn(Nanos::ZERO, bound("waker", *waker, steps));
    }
}

#[test]
fn a_wait_for_a_lock_tells_its_holder_and_who_waits_before() {
    let mut spec = ideal(4);
    spec.costs.enqueue = us(50);
    let mut setup = Setup::new(4);
    // Into the queue of a busy CPU, each waker puts its task itself.
    let (mut busy, _) = script("busy", [Step::SpinUntil(ms(2))]);
    busy.cpus = Some(CpuMask::single(CpuId(0)));
    setup.spawn(Nanos::ZERO, busy);
    woken_from(&mut setup, &[(1, BEGIN), (2, BEGIN + us(10)), (3, BEGIN + us(20))]);
    let log = log_of(spec, setup);
    let waits: Vec<_> = log
        .iter()
        .filter(|record| record.time > at(BEGIN))
        .filter_map(|record| match record.event {
            LogEvent::LockWait { lock: LogLock::Rq { cpu: of }, since, holder, waiters } => {
                Some((record.cpu.0, of.0, since, record.time, holder.0, waiters))
            }
            _ => None,
        })
        .collect();
    // Each holds it for as long as an enqueue takes.
    let expected = [
        (2, 0, at(BEGIN + us(10)), at(BEGIN + us(50)), 1, 0),
        (3, 0, at(BEGIN + us(20)), at(BEGIN + us(100)), 1, 1),
    ];
    assert_eq!(waits[..2], expected);
}

/// When the timer of the second task was raised, why that had to wait, and when it was served.
fn held_off(spec: MachineSpec, first: [Step; 2]) -> (schema::Nanos, Option<LogHeldOff>, schema::Nanos) {
    let mut setup = Setup::new(1);
    setup.spawn(Nanos::ZERO, bound("first", 0, first));
    let mut second = bound("second", 0, [Step::SleepUntil(BEGIN + us(50))]);
    second.policy = fifo(60);
    setup.spawn(Nanos::ZERO, second);
    let log = log_of(spec, setup);
    let second = LogInterrupt::Timer { pid: schema::Pid(FIRST.0 + 1) };
    let raise = log.iter().find_map(|record| match record.event {
        LogEvent::IrqRaise { irq, held_off } if irq == second => Some((record.time, held_off)),
        _ => None,
    });
    let served = log.iter().find(|record| record.event == LogEvent::IrqHandlerEntry { irq: second });
    let (raised, held_off) = raise.expect("it was raised");
    (raised, held_off, served.expect("it was served").time)
}

#[test]
fn an_interrupt_says_what_held_it_off_and_is_served_after_that() {
    let (raised, end) = (at(BEGIN + us(50)), at(BEGIN + us(100)));
    let sleeps = || [Step::SpinUntil(BEGIN), Step::SleepFor(ms(5))];
    let mut syscall = ideal(1);
    syscall.costs.syscall = us(100);
    assert_eq!(held_off(syscall, sleeps()), (raised, Some(LogHeldOff::InterruptsOff {}), end));

    let mut switch = ideal(1);
    switch.costs.schedule = us(100);
    let off = Some(LogHeldOff::RqLock { cpu: cpu(0) });
    let (when, why, served) = held_off(switch, sleeps());
    assert_eq!((when, why), (raised, off));
    assert!(served >= end);

    let mut timers = ideal(1);
    timers.costs.timer_expiry = us(100);
    let wakes = [Step::SleepUntil(BEGIN), Step::Exit];
    assert_eq!(held_off(timers, wakes), (raised, Some(LogHeldOff::Interrupt {}), end));

    assert_eq!(held_off(ideal(1), sleeps()), (raised, None, raised), "nothing holds it off");
}

#[test]
fn an_ipi_names_its_sender_and_arrives_when_it_says() {
    let mut spec = ideal(2);
    spec.costs.ipi.shared_cache = us(3);
    let mut setup = Setup::new(2);
    woken_from(&mut setup, &[(1, ms(1))]);
    let log = log_of(spec, setup);
    let sent = log.iter().find_map(|record| match record.event {
        LogEvent::IpiSend { target_cpu, ipi: ipi @ LogIpi::Wakeup {}, arrives } if record.cpu == cpu(1) => {
            Some((record.time, target_cpu, ipi, arrives))
        }
        _ => None,
    });
    let arrives = at(ms(1) + us(3));
    assert_eq!(sent, Some((at(ms(1)), cpu(0), LogIpi::Wakeup {}, arrives)));
    let irq = LogInterrupt::Ipi { ipi: LogIpi::Wakeup {} };
    let arrived = LogEvent::IrqRaise { irq, held_off: None };
    let there = log.iter().find(|record| record.event == arrived && record.time == arrives);
    assert_eq!(there.map(|record| record.cpu), Some(cpu(0)));
}

/// A task moves from CPU 0 to CPU 1; the refills that the log tells.
fn refills(spec: MachineSpec) -> Vec<(u16, Option<u16>, u64)> {
    let mut setup = Setup::new(2);
    let moves = Step::SetAffinity { target: None, cpus: Box::new(CpuMask::single(CpuId(1))) };
    let mut task = bound("moves", 0, [Step::Compute(ms(2)), moves, Step::Compute(ms(2))]);
    task.working_set_bytes = 1_000_000;
    setup.spawn(Nanos::ZERO, task);
    log_of(spec, setup)
        .iter()
        .filter_map(|record| match record.event {
            LogEvent::CacheRefill { from, cost } if record.pid == FIRST => {
                Some((record.cpu.0, from.map(|from| from.0), cost.0))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn a_refill_costs_what_the_machine_file_says() {
    let mut spec = ideal(2);
    spec.cache.refill_ps_per_byte = 300;
    spec.cache.shared_cache_lost_percent = 50;
    // 1 MB at 300 ps a byte at first, and half of it after the move.
    assert_eq!(refills(spec), [(0, None, 300_000), (1, Some(0), 150_000)]);
    assert_eq!(refills(ideal(2)), [], "nothing to fetch costs time");
}

#[test]
fn a_change_of_the_settings_is_told() {
    let mut setup = Setup::new(1);
    setup.spawn(Nanos::ZERO, bound("a", 0, [Step::Compute(ms(2))]));
    let settings = vec![TimedSetting { at: ms(1), setting: "NO_RT_PUSH_IPI".to_owned() }];
    let options = RunOptions { trace: Tracing::Everything, settings, ..RunOptions::default() };
    let log = log_with(ideal(1), setup, options);
    let told = log.iter().find_map(|record| match &record.event {
        LogEvent::Setting { setting } => Some((record.time, &**setting)),
        _ => None,
    });
    assert_eq!(told, Some((at(ms(1)), "NO_RT_PUSH_IPI")));
}

#[test]
fn a_log_of_scheduling_alone_has_no_details() {
    let log = |trace| {
        let mut setup = Setup::new(4);
        woken_from(&mut setup, &[(1, ms(1)), (2, ms(1))]);
        log_with(ideal(4), setup, RunOptions { trace, ..RunOptions::default() })
    };
    let is_scheduling = |record: &LogRecord| {
        use LogEvent::{Comm, SchedMigrateTask, SchedPiSetprio, SchedProcessExec, SchedProcessExit};
        use LogEvent::{
            SchedProcessFork, SchedStatRuntime, SchedSwitch, SchedWakeup, SchedWakeupNew, SchedWaking,
        };
        matches!(
            record.event,
            Comm { .. }
                | SchedSwitch { .. }
                | SchedWaking { .. }
                | SchedWakeup { .. }
                | SchedWakeupNew { .. }
                | SchedMigrateTask { .. }
                | SchedPiSetprio { .. }
                | SchedProcessFork { .. }
                | SchedProcessExec { .. }
                | SchedProcessExit { .. }
                | SchedStatRuntime { .. }
        )
    };
    let (scheduling, mut everything) = (log(Tracing::Scheduling), log(Tracing::Everything));
    assert!(scheduling.len() < everything.len());
    everything.retain(is_scheduling);
    assert_eq!(scheduling, everything);
}

/// Asserts that each CPU serves its interrupts one by one, in the order in which they come, while so many
/// tasks sleep and wake by themselves and others are woken.
fn assert_served_in_order(spec: MachineSpec, sleepers: u64) {
    let cpus = spec.cpus();
    let mut setup = Setup::new(cpus);
    for n in 0..sleepers {
        let steps = (1..200).flat_map(|k| [Step::SleepUntil(us(97 * k)), Step::Compute(us(7 + n))]);
        setup.spawn(Nanos::ZERO, script("sleeper", steps).0);
    }
    for k in 0..100 {
        woken_from(&mut setup, &[(1, BEGIN + us(300 * k))]);
    }
    let log = log_of(spec, setup);
    let (mut served, mut waited) = (0, 0);
    for cpu in (0..cpus as u16).map(cpu) {
        let mut pending = VecDeque::new();
        let mut serving = false;
        for record in log.iter().filter(|record| record.cpu == cpu) {
            match record.event {
                LogEvent::IrqRaise { irq, held_off } => {
                    waited += u32::from(held_off.is_some());
                    pending.push_back(irq);
                }
                LogEvent::IrqHandlerEntry { irq } => {
                    assert!(!serving, "{record:?}");
                    assert_eq!(pending.pop_front(), Some(irq), "{record:?}");
                    (serving, served) = (true, served + 1);
                }
                LogEvent::IrqHandlerExit {} => assert!(std::mem::take(&mut serving), "{record:?}"),
                _ => {}
            }
        }
    }
    assert!(served > 500 && waited > 10, "{served} served, {waited} had to wait");
}

#[test]
fn interrupts_are_served_in_their_order_on_a_real_machine() {
    assert_served_in_order(MachineSpec::builtin("laptop").expect("a machine"), 20);
}

/// A stretch of noise on an idle CPU is noticed by whoever sends an interrupt there, who may have been
/// charged a lot by then.
#[test]
fn interrupts_are_served_in_their_order_where_a_stretch_is_noticed_late() {
    let mut spec = ideal(2);
    spec.costs.wakeup = us(100);
    let length = Spread::Constant(us(20));
    let what = "a test".to_owned();
    spec.noise.irq_off = vec![IrqOff { what, per_minute_per_cpu: 1_200_000, length, device: false }];
    assert_served_in_order(spec, 0);
}

/// A load is through as its task calls exit, which takes 40 us; a timer in between ends the run.
#[test]
fn a_log_goes_on_until_those_are_gone_that_were_on_their_way_out() {
    let mut spec = ideal(2);
    spec.costs.exit = us(40);
    let run = |trace| {
        let options = RunOptions { trace, ..RunOptions::default() };
        let config = Config::of_profile("6.1").expect("a profile");
        let mut setup = Setup::new(2);
        setup.spawn(Nanos::ZERO, bound("main", 0, [Step::Compute(us(100))]));
        setup.spawn(Nanos::ZERO, bound("ticker", 1, (0..50).map(|_| Step::SleepFor(us(7)))));
        let machine = Machine::new(spec.clone(), config, setup, options).expect("a machine");
        machine.run_until(&|now| now > us(100)).expect("a run without error")
    };
    let gone = |records: &[LogRecord]| {
        let exit =
            |r: &LogRecord| matches!(&r.event, LogEvent::SchedProcessExit { task } if task.pid == FIRST);
        let left = |r: &LogRecord| match &r.event {
            LogEvent::SchedSwitch { prev, prev_state, .. } => {
                prev.pid == FIRST && *prev_state == LogPrevState::Dead
            }
            _ => false,
        };
        [records.iter().any(exit), records.iter().any(left)]
    };
    let mut outcome = run(Tracing::Everything);
    assert!(outcome.simulated < us(140), "{:?}", outcome.simulated);
    assert_eq!(outcome.tasks[0].exited, Some(us(100)));
    assert_eq!(gone(outcome.log.as_deref().expect("asked for")), [false, false]);
    assert_eq!(gone(&outcome.take_whole_log()), [true, true]);
    assert!(run(Tracing::Scheduling).aftermath.is_empty(), "no more than figures are made of");
}
