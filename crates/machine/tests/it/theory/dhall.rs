//! Dhall's effect (Dhall and Liu 1978): m short tasks and a long one on m CPUs use hardly more than one of
//! them, and under global rate-monotonic priorities the long one is late all the same, as the short ones take
//! all CPUs at once.

use super::{PROFILES, Periodic, jobs, responses, run};
use crate::engine::{fifo, ms};
use scheduler::Nanos;

/// ε.
const SMALL: Nanos = Nanos(20_000);
/// Of the short ones: 2ε in each.
const PERIOD: Nanos = Nanos(1_000_000);

/// The first response of the long task: work 1 ms, period 1 ms + ε.
fn long_response(profile: &str, cpus: usize, shorts: usize, is_partitioned: bool) -> Nanos {
    let short = Periodic { work: Nanos(2 * SMALL.0), period: PERIOD };
    let long = Periodic { work: PERIOD, period: Nanos(PERIOD.0 + SMALL.0) };
    let place = |cpu: usize| is_partitioned.then_some(cpu as u16);
    let mut tasks: Vec<_> =
        (0..shorts).map(|n| jobs("short", short, fifo(80), place(1 + n % (cpus - 1))).0).collect();
    let (task, done) = jobs("long", long, fifo(10), place(0));
    tasks.push(task);
    run(profile, cpus, &[], ms(5), tasks);
    responses(&done, long.period)[0]
}

/// Until 2ε all CPUs have short tasks; at 1 ms, 2ε before the long one is done, they come again: 1 ms + 4ε.
#[test]
fn globally_the_long_task_is_late_by_three_epsilon() {
    for profile in PROFILES {
        for cpus in [2, 4, 8] {
            let late = Nanos(PERIOD.0 + 4 * SMALL.0);
            assert_eq!(long_response(profile, cpus, cpus, false), late, "{profile}, {cpus} CPUs");
        }
    }
}

#[test]
fn with_a_cpu_of_its_own_or_one_more_it_is_in_time() {
    for profile in PROFILES {
        assert_eq!(long_response(profile, 4, 4, true), PERIOD, "{profile}, partitioned");
        assert_eq!(long_response(profile, 5, 4, false), PERIOD, "{profile}, one CPU more");
    }
}
