//! The machine file of figures that are known.

use super::figure::Figure;
use super::host::Host;
use super::measure::{Hops, Interruptions};
use super::siblings::Siblings;
use super::{Measured, MeasuredPair, file};
use machine::{ByDistance, Distance, MachineSpec};
use scheduler::{CpuMask, Nanos};

/// A machine whose CPUs share a cache.
fn host(cpus: usize) -> Host {
    let all = CpuMask::first_n(cpus);
    Host {
        online: (0..cpus as u16).collect(),
        cores: all.iter().map(CpuMask::single).collect(),
        caches: vec![all],
        packages: vec![all],
        slit: 20,
    }
}

fn figure(ns: u64) -> Option<Figure> {
    Figure::of(vec![ns])
}

fn pair(distance: Distance, line: u64, round: u64) -> MeasuredPair {
    let hop = Hops { hop: figure(20_000), call: figure(9000) };
    MeasuredPair { distance, hop, round: figure(round), line: figure(line) }
}

/// The machine that recorded the data of the tests, roughly.
fn measured(pairs: Vec<MeasuredPair>) -> Measured {
    Measured {
        syscall: figure(116),
        lock: figure(10),
        yield_alone: figure(371),
        yield_switch: figure(1016),
        pipe_alone: figure(500),
        hop: Hops { hop: figure(2300), call: None },
        timer: figure(20_000),
        timer_program: figure(4700),
        thread: figure(16_000),
        process: figure(600_000),
        interruptions: Interruptions { per_second: 800, mean_ns: 5000, lengths: figure(500) },
        pairs,
        refill: None,
        siblings: None,
    }
}

fn spec(host: &Host, measured: Option<&Measured>) -> MachineSpec {
    MachineSpec::parse(&file::text("here", host, measured), "here").expect("a machine file")
}

fn of_distance(costs: &ByDistance) -> [u64; 3] {
    [costs.own, costs.shared_cache, costs.same_node].map(|Nanos(ns)| ns)
}

#[test]
fn a_distance_that_is_not_here_costs_no_less_than_a_nearer_one_that_is() {
    let measured = measured(vec![pair(Distance::SharedCache, 226, 20_000)]);
    let MachineSpec { costs, origins, .. } = spec(&host(2), Some(&measured));
    assert_eq!(of_distance(&costs.line), [1, 226, 226]);
    let [own, shared_cache, same_node] = of_distance(&costs.ipi);
    assert!(own < shared_cache && shared_cache == same_node, "{own}, {shared_cache}, {same_node}");
    let origin = origins.iter().find(|origin| origin.field == "costs.line.same_node").expect("it has one");
    assert_eq!(
        origin.text,
        "not measured; as on the machine laptop (through the memory fabric to another cache of the package): 80, \
         but no less than nearer CPUs here"
    );
}

#[test]
fn a_distance_that_is_not_here_costs_no_more_than_a_farther_one_that_is() {
    let mut apart = host(2);
    apart.caches = apart.cores.clone();
    let measured = measured(vec![pair(Distance::SameNode, 20, 1500)]);
    let costs = spec(&apart, Some(&measured)).costs;
    assert_eq!(of_distance(&costs.line), [1, 20, 20]);
    assert_eq!(of_distance(&costs.ipi), [150, 150, 150], "the laptop has 300, 600");
}

#[test]
fn points_of_the_kernel_are_those_of_the_laptop() {
    let stretches = spec(&host(2), None).stretches;
    assert_eq!(stretches, MachineSpec::builtin("laptop").expect("it is built in").stretches);
}

#[test]
fn what_was_measured_comes_out_again_as_the_sum_of_its_parts() {
    let measured = measured(vec![pair(Distance::SharedCache, 40, 9000)]);
    let MachineSpec { costs, noise, .. } = spec(&host(2), Some(&measured));
    let switch = costs.schedule + costs.context_switch;
    assert_eq!(costs.syscall + costs.lock_uncontended + switch, Nanos(1016), "sched_yield of two threads");
    let locks = costs.lock_uncontended * 4;
    let wakeup = costs.wakeup + costs.enqueue + locks;
    assert_eq!(Nanos(500) + wakeup + costs.dequeue + switch, Nanos(2300), "a hop on one CPU");
    let call = Nanos(500 / 2) + wakeup + costs.ipi_send;
    assert_eq!(call, Nanos(9000), "the call that wakes another CPU");
    let rest = costs.irq_entry
        + costs.timer_expiry
        + costs.timer_program
        + costs.irq_exit
        + Nanos(costs.syscall.0 / 2);
    let timer = noise.timer_jitter.expect("it was measured").min() + rest + wakeup + switch + costs.idle_exit;
    assert_eq!(timer, Nanos(20_000), "a timer's wakeup");
}

/// On a busy CPU, sched_yield takes as long as the others run.
#[test]
fn yields_that_let_others_run_are_no_measure_of_a_switch() {
    let busy =
        Measured { yield_alone: figure(4_000_000), yield_switch: figure(1_600_000), ..measured(vec![]) };
    let laptop = MachineSpec::builtin("laptop").expect("it is built in").costs;
    let costs = spec(&host(1), Some(&busy)).costs;
    assert_eq!((costs.schedule, costs.context_switch), (laptop.schedule, laptop.context_switch));
    assert!(costs.wakeup > Nanos(100) && costs.enqueue > Nanos(100));
}

#[test]
fn without_measurements_everything_but_the_topology_is_assumed() {
    let text = file::text("recorded", &host(2), None);
    assert!(text.starts_with("# The topology of the machine of a recording."), "{text}");
    assert_eq!(text.matches("\"measured: ").count(), 1, "{text}");
}

#[test]
fn what_siblings_take_from_each_other_is_measured_where_there_are_any() {
    let mut threads = host(4);
    threads.cores = vec![CpuMask::first_n(2), CpuMask::first_n(4).without(&CpuMask::first_n(2))];
    let siblings = Siblings { alone: figure(50_000), together: figure(80_000) };
    let measured = Measured { siblings: Some(siblings), ..measured(vec![]) };
    let MachineSpec { speeds, origins, .. } = spec(&threads, Some(&measured));
    assert_eq!(speeds.smt_busy_percent, 63);
    let origin = origins.iter().find(|origin| origin.field == "speed.smt_busy_percent").expect("it has one");
    let ns =
        "50000 (median 50000, 50000 to 50000, n 1) ns alone, 80000 (median 80000, 80000 to 80000, n 1) ns";
    assert_eq!(origin.text, format!("integer work on a sibling takes {ns} together"));
    assert_eq!(spec(&threads, None).speeds.smt_busy_percent, 100, "not measured, nothing said");
    let without = file::text("here", &host(2), Some(&measured));
    assert!(without.contains("# No SMT is visible") && !without.contains("[speed]"), "{without}");
}
