//! Programs of rt-tests that pass or fail by a rule of their own: by it a kernel is judged here, too.

use lab::{Change, Experiment, Files, KernelConfig, LoadSpec, RunResult, machine};
use scheduler::registry::PROFILES;
use schema::{LoadResult, TaskResult};

fn run(load: &str, machine_name: &str, cpus: usize, kernel: &str, settings: &[&str]) -> RunResult {
    let files = Files::new();
    let mut experiment =
        Experiment::new(machine(machine_name, Some(cpus), &files).expect("it comes with the program"));
    experiment.loads.push(LoadSpec::open(load, &files).expect("a load"));
    experiment.kernel = KernelConfig::of_name(kernel).expect("a profile");
    for setting in settings {
        let change = Change::parse(setting).expect("a setting");
        experiment.kernel.set(change).expect("a legal one");
    }
    experiment.run().expect("it runs").result
}

fn value(result: &RunResult, figure: &str) -> u64 {
    let LoadResult::Own(own) = &result.loads[0] else { panic!("its own figures") };
    own.value(figure).unwrap_or_else(|| panic!("no figure {figure}"))
}

/// Those from 2.6.25 on: the series of 2007 balanced otherwise, and the bases are no kernels.
fn kernels() -> impl Iterator<Item = &'static str> {
    let is_kernel = |name: &&str| !name.starts_with("2.6.23") && !name.starts_with("fair-base");
    PROFILES.iter().map(|profile| profile.name).filter(is_kernel)
}

/// rt-migrate-test's rule: of N + 1 tasks on N CPUs none of the N highest begins more than 1 ms late.
#[test]
fn the_highest_tasks_begin_at_once_under_every_kernel() {
    for kernel in kernels() {
        for cpus in [2, 3, 8, 64] {
            let result = run("rt-migrate-test -l 3", "laptop", cpus, kernel, &[]);
            let counts = ["intervals", "intervals failed"].map(|figure| value(&result, figure));
            let late = value(&result, "longest delay of a high task");
            assert_eq!(counts, [3, 0], "{kernel}, {cpus} CPUs: {late} ns late");
        }
    }
}

/// It is push and pull that bring that about: without them tasks wait where they were woken.
#[test]
fn without_push_and_pull_they_do_not() {
    for kernel in kernels() {
        for cpus in [2, 8] {
            let result = run("rt-migrate-test -l 3", "laptop", cpus, kernel, &["rt_balance=off"]);
            assert!(value(&result, "intervals failed") >= 2, "{kernel}, {cpus} CPUs");
            assert!(value(&result, "longest delay of a high task") >= 10_000_000, "{kernel}, {cpus} CPUs");
        }
    }
}

#[test]
fn inheritance_resolves_every_inversion_and_plain_mutexes_none() {
    for kernel in kernels() {
        for cpus in [1, 2, 8, 64] {
            let result = run("pi_stress -g 2 -i 200", "laptop", cpus, kernel, &[]);
            let [inversions, deadlocks] = ["inversions", "deadlocks"].map(|figure| value(&result, figure));
            assert!((200..=201).contains(&inversions) && deadlocks == 0, "{kernel}: {inversions}");
            let result = run("pi_stress -g 2 -i 200 --no-pi", "laptop", cpus, kernel, &[]);
            let counts = ["inversions", "deadlocks"].map(|figure| value(&result, figure));
            assert_eq!(counts, [0, 1], "{kernel}, {cpus} CPUs");
        }
    }
}

/// All messages of SCHED_FIFO senders arrive, and while they do none of these tasks is fair.
#[test]
fn hackbench_under_fifo_ends_under_every_kernel() {
    for kernel in kernels() {
        for cpus in [2, 8, 64] {
            let result = run("hackbench -F -g 2 -f 4 -l 20", "laptop", cpus, kernel, &[]);
            let LoadResult::Hackbench(hackbench) = &result.loads[0] else { panic!("hackbench's") };
            assert!(hackbench.time_s.is_some(), "{kernel}, {cpus} CPUs: not all arrived");
            let of_it = result.tasks.iter().filter(|task| task.comm == "hackbench");
            assert_eq!(of_it.filter(|task| task.policy == schema::Policy::Fifo).count(), 17, "{kernel}");
        }
    }
}

/// `pi_stress --groups=1 --inversions=2000` of rt-tests under Linux 6.18, as trace-cmd counted it
/// (native-6.18/pistress-trace): switches of the low thread while it runs, of the medium and of the high one
/// when they sleep, and switches of priority.
#[test]
fn each_inversion_switches_as_often_as_recorded() {
    let result = run("pi_stress -g 1 -i 2001", "vm2", 2, "6.18.y", &[]);
    let threads: Vec<&TaskResult> = result.tasks.iter().filter(|task| task.comm == "pi_stress").collect();
    let found = [
        threads[0].nr_involuntary_switches,
        threads[1].nr_voluntary_switches,
        threads[2].nr_voluntary_switches,
        result.decisions["boosted"] + result.decisions["deboosted"],
    ];
    let recorded = [10_005, 8_007, 10_007, 4_002];
    for (found, recorded) in found.into_iter().zip(recorded) {
        assert!(u64::abs_diff(found, recorded) <= 5, "{found}, {recorded} recorded");
    }
}
