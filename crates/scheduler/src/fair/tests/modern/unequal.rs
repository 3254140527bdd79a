//! deadline-groups C1 and C3: CPUs that are not worth the same.

use super::{allow, modern};
use crate::class::SelectFor;
use crate::domains::Asymmetry;
use crate::testing::{Lab, cpus, level};
use crate::wakeup::WakeFlags;
use crate::{Class, CpuId, LevelKind, Nanos, Policy, Reason, TaskId, Topology, domains_of};
use alloc::vec;
use alloc::vec::Vec;

const MS: Nanos = Nanos::from_millis(1);

/// Four small CPUs, then four large ones, each four with a cache of their own.
fn two_caches() -> Topology {
    let level = |kind, size| level(8, kind, size);
    let levels = [level(LevelKind::Mc, 4), level(LevelKind::Package, 8)];
    Topology::of(8, levels.into()).with_capacities([[446; 4], [1024; 4]].concat())
}

/// The same in one cache.
fn one_cache() -> Topology {
    Topology::flat(8).with_capacities([[446; 4], [1024; 4]].concat())
}

/// 4.1: which domains know of both kinds; over these nobody spreads tasks evenly.
#[test]
fn domains_know_whether_their_cpus_are_alike() {
    let seen = |topology: &Topology| {
        let chain = &domains_of(topology)[0];
        chain.iter().map(|domain| (domain.asymmetric, domain.prefer_sibling)).collect::<Vec<_>>()
    };
    assert_eq!(seen(&one_cache()), [(Asymmetry::Full, false)]);
    assert_eq!(seen(&two_caches()), [(Asymmetry::None, false), (Asymmetry::Full, false)]);
    let alike = Topology { capacities: Vec::new(), ..two_caches() };
    assert_eq!(seen(&alike), [(Asymmetry::None, false), (Asymmetry::None, true)]);
    let three_kinds = two_caches().with_capacities(vec![446, 446, 446, 800, 1024, 1024, 1024, 1024]);
    assert_eq!(seen(&three_kinds)[0].0, Asymmetry::Some, "not the large ones");
    let told = Topology::flat(2).with_capacities(vec![1024; 2]);
    assert_eq!(told, Topology::flat(2));
}

/// A task that slept on `prev` and uses so much, and where a wakeup by CPU 0 sends it.
fn wakes(topology: &Topology, prev: u16, util: u64, busy: &[u16], rule: &str) -> (u16, Reason) {
    let lab = modern(topology, &[rule]);
    let p = lab.spawn(Policy::Normal, prev);
    lab.block(prev);
    let pelt = &lab.k.task(p).se.pelt;
    pelt.estimate.enqueued.set(util);
    pelt.average.util_avg.set(0);
    lab.allow_scans(8);
    lab.hogs_of_load(busy, 1024);
    lab.forget();
    let flags = WakeFlags { sync: false, interrupt: true, exiting: false };
    let cpu = crate::fair::select_task_rq_wake(lab.cpu(0), p, flags).0;
    (cpu, *lab.decisions().last().expect("a reason"))
}

/// C1: the shortcuts ask for a fifth to spare, 356 of 446; else the first idle CPU that has it, behind the
/// target; else the idle one that is worth most.
#[test]
fn a_wakeup_looks_for_room() {
    let wakes = |prev, util, busy: &[u16]| wakes(&one_cache(), prev, util, busy, "unequal_cpus=fit");
    assert_eq!(wakes(1, 356, &[]).0, 1, "it fits where it was");
    assert_eq!(wakes(1, 357, &[]), (4, Reason::SisFits));
    assert_eq!(wakes(1, 357, &[4, 5]), (6, Reason::SisFits));
    assert_eq!(wakes(6, 900, &[]), (6, Reason::SisLargest), "it fits nowhere");
    let (cpu, reason) = wakes(1, 500, &[4, 5, 6, 7]);
    assert!(cpu < 4 && reason == Reason::SisLargest, "only small ones idle: {cpu}");
    assert_eq!(wakes(1, 500, &[0, 1, 2, 3, 4, 5, 6, 7]).1, Reason::SisNone);
}

/// The whole machine is looked through, not one cache; kernels that do not ask stay in it.
#[test]
fn the_search_leaves_the_cache() {
    assert_eq!(wakes(&two_caches(), 1, 500, &[], "unequal_cpus=fit"), (4, Reason::SisFits));
    assert_eq!(wakes(&two_caches(), 1, 500, &[], "unequal_cpus=ignored").0, 1);
}

