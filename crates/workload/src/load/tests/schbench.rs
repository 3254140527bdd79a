//! schbench, run on a machine.

use super::*;
use machine::{Machine, MachineSpec, RunOptions};
use scheduler::registry::Config;
use schema::OwnResult;

/// Its figures after a run on a laptop of so many CPUs, and the CPU time of its workers.
fn figures(command: &str, cpus: usize) -> (OwnResult, Nanos) {
    let spec =
        MachineSpec::builtin("laptop").and_then(|laptop| laptop.with_cpus(cpus)).expect("it is built in");
    let mut setup = Setup::new(spec.cpus());
    let built = parse(command).and_then(|load| load.build(&mut setup)).expect(command);
    let config = Config::of_profile("6.18.y").expect("a profile");
    let options = RunOptions { duration: ms(2_100), ..RunOptions::default() };
    let outcome = Machine::new(spec, config, setup, options).and_then(Machine::run).expect(command);
    assert!(built.is_finished(), "the main thread has seen the end");
    let workers = outcome.tasks.iter().filter(|task| &*task.comm == "schbench-worker");
    let cpu_time = workers.map(|task| task.counters.sum_exec_runtime).sum();
    let LoadResult::Own(result) = built.result(command) else { panic!("its own figures") };
    (result, cpu_time)
}

fn value(figures: &OwnResult, name: &str) -> u64 {
    figures.value(name).unwrap_or_else(|| panic!("{name}"))
}

/// One worker: its requests follow each other, each a sleep and the multiplications.
#[test]
fn requests_follow_each_other() {
    // 5 × 104³ × 2 ns = 11.2 ms, and 0.1 ms of sleep.
    let (figures, cpu_time) = figures("schbench -t 1 -r 2", 2);
    let (requests, longest) = (value(&figures, "requests"), value(&figures, "request latency p50"));
    assert!((170..=177).contains(&requests), "{requests}");
    assert!((11_300_000..12_200_000).contains(&longest), "{longest}");
    assert!(value(&figures, "average rps").abs_diff(requests / 2) <= 1);
    assert!(cpu_time > ms(1_900), "{cpu_time}");
}

/// -R: so many come in each second, whatever the workers do in between; each takes its time.
#[test]
fn requests_at_a_rate() {
    for command in ["schbench -t 8 -r 2 -R 200 -n 1", "schbench -m 1 -t 8 -r 2 -R 200 -c 2000"] {
        let (figures, _) = figures(command, 4);
        assert_eq!(value(&figures, "requests"), 400, "{command}");
        assert!(value(&figures, "request latency max") >= 2_000_000, "{command}");
    }
}

/// Before 1.0 requests at a rate come by eights with a pause, since then a second's all at once, and who
/// comes late waits for his turn. So the last of 64 workers is woken later.
#[test]
fn how_requests_at_a_rate_come() {
    let waits = |command: &str| value(&figures(command, 8).0, "wakeup latency p90");
    let (batches, at_once) =
        (waits("schbench -m1 -t64 -r 2 -R 64 -c 2000"), waits("schbench -t64 -r 2 -R 64 -n 1 -s 0 -L"));
    assert!(batches < 3_000_000 && at_once > 10_000_000, "{batches} {at_once}");
}

/// --batch: the program of 2016 to 2020 sleeps first, 1 s / ⌈R/batch⌉ each time. So 2 s have 49 batches, as
/// each sleep ends a little late (498.31 requests a second were published for 500).
#[test]
fn requests_in_batches() {
    let (figures, _) = figures("schbench -m 1 -t 30 -r 2 -c 10000 -R 500 --batch 20", 32);
    assert_eq!(value(&figures, "requests"), 980);
    // A CPU for each: late by no more than a wakeup.
    assert!(value(&figures, "delay p99") < 200_000, "{}", value(&figures, "delay p99"));
}

/// What a request waits before it spins, and after the end of its spin, is its delay; the spin is not.
#[test]
fn delays_are_what_the_spin_is_not() {
    let (alone, _) = figures("schbench -m 1 -t 1 -r 2 -c 10000 -R 10 --batch 1", 2);
    assert!(value(&alone, "request latency p50") >= 10_000_000);
    assert!(value(&alone, "delay max") < 200_000);
    // Of four that are handed out together on one CPU, three wait until another's slice is over, at a tick.
    let (four, _) = figures("schbench -m 1 -t 4 -r 2 -c 10000 -R 40 --batch 4", 1);
    assert!(value(&four, "delay p50") >= 1_000_000);
}

/// The lock of a CPU: two workers on one CPU hold each other up only if one loses the CPU while it
/// multiplies. Without the lock each has its half.
#[test]
fn a_request_holds_the_lock_of_its_cpu() {
    let median = |command: &str| value(&figures(command, 1).0, "request latency p50");
    let (locked, free) = (median("schbench -t 2 -r 2"), median("schbench -t 2 -r 2 -L"));
    assert!(locked > 20_000_000 && free > 20_000_000, "two share a CPU: {locked} {free}");
}
