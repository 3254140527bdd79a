//! CPUs that are not worth the same (deadline-groups C).

use crate::engine::{Clock, ms, script};
use machine::{CpuSpeed, Machine, MachineSpec, Outcome, RunOptions, Setup, Step, TaskSpec, Tracing};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos, Topology};

/// CPUs of one cache, worth so much each.
fn cpus(capacities: &[u16]) -> MachineSpec {
    let mut spec = MachineSpec::ideal(Topology::flat(capacities.len()));
    spec.set_speeds(capacities.iter().copied().map(CpuSpeed::Capacity).collect());
    spec
}

/// A fair task; it may run on `cpus`, or anywhere.
fn fair(cpus: Option<CpuMask>, steps: impl IntoIterator<Item = Step>) -> (TaskSpec, Clock) {
    let (spec, clock) = script("task", steps);
    (TaskSpec { cpus, ..spec }, clock)
}

fn run(spec: MachineSpec, rule: &str, tasks: impl IntoIterator<Item = TaskSpec>) -> Outcome {
    let mut setup = Setup::new(spec.cpus());
    for task in tasks {
        setup.spawn(Nanos::ZERO, task);
    }
    let config = Config::of_profile("6.18").expect("a profile");
    config.set(&format!("unequal_cpus={rule}")).expect("it has that rule");
    let options = RunOptions { check: true, trace: Tracing::Everything, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).expect("a machine").run().expect("it runs")
}

fn end(clock: &Clock) -> Nanos {
    clock.borrow().last().copied().expect("it has run")
}

fn only(cpu: u16) -> Option<CpuMask> {
    Some(CpuMask::single(CpuId(cpu)))
}

/// CF1: finishing takes work / capacity. 446 of 1024 are 0.4355 in the machine's ten thousandths.
#[test]
fn work_takes_longer_on_a_small_cpu() {
    let (small, small_clock) = fair(only(0), [Step::Compute(Nanos(4_355_000))]);
    let (large, large_clock) = fair(only(1), [Step::Compute(Nanos(4_355_000))]);
    run(cpus(&[446, 1024]), "fit", [small, large]);
    assert_eq!((end(&small_clock), end(&large_clock)), (ms(10), Nanos(4_355_000)));
}

/// Of two hogs one ends on the large CPU after 20 ms. The other has 200 ms to do, of which the small one has
/// done 8.7 then: it moves within some ticks, and needs no more than those 191.3. Kernels that do not look
/// for that leave it where it is, for 459 ms.
#[test]
fn a_hog_moves_to_the_large_cpu_once_that_idles() {
    let ends = |rule: &str| {
        let (first, first_clock) = fair(only(1), [Step::Compute(ms(20))]);
        let (second, second_clock) = fair(None, [Step::Compute(ms(200))]);
        run(cpus(&[446, 1024]), rule, [first, second]);
        assert_eq!(end(&first_clock), ms(20), "{rule}");
        end(&second_clock)
    };
    let (fits, ignored) = (ends("fit"), ends("ignored"));
    assert!((Nanos(211_300_000)..ms(225)).contains(&fits), "{fits}");
    assert_eq!(ignored, Nanos(200_000_000 * 10_000 / 4_355 + 1));
}

/// C1: a task that wakes needs an idle CPU on which a fifth stays free. One that rests for 2 ms after 8 ms of
/// work uses 8 of 20.4 on a small CPU, 0.39 of the 0.44 that it has: it goes to the large one. One that works
/// 1 ms and rests for 9 stays.
#[test]
fn wakeups_look_for_a_cpu_that_the_task_fits() {
    let time_on = |work: u64, rule: &str| {
        let rounds = (0..40).flat_map(|_| [Step::Compute(ms(work)), Step::SleepFor(ms(10 - work))]);
        let (task, _) = fair(None, rounds);
        let outcome = run(cpus(&[446, 1024]), rule, [task]);
        let busy = |cpu: &schema::CpuResult| (outcome.simulated.0 - cpu.idle_ns) / 1_000_000;
        outcome.cpus.iter().map(busy).collect::<Vec<u64>>()
    };
    let [small, large] = [1, 8].map(|work| time_on(work, "fit"));
    assert!(small[0] >= 80 && small[1] <= 5, "{small:?}");
    assert!(large[0] <= 60 && large[1] >= 290, "{large:?}");
    let ignored = time_on(8, "ignored");
    assert!(ignored[0] > 700 && ignored[1] == 0, "{ignored:?}");
}

/// CF3: CPUs that are all told to be worth the same make the run that they make untold, byte for byte.
#[test]
fn equal_capacities_change_nothing() {
    let outcome = |spec: MachineSpec| {
        let steps = |n: u64| (0..30).flat_map(move |_| [Step::Compute(ms(n)), Step::SleepFor(ms(2))]);
        let tasks = (1..7).map(|n| fair(None, steps(n)).0);
        format!("{:?}", run(spec, "fit", tasks))
    };
    assert_eq!(outcome(cpus(&[1024; 4])), outcome(MachineSpec::ideal(Topology::flat(4))));
}
