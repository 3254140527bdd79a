//! Response-time analysis of fixed priorities (Joseph and Pandya 1986): a task responds latest to the job
//! that is released together with one of each task above it: after the least R with
//! R = C + Σ ⌈R / Tj⌉ Cj over those.

use super::{Numbers, PROFILES, Periodic, jobs, responses, run};
use crate::script::{fifo, us};
use scheduler::Nanos;

/// By the formula, of the last of the tasks, the first of which has the highest priority; `None` where it
/// misses its deadline, the end of its period.
fn response(tasks: &[Periodic]) -> Option<Nanos> {
    let (last, above) = tasks.split_last()?;
    let mut response = last.work.0;
    loop {
        let interference: u64 = above.iter().map(|task| response.div_ceil(task.period.0) * task.work.0).sum();
        let next = last.work.0 + interference;
        if next > last.period.0 {
            return None;
        }
        if next == response {
            return Some(Nanos(response));
        }
        response = next;
    }
}

/// A set that is schedulable, rate-monotonic, with odd works and periods.
fn schedulable(numbers: &mut Numbers) -> Vec<Periodic> {
    loop {
        let mut tasks: Vec<Periodic> = (0..numbers.between(2, 6))
            .map(|_| {
                let period = Nanos(numbers.between(500_000, 20_000_000));
                Periodic {
                    work: Nanos(period.0 * numbers.between(5, 40) / 100 + numbers.between(1, 999)),
                    period,
                }
            })
            .collect();
        tasks.sort_by_key(|task| task.period);
        if (1..=tasks.len()).all(|count| response(&tasks[..count]).is_some()) {
            return tasks;
        }
    }
}

#[test]
fn the_formula_is_that_of_the_textbook() {
    let set =
        [(3, 7), (3, 12), (5, 20)].map(|(work, period)| Periodic { work: us(work), period: us(period) });
    assert_eq!([1, 2, 3].map(|count| response(&set[..count])), [3, 6, 20].map(|r| Some(us(r))));
}

/// To the nanosecond, each task of each CPU, under every way to search and push.
#[test]
fn partitioned_tasks_respond_as_the_formula_says() {
    const CPUS: usize = 3;
    let mut numbers = Numbers(2026);
    for profile in PROFILES {
        let sets: Vec<Vec<Periodic>> = (0..CPUS).map(|_| schedulable(&mut numbers)).collect();
        let mut tasks = Vec::new();
        let mut expected = Vec::new();
        for (cpu, set) in sets.iter().enumerate() {
            for (number, periodic) in set.iter().enumerate() {
                let comm = format!("{cpu}.{number}");
                let (task, done) = jobs(&comm, *periodic, fifo(90 - number as u8), Some(cpu as u16));
                tasks.push(task);
                expected.push((comm, done, periodic.period, response(&set[..=number])));
            }
        }
        run(profile, CPUS, &[], Nanos::from_millis(120), tasks);
        for (comm, done, period, wanted) in expected {
            let found = responses(&done, period);
            assert_eq!(found.iter().max().copied(), wanted, "{profile}, {comm}: {found:?}");
            assert_eq!(found.first().copied(), wanted, "{profile}, {comm}: the first job meets all at once");
        }
    }
}

/// And not by accident: with the priorities the other way round, somebody is late.
#[test]
fn with_the_priorities_reversed_the_formula_does_not_hold() {
    let set = schedulable(&mut Numbers(7));
    let mut tasks = Vec::new();
    let mut expected = Vec::new();
    for (number, periodic) in set.iter().enumerate() {
        let (task, done) = jobs("t", *periodic, fifo(10 + number as u8), Some(0));
        tasks.push(task);
        expected.push((done, periodic.period, response(&set[..=number])));
    }
    run("6.1", 1, &[], Nanos::from_millis(60), tasks);
    assert!(
        expected
            .iter()
            .any(|(done, period, wanted)| responses(done, *period).iter().max().copied() != *wanted)
    );
}
