//! Semaphores of the kernel: how often operations of two CPUs meet in one, how long they spin, and when they
//! sleep (machine.md 1.12, 3.5).

use crate::script::{fifo, ideal, ms, script, us};
use machine::{
    ForkKind, Machine, MachineSpec, Operation, Outcome, RunOptions, Rwsems, Setup, Step, Stretch, TaskSpec,
    Tracing,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos};
use schema::{LogEvent, LogPrevState};

const RWSEMS: Rwsems = Rwsems { mapping_hold: Nanos(500), address_space_hold: Nanos(3_500) };

/// A fork takes 110 us, an exit 70, a thread 20 and 10; all of them can be preempted anywhere.
fn machine(cpus: usize, rwsems: Option<Rwsems>) -> MachineSpec {
    let mut spec = ideal(cpus);
    (spec.costs.fork, spec.costs.exit) = (us(110), us(70));
    (spec.costs.thread_create, spec.costs.thread_exit) = (us(20), us(10));
    for operation in [Operation::Fork, Operation::Thread, Operation::Exit] {
        let (atomic_mean, atomic_max) = (Nanos(1_000), Nanos(1_000));
        spec.stretches.set(operation, Stretch { points: None, atomic_percent: 0, atomic_mean, atomic_max });
    }
    spec.rwsems = rwsems;
    spec
}

fn on(mut task: TaskSpec, cpu: u16) -> TaskSpec {
    task.cpus = Some(CpuMask::single(CpuId(cpu)));
    task
}

/// Children that end at once, one after the other.
fn children(number: usize, kind: ForkKind, cpu: u16) -> impl Iterator<Item = Step> {
    let once = move || {
        let child = on(script("child", []).0, cpu);
        [Step::Fork { child: Box::new(child), kind }, Step::WaitChild]
    };
    std::iter::repeat_with(once).take(number).flatten()
}

/// A task that does nothing but fork such children.
fn forks(number: usize, cpu: u16) -> TaskSpec {
    on(script("forks", children(number, ForkKind::Fork, cpu)).0, cpu)
}

