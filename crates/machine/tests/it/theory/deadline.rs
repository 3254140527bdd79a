//! SCHED_DEADLINE: the earliest deadline first, each behind a constant bandwidth server (Abeni and Buttazzo
//! 1998). On one CPU, what uses up to all of it and stays within its budgets misses nothing (Liu and Layland
//! 1973), and whoever wants more gets its budget in each period and takes nothing from others. On several
//! CPUs jobs can be late, but by a bounded time (Devi and Anderson 2005).

use super::{Numbers, Periodic, jobs, responses, run};
use crate::script::{fifo, ms, script};
use machine::{Outcome, Step, TaskSpec};
use scheduler::{DlParams, Nanos, Policy};
use schema::LogEvent;

const LENGTH: Nanos = Nanos(200_000_000);
const PROFILES: [&str; 4] = ["4.1", "6.1", "6.18.y", "7.1"];

fn budget(runtime: Nanos, period: Nanos) -> Policy {
    Policy::Deadline(DlParams::new(runtime, period, period).expect("legal parameters"))
}

/// CPU time of a task by the end of each of these periods, milliseconds.
fn by_period(outcome: &Outcome, comm: &str, period: Nanos) -> Vec<f64> {
    let pid = outcome.tasks.iter().find(|task| &*task.comm == comm).expect("it").pid;
    let mut had = vec![0.0; (outcome.simulated.0 / period.0) as usize];
    let mut since = None;
    for record in outcome.log.as_deref().expect("a log") {
        let LogEvent::SchedSwitch { prev, next, .. } = &record.event else { continue };
        if next.pid.0 == pid.0 {
            since = Some(record.time.0);
        } else if prev.pid.0 == pid.0
            && let Some(from) = since.take()
        {
            for (number, had) in had.iter_mut().enumerate() {
                let (begin, end) = (number as u64 * period.0, (number as u64 + 1) * period.0);
                let (from, to) = (from.max(begin), record.time.0.min(end));
                *had += to.saturating_sub(from) as f64 / 1e6;
            }
        }
    }
    had
}

/// Budgets of up to 89 % of the CPU (95 % is what is let in, with the fair server's 5), work within them:
/// by so much that the kernel sees it, which calculates in units of 1024 ns when a task wakes up.
#[test]
fn the_earliest_deadline_first_misses_nothing_that_can_be_met() {
    let mut numbers = Numbers(11);
    for profile in PROFILES {
        for _ in 0..4 {
            let mut left = 89;
            let (mut tasks, mut all) = (Vec::new(), Vec::new());
            while left > 8 && tasks.len() < 7 {
                let percent = numbers.between(5, left.min(50));
                left -= percent;
                let period = Nanos(numbers.between(2_000_000, 30_000_000));
                let runtime = Nanos(period.0 * percent / 100);
                let periodic = Periodic { work: Nanos(runtime.0 - 10_000), period };
                let (task, done) = jobs("job", periodic, budget(runtime, period), None);
                tasks.push(task);
                all.push((done, periodic));
            }
            run(profile, 1, &["sched_rt_runtime_us=950000"], LENGTH, tasks);
            for (done, periodic) in all {
                let responses = responses(&done, periodic.period);
                assert!(responses.len() as u64 >= LENGTH.0 / periodic.period.0, "{profile} {periodic:?}");
                assert!(
                    responses.iter().all(|r| *r <= periodic.period),
                    "{profile} {periodic:?}: {responses:?}"
                );
            }
        }
    }
}

/// A hog behind a server of 20 of 100 ms, which the ticks divide: in each period exactly that, and a FIFO hog
/// the other 80.
#[test]
fn a_server_gives_its_budget_in_each_period_and_not_more() {
    for profile in PROFILES {
        let hog = |comm, policy| TaskSpec { policy, ..script(comm, [Step::Compute(ms(10_000))]).0 };
        let tasks = vec![hog("greedy", budget(ms(20), ms(100))), hog("fifo", fifo(50))];
        let outcome = run(profile, 1, &["sched_rt_runtime_us=950000", "rt_throttle=off"], ms(2_000), tasks);
        let had = by_period(&outcome, "greedy", ms(100));
        assert!(had[..19].iter().all(|ms| (ms - 20.0).abs() < 1e-6), "{profile}: {had:?}");
        let rest = by_period(&outcome, "fifo", ms(100));
        assert!(rest[..19].iter().all(|ms| (ms - 80.0).abs() < 1e-6), "{profile}: {rest:?}");
    }
}

