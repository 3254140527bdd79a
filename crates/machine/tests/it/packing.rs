//! CPUs that the firmware prefers to others (deadline-groups C9).

use crate::script::{Clock, ms, script};
use machine::{CpuSpeed, Machine, MachineSpec, Outcome, RunOptions, Setup, Step, TaskSpec};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos, Topology};

/// A CPU of full speed, and one of 58 percent that is less preferred.
fn large_and_small() -> MachineSpec {
    let mut spec = MachineSpec::ideal(Topology::flat(2));
    spec.set_speeds(vec![CpuSpeed::FULL, CpuSpeed::Percent(58)]);
    spec.set_priorities(vec![60, 35]);
    spec
}

/// A fair task; it may run on `cpus`, or anywhere.
fn fair(cpus: Option<CpuMask>, step: Step) -> (TaskSpec, Clock) {
    let (spec, clock) = script("task", [step]);
    (TaskSpec { cpus, ..spec }, clock)
}

fn run(kernel: &str, rule: Option<&str>, tasks: [TaskSpec; 2]) -> Outcome {
    let mut setup = Setup::new(2);
    for task in tasks {
        setup.spawn(Nanos::ZERO, task);
    }
    let config = Config::of_profile(kernel).expect("a profile");
    if let Some(rule) = rule {
        config.set(rule).expect("a rule");
    }
    let options = RunOptions { check: true, ..RunOptions::default() };
    Machine::new(large_and_small(), config, setup, options).expect("a machine").run().expect("it runs")
}

/// Of two hogs one ends on the large CPU after 20 ms. The other has 200 ms to do, of which the small CPU has
/// done 11.6 then: it moves within some ticks, and needs no more than those 188.4. Where nobody packs it
/// stays where it is, for 344.8 ms.
#[test]
fn a_hog_moves_to_the_preferred_cpu_once_that_idles() {
    let ends = |kernel: &str, rule: Option<&str>| {
        let (first, first_clock) = fair(Some(CpuMask::single(CpuId(0))), Step::Compute(ms(20)));
        let (second, second_clock) = fair(None, Step::Compute(ms(200)));
        run(kernel, rule, [first, second]);
        let end = |clock: &Clock| clock.borrow().last().copied().expect("it has run");
        assert_eq!(end(&first_clock), ms(20), "{kernel}");
        end(&second_clock)
    };
    for kernel in ["4.19", "5.4", "5.15", "6.1", "6.6", "6.18.y"] {
        let packed = ends(kernel, None);
        assert!((Nanos(208_400_000)..ms(225)).contains(&packed), "{kernel}: {packed}");
    }
    let whole = Nanos(344_827_587);
    for (kernel, rule) in [("6.18.y", Some("asym_packing=off")), ("4.4", None), ("2.6.36", None)] {
        let end = ends(kernel, rule);
        assert!((whole..whole + Nanos(100)).contains(&end), "{kernel}: {end}");
    }
}
