//! CPUs that are not worth the same (deadline-groups C).

use crate::script::{Clock, ms, script};
use machine::{
    CpuSpeed, GroupSpec, Machine, MachineSpec, Outcome, RunOptions, Setup, Step, TaskSpec, Tracing,
};
use scheduler::registry::Config;
use scheduler::{ClampRequest, Clamps, CpuId, CpuMask, Nanos, Policy, RtPriority, Topology};

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

/// Where a task of 1 ms in 10, which asks for clamps, spends its time, in ms; and of a group with clamps.
fn time_of(request: Option<ClampRequest>, group: Clamps, rule: &str) -> [u64; 2] {
    let mut setup = Setup::new(2);
    let group = setup.group(GroupSpec { clamps: group, ..GroupSpec::new("g") });
    let rounds = (0..40).flat_map(|_| [Step::Compute(ms(1)), Step::SleepFor(ms(9))]);
    let (task, _) = fair(None, request.map(Step::SetClamps).into_iter().chain(rounds));
    setup.spawn(Nanos::ZERO, TaskSpec { group: Some(group), ..task });
    let config = Config::of_profile("6.18").expect("a profile");
    config.set(rule).expect("a rule");
    let options = RunOptions { check: true, ..RunOptions::default() };
    let machine = Machine::new(cpus(&[446, 1024]), config, setup, options).expect("a machine");
    let outcome = machine.run().expect("it runs");
    let busy = |cpu: &schema::CpuResult| (outcome.simulated.0 - cpu.idle_ns) / 1_000_000;
    [busy(&outcome.cpus[0]), busy(&outcome.cpus[1])]
}

/// B11: a light task that asks for more than the small CPU is worth runs on the large one, by itself or by
/// its group; its system may have the last word.
#[test]
fn clamps_send_a_light_task_to_the_large_cpu() {
    let asks = |min| Some(ClampRequest { min: Some(min), max: None });
    let on_small = |[small, large]: [u64; 2]| small > 80 && large < 5;
    let on_large = |[small, large]: [u64; 2]| small < 5 && large > 35;
    let more = Clamps { min: 600, max: 1024 };
    assert!(on_small(time_of(None, Clamps::NONE, "uclamp=fits")));
    assert!(on_large(time_of(asks(600), Clamps::NONE, "uclamp=fits")));
    assert!(on_large(time_of(None, more, "uclamp=margin")));
    assert!(on_small(time_of(None, more, "uclamp=off")));
    assert!(on_small(time_of(asks(600), Clamps::NONE, "sched_util_clamp_min=0")));
}

/// A kernel without clamps refuses them, and every kernel those of which the lower one is the higher.
#[test]
fn clamps_that_a_kernel_does_not_take_end_the_run() {
    let said = |request, rule: &str| {
        let mut setup = Setup::new(2);
        setup.spawn(Nanos::ZERO, fair(None, [Step::SetClamps(request)]).0);
        let config = Config::of_profile("6.18").expect("a profile");
        config.set(rule).expect("a rule");
        let machine = Machine::new(cpus(&[446, 1024]), config, setup, RunOptions::default());
        machine.expect("a machine").run().expect_err("refused").to_string()
    };
    let request = ClampRequest { min: Some(9), max: None };
    assert!(said(request, "uclamp=off").contains("this kernel has none"));
    assert!(said(ClampRequest { max: Some(8), ..request }, "uclamp=fits").contains("EINVAL"));
}

/// C1: a real-time task that wakes on the small CPU goes to the large one, which is worth its lower clamp.
#[test]
fn real_time_tasks_run_on_the_large_cpu() {
    let busy = |rule: &str| {
        let rounds = (0..20).flat_map(|_| [Step::Compute(ms(1)), Step::SleepFor(ms(9))]);
        let (task, _) = fair(None, rounds);
        let policy = Policy::Fifo(RtPriority::new(5).expect("1 to 99"));
        let mut setup = Setup::new(2);
        setup.spawn(Nanos::ZERO, TaskSpec { policy, ..task });
        let config = Config::of_profile("6.18").expect("a profile");
        config.set(rule).expect("a rule");
        let options = RunOptions { check: true, ..RunOptions::default() };
        let machine = Machine::new(cpus(&[446, 1024]), config, setup, options).expect("a machine");
        let outcome = machine.run().expect("it runs");
        (outcome.simulated.0 - outcome.cpus[1].idle_ns) / 1_000_000
    };
    assert_eq!((busy("rt_fit=fit"), busy("rt_fit=ignored")), (20, 0));
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