const TICK: Nanos = Nanos(1_000_000);

/// By how much a job of each of these may be late on so many CPUs at most, in ns (Devi and Anderson,
/// "Tardiness bounds under global EDF scheduling on a multiprocessor", theorem 2): x + e, with
/// x = (E - e_min) / (m - U), E the sum of the Λ longest run times, U that of the Λ - 1 largest utilisations,
/// and Λ the largest integer below the utilisation of all. A tick finds that a budget has ended: a run time
/// counts as one longer.
fn tardiness_bounds(cpus: usize, tasks: &[Periodic]) -> Vec<f64> {
    let descending = |mut of: Vec<f64>| {
        of.sort_by(|a, b| b.total_cmp(a));
        of
    };
    let long = |task: &Periodic| (task.work.0 + TICK.0) as f64;
    let runtimes = descending(tasks.iter().map(long).collect());
    let shares = descending(tasks.iter().map(|task| task.work.0 as f64 / task.period.0 as f64).collect());
    let number = shares.iter().sum::<f64>().ceil() as usize - 1;
    let longest: f64 = runtimes.iter().take(number).sum();
    let largest: f64 = shares.iter().take(number.saturating_sub(1)).sum();
    let x = (longest - runtimes.last().expect("a task")).max(0.0) / (cpus as f64 - largest);
    tasks.iter().map(|task| x + long(task)).collect()
}

/// By how much the latest job of each was late, in ns; on all CPUs, or each on the CPU of its number.
fn tardiness(profile: &str, cpus: usize, is_pinned: bool, tasks: &[Periodic]) -> Vec<f64> {
    let (mut specs, mut all) = (Vec::new(), Vec::new());
    for (number, periodic) in tasks.iter().enumerate() {
        let policy = budget(Nanos(periodic.work.0 + 10_000), periodic.period);
        let cpu = is_pinned.then_some((number % cpus) as u16);
        let (task, done) = jobs(&format!("job{number}"), *periodic, policy, cpu);
        specs.push(task);
        all.push(done);
    }
    run(profile, cpus, &["hz=1000"], ms(2_000), specs);
    let late = |(done, task): (&crate::script::Clock, &Periodic)| {
        let worst = responses(done, task.period).into_iter().max().expect("a job");
        worst.saturating_sub(task.period).0 as f64
    };
    all.iter().zip(tasks).map(late).collect()
}

/// deadline-groups DA10: as much as 95 % of all CPUs, in tasks of which no CPU holds two of the largest.
#[test]
fn on_several_cpus_nobody_is_later_than_the_bound() {
    let mut numbers = Numbers(7);
    let mut late = 0;
    for profile in PROFILES {
        for cpus in [2, 3, 4] {
            let mut left = 95 * cpus as u64;
            let mut tasks = Vec::new();
            while left >= 40 {
                let percent = numbers.between(35, left.min(80) + 1);
                left -= percent;
                let period = Nanos(numbers.between(5_000_000, 40_000_000));
                tasks.push(Periodic { work: Nanos(period.0 * percent / 100), period });
            }
            let tardiness = tardiness(profile, cpus, false, &tasks);
            for (late, most) in tardiness.iter().zip(tardiness_bounds(cpus, &tasks)) {
                assert!(*late <= most, "{profile}, {cpus} CPUs, {tasks:?}: {tardiness:?}, {most} allowed");
            }
            late += tardiness.iter().filter(|late| **late > 0.0).count();
        }
    }
    assert!(late > 0, "somebody is late");
}

/// Three tasks of 60 % on two CPUs: who may not move falls behind without end.
#[test]
fn two_that_share_a_cpu_are_later_and_later() {
    let tasks = [Periodic { work: ms(6), period: ms(10) }; 3];
    for profile in PROFILES {
        let bounds = tardiness_bounds(2, &tasks);
        let [free, pinned] = [false, true].map(|is_pinned| tardiness(profile, 2, is_pinned, &tasks)[0]);
        assert!(free <= bounds[0] && pinned > 10.0 * bounds[0], "{profile}: {free} and {pinned}");
    }
}
