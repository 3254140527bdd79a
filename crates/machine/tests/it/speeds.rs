//! What a busy sibling and a slow CPU take from a task (machine.md 6.2, 6.3).

use crate::script::{Clock, fifo, ms, run_with, script, us};
use machine::{CpuSpeed, MachineSpec, Outcome, RunOptions, Setup, Step, TaskSpec};
use scheduler::{CpuId, CpuMask, LevelKind, Nanos, Topology, TopologyLevel};

/// One core with so many threads, of which a busy one leaves its sibling `percent`.
fn core(threads: usize, percent: u32) -> MachineSpec {
    let levels = [TopologyLevel { kind: LevelKind::Smt, spans: [CpuMask::first_n(threads)].into() }];
    let mut spec = MachineSpec::ideal(Topology::of(threads, levels.into()));
    spec.speeds.smt_busy_percent = percent;
    spec
}

/// A task that stays on one CPU.
fn on(cpu: u16, steps: impl IntoIterator<Item = Step>) -> (TaskSpec, Clock) {
    let (spec, clock) = script("task", steps);
    (TaskSpec { cpus: Some(CpuMask::single(CpuId(cpu))), ..spec }, clock)
}

fn run(spec: MachineSpec, tasks: impl IntoIterator<Item = (Nanos, TaskSpec)>) -> Outcome {
    let mut setup = Setup::new(spec.cpus());
    for (at, task) in tasks {
        setup.spawn(at, task);
    }
    let options = RunOptions { check: true, ..RunOptions::default() };
    run_with(spec, "6.1", setup, options).expect("it runs")
}

fn end(clock: &Clock) -> Nanos {
    clock.borrow().last().copied().expect("it has run")
}

/// When 10 ms of work end beside a sibling that is busy from 2 ms on, for 6 ms if it has `beside` to do.
fn beside(spec: MachineSpec, beside: Nanos) -> (Nanos, Nanos) {
    let (a, a_clock) = on(0, [Step::Compute(ms(10))]);
    let (b, b_clock) = on(1, [Step::Compute(beside)]);
    run(spec, [(Nanos::ZERO, a), (ms(2), b)]);
    (end(&a_clock), end(&b_clock))
}

#[test]
fn m33_what_is_left_of_the_work_is_rescaled_when_the_sibling_starts_and_stops() {
    assert_eq!(beside(core(2, 62), Nanos(3_720_000)), (Nanos(12_280_000), ms(8)));
}

/// CF3: nothing of all this at 100, nor on cores of one thread.
#[test]
fn without_a_factor_siblings_take_nothing() {
    assert_eq!(beside(core(2, 100), ms(6)), (ms(10), ms(8)));
    let mut apart = MachineSpec::ideal(Topology::flat(2));
    apart.speeds.smt_busy_percent = 62;
    assert_eq!(beside(apart, ms(6)), (ms(10), ms(8)));
}

#[test]
fn work_in_the_kernel_is_slowed_as_well_as_what_is_charged() {
    let mut spec = core(2, 50);
    spec.costs.syscall = us(10);
    // A marker is a system call that does nothing.
    let (a, clock) = on(0, [Step::KernelCompute(ms(1)), Step::Marker("now".into()), Step::Compute(ms(1))]);
    let (hog, _) = on(1, [Step::Compute(ms(20))]);
    run(spec, [(Nanos::ZERO, hog), (ms(1), a)]);
    let times: Vec<Nanos> = clock.borrow().iter().map(|t| *t - ms(1)).collect();
    assert_eq!(times, [Nanos::ZERO, ms(2), ms(2) + us(20), ms(4) + us(20)]);
}

#[test]
fn three_busy_threads_get_no_more_done_than_two() {
    let tasks: Vec<_> = (0..3).map(|cpu| on(cpu, [Step::Compute(ms(10))])).collect();
    let clocks: Vec<Clock> = tasks.iter().map(|(_, clock)| Clock::clone(clock)).collect();
    run(core(4, 60), tasks.into_iter().map(|(task, _)| (Nanos::ZERO, task)));
    // Each at 0.4.
    assert_eq!(clocks.iter().map(end).collect::<Vec<_>>(), [ms(25); 3]);
}

