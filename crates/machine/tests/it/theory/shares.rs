//! Shares of fair tasks on one CPU: at any time each has had its weight's part of the time, but for a bounded
//! lag. Under EEVDF the bound is the longest request (Stoica and Abdel-Wahab 1995, theorem 1), which a tick
//! ends here; under CFS a turn of the others, which together take one latency period.

use super::{CFS, EEVDF, run};
use crate::script::ms;
use machine::{Behaviour, Env, Outcome, Step, TaskSpec};
use scheduler::{Nanos, Nice};
use schema::LogEvent;
use std::collections::BTreeMap;

const TICK: Nanos = Nanos(4_000_000);

#[derive(Debug)]
struct Hog;

impl Behaviour for Hog {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        Step::Compute(ms(1_000))
    }
}

/// Weight of a nice value: each step is a quarter more or less (sched_prio_to_weight).
fn weight(nice: i8) -> f64 {
    match nice {
        -5 => 3121.0,
        0 => 1024.0,
        3 => 526.0,
        5 => 335.0,
        10 => 110.0,
        other => panic!("no weight of nice {other} is written down here"),
    }
}

/// The largest distance of any task from its share, at any switch: ahead of it and behind it, milliseconds.
fn worst_lag(outcome: &Outcome, nices: &[i8]) -> (f64, f64) {
    let weights: f64 = nices.iter().map(|nice| weight(*nice)).sum();
    let pid = |number: usize| {
        outcome.tasks.iter().find(|task| *task.comm == *format!("h{number}")).expect("it").pid.0
    };
    let share: BTreeMap<i32, f64> =
        nices.iter().enumerate().map(|(number, nice)| (pid(number), weight(*nice) / weights)).collect();
    let (mut service, mut since, mut worst) = (BTreeMap::new(), 0.0, (0.0_f64, 0.0_f64));
    for record in outcome.log.as_deref().expect("a log") {
        let LogEvent::SchedSwitch { prev, .. } = &record.event else { continue };
        let now = record.time.0 as f64 / 1e6;
        *service.entry(prev.pid.0).or_insert(0.0) += now - since;
        since = now;
        for (pid, share) in &share {
            let ahead = service.get(pid).copied().unwrap_or(0.0) - share * now;
            worst = (worst.0.max(ahead), worst.1.max(-ahead));
        }
    }
    worst
}

fn hogs(profile: &str, settings: &[&str], nices: &[i8]) -> Outcome {
    let hog = |(number, nice): (usize, &i8)| TaskSpec {
        nice: Nice::new(*nice).expect("a nice value"),
        ..TaskSpec::new(format!("h{number}"), Hog)
    };
    run(profile, 1, settings, ms(3_000), nices.iter().enumerate().map(hog).collect())
}

const SETS: [&[i8]; 4] = [&[0, 0], &[0, 0, 0, 0, 0], &[0, 0, 5], &[-5, 0, 3, 10]];

/// A request of 3 ms ends at the tick after it, so it is one of a tick.
#[test]
fn under_eevdf_no_lag_is_longer_than_a_request() {
    for profile in EEVDF {
        for nices in SETS {
            let (ahead, behind) = worst_lag(&hogs(profile, &["base_slice_ns=3000000"], nices), nices);
            let request = TICK.0 as f64 / 1e6;
            assert!(ahead <= request + 0.01, "{profile} {nices:?}: {ahead} ms ahead");
            assert!(behind <= request + 0.01, "{profile} {nices:?}: {behind} ms behind");
        }
    }
}

/// Longer requests let them go further from their shares: the bound is no accident.
#[test]
fn under_eevdf_the_lag_grows_with_the_request() {
    for profile in EEVDF {
        let lag = |slice: &str| worst_lag(&hogs(profile, &[slice], SETS[1]), SETS[1]).0;
        let (short, long) = (lag("base_slice_ns=3000000"), lag("base_slice_ns=20000000"));
        assert!(long > 3.0 * short && long <= 20.01, "{profile}: {short} and {long} ms");
    }
}

/// A period of 24 ms: nobody is further from its share than by one, and a tick.
#[test]
fn under_cfs_no_lag_is_longer_than_a_period_and_a_tick() {
    for profile in CFS {
        let settings = ["sched_latency_ns=24000000", "sched_min_granularity_ns=3000000"];
        for nices in SETS {
            let (ahead, behind) = worst_lag(&hogs(profile, &settings, nices), nices);
            assert!(ahead.max(behind) <= 28.01, "{profile} {nices:?}: {ahead} ms ahead, {behind} ms behind");
        }
    }
}

/// Over 3 s the shares are the weights', within what a lag can be of it.
#[test]
fn the_shares_are_those_of_the_weights() {
    for profile in CFS.iter().chain(&EEVDF) {
        for nices in SETS {
            let outcome = hogs(profile, &[], nices);
            let weights: f64 = nices.iter().map(|nice| weight(*nice)).sum();
            for (number, nice) in nices.iter().enumerate() {
                let task = outcome.tasks.iter().find(|task| *task.comm == *format!("h{number}")).expect("it");
                let found = task.counters.sum_exec_runtime.0 as f64 / outcome.simulated.0 as f64;
                let wanted = weight(*nice) / weights;
                assert!(
                    (found - wanted).abs() < 0.012,
                    "{profile} {nices:?}: h{number} {found}, {wanted} wanted"
                );
            }
        }
    }
}
