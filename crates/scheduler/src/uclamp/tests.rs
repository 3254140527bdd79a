//! deadline-groups B11: which clamps count, and where.

use super::*;
use crate::fair::GroupParams;
use crate::testing::{Lab, cpus, fifo, plain_group};
use crate::{CpuMask, Event, Nanos, Policy, Reason, Topology};
use alloc::vec::Vec;

fn asks(lab: &Lab, p: TaskId, min: Option<u16>, max: Option<u16>) {
    lab.run(sched_setattr_clamps(lab.cpu(0), p, ClampRequest { min, max }));
}

fn group(clamps: Clamps, parent: GroupId) -> GroupParams {
    GroupParams { clamps, ..plain_group(parent) }
}

/// Four small CPUs, then four large ones, in one cache.
fn unequal(settings: &[&str]) -> Lab {
    Lab::on(&Topology::flat(8).with_capacities([[446; 4], [1024; 4]].concat()), "6.18.y", settings)
}

/// The request, within the group's, within the system's; -1 takes it back.
#[test]
fn a_request_counts_within_its_group_and_the_system() {
    let mut lab = Lab::new(1, "6.18.y", &[]);
    let outer = lab.k.create_group(group(Clamps { min: 200, max: 800 }, GroupId::ROOT));
    let inner = lab.k.create_group(group(Clamps { min: 300, max: 900 }, outer));
    let [alone, within] = [(); 2].map(|()| lab.spawn(Policy::Normal, 0));
    lab.k.task(within).se.group.set(inner);
    let of = |p: TaskId| {
        let Clamps { min, max } = lab.k.clamps_of(lab.k.task(p));
        (min, max)
    };
    assert_eq!((of(alone), of(within)), ((0, 1024), (200, 800)), "a child's are within its parent's");
    for p in [alone, within] {
        asks(&lab, p, Some(100), Some(850));
    }
    assert_eq!((of(alone), of(within)), ((100, 850), (200, 800)));
    asks(&lab, within, Some(500), Some(600));
    assert_eq!(of(within), (500, 600));
    for setting in ["sched_util_clamp_min=450", "sched_util_clamp_max=550"] {
        lab.k.config.set(setting).expect("a sysctl");
    }
    assert_eq!((of(alone), of(within)), ((100, 550), (450, 550)));
    asks(&lab, within, None, None);
    assert_eq!(of(within), (200, 550));
    lab.k.config.set("uclamp=off").expect("a rule");
    assert_eq!(of(within), (0, 1024));
}

/// By itself a real-time task asks for all of the best CPU, unless the sysctl says less.
#[test]
fn real_time_tasks_ask_for_the_best_by_themselves() {
    let lab = Lab::new(1, "6.18.y", &["sched_util_clamp_min_rt_default=300"]);
    let p = lab.spawn(fifo(1), 0);
    assert_eq!(lab.k.clamps_of(lab.k.task(p)).min, 300);
    asks(&lab, p, Some(0), None);
    assert_eq!(lab.k.clamps_of(lab.k.task(p)).min, 0);
}

/// What is legal: 0 to 1024, the lower no higher than the upper.
#[test]
fn illegal_requests() {
    let legal = |min, max| ClampRequest { min, max }.is_legal();
    assert!(legal(None, None) && legal(Some(1024), None) && legal(Some(0), Some(0)));
    assert!(!legal(Some(2), Some(1)) && !legal(None, Some(1025)) && !legal(Some(1025), None));
}

/// Where a sleeping task of CPU 0, which uses so much and has clamps, wakes on idle CPUs.
fn wakes(util: u64, min: Option<u16>, max: Option<u16>, settings: &[&str]) -> u16 {
    let lab = unequal(settings);
    let p = lab.spawn(Policy::Normal, 0);
    asks(&lab, p, min, max);
    lab.block(0);
    let pelt = &lab.k.task(p).se.pelt;
    pelt.estimate.enqueued.set(util);
    pelt.average.util_avg.set(0);
    lab.advance(Nanos(1000));
    lab.wake(0, p);
    assert!(lab.k.task(p).se.pelt.average.util_avg.get() <= util, "CF5: no average changes");
    lab.cpu_of(p)
}

