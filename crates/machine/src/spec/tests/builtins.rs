use super::{builtin, distance, domains};
use crate::spec::{BUILTIN, ByDistance, Costs, Distance, Spread, Woken};
use scheduler::{Nanos, Policy, RtPriority};

#[test]
fn every_builtin_is_what_its_name_says() {
    for entry in BUILTIN {
        let spec = builtin(entry.name);
        assert_eq!(spec.name, entry.name);
        assert!(spec.meaning.ends_with('.'), "{}: a sentence", spec.name);
    }
}

#[test]
fn every_figure_has_its_origin() {
    for entry in BUILTIN {
        let spec = builtin(entry.name);
        let fields: Vec<&str> = spec.origins.iter().map(|o| o.field.as_str()).collect();
        for cost in Costs::FIXED {
            assert!(
                fields.contains(&format!("costs.{}", cost.name).as_str()),
                "{}: {}",
                spec.name,
                cost.name
            );
        }
        for cost in Costs::BY_DISTANCE {
            assert!(
                fields.contains(&format!("costs.{}.own", cost.name).as_str()),
                "{}: {}",
                spec.name,
                cost.name
            );
        }
        let noise = spec.noise.irq_off.len() + spec.noise.kthreads.len();
        assert_eq!(fields.iter().filter(|f| f.starts_with("noise.") && f.contains('[')).count(), noise);
    }
    let spec = builtin("seed000");
    let switch = spec.origins.iter().find(|o| o.field == "costs.context_switch").map(ToString::to_string);
    assert_eq!(
        switch.as_deref(),
        Some("costs.context_switch = 1000 ns (published: rt-class 10.5, 4-way 2010)")
    );
}

#[test]
fn topologies_give_the_domains_of_the_specs() {
    assert_eq!(domains(&builtin("laptop"), 3), "smt 2-3, mc 0-7");
    assert_eq!(domains(&builtin("vm2"), 1), "mc 0-1");
    // rt-class U8: flat.
    assert_eq!(domains(&builtin("seed000"), 2), "mc 0-3");
    // rt-class 13.3: two domain levels.
    assert_eq!(domains(&builtin("seed001"), 25), "mc 20-29, numa { distance: 20 } 0-39");
    // rt-class 13.2: L2 pair, then all eight.
    assert_eq!(domains(&builtin("seed002"), 5), "mc 4-5, package 0-7");
    assert_eq!(domains(&builtin("seed003"), 0), "");
    // fair-class 8.1.
    assert_eq!(domains(&builtin("seed004"), 2), "mc 2-3, package 0-3");
}

#[test]
fn distances_follow_what_cpus_share() {
    let laptop = builtin("laptop");
    let seen = [0, 1, 2].map(|other| distance(&laptop, 0, other));
    assert_eq!(seen, ["own", "smt", "shared_cache"]);
    let seed001 = builtin("seed001");
    assert_eq!([distance(&seed001, 12, 19), distance(&seed001, 9, 10)], ["shared_cache", "other_node"]);
    let seed004 = builtin("seed004");
    assert_eq!([distance(&seed004, 0, 1), distance(&seed004, 1, 2)], ["shared_cache", "same_node"]);
}

/// On the 8-way of 2007 another die and another socket differ, though the scheduler sees one level. The
/// figures are eight times those of rt-class 10.5 (25, 120, 140): the bus is one that eight compilers share.
#[test]
fn packages_that_are_no_domain_still_count_for_distance() {
    let spec = builtin("seed002");
    let seen = [5, 6, 3].map(|other| distance(&spec, 4, other));
    assert_eq!(seen, ["shared_cache", "same_node", "other_node"]);
    let lines = [Distance::Own, Distance::SharedCache, Distance::SameNode, Distance::OtherNode];
    assert_eq!(lines.map(|d| spec.costs.line.at(d)), [Nanos(3), Nanos(200), Nanos(960), Nanos(1120)]);
}

#[test]
fn distance_does_not_depend_on_direction() {
    for entry in BUILTIN {
        let spec = builtin(entry.name);
        let cpus = spec.cpus() as u16;
        for (a, b) in (0..cpus).flat_map(|a| (0..cpus).map(move |b| (a, b))) {
            assert_eq!(distance(&spec, a, b), distance(&spec, b, a), "{} {a} {b}", spec.name);
        }
    }
}

/// Farther never costs less, where the machine has both distances.
#[test]
fn costs_grow_with_distance() {
    for entry in BUILTIN {
        let spec = builtin(entry.name);
        for table in [&spec.costs.line, &spec.costs.ipi] {
            let stated: Vec<Nanos> = Distance::ALL.map(|d| ByDistance::at(table, d)).into();
            let stated: Vec<Nanos> = stated.into_iter().filter(|n| *n != Nanos::ZERO).collect();
            assert!(stated.is_sorted(), "{}: {stated:?}", spec.name);
        }
    }
}

#[test]
fn noise_of_the_seeds() {
    // rt-class 13.1.
    let overshoot = Spread::Uniform { min: Nanos::ZERO, max: Nanos(1_600_000) };
    assert_eq!(builtin("seed000").noise.spin_overshoot, Some(overshoot));
    // rt-class 13.2: pinned softirq threads at FIFO 50, and stretches with interrupts off.
    let seed002 = builtin("seed002").noise;
    assert!(seed002.kthreads.len() >= 7 && !seed002.irq_off.is_empty());
    let fifo_50 = RtPriority::new(50).map(Policy::Fifo);
    assert!(seed002.kthreads.iter().all(|t| Some(t.policy) == fifo_50));
    assert!(seed002.kthreads.iter().all(|t| t.per_cpu == t.comm.starts_with("softirq-")));
    assert!(seed002.kthreads.iter().all(|t| matches!(t.woken, Woken::By { .. })), "by ticks and interrupts");
    // rt-class 13.3: the CPUs' timers differ by about 1 us.
    let skew = Spread::Uniform { min: Nanos::ZERO, max: Nanos(1_000) };
    assert_eq!(builtin("seed001").noise.timer_jitter, Some(skew));
}

#[test]
fn an_unknown_machine_gets_a_suggestion() {
    let error = crate::MachineSpec::builtin("seed02").map_err(|e| e.to_string());
    let known = "laptop, hybrid, phone, vm2, nested, seed000, seed001, seed002, seed003, seed004, ideal";
    let expected = format!("no machine is called seed02; did you mean seed002? Known: {known}");
    assert_eq!(error.map(|m| m.name), Err(expected));
    let error = crate::MachineSpec::builtin("xyzzy").map_err(|e| e.to_string());
    assert_eq!(error.map(|m| m.name), Err(format!("no machine is called xyzzy; known: {known}")));
}
