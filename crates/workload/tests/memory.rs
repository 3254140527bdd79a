//! What a task takes of the memory of this computer, measured as the difference between many tasks and few.
//!
//! Alone in its file, because it counts the allocations of the whole process.

use machine::{Machine, MachineSpec, RunOptions, Setup};
use scheduler::Nanos;
use scheduler::registry::Config;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::cell::Cell;
use workload::load;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn bytes_in_use() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// Bytes in use at the end of a run of this load on 8 CPUs: the load, the machine and what it has written
/// down.
fn bytes(kernel: &str, load: &str, simulated: Nanos) -> usize {
    let before = bytes_in_use();
    let spec = MachineSpec::builtin("laptop").and_then(|spec| spec.with_cpus(8)).expect("it is built in");
    let mut setup = Setup::new(8);
    let built = load::parse(load).and_then(|load| load.build(&mut setup)).expect("a load");
    let config = Config::of_profile(kernel).expect("a profile");
    let options = RunOptions { duration: simulated, ..RunOptions::default() };
    let machine = Machine::new(spec, config, setup, options).expect("a sound setup");
    let used = Cell::new(0);
    let outcome = machine.run_until(&|_| {
        used.set(bytes_in_use() - before);
        false
    });
    outcome.expect("a sound run");
    drop(built);
    used.get()
}

const FEW: usize = 1_000;
const MANY: usize = 9_000;

/// What each further task takes.
fn bytes_per_task(kernel: &str, load: impl Fn(usize) -> String, simulated: Nanos) -> usize {
    let [few, many] = [FEW, MANY].map(|tasks| bytes(kernel, &load(tasks), simulated));
    (many - few) / (MANY - FEW)
}

/// The second is the load of 100 000 tasks in the bench. 2048 bytes are enough for it and for hogs, the limit
/// that was wanted; the third writes two latencies down ten times as often. The limits keep what there is
/// from growing; the place of a lock of the kernel (PREEMPT_RT) takes eight, a timer that is set sixteen and
/// the room for more of them.
const MOST: [(&str, &str, usize); 6] = [
    ("6.1", "hog -n", 1_680),
    ("6.1", "periodic -p 1000ms -r 60us -n", 1_984),
    ("6.1", "periodic -p 100ms -r 1us -n", 2_272),
    ("6.18", "hog -n", 1_760),
    ("6.18", "periodic -p 1000ms -r 60us -n", 2_048),
    ("6.18", "periodic -p 100ms -r 1us -n", 2_400),
];

#[test]
fn many_tasks_take_little_memory_each() {
    for (kernel, load, most) in MOST {
        let bytes = bytes_per_task(kernel, |tasks| format!("{load} {tasks}"), Nanos::from_secs(1));
        println!("{kernel}, {load}: {bytes} bytes for each task");
        assert!(bytes <= most, "{kernel}, {load}: {bytes} bytes for each task");
    }
}
