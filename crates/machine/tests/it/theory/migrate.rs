//! The rule by which rt-migrate-test passes: of N + 1 real-time tasks on N CPUs that are released together,
//! the N highest start at once, and the lowest when the first of them is done; nobody runs before a higher
//! one.

use super::{Periodic, jobs, responses, run};
use crate::script::{fifo, ms};
use scheduler::Nanos;
use scheduler::registry::PROFILES;

/// As the program has it: 20 ms of work in each round.
const WORK: Nanos = Nanos(20_000_000);
const ROUND: Nanos = Nanos(120_000_000);

/// Kernels before 2.6.25 did not balance real-time tasks, or as the -rt series of 2007 did; the bases are no
/// kernels.
fn balances(profile: &str) -> bool {
    !profile.starts_with("2.6.23") && !profile.starts_with("fair-base")
}

#[test]
fn the_highest_tasks_run_at_once_and_the_lowest_after_the_first_of_them() {
    for profile in PROFILES.iter().map(|profile| profile.name).filter(|name| balances(name)) {
        for cpus in [2, 3, 8, 64] {
            let periodic = Periodic { work: WORK, period: ROUND };
            let task = |number: usize| jobs("t", periodic, fifo(2 + number as u8), None);
            let (tasks, done): (Vec<_>, Vec<_>) = (0..=cpus).map(task).unzip();
            run(profile, cpus, &[], ms(400), tasks);
            for (number, done) in done.iter().enumerate() {
                let wanted = if number == 0 { Nanos(2 * WORK.0) } else { WORK };
                let found = responses(done, ROUND);
                assert!(found.len() >= 3, "{profile}, {cpus} CPUs, task {number}: {found:?}");
                assert!(
                    found.iter().all(|r| *r == wanted),
                    "{profile}, {cpus} CPUs, task {number}: {found:?}"
                );
            }
        }
    }
}
