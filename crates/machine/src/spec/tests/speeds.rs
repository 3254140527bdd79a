//! What a machine file may say of speeds.

use super::errors::good;
use crate::spec::{BUILTIN, CpuSpeed, MachineSpec};

/// The good machine, its four CPUs two cores of two threads, with these lines for the speeds.
fn with(speed: &str) -> Result<MachineSpec, String> {
    let text = good()
        .replace("kind = \"mc\"", "kind = \"smt\"")
        .replace("shared_cache = {", "smt = {")
        .replace("shared_cache_lost_percent", "smt_lost_percent");
    MachineSpec::parse(&format!("{text}\n[speed]\n{speed}"), "m").map_err(|error| error.to_string())
}

const BUSY: &str = "smt_busy_percent = { percent = 62, origin = \"published: somewhere\" }\n";
const SLOW: &str = "cpus = [{ cpus = \"2-3\", percent = 70, origin = \"assumed: small ones\" }]\n";

fn percents(spec: &MachineSpec) -> Vec<u32> {
    spec.speeds.cpus.iter().map(|speed| speed.ten_thousandths() / 100).collect()
}

#[test]
fn both_kinds_with_their_origins() {
    let spec = with(&format!("{BUSY}{SLOW}")).expect("a machine file");
    assert_eq!((spec.speeds.smt_busy_percent, percents(&spec)), (62, vec![100, 100, 70, 70]));
    let origins: Vec<String> = spec.origins.iter().map(ToString::to_string).collect();
    assert!(origins.contains(&"speed.smt_busy_percent = 62 percent (published: somewhere)".to_owned()));
    assert!(origins.contains(&"speed.cpus[0] = 70 percent for CPUs 2-3 (assumed: small ones)".to_owned()));
}

/// machine.md 6.2: the documents' machines say nothing of it, and keep their results.
#[test]
fn who_says_nothing_runs_at_full_speed() {
    assert_eq!(with("").map(|spec| spec.speeds), Ok(MachineSpec::parse(&good(), "m").expect("good").speeds));
    for entry in BUILTIN.iter().filter(|entry| !["laptop", "hybrid", "phone"].contains(&entry.name)) {
        let spec = MachineSpec::builtin(entry.name).expect("it is built in");
        assert_eq!((spec.speeds.smt_busy_percent, spec.speeds.cpus), (100, vec![]), "{}", entry.name);
    }
}

#[test]
fn a_larger_machine_has_the_same_cpus_again() {
    let spec = with(SLOW).and_then(|spec| spec.with_cpus(7).map_err(|error| error.to_string()));
    assert_eq!(percents(&spec.expect("a machine")), [100, 100, 70, 70, 100, 100, 70]);
}

#[track_caller]
fn refused(got: Result<MachineSpec, String>, why: &str) {
    let message = got.err().unwrap_or_default();
    assert!(message.contains(why), "{message}");
}

/// deadline-groups C8: a capacity is told, a speed in percent is not; the largest CPU is what others are
/// parts of.
#[test]
fn capacities_are_told() {
    let capacity = |figure: u32| SLOW.replace("percent = 70", &format!("capacity = {figure}"));
    let spec = with(&capacity(446)).expect("a machine file");
    assert_eq!(spec.topology.capacities, [1024, 1024, 446, 446]);
    let twice = spec.with_cpus(6).expect("six of them");
    assert_eq!(twice.topology.capacities, [1024, 1024, 446, 446, 1024, 1024]);
    assert_eq!(spec.with_cpus(2).expect("two of them").topology.capacities, [0; 0], "all alike");
    assert_eq!(with(SLOW).expect("a machine file").topology.capacities, [0; 0]);
    let small = MachineSpec::builtin("phone").and_then(|phone| phone.with_cpus(4)).expect("the small ones");
    assert_eq!(small.topology.capacities, [0; 0], "there is nothing better");
    assert_eq!(small.speeds.cpus, [CpuSpeed::Capacity(446); 4]);
    refused(with(&capacity(1025)), "1025 of 1024 is impossible; give 1 to 1024 of 1024");
    refused(with(&capacity(446).replace("2-3", "0-3")), "speed.cpus: gives capacity 1024 to no CPU");
    let both = SLOW.replace("percent = 70", "percent = 70, capacity = 446");
    refused(with(&both), "speed.cpus[0].capacity: stands beside percent");
}

#[test]
fn what_cannot_be_is_refused() {
    let without = MachineSpec::parse(&format!("{}\n[speed]\n{BUSY}", good()), "m");
    let why = "speed.smt_busy_percent: speaks of hardware threads of a core, and the topology has no level";
    refused(without.map_err(|error| error.to_string()), why);
    refused(with(&BUSY.replace("62", "0")), "0 percent is impossible; give 1 to 100 percent");
    refused(with(&SLOW.replace("70", "101")), "101 percent is impossible; give 1 to 100 percent");
    refused(with(&SLOW.replace("2-3", "3-4")), "speed.cpus[0].cpus: names CPU 4, the machine has 4");
    let twice = SLOW.replace("[{", "[{ cpus = \"3\", percent = 90, origin = \"assumed: x\" }, {");
    refused(with(&twice), "speed.cpus[1].cpus: CPU 3 has a speed already; name every CPU once");
    refused(with(&SLOW.replace("assumed: small ones", "small")), "does not say where the figure comes from");
}

/// deadline-groups C9: priorities go with speeds that the kernel is not told, each CPU has one, and a larger
/// machine has the same again.
#[test]
fn cpus_that_the_firmware_prefers() {
    let both = "cpus = [{ cpus = \"0-1\", percent = 100, priority = 60, origin = \"assumed: x\" }, \
                { cpus = \"2-3\", percent = 58, priority = 35, origin = \"assumed: y\" }]\n";
    let spec = with(both).expect("a machine file");
    assert_eq!(
        (spec.topology.priorities.clone(), percents(&spec)),
        (vec![60, 60, 35, 35], vec![100, 100, 58, 58])
    );
    assert_eq!(spec.topology.capacities, [0; 0], "the kernel knows no speeds");
    let origins: Vec<String> = spec.origins.iter().map(ToString::to_string).collect();
    assert!(
        origins.contains(&"speed.cpus[1] = 58 percent, priority 35 for CPUs 2-3 (assumed: y)".to_owned())
    );
    assert_eq!(spec.with_cpus(6).expect("six of them").topology.priorities, [60, 60, 35, 35, 60, 60]);
    assert_eq!(spec.with_cpus(2).expect("two of them").topology.priorities, [0; 0], "all alike");
    let why = "speed.cpus: gives a priority to some CPUs, and none to CPU 2; give one to each, or to none";
    refused(with(&both.replace("58, priority = 35", "58")), why);
    refused(
        with(&both.replace("percent = 58", "capacity = 600")),
        "speed.cpus[1].priority: stands beside capacity",
    );
    refused(
        with(&both.replace("= 35", "= 256")),
        "256 as a priority is impossible; give 1 to 255 as a priority",
    );
}

/// The built-in one: six large cores of two threads, then two clusters of small ones.
#[test]
fn the_hybrid_laptop() {
    let hybrid = MachineSpec::builtin("hybrid").expect("it is built in");
    assert_eq!(hybrid.topology.priorities, [[60; 12].as_slice(), &[35; 8]].concat());
    assert_eq!(percents(&hybrid), [[100; 12].as_slice(), &[58; 8]].concat());
    assert_eq!(hybrid.topology.capacities, [0; 0]);
    assert_eq!([0, 11, 12].map(|cpu| hybrid.core_of(scheduler::CpuId(cpu)).weight()), [2, 2, 1]);
}
