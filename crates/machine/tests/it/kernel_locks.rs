//! Spinlocks that sleep, with PREEMPT_RT: who is preempted with one, and who waits for it (machine.md 1.3,
//! 1.4, 1.10, 1.12).

use crate::script::{FREE_CHANNEL, fifo, ideal, ms, script, us};
use machine::{
    ForkKind, Machine, MachineSpec, Operation, Outcome, RunOptions, Setup, Step, Stretch, TaskSpec, Tracing,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos};
use schema::{LogEvent, LogPrevState};

/// Preempted anywhere but in such sections; with PREEMPT_RT there is no other.
const PREEMPTIBLE: Stretch =
    Stretch { points: None, atomic_percent: 0, atomic_mean: Nanos(1_000), atomic_max: Nanos(1_000) };

/// A fork takes 110 us, an exit 70.
fn machine(cpus: usize) -> MachineSpec {
    let mut spec = ideal(cpus);
    (spec.costs.fork, spec.costs.exit) = (us(110), us(70));
    for operation in [Operation::Fork, Operation::Exit, Operation::Call] {
        spec.stretches.set(operation, PREEMPTIBLE);
    }
    spec
}

/// Under a kernel with settings, and the checks.
fn run(kernel: &[&str], spec: MachineSpec, setup: Setup) -> Outcome {
    let config = Config::of_profile(kernel[0]).expect("a profile");
    kernel[1..].iter().for_each(|setting| config.set(setting).expect("a setting"));
    let options = RunOptions { trace: Tracing::Everything, check: true, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run")
}

/// Who left a CPU, and in state D.
fn waits(outcome: &Outcome, comm: &str) -> usize {
    let log = outcome.log.as_ref().expect("asked for");
    let of = |pid: i32| outcome.tasks.iter().any(|t| t.pid.0 == pid && &*t.comm == comm);
    let is_wait = |event: &LogEvent| match event {
        LogEvent::SchedSwitch { prev, prev_state, .. } => {
            of(prev.pid.0) && *prev_state == LogPrevState::Uninterruptible
        }
        _ => false,
    };
    log.iter().filter(|record| is_wait(&record.event)).count()
}

fn on(mut task: TaskSpec, cpu: u16) -> TaskSpec {
    task.cpus = Some(CpuMask::single(CpuId(cpu)));
    task
}

/// A task that does nothing but fork children which exit at once.
fn forks(number: usize, cpu: u16) -> TaskSpec {
    let once = || {
        let child = on(script("child", []).0, cpu);
        [Step::Fork { child: Box::new(child), kind: ForkKind::Fork }, Step::WaitChild]
    };
    on(script("forks", std::iter::repeat_with(once).take(number).flatten()).0, cpu)
}

/// A FIFO 50 that takes 300 us of each 1.613 ms.
fn disturbs(cpu: u16) -> TaskSpec {
    let times = (1..600).flat_map(|n| [Step::SleepUntil(us(1_613 * n)), Step::Compute(us(300))]);
    let mut task = on(script("fifo", times).0, cpu);
    task.policy = fifo(50);
    task
}

/// On another CPU they meet in the locks of the machine, on the same one in its own as well. Without
/// PREEMPT_RT nobody is preempted with such a lock.
#[test]
fn forks_wait_for_locks_of_forks_that_were_preempted() {
    let waits_of = |cpus: [u16; 2], locks: &str| {
        let mut setup = Setup::new(2);
        for cpu in cpus {
            setup.spawn(Nanos::ZERO, forks(2_000, cpu));
        }
        setup.spawn(Nanos::ZERO, disturbs(0));
        let outcome = run(&["6.12-rt", locks], machine(2), setup);
        waits(&outcome, "forks") + waits(&outcome, "child")
    };
    let (apart, together) =
        (waits_of([0, 1], "kernel_locks=sleeping"), waits_of([0, 0], "kernel_locks=sleeping"));
    assert!(apart > 5 && together > 5, "{apart} {together}");
    assert_eq!((waits_of([0, 1], "kernel_locks=spin"), waits_of([0, 0], "kernel_locks=spin")), (0, 0));
}

/// Who comes onto the only CPU while two messages go from a fair writer to a reader.
fn messages(kernel: &[&str], reader_is_fifo: bool) -> Vec<String> {
    let mut setup = Setup::new(1);
    let channel = setup.channel(FREE_CHANNEL);
    let (mut reader, _) =
        script("reader", [Step::Receive(channel), Step::Receive(channel), Step::Receive(channel)]);
    if reader_is_fifo {
        reader.policy = fifo(10);
    }
    setup.spawn(Nanos::ZERO, reader);
    let sends = [Step::Compute(ms(20)), Step::Send(channel), Step::Compute(ms(10)), Step::Send(channel)];
    setup.spawn(Nanos::ZERO, script("writer", sends.into_iter().chain([Step::Compute(ms(1))])).0);
    let outcome = run(kernel, machine(1), setup);
    let name = |pid: i32| {
        let task = outcome.tasks.iter().find(|t| t.pid.0 == pid);
        task.map_or_else(|| "idle".to_owned(), |t| t.comm.to_string())
    };
    let log = outcome.log.as_ref().expect("asked for");
    let next = log.iter().filter(|r| r.time.0 >= ms(20).0).filter_map(|r| match &r.event {
        LogEvent::SchedSwitch { next, .. } => Some(name(next.pid.0)),
        _ => None,
    });
    let of_both = next.filter(|name| ["reader", "writer"].contains(&name.as_str()));
    of_both.collect()
}

/// machine.md 1.4, 1.10: the woken reader preempts the writer in the lock of the queue of readers, reads,
/// and wants to wait there: two switches more for each message.
#[test]
fn a_reader_waits_for_the_lock_of_the_writer_that_woke_it() {
    let there_and_back = |times: usize| [["reader", "writer"]; 2].concat().repeat(times);
    let all = messages(&["6.12-rt"], true);
    assert_eq!(all, there_and_back(2));
    let all = messages(&["6.12-rt", "kernel_locks=spin"], true);
    assert_eq!(all, there_and_back(1));
}

/// PREEMPT_LAZY puts a fair reader off until the lock is free again, a real-time one not.
#[test]
fn preempt_lazy_spares_fair_tasks_that_wait() {
    let switches = |lazy: &str, fifo: bool| messages(&["6.1-rt", lazy], fifo).len();
    assert!(switches("NO_PREEMPT_LAZY", false) > switches("PREEMPT_LAZY", false));
    assert_eq!(switches("NO_PREEMPT_LAZY", true), switches("PREEMPT_LAZY", true));
}

/// machine.md M26, from a program: the owner is lent the priority of the reader that waits, and gives it
/// back with the lock; a FIFO 5 does not come in between.
#[test]
fn the_writer_is_lent_the_priority_of_the_reader_that_waits() {
    let mut setup = Setup::new(1);
    let channel = setup.channel(FREE_CHANNEL);
    let (mut reader, _) = script("reader", [Step::Receive(channel), Step::Receive(channel)]);
    reader.policy = fifo(10);
    setup.spawn(Nanos::ZERO, reader);
    setup.spawn(
        Nanos::ZERO,
        script("writer", [Step::SleepFor(ms(10)), Step::Send(channel), Step::Compute(ms(1))]).0,
    );
    let outcome = run(&["6.12-rt"], machine(1), setup);
    let log = outcome.log.as_ref().expect("asked for");
    let lent: Vec<(i32, i32)> = log
        .iter()
        .filter_map(|record| match &record.event {
            LogEvent::SchedPiSetprio { oldprio, newprio, .. } => {
                Some((i32::from(oldprio.0), i32::from(newprio.0)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(lent, [(120, 89), (89, 120)]);
}
