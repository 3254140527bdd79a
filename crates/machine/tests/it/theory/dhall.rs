//! Dhall's effect (Dhall and Liu 1978): m short tasks and a long one on m CPUs use hardly more than one of
//! them, and under global rate-monotonic priorities the long one is late all the same, as the short ones take
//! all CPUs at once.

use super::{PROFILES, Periodic, jobs, responses, run};
use crate::script::{fifo, ms, us};
use scheduler::{DlParams, Nanos, Policy};

/// ε.
const SMALL: Nanos = Nanos(20_000);
/// Of the short ones: 2ε in each.
const PERIOD: Nanos = Nanos(1_000_000);

/// By rate.
fn by_rate(task: Periodic) -> Policy {
    if task.period == PERIOD { fifo(80) } else { fifo(10) }
}

/// By deadline, with a budget that suffices.
fn by_deadline(Periodic { work, period }: Periodic) -> Policy {
    Policy::Deadline(DlParams::new(work + us(10), period, period).expect("legal parameters"))
}

/// The first response of the long task: work 1 ms, period 1 ms + ε.
fn long_response(
    profile: &str,
    cpus: usize,
    shorts: usize,
    is_partitioned: bool,
    policy: fn(Periodic) -> Policy,
) -> Nanos {
    let short = Periodic { work: Nanos(2 * SMALL.0), period: PERIOD };
    let long = Periodic { work: PERIOD, period: Nanos(PERIOD.0 + SMALL.0) };
    let place = |cpu: usize| is_partitioned.then_some(cpu as u16);
    let mut tasks: Vec<_> =
        (0..shorts).map(|n| jobs("short", short, policy(short), place(1 + n % (cpus - 1))).0).collect();
    let (task, done) = jobs("long", long, policy(long), place(0));
    tasks.push(task);
    // All CPUs are promised, and more.
    run(profile, cpus, &["sched_rt_runtime_us=-1"], ms(5), tasks);
    responses(&done, long.period)[0]
}

/// Until 2ε all CPUs have short tasks; at 1 ms, 2ε before the long one is done, they come again: 1 ms + 4ε.
#[test]
fn globally_the_long_task_is_late_by_three_epsilon() {
    for profile in PROFILES {
        for cpus in [2, 4, 8] {
            let late = Nanos(PERIOD.0 + 4 * SMALL.0);
            assert_eq!(long_response(profile, cpus, cpus, false, by_rate), late, "{profile}, {cpus} CPUs");
        }
    }
}

#[test]
fn with_a_cpu_of_its_own_or_one_more_it_is_in_time() {
    for profile in PROFILES {
        assert_eq!(long_response(profile, 4, 4, true, by_rate), PERIOD, "{profile}, partitioned");
        assert_eq!(long_response(profile, 5, 4, false, by_rate), PERIOD, "{profile}, one CPU more");
    }
}

/// deadline-groups A15. Until 2ε all CPUs have short tasks, whose deadlines are earlier by ε. When they come
/// again theirs are later: 1 ms + 2ε.
#[test]
fn by_global_deadlines_it_is_late_by_one_epsilon() {
    for profile in ["4.1", "6.1", "6.18.y", "7.1"] {
        for cpus in [2, 4, 8] {
            let late = Nanos(PERIOD.0 + 2 * SMALL.0);
            let response = long_response(profile, cpus, cpus, false, by_deadline);
            assert_eq!(response, late, "{profile}, {cpus} CPUs");
        }
        assert_eq!(long_response(profile, 4, 4, true, by_deadline), PERIOD, "{profile}, partitioned");
        assert_eq!(long_response(profile, 5, 4, false, by_deadline), PERIOD, "{profile}, one CPU more");
    }
}