fn run(kernel: &[&str], spec: MachineSpec, tasks: impl IntoIterator<Item = TaskSpec>) -> Outcome {
    let config = Config::of_profile(kernel[0]).expect("a profile");
    kernel[1..].iter().for_each(|setting| config.set(setting).expect("a setting"));
    let mut setup = Setup::new(spec.cpus());
    for task in tasks {
        setup.spawn(Nanos::ZERO, task);
    }
    let duration = Nanos::from_secs(10);
    let options = RunOptions { duration, trace: Tracing::Everything, check: true, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run")
}

/// Who left a CPU in state D.
fn slept(outcome: &Outcome) -> usize {
    let log = outcome.log.as_ref().expect("asked for");
    let is_wait = |event: &LogEvent| {
        matches!(event, LogEvent::SchedSwitch { prev_state: LogPrevState::Uninterruptible, .. })
    };
    log.iter().filter(|record| is_wait(&record.event)).count()
}

/// A parent takes 6 semaphores of mappings, a child 4, in 180 us: on each of two CPUs one of 16 is taken 10
/// times for 0.5 us. So the one comes to what the other has 2 x 10 x 10 x 0.5 / (180 x 180 x 16) times a
/// microsecond, and waits for what is left, which is 0.5 us in the mean.
#[test]
fn two_loops_of_forks_meet_as_often_as_chance_has_it() {
    const FORKS: usize = 10_000;
    let all = run(&["6.18.y"], machine(2, Some(RWSEMS)), [forks(FORKS, 0), forks(FORKS, 1)]).totals;
    let expected = FORKS as f64 * 180.0 * 2.0 * 100.0 * 0.5 / (180.0 * 180.0 * 16.0);
    let (met, mean) = (all.rwsem_spins as f64, all.rwsem_spin_ns as f64 / all.rwsem_spins as f64);
    assert!((met / expected - 1.0).abs() < 0.15, "{met} of {expected}");
    assert!((mean / 500.0 - 1.0).abs() < 0.15, "{mean}");
    assert_eq!(all.rwsem_sleeps, 0, "nobody has to make room");
}

#[test]
fn without_the_entry_and_on_one_cpu_nobody_meets_anybody() {
    let spins = |spec, cpus: [u16; 2]| {
        let totals = run(&["6.18.y"], spec, cpus.map(|cpu| forks(3_000, cpu))).totals;
        totals.rwsem_spins + totals.rwsem_sleeps
    };
    assert_eq!(spins(machine(2, None), [0, 1]), 0);
    assert_eq!(spins(machine(1, Some(RWSEMS)), [0, 0]), 0);
    assert!(spins(machine(2, Some(RWSEMS)), [0, 1]) > 50);
}

/// Waits of a task that creates threads, beside one that it has created itself and that does the same.
fn of_threads(number: usize, second: ForkKind, rwsems: Rwsems) -> f64 {
    let creates = |cpu| children(number, ForkKind::Thread, cpu);
    let other = on(script("second", creates(1)).0, 1);
    let both = [Step::Fork { child: Box::new(other), kind: second }].into_iter().chain(creates(0));
    let totals = run(&["6.18.y"], machine(2, Some(rwsems)), [on(script("first", both).0, 0)]).totals;
    (totals.rwsem_spins + totals.rwsem_sleeps) as f64
}

/// mmap_lock is one for each process: two threads that create threads meet in it, two processes do not.
#[test]
fn threads_meet_in_the_address_space_of_their_process() {
    let threads = of_threads(3_000, ForkKind::Thread, RWSEMS);
    assert!(threads > 50.0, "{threads}");
    assert!(of_threads(3_000, ForkKind::Fork, RWSEMS) == 0.0);
}

/// Held for twice as long, a semaphore is met twice as often, and no other.
#[test]
fn each_hold_moves_the_waits_that_it_is_for() {
    let of_forks = |rwsems| {
        let totals = run(&["6.18.y"], machine(2, Some(rwsems)), [forks(5_000, 0), forks(5_000, 1)]).totals;
        (totals.rwsem_spins + totals.rwsem_sleeps) as f64
    };
    let of_threads = |rwsems| of_threads(5_000, ForkKind::Thread, rwsems);
    let mapping = Rwsems { mapping_hold: RWSEMS.mapping_hold * 2, ..RWSEMS };
    let address_space = Rwsems { address_space_hold: RWSEMS.address_space_hold * 2, ..RWSEMS };
    let (forks, threads) = (of_forks(RWSEMS), of_threads(RWSEMS));
    let doubled = (of_forks(mapping) / forks, of_threads(address_space) / threads);
    assert!((1.7..2.3).contains(&doubled.0) && (1.7..2.3).contains(&doubled.1), "{doubled:?}");
    assert!((of_forks(address_space), of_threads(mapping)) == (forks, threads));
}

/// Where the kernel can be preempted, who has a semaphore can be off its CPU: then nobody spins for it. With
/// PREEMPT_RT it inherits, and sleeps likewise.
#[test]
fn who_meets_the_semaphore_of_a_preempted_task_sleeps_in_state_d() {
    let waits = |kernel: &[&str]| {
        let times = (1..2_500).flat_map(|n| [Step::SleepUntil(us(613 * n)), Step::Compute(us(300))]);
        let mut disturbs = on(script("fifo", times).0, 0);
        disturbs.policy = fifo(50);
        let long = Rwsems { mapping_hold: Nanos(4_000), ..RWSEMS };
        let outcome = run(kernel, machine(2, Some(long)), [forks(4_000, 0), forks(4_000, 1), disturbs]);
        (slept(&outcome), outcome.totals.rwsem_sleeps, outcome.totals.rwsem_sleep_ns)
    };
    let (states, sleeps, time) = waits(&["6.18.y", "preempt_model=full"]);
    assert!(sleeps > 10 && states as u64 == sleeps, "{states} {sleeps}");
    assert!(time / sleeps > ms(1).0 / 20, "{time} ns in {sleeps}: the owner is off its CPU for 300 us");
    assert!(waits(&["6.18-rt", "kernel_locks=spin"]).1 > 10);
}
