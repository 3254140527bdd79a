//! deadline-groups C2 and C3: who asks for which frequency, and what it does to averages.

use super::*;
use crate::fair::pelt::set_averages;
use crate::testing::{Lab, cpus, fifo};
use crate::uclamp::{ClampRequest, sched_setattr_clamps};
use crate::{Policy, TaskId};
use alloc::vec;

const MS: Nanos = Nanos::from_millis(1);

fn level(khz: u32) -> PerfLevel {
    PerfLevel { khz, milliwatts: None }
}

/// CPUs 0 and 1 run at one frequency, 2 and 3 at another; all can run at 0.5, 1, 1.5 and 2 GHz.
fn lab(settings: &[&str]) -> Lab {
    let levels = vec![level(500_000), level(1_000_000), level(1_500_000), level(2_000_000)];
    let domain = |of: [u16; 2]| FrequencyDomain { cpus: cpus(&of), levels: levels.clone() };
    let frequencies = vec![domain([0, 1]), domain([2, 3])];
    let settings = [&["governor=schedutil", "hz=250"], settings].concat();
    Lab::on(&Topology { frequencies, ..Topology::flat(4) }, "6.18.y", &settings)
}

fn levels(lab: &Lab) -> [usize; 2] {
    let mut levels = lab.k.frequencies.domains().iter().map(Running::level);
    [(); 2].map(|()| levels.next().expect("two domains"))
}

/// A task on a CPU uses so much; some milliseconds pass with a tick in each.
fn uses(lab: &Lab, p: TaskId, util: u64, ticks: u64) {
    let cpu = lab.cpu_of(p);
    for _ in 0..ticks {
        set_averages(lab.cpu(cpu), p, util, util);
        lab.advance(Nanos(1));
        lab.tick(cpu);
        lab.advance(Nanos::from_micros(1001));
    }
}

/// 512 of 1024 and a quarter of that are 1250 of 2000 MHz: 1500 is the next. A domain serves the CPU with
/// most to do.
#[test]
fn a_domain_runs_as_its_busiest_cpu_asks() {
    let lab = lab(&[]);
    assert_eq!(levels(&lab), [3, 3], "as they come up");
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    uses(&lab, p, 512, 2);
    assert_eq!(levels(&lab), [2, 3]);
    uses(&lab, p, 300, 2);
    assert_eq!(levels(&lab), [1, 3], "300 and a quarter are 732 MHz");
}

/// Nothing changes before the limit of the rate has passed since the last change.
#[test]
fn changes_keep_their_distance() {
    let lab = lab(&["schedutil_rate_limit_us=10000"]);
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    uses(&lab, p, 100, 1);
    let first = levels(&lab)[0];
    uses(&lab, p, 900, 5);
    assert_eq!(levels(&lab)[0], first);
    uses(&lab, p, 900, 10);
    assert_eq!(levels(&lab)[0], 3);
}

/// A real-time task asks for all, unless the system's default says less; and so do fixed frequencies.
#[test]
fn real_time_tasks_ask_for_the_highest() {
    let after = |settings: &[&str]| {
        let lab = lab(settings);
        let fair = lab.spawn_allowed(Policy::Normal, 2, cpus(&[2]));
        uses(&lab, fair, 10, 3);
        let low = levels(&lab)[1];
        lab.spawn_allowed(fifo(1), 2, cpus(&[2]));
        lab.advance(MS * 2);
        lab.tick(2);
        [low, levels(&lab)[1]]
    };
    assert_eq!(after(&[]), [0, 3]);
    assert_eq!(after(&["sched_util_clamp_min_rt_default=0"]), [0, 0]);
    assert_eq!(after(&["uclamp=off", "sched_util_clamp_min_rt_default=0"]), [0, 3]);
    assert_eq!(after(&["governor=performance"]), [3, 3]);
}

