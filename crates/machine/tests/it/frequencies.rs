//! Frequencies that the scheduler chooses, and the energy that CPUs take (deadline-groups C2).

use crate::script::{Clock, ms, script};
use machine::{CpuSpeed, Machine, MachineSpec, Outcome, RunOptions, Setup, Step, TaskSpec};
use scheduler::frequency::{FrequencyDomain, PerfLevel};
use scheduler::registry::Config;
use scheduler::{ClampRequest, CpuId, CpuMask, Nanos, Topology};
use schema::CpuFrequency;

/// CPUs of one cache, which run at 1 GHz for 100 mW or at 2 GHz for 400 mW; each by itself.
fn cpus(n: u16) -> MachineSpec {
    let level = |khz, mw| PerfLevel { khz, milliwatts: Some(mw) };
    let domain = |cpu| FrequencyDomain {
        cpus: CpuMask::single(CpuId(cpu)),
        levels: vec![level(1_000_000, 100), level(2_000_000, 400)],
    };
    let mut spec = MachineSpec::ideal(Topology::flat(n.into()));
    spec.topology.frequencies = (0..n).map(domain).collect();
    spec
}

fn run(spec: MachineSpec, settings: &[&str], tasks: impl IntoIterator<Item = TaskSpec>) -> Outcome {
    let mut setup = Setup::new(spec.cpus());
    for task in tasks {
        setup.spawn(Nanos::ZERO, task);
    }
    let config = Config::of_profile("6.18").expect("a profile");
    for setting in settings {
        config.set(setting).expect("a setting");
    }
    let options = RunOptions { check: true, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).expect("a machine").run().expect("it runs")
}

/// A task that may count as using half a CPU at most: 1 GHz is enough for it.
fn capped(steps: impl IntoIterator<Item = Step>) -> (TaskSpec, Clock) {
    let request = ClampRequest { min: None, max: Some(512) };
    script("task", [Step::SetClamps(request)].into_iter().chain(steps))
}

fn ends(clock: &Clock) -> Vec<Nanos> {
    clock.borrow().clone()
}

/// At half the frequency 10 ms of work take 20, and a quarter of the power: 2 mJ in place of 4.
#[test]
fn half_the_frequency_is_half_the_speed() {
    let measured = |governor: &str| {
        let (task, clock) = capped([Step::SleepFor(ms(2)), Step::Compute(ms(10))]);
        let outcome = run(cpus(1), &[governor], [task]);
        let CpuFrequency { busy_ns, mean_khz, energy_uj, .. } = outcome.frequencies[0];
        (*ends(&clock).last().expect("it ran"), busy_ns, mean_khz, energy_uj)
    };
    assert_eq!(measured("governor=performance"), (ms(12), 10_000_000, 2_000_000, Some(4_000)));
    assert_eq!(measured("governor=schedutil"), (ms(22), 20_000_000, 1_000_000, Some(2_000)));
}

/// Who works when another task of its frequency domain raises the frequency goes on faster at once: of 20 ms
/// of work it has done 5 in the first 10, and 15 are left.
#[test]
fn a_change_reaches_a_cpu_in_the_middle_of_its_work() {
    let mut spec = cpus(2);
    let levels = spec.topology.frequencies[0].levels.clone();
    spec.topology.frequencies = vec![FrequencyDomain { cpus: CpuMask::first_n(2), levels }];
    let (works, clock) = capped([Step::Compute(ms(20))]);
    let (raises, _) = script("other", [Step::SleepFor(ms(10)), Step::Compute(ms(100))]);
    let on = |cpu: u16, task: TaskSpec| TaskSpec { cpus: Some(CpuMask::single(CpuId(cpu))), ..task };
    let rt = scheduler::Policy::Fifo(scheduler::RtPriority::new(1).expect("1 to 99"));
    let raises = TaskSpec { policy: rt, ..on(1, raises) };
    run(spec, &["governor=schedutil", "schedutil_rate_limit_us=0"], [on(0, works), raises]);
    assert_eq!(ends(&clock).last(), Some(&ms(25)));
}

/// C4: light tasks cost less on small CPUs, and wake there although large ones idle; without the rule they
/// stay where they began.
#[test]
fn light_tasks_wake_where_they_cost_least() {
    let energy = |settings: &[&str]| {
        let level = |(mhz, mw)| PerfLevel { khz: 1_000 * mhz, milliwatts: Some(mw) };
        let domain = |of: [u16; 2], levels: [(u32, u32); 3]| FrequencyDomain {
            cpus: of.into_iter().map(CpuId).collect(),
            levels: levels.map(level).into(),
        };
        let mut spec = MachineSpec::ideal(Topology::flat(4));
        let capacities = [446, 446, 1024, 1024];
        spec.set_speeds(capacities.map(CpuSpeed::Capacity).into());
        spec.topology.frequencies = vec![
            domain([0, 1], [(160, 30), (240, 60), (446, 130)]),
            domain([2, 3], [(341, 180), (682, 700), (1024, 1600)]),
        ];
        let large: CpuMask = [CpuId(2), CpuId(3)].into_iter().collect();
        let on = |cpus| Step::SetAffinity { target: None, cpus: Box::new(cpus) };
        let begins_there = || [on(large), Step::Compute(ms(1)), on(CpuMask::ALL)];
        let rounds = || (0..100).flat_map(|_| [Step::SleepFor(ms(15)), Step::Compute(ms(1))]);
        let steps = || begins_there().into_iter().chain(rounds());
        let tasks: Vec<TaskSpec> = (0..2).map(|_| script("light", steps()).0).collect();
        let outcome = run(spec, &[&["governor=schedutil"], settings].concat(), tasks);
        let busy = |cpus: [usize; 2]| cpus.map(|cpu| outcome.frequencies[cpu].busy_ns).iter().sum::<u64>();
        let energy: u64 = outcome.frequencies.iter().filter_map(|cpu| cpu.energy_uj).sum();
        (busy([0, 1]) > busy([2, 3]), energy)
    };
    let ((placed, less), (left, more)) = (energy(&[]), energy(&["energy_aware=off"]));
    assert!(placed && !left, "on the small CPUs, and on the large ones");
    assert!(2 * less < more, "{less} and {more} uJ");
}

/// CF3: a machine that is never told to change its frequency makes the run of one that cannot.
#[test]
fn fixed_frequencies_change_nothing() {
    let outcome = |spec: MachineSpec| {
        let steps = |n: u64| (0..30).flat_map(move |_| [Step::Compute(ms(n)), Step::SleepFor(ms(2))]);
        let tasks = (1..7).map(|n| script("task", steps(n)).0);
        let mut outcome = run(spec, &[], tasks);
        outcome.frequencies.clear();
        format!("{outcome:?}")
    };
    assert_eq!(outcome(cpus(4)), outcome(MachineSpec::ideal(Topology::flat(4))));
}