/// C1: a new task's group of CPUs is one that it fits, of several that it does not fit the better one.
#[test]
fn exec_goes_where_there_is_room() {
    let goes = |util: u64, capacities: Vec<u16>| {
        let lab = modern(&two_caches().with_capacities(capacities), &[]);
        let p = lab.spawn(Policy::Normal, 0);
        lab.set_averages(p, 1024, util);
        lab.forget();
        (Class::Fair.select_task_rq(lab.cpu(0), p, SelectFor::Exec).0 / 4, lab.first_decision())
    };
    let large = || [[446; 4], [1024; 4]].concat();
    assert_eq!(goes(300, large()).0, 0);
    assert_eq!(goes(400, large()), (1, Reason::OtherType));
    assert_eq!(goes(1000, large()), (1, Reason::OtherType), "it fits in neither");
    assert_eq!(goes(1000, [[1024; 4], [446; 4]].concat()), (0, Reason::LocalType));
}

/// A hog on a small CPU.
fn misfit(allowed: &[u16], settings: &[&str]) -> (Lab, TaskId) {
    let lab = modern(&one_cache(), settings);
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(allowed));
    lab.set_averages(p, 1024, 500);
    lab.advance(MS * 4);
    lab.tick(0);
    (lab, p)
}

fn noted(lab: &Lab, cpu: u16) -> u64 {
    lab.k.rq(CpuId(cpu)).published.pelt.misfit_load.get()
}

/// CF4: noted is who does not fit and may go to a better CPU; and an idle CPU is asked to balance.
#[test]
fn who_needs_a_better_cpu_is_noted() {
    let (lab, p) = misfit(&[0, 5], &[]);
    assert!(noted(&lab, 0) > 900, "its load");
    assert!(lab.count(Reason::KickMisfit) > 0);
    lab.run_on(MS * 12);
    assert_eq!(lab.cpu_of(p), 5);
    assert_eq!(noted(&lab, 0), 0, "it is gone");
    for (allowed, why) in [(&[0][..], "it may not leave"), (&[0, 1], "no better CPU is allowed")] {
        let (lab, p) = misfit(allowed, &[]);
        lab.run_on(MS * 12);
        assert_eq!((noted(&lab, 0), lab.cpu_of(p)), (0, 0), "{why}");
    }
    let (lab, p) = misfit(&[0, 5], &["unequal_cpus=ignored"]);
    lab.run_on(MS * 12);
    assert_eq!((noted(&lab, 0), lab.cpu_of(p)), (0, 0));
}

/// A large CPU without anything to do leaves those that fit alone, and a small one takes nobody from a large
/// one.
#[test]
fn who_fits_stays() {
    let lab = modern(&one_cache(), &[]);
    let small = lab.spawn(Policy::Normal, 0);
    lab.set_averages(small, 1024, 100);
    let large = lab.spawn(Policy::Normal, 5);
    lab.run_on(MS * 8);
    lab.set_averages(small, 1024, 100);
    assert_eq!((lab.cpu_of(small), lab.cpu_of(large)), (0, 5));
}

/// C3: a task that needs 2 ms of the best CPU in each 16 uses an eighth of it, wherever it runs: on a CPU of
/// half the worth it runs for 4 ms. The best CPU's figure is the oracle.
#[test]
fn utilisation_is_of_the_best_cpu() {
    let used = |cpu: u16, runs: Nanos| {
        let topology = Topology::flat(2).with_capacities(vec![512, 1024]);
        let lab = modern(&topology, &["unequal_cpus=ignored"]);
        let p = lab.spawn(Policy::Normal, cpu);
        allow(&lab, p, cpus(&[cpu]));
        for _ in 0..40 {
            lab.advance(runs);
            lab.block(cpu);
            lab.advance(MS * 16 - runs);
            lab.wake(cpu, p);
        }
        lab.k.task(p).se.pelt.average.util_avg.get()
    };
    let (small, large) = (used(0, MS * 4), used(1, MS * 2));
    assert!(small.abs_diff(large) <= 2, "{small} {large}");
    assert!(used(1, MS * 4) > 2 * large - 20, "what the small one does takes twice as long");
}

/// fair-placement 2.9, 4.5: a task of 600 fits none of the small CPUs, and calls exec.
#[test]
fn who_calls_exec_goes_where_it_fits() {
    let goes = |rule: &str| {
        let lab = modern(&two_caches(), &[rule]);
        let p = lab.spawn(Policy::Normal, 0);
        lab.set_averages(p, 1024, 600);
        lab.forget();
        let cpu = Class::Fair.select_task_rq(lab.cpu(0), p, SelectFor::Exec);
        (cpu.0 / 4, lab.first_decision())
    };
    assert_eq!(goes("unequal_cpus=fit"), (1, Reason::OtherType));
    assert_eq!(goes("unequal_cpus=ignored").1, Reason::LocalIdle);
}
