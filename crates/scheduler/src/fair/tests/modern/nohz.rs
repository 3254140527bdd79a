//! fair-placement 4.10.

use super::modern;
use crate::platform::Ipi;
use crate::testing::{Lab, cpus};
use crate::{CpuId, CpuMask, Nanos, Policy, Reason, Topology};

/// CPU 0 has two tasks, the others idle; nobody has been asked for anything yet.
fn one_overloaded() -> Lab {
    let lab = modern(&Topology::flat(4), &[]);
    for cpu in 1..4 {
        lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
        lab.block(cpu);
    }
    for _ in 0..2 {
        lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    }
    lab.run_on(Nanos::from_millis(100));
    lab
}

/// 7.4: a CPU that has had nothing to run since the start is idle like any other, and gets what waits
/// elsewhere. Its tick is stopped, so that others have to think of it.
#[test]
fn a_cpu_that_never_ran_anything_is_idle_too() {
    let lab = modern(&Topology::flat(4), &[]);
    assert_eq!(lab.k.fair_root.idle_cpus(), CpuMask::first_n(4));
    for _ in 0..2 {
        lab.spawn_allowed(Policy::Normal, 0, cpus(&[0, 3]));
    }
    let p = lab.running(0);
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), p, cpus(&[0])));
    lab.run_on(Nanos::from_millis(12));
    assert_eq!(lab.queued_on(), [1, 0, 0, 1]);
}

/// 4.1: what a cache's CPUs know of each other at the start is what an idle machine knows.
#[test]
fn an_idle_machine_may_be_searched() {
    let lab = modern(&super::two_sockets(), &[]);
    for cache in [0, 8] {
        let cache = &lab.k.fair_root.caches[cache];
        assert!(cache.has_idle_cores.get());
        assert_eq!((cache.nr_idle_scan.get(), cache.nr_idle.get()), (8, 8));
    }
    let flat = modern(&Topology::flat(2), &[]);
    assert!(!flat.k.fair_root.caches[0].has_idle_cores.get(), "no threads that share a core");
}

fn asked(lab: &Lab) -> usize {
    lab.k.platform.ipis.borrow().iter().filter(|sent| sent.ipi == Ipi::Nohz).count()
}

#[test]
fn a_cpu_with_waiting_tasks_asks_an_idle_one_once_a_tick() {
    let lab = one_overloaded();
    let kicks = |lab: &Lab| lab.count(Reason::KickOverload);
    let tick = || {
        let before = kicks(&lab);
        lab.run(crate::tick::scheduler_tick(lab.cpu(0)));
        kicks(&lab) - before
    };
    // Those that were asked last say when they are due again.
    let mut kicked = 0;
    while kicked == 0 {
        lab.settle();
        lab.advance(Nanos::from_millis(4));
        kicked = tick();
    }
    assert_eq!((kicked, asked(&lab)), (1, 1));
    assert_eq!(tick(), 0, "once a tick");
    assert!(lab.k.platform.ipis.borrow().iter().all(|sent| sent.to == CpuId(1)), "the lowest idle one");
    lab.settle();
}

#[test]
fn the_idle_balancer_pulls_for_all() {
    let lab = one_overloaded();
    let tasks: alloc::vec::Vec<_> = lab.k.tasks.iter().filter(|p| lab.k.task(*p).on_rq.get()).collect();
    for p in tasks {
        lab.k.task(p).cpus_allowed.overwrite(cpus(&[0, 3]));
        lab.k.task(p).nr_cpus_allowed.overwrite(2);
    }
    for _ in 0..25 {
        lab.advance(Nanos::from_millis(4));
        lab.tick(0);
    }
    assert_eq!(lab.queued_on(), [1, 0, 0, 1], "CPU 1 was asked, CPU 3 got the task");
}

#[test]
fn a_cpu_leaves_the_mask_at_its_next_tick() {
    let lab = one_overloaded();
    assert_eq!(lab.k.fair_root.idle_cpus(), cpus(&[1, 2, 3]));
    lab.spawn_allowed(Policy::Normal, 2, cpus(&[2]));
    assert_eq!(lab.k.fair_root.idle_cpus(), cpus(&[1, 2, 3]), "busy, but no tick yet");
    lab.advance(Nanos::from_millis(4));
    lab.tick(2);
    assert_eq!(lab.k.fair_root.idle_cpus(), cpus(&[1, 3]));
    assert_eq!(lab.k.fair_root.idle_in_cache(CpuId(0)), 2);
}

/// 1.8: what sleeps on an idle CPU fades because busy CPUs see to it.
#[test]
fn averages_of_idle_cpus_fade() {
    let lab = modern(&Topology::flat(2), &[]);
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.run_on(Nanos::from_secs(1));
    lab.block(1);
    let load = || lab.k.rq(CpuId(1)).published.pelt.average.load_avg.get();
    let asleep = load();
    assert!(asleep > 1000);
    lab.run_on(Nanos::from_millis(200));
    assert!(load() < 100, "{}", load());
}
