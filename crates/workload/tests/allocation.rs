//! No event allocates in steady state.
//!
//! A run is warmed up, then the allocations of its next events are counted. What may still grow is stated at
//! [`GROWTH`]. Alone in its file, because it counts the allocations of the whole process.

use machine::{Machine, MachineSpec, RunOptions, Setup};
use scheduler::Nanos;
use scheduler::registry::Config;
use stats_alloc::{INSTRUMENTED_SYSTEM, Stats, StatsAlloc};
use std::alloc::System;
use std::cell::{Cell, RefCell};
use workload::load;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A histogram grows when a latency is larger than any before, at most once for each doubling; so do queues
/// of waiters when more wait than ever before. After the warm-up that happens about once to each of the forty
/// tasks. A task that was woken seldom during the warm-up keeps its latencies one by one until then: that
/// list doubles a few times, and then becomes the histogram.
const GROWTH: usize = 60 + 40 * 4;

/// Events of the engine before counting starts, and while it goes on.
const WARM_UP: u64 = 200_000;
const COUNTED: u64 = 800_000;

/// Allocations, reallocations included, of the counted events.
fn allocations(kernel: &str, loads: &[&str]) -> usize {
    let spec = MachineSpec::builtin("laptop").expect("it is built in");
    let mut setup = Setup::new(spec.cpus());
    let built: Vec<_> =
        loads.iter().map(|l| load::parse(l).and_then(|l| l.build(&mut setup)).expect("a load")).collect();
    let config = Config::of_profile(kernel).expect("a profile");
    let options = RunOptions { duration: Nanos::from_secs(3_600), ..RunOptions::default() };
    let machine = Machine::new(spec, config, setup, options).expect("a sound setup");
    let (events, start) = (Cell::new(0), RefCell::new(Stats::default()));
    let counted = Cell::new(None);
    let outcome = machine.run_until(&|_| {
        events.set(events.get() + 1);
        if events.get() == WARM_UP {
            *start.borrow_mut() = ALLOCATOR.stats();
        }
        let done = events.get() == WARM_UP + COUNTED;
        if done {
            let change = ALLOCATOR.stats() - *start.borrow();
            counted.set(Some(change.allocations + change.reallocations));
        }
        done
    });
    outcome.expect("a sound run");
    drop(built);
    counted.get().expect("the loads go on until everything is counted")
}

#[test]
fn steady_state_does_not_allocate() {
    let cases: &[(&str, &[&str])] = &[
        ("6.1", &["cyclictest -t 8 -p 90 -i 200 -d 50 -q"]),
        ("6.1-rt", &["cyclictest -t 8 -p 90 -i 200 -d 50 -q", "hog -n 4"]),
        ("4.1", &["periodic --bench"]),
        ("6.1", &["periodic -n 40 -p 2ms -r 100us"]),
        ("6.18", &["periodic -n 40 -p 2ms -r 100us"]),
        // Three quarters of the machine's time: CPUs that become idle find others with several tasks.
        ("6.1", &["periodic -n 40 -p 2ms -r 300us"]),
        ("6.18", &["periodic -n 40 -p 2ms -r 300us"]),
        ("6.18", &["hackbench -g 1 -l 100000 -p"]),
        ("7.1", &["periodic -n 40 -p 2ms -r 100us"]),
        ("7.1", &["cyclictest -t 8 -p 90 -i 200 -d 50 -q", "hog -n 40"]),
        ("2.6.32", &["hackbench -g 1 -l 100000 -p"]),
        ("2.6.36", &["rt-migrate -s 3600"]),
    ];
    for (kernel, loads) in cases {
        let counted = allocations(kernel, loads);
        println!("{kernel} {loads:?}: {counted} allocations in {COUNTED} events");
        assert!(counted <= GROWTH, "{kernel} {loads:?}: {counted} allocations in {COUNTED} events");
    }
}
