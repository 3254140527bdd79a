//! Time of interrupts that is left out of the CPU time of tasks (fair-placement 1.9).

use crate::script::{ideal, ms, script, us};
use machine::{
    Machine, MachineSpec, Outcome, RunOptions, Setup, SoftirqGap, SoftirqSpec, SoftirqTally, Step,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos};

/// Under the checks, with a soft interrupt that takes 500 us of each 750 us of CPU 0.
fn run(spec: MachineSpec, mut setup: Setup, settings: &[&str]) -> Outcome {
    let config = Config::of_profile("6.1.y").expect("a profile");
    settings.iter().for_each(|setting| config.set(setting).expect("a setting"));
    let tally = SoftirqTally::default();
    setup.softirq(SoftirqSpec {
        cpu: CpuId(0),
        at: us(750),
        gap: SoftirqGap::Every(us(750)),
        work: us(500),
        tally,
    });
    let options = RunOptions { duration: Nanos::from_secs(3), check: true, ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run")
}

/// What the task of this name had of the CPU, by its own account.
fn cpu_time(outcome: &Outcome, comm: &str) -> Nanos {
    let task = outcome.tasks.iter().find(|task| &*task.comm == comm).expect("it ran");
    task.counters.sum_exec_runtime
}

/// A hog has a third of the time; what it is charged is all of it, or that third.
#[test]
fn a_task_is_charged_for_soft_interrupts_unless_they_are_measured() {
    let charged = |rule: &str| {
        let mut setup = Setup::new(1);
        setup.spawn(Nanos::ZERO, script("hog", [Step::Compute(Nanos::from_secs(3))]).0);
        cpu_time(&run(ideal(1), setup, &[rule]), "hog")
    };
    assert_eq!(charged("irq_accounting=off"), Nanos::from_secs(3));
    let measured = charged("irq_accounting=on");
    assert!(measured.0.abs_diff(ms(1_000).0) <= ms(1).0, "{measured}");
}

/// So with hard ones, here those of the tick: entry, work and exit are theirs.
#[test]
fn a_task_is_charged_for_ticks_unless_they_are_measured() {
    let charged = |rule: &str| {
        let mut spec = ideal(2);
        (spec.costs.irq_entry, spec.costs.irq_exit) = (us(60), us(40));
        let mut setup = Setup::new(2);
        let (mut hog, _) = script("hog", [Step::Compute(Nanos::from_secs(4))]);
        hog.cpus = Some(CpuMask::single(CpuId(1)));
        setup.spawn(Nanos::ZERO, hog);
        cpu_time(&run(spec, setup, &[rule, "hz=1000"]), "hog")
    };
    let (off, on) = (charged("irq_accounting=off"), charged("irq_accounting=on"));
    assert!(off > ms(2_998), "{off}");
    assert!(on.0.abs_diff(ms(2_700).0) <= ms(2).0, "a tick of 100 us in each ms: {on}");
}

/// 1.9: a CPU of which interrupts take two thirds is worth a third to fair tasks. Four hogs of 500 ms in all
/// are done after 1.5 s at best, 2 s / (1 + 1/3), and where nobody knows of the interrupts after 2 s.
#[test]
fn balancing_knows_what_interrupts_leave() {
    let last_done = |settings: &[&str]| {
        let mut setup = Setup::new(2);
        let ends: Vec<_> = (0..4)
            .map(|n| {
                let (hog, ends) = script(&format!("hog{n}"), [Step::Compute(ms(500))]);
                setup.spawn(Nanos::ZERO, hog);
                ends
            })
            .collect();
        run(ideal(2), setup, settings);
        ends.iter().map(|ends| ends.borrow()[1]).max().expect("four")
    };
    let (off, on) = (last_done(&["irq_accounting=off"]), last_done(&["irq_accounting=on"]));
    let deaf = last_done(&["irq_accounting=on", "NO_NONTASK_CAPACITY"]);
    assert!(on < ms(1_550), "{on}");
    assert!(off > ms(1_950) && deaf > ms(1_950), "{off} {deaf}");
}
