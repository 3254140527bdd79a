//! deadline-groups C4: tasks are placed by energy.

use super::{allow, modern};
use crate::frequency::{FrequencyDomain, PerfLevel};
use crate::testing::{Lab, cpus, level};
use crate::uclamp::{ClampRequest, sched_setattr_clamps};
use crate::wakeup::WakeFlags;
use crate::{CpuId, LevelKind, Nanos, Policy, Reason, TaskId, Topology};
use alloc::vec::Vec;

const MS: Nanos = Nanos::from_millis(1);

/// The machine of the example: two little CPUs, then two big ones; capacities stand for frequencies.
fn machine() -> Topology {
    let domain = |of: [u16; 2], levels: [(u32, u32); 3]| {
        let level = |(khz, mw)| PerfLevel { khz, milliwatts: Some(mw) };
        FrequencyDomain { cpus: cpus(&of), levels: levels.map(level).into() }
    };
    let frequencies = [
        domain([0, 1], [(160, 60), (240, 150), (446, 300)]),
        domain([2, 3], [(341, 180), (682, 700), (1024, 1600)]),
    ];
    let topology = Topology::flat(4).with_capacities([446, 446, 1024, 1024].into());
    Topology { frequencies: frequencies.into(), ..topology }
}

fn lab(settings: &[&str]) -> Lab {
    modern(&machine(), &[&["governor=schedutil"], settings].concat())
}

/// A task that has used so much of a CPU, and sleeps there.
fn sleeper(lab: &Lab, cpu: u16, util: u64) -> TaskId {
    let p = lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
    lab.set_averages(p, 100, util);
    lab.block(cpu);
    lab.k.task(p).se.pelt.estimate.enqueued.set(util);
    p
}

/// The example: its CPUs are used 100, 80, 200 and 100. Where a task of such a size wakes that last ran on
/// `prev`, on an idle machine.
fn wakes(lab: &Lab, prev: u16, util: u64, clamp: Option<u16>) -> (u16, Reason) {
    for (cpu, used) in [100, 80, 200, 100].into_iter().enumerate() {
        sleeper(lab, cpu as u16, used);
    }
    let p = sleeper(lab, prev, util);
    allow(lab, p, cpus(&[0, 1, 2, 3]));
    lab.run(sched_setattr_clamps(lab.cpu(0), p, ClampRequest { min: clamp, max: None }));
    lab.forget();
    let flags = WakeFlags { sync: false, interrupt: true, exiting: false };
    let cpu = crate::fair::select_task_rq_wake(lab.cpu(0), p, flags).0;
    (cpu, lab.first_decision())
}

/// A task of 60 costs +82.5 on the little CPUs and +31.7 on the big ones, one of 200 +188.1 and +354.8. In
/// each domain the CPU with most to spare is asked, and the last one.
#[test]
fn the_example_of_c4() {
    let wakes = |prev, util| wakes(&lab(&[]), prev, util, None);
    assert_eq!(wakes(1, 60), (3, Reason::EnergyBest));
    assert_eq!(wakes(3, 60), (3, Reason::EnergyPrevious));
    assert_eq!(wakes(1, 200), (1, Reason::EnergyPrevious));
    assert_eq!(wakes(3, 200), (1, Reason::EnergyBest));
    assert_eq!(wakes(1, 0), (1, Reason::EnergyPrevious), "nothing is known of it");
}

/// Beside the last CPU, one of its domain is asked that has more to spare: a task of 100 on the big CPU that
/// is used 200 has both run at 682, on the other at 341. Of equals the first is asked.
#[test]
fn the_roomiest_of_a_domain_is_asked() {
    let wakes = |prev, util| wakes(&lab(&[]), prev, util, None);
    assert_eq!(wakes(2, 100), (3, Reason::EnergyBest));
    let equals = lab(&[]);
    let p = sleeper(&equals, 0, 60);
    allow(&equals, p, cpus(&[0, 1, 2, 3]));
    // The little ones are used so much that the big ones cost less.
    [100, 80].into_iter().enumerate().for_each(|(cpu, used)| _ = sleeper(&equals, cpu as u16, used));
    assert_eq!(crate::fair::select_task_rq_wake(equals.cpu(0), p, WakeFlags::default()).0, 2);
}

/// The lowest domain with all kinds of CPUs is asked, not the one of the waker's kind below it.
#[test]
fn cpus_of_one_kind_are_not_asked_alone() {
    let flat = machine();
    let kinds = Topology::of(4, [level(4, LevelKind::Mc, 2), level(4, LevelKind::Package, 4)].into());
    let kinds =
        Topology { frequencies: flat.frequencies, ..kinds.with_capacities([446, 446, 1024, 1024].into()) };
    let lab = modern(&kinds, &["governor=schedutil"]);
    assert_eq!(wakes(&lab, 1, 60, None), (3, Reason::EnergyBest));
}

/// A lower clamp counts as use where levels are chosen and CPUs are fitted.
#[test]
fn a_clamp_sends_a_task_where_it_is_served() {
    assert_eq!(wakes(&lab(&[]), 1, 10, Some(600)), (3, Reason::EnergyBest));
    assert_eq!(wakes(&lab(&[]), 1, 0, Some(600)), (3, Reason::EnergyBest), "although nothing is known of it");
}

