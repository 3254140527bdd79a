//! The published schedules of 7.2: tick-free, each pick serves a whole request.

use crate::fair::eevdf::{join_tree, leave_tree};
use crate::fair::queue::EntityId;
use crate::schedule::{Entry, schedule as reschedule};
use crate::testing::Lab;
use crate::{CpuId, NICE_0_LOAD, TaskId};
use alloc::string::String;
use alloc::vec::Vec;

/// Tasks of these weights and requests that have joined at v = 0, 1, 2, 3, the first to be served running.
fn stage(profile: &str, settings: &[&str], tasks: &[(u64, f64)]) -> (Lab, Vec<TaskId>) {
    let lab = Lab::new(1, profile, settings);
    let all: Vec<TaskId> = lab.crowd(0, &alloc::vec![0; tasks.len()]);
    let rt = lab.take_cpu();
    for (n, (p, (weight, request))) in all.iter().zip(tasks).enumerate() {
        lab.ask_for(*p, *request);
        reweigh(&lab, *p, weight * NICE_0_LOAD);
        lab.stand(*p, n as f64, n as f64 + request / *weight as f64);
    }
    // Nothing is checked on the way: no nice value gives such weights.
    assert_eq!(lab.block_unsettled(0), rt);
    (lab, all)
}

/// Which of the tasks runs, as its letter.
fn letter(lab: &Lab, all: &[TaskId]) -> char {
    let at = all.iter().position(|p| *p == lab.running(0)).expect("one of them");
    char::from(b'A' + at as u8)
}

/// The schedule, a letter for each quantum of 8, and V before each pick.
fn schedule(profile: &str, tasks: &[(u64, f64)], requests: usize) -> (String, Vec<f64>) {
    let (lab, all) = stage(profile, &[], tasks);
    let v = || lab.zero_lag_point(0) as f64 / 1e6;
    let (mut letters, mut means) = (String::new(), alloc::vec![v()]);
    for _ in 0..requests {
        let letter = letter(&lab, &all);
        let request = tasks[usize::from(letter as u8 - b'A')].1;
        (0..(request / 8.0) as usize).for_each(|_| letters.push(letter));
        lab.charge(0, request);
        means.push(v());
        lab.run(reschedule(lab.cpu(0), Entry::Preemption));
    }
    (letters, means)
}

/// The schedule under HRTICK, where nobody but the timer asks (5.4): a letter for each quantum it grants.
fn schedule_by_timer(form: &str, tasks: &[(u64, f64)], requests: usize) -> String {
    let (lab, all) = stage("7.1", &[form], tasks);
    let mut letters = String::new();
    for _ in 0..requests {
        let ran = lab.hrtick_at(0).expect("it competes") - lab.k.platform.now.get();
        let quanta = (ran.0 + 4_000_000) / 8_000_000;
        assert!(ran.0.abs_diff(quanta * 8_000_000) < 10, "a whole request: {ran:?}");
        (0..quanta).for_each(|_| letters.push(letter(&lab, &all)));
        lab.advance(ran);
        lab.fire_hrtick(0);
        assert!(lab.k.rq(CpuId(0)).published.is_asked(), "the request is over");
        lab.run(reschedule(lab.cpu(0), Entry::Preemption));
    }
    letters
}

/// No nice value has twice the weight of another.
fn reweigh(lab: &Lab, p: TaskId, weight: u64) {
    let mut rq = lab.run(lab.cpu(0).lock(crate::CpuId(0)));
    leave_tree(&mut rq, &lab.k.task(p).se);
    rq.fair.load = rq.fair.load + weight - lab.k.task(p).se.weight();
    lab.k.task(p).se.set_weight(weight);
    join_tree(&mut rq, EntityId::of(p), &lab.k.task(p).se);
}

/// Tasks by weight and request, their schedule, and V before each pick.
type Row = (&'static [(u64, f64)], &'static str, &'static [f64]);

const ROWS: [Row; 5] = [
    (&[(1, 8.0), (1, 8.0), (1, 8.0), (1, 8.0)], "ABCDABCD", &[1.5, 3.5, 5.5, 7.5, 9.5]),
    (&[(1, 16.0), (1, 16.0), (2, 16.0)], "AACCBBCC", &[1.25, 5.25, 9.25, 13.25]),
    (&[(1, 16.0), (1, 8.0), (1, 16.0), (1, 16.0)], "BAACCBDD", &[1.5, 3.5, 7.5, 11.5, 13.5]),
    (&[(1, 16.0), (1, 8.0), (2, 16.0)], "BCCAABCC", &[1.25, 3.25, 7.25, 11.25, 13.25]),
    (&[(1, 16.0), (2, 16.0), (1, 8.0)], "BBCAABBC", &[1.0, 5.0, 7.0, 11.0, 15.0]),
];

#[test]
fn schedules_of_7_2() {
    for profile in ["6.12", "6.12.y", "6.18", "6.18.y", "7.0", "7.1"] {
        for (tasks, letters, means) in ROWS {
            let (found, v) = schedule(profile, tasks, 8);
            assert_eq!(&found[..8], letters, "{profile} {tasks:?}");
            assert_eq!(&v[..means.len()], means, "{profile} {tasks:?}");
            // T5: everybody has had its share after a period, and the schedule repeats.
            assert!(found[8..].is_empty() || letters.starts_with(&found[8..found.len().min(16)]), "{found}");
        }
    }
}

/// 7.1 serves them so by itself: HRTICK is on there, and no tick comes.
#[test]
fn schedules_of_7_2_under_hrtick() {
    for form in ["hrtick_for=request", "hrtick_for=slice"] {
        for (tasks, letters, _) in ROWS {
            let found = schedule_by_timer(form, tasks, 8);
            assert_eq!(&found[..8], letters, "{form} {tasks:?}");
        }
    }
}
