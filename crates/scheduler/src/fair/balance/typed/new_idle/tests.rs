use super::*;
use crate::testing::{Lab, cpus, level};
use crate::{CpuId, LevelKind, Policy, Topology};
use alloc::vec::Vec;

/// eevdf-class 4.6, cost_bump: each search in vain makes the next less likely, up to a bound.
#[test]
fn a_search_in_vain_raises_the_cost() {
    let counts = |rule: &str, took, most, found| {
        let lab = Lab::new(2, "6.18", &[rule]);
        what_it_cost(lab.cpu(0), Nanos(took), Nanos(most), found).0
    };
    let raised = |most, found| counts("newidle_failure=raised", 5_000, most, found);
    assert_eq!([raised(20_000, false), raised(20_000, true)], [30_000, 5_000]);
    assert_eq!(raised(400_000, false), 500_200, "no more than migrating one costs");
    assert_eq!(raised(1, false), 1, "rounded down");
    assert_eq!(raised(0, false), 0, "half as much again as nothing");
    assert_eq!(counts("newidle_failure=time_taken", 5_000, 20_000, false), 5_000);
}

#[test]
fn e65_idle_spells() {
    let most = 1_000_000;
    let mut average = 1_000_000;
    for (spell, after) in [(100_000, 887_500), (100_000, 789_063), (50_000_000, 1_000_000), (20_000, 877_500)]
    {
        average = eighth_of_the_way(average, spell).min(most);
        assert_eq!(average, after);
    }
}

/// CPU 1 of a machine is about to idle, on which it has idled for so long on average, and where a search of
/// its only domain cost so much; two tasks wait on CPU 0, which may not leave it.
fn about_to_idle(topology: &Topology, avg_idle: u64, cost: u64, allowed: &[u16], settings: &[&str]) -> Lab {
    let lab = Lab::on(topology, "6.1.y", &[&["NO_NI_RANDOM"], settings].concat());
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    let hogs = [0, 1, 2].map(|_| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0])));
    lab.advance(Nanos::from_millis(10));
    for p in hogs {
        lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), p, cpus(allowed)));
    }
    lab.k.rq(CpuId(1)).published.balance.idle.average.set(Nanos(avg_idle));
    for domain in lab.k.domains(CpuId(1)) {
        domain.balance.max_newidle_lb_cost.set(Nanos(cost));
        domain.balance.last_decay.set(lab.k.platform.now.get());
    }
    lab
}

fn attempts(lab: &Lab) -> Vec<u64> {
    let newly = Situation::NewlyIdle.index();
    lab.k.domains(CpuId(1)).iter().map(|d| d.balance.counts[newly].attempts.get()).collect()
}

/// 4.9 step 4: looking is left where the mean idle time is less than what it has cost, and not where that is
/// as much.
#[test]
fn as_long_as_a_search_takes_is_enough() {
    let searched = |avg_idle, gate: &str| {
        let lab = about_to_idle(&Topology::flat(2), avg_idle, 300_000, &[0], &[gate]);
        lab.block(1);
        attempts(&lab)
    };
    let measured = "newidle_gate=measured_cost";
    assert_eq!([299_999, 300_000].map(|idle| searched(idle, measured)), [[0], [1]]);
    let fixed = ["newidle_gate=migration_cost", "sched_migration_cost_ns=200000"];
    let lab = |idle| about_to_idle(&Topology::flat(2), idle, 300_000, &[0], &fixed);
    for (idle, too_dear) in [(299_999, 1), (300_000, 0)] {
        let lab = lab(idle);
        lab.block(1);
        assert_eq!(lab.count(Reason::NiCost), too_dear, "past the gate, {idle}");
    }
}

/// 4.9 step 2: a CPU that does not look itself may still see to others' averages; it does not look then.
#[test]
fn who_sees_to_averages_does_not_look() {
    let lab = about_to_idle(&Topology::flat(2), 600_000, 0, &[0, 1], &[]);
    lab.k.root_domain(CpuId(1)).overload.set(false);
    lab.block_unsettled(1);
    let rq = lab.run(lab.cpu(1).lock(CpuId(1)));
    drop(lab.run(pre_schedule(rq)));
    assert_eq!(attempts(&lab), [0]);
}

