//! What cyclictest finds of idle states on a bare machine (machine.md 5.6).

use machine::{Governor, IdleMonitor, IdleState, IdleStates, Machine, MachineSpec, RunOptions, Setup};
use scheduler::Nanos;
use scheduler::registry::Config;
use schema::LoadResult;
use workload::load;

/// The median of its latencies, in nanoseconds, on the laptop with POLL and one of Skylake's states.
fn median(options: &str, state: (&str, u64, u64)) -> u64 {
    let us = Nanos::from_micros;
    let (name, latency, residency) = state;
    let mut spec = MachineSpec::builtin("laptop").and_then(|laptop| laptop.with_cpus(2)).expect("a machine");
    let poll = IdleState::new("POLL", IdleMonitor::Poll, us(0), us(0));
    let states = vec![poll, IdleState::new(name, IdleMonitor::Mwait, us(latency), us(residency))];
    spec.idle = Some(IdleStates { governor: Governor::Menu, states });
    let mut setup = Setup::new(2);
    let command = format!("cyclictest -t1 -p95 -i2ms -D 2 -n {options}");
    let built = load::parse(&command).and_then(|load| load.build(&mut setup)).expect("a load");
    let config = Config::of_profile("6.1").expect("a profile");
    let options = RunOptions { duration: Nanos::from_secs(2), ..RunOptions::default() };
    Machine::new(spec, config, setup, options).and_then(Machine::run).expect("a sound run");
    let LoadResult::Cyclictest(result) = built.result(&command) else { panic!("it is cyclictest") };
    result.threads[0].latency_ns.as_ref().expect("it woke up").p50
}

const C1: (&str, u64, u64) = ("C1", 2, 2);
const C6: (&str, u64, u64) = ("C6", 85, 200);

/// The row "total p50, cyclictest": 1.5 to 3 us where CPUs poll, as they do beside it unless it is told
/// otherwise; 3 to 5 in C1; 50 to 180 in C6.
#[test]
fn the_median_is_that_of_the_state() {
    for state in [C1, C6] {
        let polling = median("", state);
        assert!((1_500..=3_000).contains(&polling), "polling: {polling} ns");
    }
    let shallow = median("--laptop", C1);
    assert!((3_000..=5_000).contains(&shallow), "C1: {shallow} ns");
    let deep = median("--laptop", C6);
    assert!((50_000..=180_000).contains(&deep), "C6: {deep} ns");
}