/// B11: the clamps of a queue's tasks bound its frequency; from 6.8 on with the quarter, before without it. A
/// queue without tasks keeps the upper clamp of its last one.
#[test]
fn clamps_bound_the_frequency() {
    let runs_at = |util: u64, min: Option<u16>, max: Option<u16>, settings: &[&str]| {
        let lab = lab(settings);
        let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        lab.run(sched_setattr_clamps(lab.cpu(0), p, ClampRequest { min, max }));
        uses(&lab, p, util, 3);
        levels(&lab)[0]
    };
    assert_eq!(runs_at(900, None, None, &[]), 3);
    assert_eq!(runs_at(900, None, Some(500), &[]), 1, "500 of 1024 are 976 MHz");
    assert_eq!(runs_at(900, None, Some(500), &["freq_margin=after"]), 2, "1220");
    assert_eq!(runs_at(10, Some(600), None, &[]), 2);
    assert_eq!(runs_at(10, Some(600), None, &["freq_margin=after"]), 2);
    assert_eq!(runs_at(10, Some(600), None, &["uclamp=off"]), 0);
}

/// B11: a queue's clamps are those of all its runnable tasks: who only waits, here behind a real-time task
/// that asks for nothing itself, raises the frequency, too.
#[test]
fn the_clamps_of_who_waits_count() {
    let runs_at = |waiting: &[ClampRequest], settings: &[&str]| {
        let lab = lab(settings);
        let runs = lab.spawn_allowed(fifo(1), 0, cpus(&[0]));
        lab.run(sched_setattr_clamps(lab.cpu(0), runs, ClampRequest { min: Some(0), max: None }));
        for request in waiting {
            let waits = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
            lab.run(sched_setattr_clamps(lab.cpu(0), waits, *request));
            uses(&lab, waits, 10, 1);
        }
        uses(&lab, runs, 10, 3);
        assert_eq!(lab.running(0), runs);
        levels(&lab)[0]
    };
    let (none, raised) = (ClampRequest::default(), ClampRequest { min: Some(600), max: None });
    assert_eq!((runs_at(&[], &[]), runs_at(&[none], &[])), (0, 0));
    assert_eq!(runs_at(&[raised], &[]), 2, "600 of 1024 are 1171 MHz");
    assert_eq!(runs_at(&[none, raised, none], &[]), 2);
    assert_eq!(runs_at(&[raised], &["sched_util_clamp_min=200"]), 0, "200 are 390 MHz");
}

/// C3: at half the frequency a hog counts as using half as fast, and a deadline task is charged half.
#[test]
fn what_counts_goes_as_fast_as_the_cpu() {
    let runs = |policy: Policy, settings: &[&str]| {
        let domain = FrequencyDomain { cpus: cpus(&[0]), levels: vec![level(1_000_000), level(2_000_000)] };
        let topology = Topology { frequencies: vec![domain], ..Topology::flat(1) };
        let settings = [&["hz=250", "sched_util_clamp_max=512"], settings].concat();
        let lab = Lab::on(&topology, "6.18.y", &settings);
        let p = lab.spawn(policy, 0);
        lab.advance(MS * 8);
        lab.tick(0);
        (lab, p)
    };
    let counted = |settings: &[&str]| {
        let (lab, p) = runs(Policy::Normal, settings);
        let task = lab.k.task(p);
        (task.se.pelt.average.last_update_time.get().0 / 1024, task.stats.sum_exec_runtime.get())
    };
    assert_eq!(counted(&["governor=performance"]), (8_000_000 / 1024, MS * 8));
    assert_eq!(counted(&["governor=schedutil"]), (4_000_000 / 1024, MS * 8));
    let left = |settings: &[&str]| {
        let (lab, p) = runs(crate::testing::deadline(20, 100, 100), settings);
        lab.k.task(p).dl.if_any().expect("a deadline task").runtime_ns()
    };
    assert_eq!(left(&["governor=performance"]), 12_000_000);
    assert_eq!(left(&["governor=schedutil"]), 16_000_000, "204 of 1024 are promised to it");
}