/// 4.9 step 4: what a search took is kept if it is more than ever before, and the decay begins anew then;
/// what it took in all levels is kept as the CPU's.
#[test]
fn what_a_search_took_is_kept() {
    let after = |before: u64, gate: &str| {
        let lab = about_to_idle(&Topology::flat(2), 1_000_000, before, &[0], &[gate]);
        let balance = &lab.k.domains(CpuId(1))[0].balance;
        balance.last_decay.set(Nanos(1));
        lab.k.platform.touch_takes.set(Nanos(10_000));
        lab.block_unsettled(1);
        lab.k.platform.touch_takes.set(Nanos::ZERO);
        let cost = balance.max_newidle_lb_cost.get().0;
        (cost, balance.last_decay.get() > Nanos(1))
    };
    let measured = "newidle_gate=measured_cost";
    let (took, anew) = after(0, measured);
    assert!(took > 0 && anew, "{took}");
    assert_eq!(after(took, measured), (took, false), "as much is no more");
    assert_eq!(after(took + 1, measured), (took + 1, false));
    assert!(after(0, "newidle_gate=migration_cost").0 > 0);
}

/// 4.9 step 5 and fair-placement I19: the dearest search of a CPU bounds its mean idle time; less than
/// sched_migration_cost counts as that.
#[test]
fn the_dearest_search_of_a_cpu() {
    let after = |longest: Option<u64>, each_touch| {
        let lab = about_to_idle(&Topology::flat(2), 900_000, 0, &[0], &["sched_migration_cost_ns=100000"]);
        let kept = &lab.k.rq(CpuId(1)).published.balance.max_idle_balance_cost;
        kept.set(longest.map(Nanos));
        lab.k.platform.touch_takes.set(Nanos(each_touch));
        lab.block_unsettled(1);
        lab.k.platform.touch_takes.set(Nanos::ZERO);
        kept.get().map(|cost| cost.0)
    };
    let dear = after(None, 200_000).expect("more than 0.1 ms");
    assert!(dear > 100_000);
    assert_eq!(after(None, 10), None, "less than migrating one");
    assert_eq!(after(Some(dear + 1), 200_000), Some(dear + 1), "less than once before");
    assert_eq!(after(Some(dear - 1), 200_000), Some(dear));
}

/// Caches of two CPUs.
fn two_levels() -> Topology {
    Topology::of(4, [level(4, LevelKind::Mc, 2), level(4, LevelKind::Package, 4)].into())
}

/// 4.9 step 4: the search ends where something was found, or where somebody has come meanwhile, be it only on
/// the way; else it goes on to the next level.
#[test]
fn when_a_search_ends() {
    let searched = |allowed: &[u16], comes: &dyn Fn(&Lab)| {
        let lab = about_to_idle(&two_levels(), 1_000_000, 0, allowed, &[]);
        lab.k.task(lab.running(1)).state.overwrite(crate::TaskState::Interruptible);
        let path = crate::schedule::schedule(lab.cpu(1), crate::schedule::Entry::Call);
        let mut somebody = Some(comes);
        let at_the_busy_cpu = |lock| lock == crate::platform::Lock::Rq(CpuId(0));
        lab.meanwhile(at_the_busy_cpu, path, |_| {
            if let Some(comes) = somebody.take() {
                comes(&lab);
            }
        });
        (attempts(&lab), lab.k.rq(CpuId(1)).published.balance.idle_since.get().is_some())
    };
    assert_eq!(searched(&[0], &|_| ()), (Vec::from([1, 1]), true), "in vain");
    assert_eq!(searched(&[0, 1], &|_| ()), (Vec::from([1, 0]), false));
    let arrives = |lab: &Lab| _ = lab.spawn_unsettled(Policy::Normal, 0, 1, cpus(&[1]));
    assert_eq!(searched(&[0], &arrives), (Vec::from([1, 0]), false));
    let is_handed_over = |lab: &Lab| {
        let p = lab.spawn_unsettled(Policy::Normal, 0, 2, cpus(&[1, 2]));
        lab.k.rq(CpuId(1)).wake_list.push(p);
    };
    assert_eq!(searched(&[0], &is_handed_over).0, [1, 0]);
}
