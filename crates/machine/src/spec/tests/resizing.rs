use super::{builtin, distance, domains};
use crate::spec::{BUILTIN, MachineSpec};
use scheduler::{CpuMask, Topology};

fn with_cpus(name: &str, n: usize) -> MachineSpec {
    builtin(name).with_cpus(n).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_larger_machine_has_more_cores_of_the_same_shape() {
    let laptop = with_cpus("laptop", 16);
    assert_eq!(domains(&laptop, 15), "smt 14-15, mc 0-15");
    let sockets = with_cpus("seed001", 80);
    assert_eq!(domains(&sockets, 79), "mc 70-79, numa { distance: 20 } 0-79");
    assert_eq!(distance(&sockets, 39, 40), "other_node");
    let packages = with_cpus("seed002", 16);
    assert_eq!(domains(&packages, 9), "mc 8-9, package 0-15");
    assert_eq!([distance(&packages, 9, 11), distance(&packages, 9, 12)], ["same_node", "other_node"]);
}

#[test]
fn a_cache_grows_to_its_limit_then_there_are_more_of_them() {
    let laptop = with_cpus("laptop", 40);
    assert_eq!(domains(&laptop, 17), "smt 16-17, mc 16-31, package 0-39");
    assert_eq!(domains(&laptop, 39), "smt 38-39, mc 32-39, package 0-39");
    assert_eq!(distance(&laptop, 15, 16), "same_node");
    assert_eq!(domains(&with_cpus("vm2", 8), 0), "mc 0-7");
    assert_eq!(domains(&with_cpus("vm2", 16), 0), "mc 0-7, package 0-15");
}

#[test]
fn a_smaller_machine_keeps_the_first_cpus() {
    assert_eq!(domains(&with_cpus("laptop", 4), 3), "smt 2-3, mc 0-3");
    assert_eq!(domains(&with_cpus("seed001", 15), 14), "mc 10-14, numa { distance: 20 } 0-14");
    assert_eq!(domains(&with_cpus("seed002", 1), 0), "");
}

#[test]
fn the_same_size_is_the_same_machine() {
    for entry in BUILTIN {
        let spec = builtin(entry.name);
        assert_eq!(spec.with_cpus(spec.cpus()).as_ref(), Ok(&spec));
    }
}

#[test]
fn every_size_is_a_partition_at_every_level_and_has_a_cost_for_every_distance() {
    for (entry, n) in BUILTIN.iter().flat_map(|b| [1, 2, 3, 7, 8, 40, 65, 512].map(|n| (b, n))) {
        let spec = with_cpus(entry.name, n);
        let all = CpuMask::first_n(n);
        assert_eq!(spec.cpus(), n);
        for level in &spec.topology.levels {
            let union = level.spans.iter().fold(CpuMask::EMPTY, |sum, s| sum.or(s));
            let weight: u32 = level.spans.iter().map(CpuMask::weight).sum();
            assert_eq!((union, weight), (all, n as u32), "{} with {n}: {:?}", spec.name, level.kind);
        }
        assert_eq!(spec.topology.levels.last().map(|l| l.spans.as_slice()), Some([all].as_slice()));
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let distance = spec.distance(a, b);
            // On the ideal machine nothing costs time.
            let costs = [spec.costs.line.at(distance), spec.costs.ipi.at(distance)].map(|cost| cost.0 > 0);
            assert_eq!(costs, [entry.name != "ideal"; 2], "{}: {distance:?}", spec.name);
        }
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let message = |n| builtin("laptop").with_cpus(n).map_err(|e| e.to_string()).map(|s| s.cpus());
    assert_eq!(message(0), Err("machine laptop cannot have 0 CPUs; give it 1 to 512".into()));
    assert_eq!(message(513), Err("machine laptop cannot have 513 CPUs; give it 1 to 512".into()));
}

#[test]
fn the_ideal_machine_can_grow_too() {
    let spec = MachineSpec::ideal(Topology::flat(2)).with_cpus(4);
    assert_eq!(spec.map(|s| domains(&s, 3)), Ok("mc 0-3".into()));
}

/// A virtual machine with one core of two threads, on a larger one: more cores.
#[test]
fn one_core_with_threads_grows_to_several() {
    let one_core = with_cpus("laptop", 2);
    let larger = one_core.with_cpus(16).expect("as many as a laptop has");
    assert_eq!(domains(&larger, 3), domains(&with_cpus("laptop", 16), 3));
}

/// Cores of one last-level cache, two of which share another one below it.
#[test]
fn a_larger_machine_has_more_clusters() {
    let text = super::errors::good().replace(
        r#"{ kind = "mc", spans = ["0-1", "2-3"] }"#,
        r#"{ kind = "cluster", spans = ["0-1", "2-3"] }, { kind = "mc", spans = ["0-3"] }"#,
    );
    let spec = MachineSpec::parse(&text, "m.toml").expect("a machine");
    assert_eq!(domains(&spec, 2), "cluster 2-3, mc 0-3");
    assert_eq!([distance(&spec, 0, 1), distance(&spec, 1, 2)], ["shared_cache"; 2]);
    assert_eq!(domains(&spec.with_cpus(8).expect("a machine"), 6), "cluster 6-7, mc 0-7");
}
