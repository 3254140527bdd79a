//! The twins on machines whose figures are known: what a program sees follows from them.

use super::twin::{Twin, all};
use super::{Check, simulated};
use crate::calibration::tests::hosts;
use lab::{KernelConfig, NamedMachine};
use machine::MachineSpec;
use scheduler::{Nanos, Topology};
use std::sync::Arc;

/// Its figures on this machine, in the order of its statistics, where its own work takes so long.
fn on(machine: &MachineSpec, twin: &Arc<dyn Twin>, own_ns: u64) -> Vec<u64> {
    let machine = NamedMachine::from(machine.clone());
    let check = Check { machine, kernel: KernelConfig::default(), seeds: vec![1], repetitions: 1 };
    simulated::figures(&check, twin, own_ns, 1).expect("it runs").0
}

/// Two CPUs that share a cache, and nothing takes time.
fn ideal() -> MachineSpec {
    MachineSpec::ideal(Topology::flat(2))
}

fn twin(name: &str) -> Arc<dyn Twin> {
    let twins = hosts().iter().flat_map(all).find(|twin| twin.name() == name);
    twins.unwrap_or_else(|| panic!("no program is called {name}"))
}

#[test]
fn on_two_cpus_there_are_six_programs_three_of_them_in_two_forms() {
    let names: Vec<&str> = all(&hosts()[1]).iter().map(|twin| twin.name()).collect();
    assert_eq!(
        names,
        [
            "timers, idle CPU",
            "timers, busy CPU",
            "pipe, one CPU",
            "pipe, two CPUs",
            "fork",
            "PI hand-over, one CPU",
            "PI hand-over, two CPUs",
            "hogs, two cores",
            "stalls"
        ]
    );
    let one: Vec<&str> = all(&hosts()[0]).iter().map(|twin| twin.name()).collect();
    assert!(one.iter().all(|name| !name.contains("two")), "{one:?}");
    assert!(all(&hosts()[2]).iter().any(|twin| twin.name() == "hogs, one core"));
}

/// Where nothing costs time, a program sees its own work and nothing else.
#[test]
fn where_nothing_takes_time_only_the_programs_own_work_is_seen() {
    let own = 500;
    for twin in all(&hosts()[1]) {
        let expected = match twin.name() {
            // A byte that one thread writes and another reads.
            "pipe, one CPU" | "hogs, two cores" => own,
            // The reader goes into its call while the other one works on its own CPU.
            "pipe, two CPUs" => own / 2,
            _ => 0,
        };
        let figures = on(&ideal(), &twin, own);
        assert!(figures.iter().all(|figure| *figure == expected), "{}: {figures:?}", twin.name());
    }
}

#[test]
fn a_busy_hardware_thread_of_the_core_makes_the_work_longer_by_its_share() {
    let laptop = MachineSpec::builtin("laptop").expect("it comes with the program");
    let mut shared = MachineSpec::ideal(laptop.topology.clone());
    shared.speeds = laptop.speeds.clone();
    let figures = on(&shared, &twin("hogs, one core"), 62_000);
    // 62 % of a core each.
    assert!(figures.iter().all(|ns| ns.abs_diff(100_000) <= 1), "{figures:?}");
}

/// Each cost shows in the programs that it is for, and in no other.
#[test]
fn a_cost_shows_where_its_operation_is_done() {
    let mut slow_ipis = ideal();
    slow_ipis.costs.ipi.shared_cache = Nanos(7000);
    slow_ipis.costs.ipi.same_node = Nanos(7000);
    let mut slow_exec = ideal();
    slow_exec.costs.exec = Nanos(7000);
    let mut slow_boost = ideal();
    slow_boost.costs.set_prio = Nanos(7000);
    let seen = |machine: &MachineSpec| -> Vec<String> {
        let twins = all(&hosts()[1]).into_iter();
        let slower = twins.filter(|twin| on(machine, twin, 0).iter().any(|figure| *figure >= 3000));
        slower.map(|twin| twin.name().to_owned()).collect()
    };
    assert_eq!(seen(&slow_exec), ["fork"]);
    // Who lets a mutex go gives the lent priority back first.
    assert_eq!(seen(&slow_boost), ["PI hand-over, one CPU", "PI hand-over, two CPUs"]);
    assert_eq!(seen(&slow_ipis), ["pipe, two CPUs"]);
}