/// However often the sibling comes and goes, and whoever interrupts: work is the integral of speed over time.
#[test]
fn no_interruption_loses_work() {
    let flaps = (0..100).flat_map(|_| [Step::SleepFor(Nanos(12_345)), Step::Compute(Nanos(6_789))]);
    let ((a, a_clock), (b, b_clock)) = (on(0, [Step::Compute(ms(10))]), on(1, flaps));
    let (interrupts, _) = on(0, (0..50).flat_map(|_| [Step::SleepFor(us(77)), Step::Compute(Nanos(1))]));
    let interrupts = TaskSpec { policy: fifo(1), ..interrupts };
    run(core(2, 62), [(Nanos::ZERO, a), (Nanos::ZERO, b), (Nanos::ZERO, interrupts)]);
    assert!(end(&b_clock) < end(&a_clock), "the sibling comes and goes in time");
    // The sibling's work takes 1/0.62 of it, in which 0.38 of ours is lost; a nanosecond at most for each
    // time that another task is set up.
    let lost = Nanos(100 * 6_789 * 38 / 62);
    let late = end(&a_clock) - ms(10) - lost;
    assert!((Nanos(50)..Nanos(400)).contains(&late), "{late:?}");
}

#[test]
fn time_on_the_cpu_counts_and_not_work() {
    let ((a, _), (b, _)) = (on(0, [Step::Compute(ms(10))]), on(1, [Step::Compute(Nanos(3_720_000))]));
    let outcome = run(core(2, 62), [(Nanos::ZERO, a), (ms(2), b)]);
    assert_eq!(outcome.tasks[0].counters.sum_exec_runtime, Nanos(12_280_000));
}

#[test]
fn recorded_cpu_time_is_not_slowed_again_but_slows_the_sibling() {
    let ((a, a_clock), (b, b_clock)) = (on(0, [Step::Compute(ms(10))]), on(1, [Step::Compute(ms(6))]));
    let b = TaskSpec { recorded_work: true, ..b };
    run(core(2, 62), [(Nanos::ZERO, a), (ms(2), b)]);
    assert_eq!((end(&a_clock), end(&b_clock)), (Nanos(12_280_000), ms(8)));
}

#[test]
fn a_slow_cpu_takes_longer_for_work_and_not_for_time() {
    let mut spec = MachineSpec::ideal(Topology::flat(2));
    spec.speeds.cpus = vec![CpuSpeed::FULL, CpuSpeed::Percent(40)];
    let steps = || [Step::Compute(ms(4)), Step::SleepFor(ms(3)), Step::SpinUntil(ms(20))];
    let ((fast, fast_clock), (slow, slow_clock)) = (on(0, steps()), on(1, steps()));
    run(spec, [(Nanos::ZERO, fast), (Nanos::ZERO, slow)]);
    assert_eq!(*fast_clock.borrow(), [ms(0), ms(4), ms(7), ms(20)]);
    assert_eq!(*slow_clock.borrow(), [ms(0), ms(10), ms(13), ms(20)]);
}

/// Two hogs beside each other in one core are slower than in two, if the factor says so.
#[test]
fn where_two_hogs_run_makes_a_difference() {
    let levels = [
        TopologyLevel {
            kind: LevelKind::Smt,
            spans: (0..2).map(|c| [CpuId(2 * c), CpuId(2 * c + 1)].into_iter().collect()).collect(),
        },
        TopologyLevel { kind: LevelKind::Mc, spans: [CpuMask::first_n(4)].into() },
    ];
    let mut spec = MachineSpec::ideal(Topology::of(4, levels.into()));
    let both = |spec: &MachineSpec, second: u16| {
        let ((a, a_clock), (b, b_clock)) =
            (on(0, [Step::Compute(ms(62))]), on(second, [Step::Compute(ms(62))]));
        run(spec.clone(), [(Nanos::ZERO, a), (Nanos::ZERO, b)]);
        end(&a_clock).max(end(&b_clock))
    };
    assert_eq!([both(&spec, 1), both(&spec, 2)], [ms(62), ms(62)]);
    spec.speeds.smt_busy_percent = 62;
    assert_eq!([both(&spec, 1), both(&spec, 2)], [ms(100), ms(62)]);
}

/// machine.md 6.2.
#[test]
fn two_threads_of_a_core_of_the_laptop_do_15_to_30_percent_more_than_one() {
    let laptop = MachineSpec::builtin("laptop").expect("it is built in");
    let both = |second: u16| {
        let ((a, a_clock), (b, b_clock)) =
            (on(0, [Step::Compute(ms(100))]), on(second, [Step::Compute(ms(100))]));
        run(laptop.clone(), [(Nanos::ZERO, a), (Nanos::ZERO, b)]);
        end(&a_clock).max(end(&b_clock)).0 as f64
    };
    // Two threads do twice the work in the time of both: so much more than one in that time.
    let gain = 2.0 * both(2) / both(1);
    assert!((1.15..=1.30).contains(&gain), "{gain}");
}
