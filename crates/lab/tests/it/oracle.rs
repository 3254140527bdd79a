//! An independent oracle: the scheduler of Linux 3.3 itself, compiled as a program (LinSched, with interrupts
//! that arrive at once, locks that cost nothing and timers that are precise), beside profile 3.3 on a machine
//! on which nothing costs time.

use lab::{Experiment, Files, KernelConfig, LoadSpec, Nanos, machine};

/// What LinSched counted under the common load of real-time tasks (`periodic --bench`) on so many CPUs.
struct Counted {
    cpus: usize,
    seconds: u64,
    wakeups: u64,
    switches: u64,
    migrations: u64,
}

const COUNTED: [Counted; 4] = [
    Counted { cpus: 2, seconds: 4, wakeups: 50_871, switches: 109_527, migrations: 15_549 },
    Counted { cpus: 4, seconds: 4, wakeups: 82_543, switches: 205_503, migrations: 61_402 },
    Counted { cpus: 8, seconds: 4, wakeups: 150_186, switches: 407_326, migrations: 133_719 },
    Counted { cpus: 40, seconds: 2, wakeups: 349_817, switches: 967_002, migrations: 282_516 },
];

/// Wakeups, switches and migrations.
fn simulated(counted: &Counted, kernel: &str) -> [u64; 3] {
    let files = Files::new();
    let ideal = machine("ideal", Some(counted.cpus), &files).expect("it comes with the program");
    let mut experiment = Experiment::new(ideal);
    experiment.loads.push(LoadSpec::open("periodic --bench", &files).expect("a load"));
    experiment.kernel = KernelConfig::of_name(kernel).expect("a profile");
    experiment.duration = Some(Nanos::from_secs(counted.seconds));
    let totals = experiment.run().expect("it runs").result.totals;
    [totals.wakeups, totals.context_switches, totals.migrations]
}

/// Parts of ten thousand between two counts.
fn distance(found: u64, counted: u64) -> u64 {
    found.abs_diff(counted) * 10_000 / counted
}

#[test]
fn profile_3_3_counts_what_the_kernel_3_3_counts_within_half_a_per_cent() {
    for counted in &COUNTED {
        let expected = [counted.wakeups, counted.switches, counted.migrations];
        let found = simulated(counted, "3.3");
        let distances: Vec<u64> =
            found.iter().zip(expected).map(|(found, it)| distance(*found, it)).collect();
        assert!(distances.iter().all(|off| *off <= 50), "{} CPUs: {found:?}, {expected:?}", counted.cpus);
    }
}

/// The counts are those of that kernel: one that looks for room for any woken task that meets another moves
/// more.
#[test]
fn another_kernel_counts_something_else() {
    let counted = &COUNTED[1];
    let [_, _, migrations] = simulated(counted, "2.6.36");
    assert!(distance(migrations, counted.migrations) > 50, "{migrations}");
}