/// Up to 5.19 a sixteenth of all that is taken has to be gained: of 82.5 + 67.5 + 158.4 that is 19.3, and
/// 50.8 are more. A task of 20 costs 10.6 on the big CPUs and 7.5 on the little ones: of 10.6 + 225.9 it is
/// 14.8.
#[test]
fn a_small_gain_was_no_reason() {
    let old = &["energy_aware=sixteenth", "uclamp=margin"];
    assert_eq!(wakes(&lab(old), 1, 60, None), (3, Reason::EnergyBest));
    let close = |settings: &[&str]| wakes(&lab(settings), 3, 20, None);
    assert_eq!(close(&[]), (1, Reason::EnergyBest));
    assert_eq!(close(old), (3, Reason::EnergyPrevious));
}

/// Without the rule, at fixed frequencies, or where the search for capacity is off, nobody asks.
#[test]
fn without_any_of_its_conditions_nobody_asks() {
    for setting in ["energy_aware=off", "governor=performance", "unequal_cpus=ignored"] {
        let (_, reason) = wakes(&lab(&[setting]), 1, 60, None);
        assert!(!matches!(reason, Reason::EnergyBest | Reason::EnergyPrevious), "{setting}: {reason:?}");
    }
}

/// Without an energy model, governor, averages or several kinds of CPUs nothing is placed by energy.
#[test]
fn placement_by_energy_needs_all_of_its_conditions() {
    assert!(lab(&[]).k.places_by_energy());
    for setting in
        ["energy_aware=off", "governor=performance", "load_tracking=weights", "unequal_cpus=ignored"]
    {
        assert!(!lab(&[setting]).k.places_by_energy(), "{setting}");
    }
    let without_model = Topology::flat(4).with_capacities([446, 446, 1024, 1024].into());
    assert!(!modern(&without_model, &["governor=schedutil"]).k.places_by_energy());
}

/// C1, C4: a CPU is overutilised as soon as a woken task is too much for it, or at a tick; a new task is not
/// known yet. Where nothing is placed by energy nobody notes that.
#[test]
fn a_woken_task_may_be_too_much_for_a_cpu() {
    let noted = |settings: &[&str], new: bool| {
        let lab = lab(settings);
        let p = sleeper(&lab, 0, 400);
        lab.k.root_domain(CpuId(0)).overutilised.set(false);
        if new {
            lab.spawn_unsettled(Policy::Normal, 0, 0, cpus(&[0]));
        } else {
            lab.wake_unsettled(0, p);
        }
        lab.k.root_domain(CpuId(0)).overutilised.get()
    };
    assert!(noted(&[], false));
    assert!(!noted(&[], true), "although what sleeps there uses 400");
    assert!(!noted(&["energy_aware=off"], false));
    let fits = lab(&[]);
    let p = sleeper(&fits, 0, 100);
    fits.wake_unsettled(0, p);
    assert!(!fits.k.root_domain(CpuId(0)).overutilised.get());
    let finds = |cpu| crate::fair::finds_what_it_uses(fits.cpu(0), sleeper(&fits, 2, 400), CpuId(cpu));
    assert_eq!([finds(0), finds(2)], [false, true]);
}

/// A CPU that has too little for its tasks ends all that, for all, until a balancing finds none.
#[test]
fn an_overutilised_cpu_ends_placement_by_energy() {
    let lab = lab(&[]);
    let hog = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.set_averages(hog, 1024, 400);
    lab.advance(MS * 4);
    lab.tick(0);
    assert!(lab.k.root_domain(CpuId(0)).overutilised.get(), "400 and a quarter are more than 446");
    let (_, reason) = wakes(&lab, 1, 60, None);
    assert!(!matches!(reason, Reason::EnergyBest | Reason::EnergyPrevious), "{reason:?}");
    lab.block(0);
    lab.set_averages(hog, 100, 0);
    let light = lab.spawn_allowed(Policy::Normal, 2, cpus(&[2]));
    lab.set_averages(light, 100, 50);
    for _ in 0..40 {
        lab.advance(MS * 4);
        lab.set_averages(light, 100, 50);
        lab.tick(2);
    }
    assert!(!lab.k.root_domain(CpuId(0)).overutilised.get(), "balancing has looked at all");
}

/// As long as each CPU has enough, balancing leaves two light tasks on one CPU beside an idle one.
#[test]
fn balancing_leaves_light_tasks_alone() {
    let places = |settings: &[&str]| {
        let lab = lab(settings);
        let light: Vec<TaskId> =
            (0..2).map(|_| lab.spawn_allowed(Policy::Normal, 2, cpus(&[2, 3]))).collect();
        for _ in 0..30 {
            for p in &light {
                lab.set_averages(*p, 300, 60);
            }
            lab.run_on(MS * 4);
        }
        lab.k.rqs().iter().map(|rq| rq.published.nr_running.get()).collect::<Vec<u32>>()
    };
    assert_eq!(places(&[]), [0, 0, 2, 0]);
    assert_eq!(places(&["energy_aware=off"]), [0, 0, 1, 1]);
}