/// B11: a lower clamp that no small CPU is worth sends a light task to a large one; an upper one that they
/// are worth keeps a heavy one there. Without clamps both go by what they use.
#[test]
fn fair_wakeups_go_by_clamps() {
    assert_eq!([wakes(100, None, None, &[]), wakes(600, None, None, &[])], [0, 4]);
    assert_eq!(wakes(100, Some(600), None, &[]), 4, "as much as it asks for");
    assert_eq!(wakes(600, None, Some(400), &[]), 0, "capped");
    assert_eq!(wakes(600, None, Some(400), &["uclamp=margin"]), 4, "400 and a fifth are more than 446");
    assert_eq!(wakes(600, None, Some(350), &["uclamp=margin"]), 0);
    assert_eq!(wakes(100, Some(400), None, &["uclamp=margin"]), 4);
    assert_eq!(wakes(100, Some(400), None, &[]), 0, "446 are 400");
    assert_eq!(wakes(100, Some(600), None, &["uclamp=off"]), 0);
}

/// C1: a real-time task goes to a CPU that is worth its lower clamp, if any is lower; of those that are not,
/// it keeps its own.
#[test]
fn real_time_tasks_look_for_a_cpu_that_is_worth_enough() {
    let goes = |min: Option<u16>, large_ones_run: Option<Policy>, settings: &[&str]| {
        let lab = unequal(settings);
        let p = lab.spawn(fifo(10), 0);
        asks(&lab, p, min, None);
        lab.block(0);
        for cpu in 4..8 {
            large_ones_run.map(|policy| lab.spawn_allowed(policy, cpu, cpus(&[cpu])));
        }
        lab.forget();
        lab.wake(0, p);
        let events = lab.k.platform.events.borrow();
        let reason = events.iter().find_map(|event| match event {
            Event::Decision { task, reason } if *task == p => Some(*reason),
            _ => None,
        });
        (lab.cpu_of(p), reason.expect("a reason"))
    };
    assert_eq!(goes(None, None, &[]), (4, Reason::WakeRouted));
    assert_eq!(goes(None, Some(fifo(5)), &[]), (4, Reason::WakeRouted), "a lower one makes room");
    assert_eq!(goes(None, Some(fifo(20)), &[]), (0, Reason::WakeNoFit));
    assert_eq!(goes(Some(446), None, &[]), (0, Reason::WakeStay), "a small one is worth that");
    for off in ["rt_fit=ignored", "uclamp=off"] {
        assert_eq!(goes(None, None, &[off]), (0, Reason::WakeStay), "{off}");
    }
}

/// C1, rt-class 3.3: behind a higher task any lower CPU is better than its own, if none is worth enough. (Its
/// affinity may name CPUs that the machine does not have.)
#[test]
fn behind_a_higher_task_a_small_cpu_will_do() {
    for allowed in [CpuMask::first_n(8), CpuMask::first_n(9), CpuMask::ALL] {
        let lab = unequal(&[]);
        let p = lab.spawn(fifo(10), 4);
        lab.block(4);
        lab.k.task(p).set_cpus_allowed(&crate::shared::Unseen, allowed);
        for cpu in 4..8 {
            lab.spawn_allowed(fifo(20), cpu, cpus(&[cpu]));
        }
        let before = lab.count(Reason::WakeRouted);
        lab.wake(0, p);
        assert!(lab.cpu_of(p) < 4, "{}", lab.cpu_of(p));
        assert_eq!(lab.count(Reason::WakeRouted), before + 1);
    }
}

/// A push prefers a CPU that is worth enough to a lower one that is not, and takes that if there is no other.
#[test]
fn pushes_prefer_cpus_that_are_worth_enough() {
    let pushed = |busy: &[u16], settings: &[&str]| {
        let lab = unequal(settings);
        for cpu in busy {
            lab.spawn_allowed(fifo(5), *cpu, cpus(&[*cpu]));
        }
        let first = lab.spawn_allowed(fifo(20), 5, cpus(&[5]));
        let second = lab.spawn_unsettled(fifo(10), 0, 5, crate::CpuMask::ALL);
        lab.settle();
        assert_eq!(lab.cpu_of(first), 5);
        lab.cpu_of(second)
    };
    let large = [4, 6, 7];
    assert!(pushed(&large, &[]) >= 4, "there runs a lower one");
    assert!(pushed(&large, &["rt_fit=ignored"]) < 4, "there runs nobody");
    let higher: Vec<u16> = Vec::new();
    assert!(pushed(&higher, &[]) >= 4);
}
