use super::*;
use crate::fair::pelt::set_averages;
use crate::testing::{Lab, level};
use crate::{LevelKind, Policy, Topology, TopologyLevel};

/// 2.8: set at periodic balancing of the cache's own level, and nowhere else.
#[test]
fn the_level_of_the_cache_says_how_far_wakeups_look() {
    let spans = |sets: &[&[u16]]| -> alloc::vec::Vec<CpuMask> {
        sets.iter().map(|set| set.iter().map(|cpu| CpuId(*cpu)).collect()).collect()
    };
    let caches = TopologyLevel { kind: LevelKind::Mc, spans: spans(&[&[0, 1], &[2, 3]]) };
    let all = TopologyLevel { kind: LevelKind::Package, spans: spans(&[&[0, 1, 2, 3]]) };
    let lab = Lab::on(&Topology::of(4, [caches, all].into()), "6.1.y", &[]);
    let set = |level: usize, situation| {
        let me = lab.cpu(0);
        let scan = &shared_cache(me, CpuId(0)).nr_idle_scan;
        scan.set(99);
        let domain = &lab.k.domains(CpuId(0))[level];
        Search { dest: CpuId(0), domain, situation, cpus: domain.span }.find_busiest_group(me);
        scan.get() != 99
    };
    assert!(set(0, Situation::Idle) && set(0, Situation::Busy));
    assert!(!set(0, Situation::NewlyIdle), "not by a CPU about to idle");
    assert!(!set(1, Situation::Idle), "not by the level above");
}

#[test]
fn e37_full_caches_are_searched_less() {
    let rows = [(0, 8), (2048, 7), (4096, 5), (5600, 2), (6900, 0), (7100, 0)];
    for (util, cpus) in rows {
        assert_eq!(nr_idle_scan(util, 8, 117), cpus, "utilisation {util}");
    }
}

/// The table of 2.8.
#[test]
fn none_is_searched_at_85_percent() {
    let at = |each: u64, size: u64| nr_idle_scan(each * size, size, 117);
    let each = [0, 256, 512, 640, 768, 832, 870, 875, 876];
    assert_eq!(each.map(|x| at(x, 16)), [16, 14, 10, 7, 3, 1, 0, 0, 0]);
    assert_eq!(each.map(|x| at(x, 4)), [4, 3, 2, 1, 0, 0, 0, 0, 0]);
}

/// A pass for CPU 0 over one of its domains, the lowest first.
fn pass(lab: &Lab, level: usize, situation: Situation) -> Search<'_> {
    let domain = &lab.k.domains(CpuId(0))[level];
    Search { dest: CpuId(0), domain, situation, cpus: domain.span }
}

/// A hog bound to a CPU, with these averages.
fn hog(lab: &Lab, cpu: u16, load: u64, util: u64) {
    let p = lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(CpuId(cpu)));
    set_averages(lab.cpu(0), p, load, util);
}

/// The figures of the group of a CPU in such a pass.
fn figures(lab: &Lab, search: &Search<'_>, cpu: u16) -> Figures {
    let view = View::new(lab.cpu(0), search, 117);
    lab.cpu(0).scan(search.domain.cpus_by_group());
    let mut groups = search.domain.other_groups();
    let group = groups.find(|group| group.span.contains(CpuId(cpu))).expect("a group");
    let mut considered = Counted::default();
    view.other(group, view.counted(group, &mut considered))
}

/// What real-time tasks leave of a CPU, as it was refreshed last.
fn leave(lab: &Lab, cpu: u16, of_1024: u64) {
    lab.k.rq(CpuId(cpu)).published.pelt.capacity.left.set(of_1024);
    lab.k.fair_root.reduced.borrow_mut().insert(CpuId(cpu));
}

/// 4.5, misfit load: for a CPU that idles, since 6.0, of a CPU with exactly one fair task and less than 1024
/// of 117 to give.
#[test]
fn whose_only_task_deserves_a_better_cpu() {
    let load = |rule: &str, situation, tasks: usize, left| {
        let lab = Lab::on(&Topology::flat(2), "6.1.y", &[rule]);
        (0..tasks).for_each(|_| hog(&lab, 1, 700, 700));
        leave(&lab, 1, left);
        figures(&lab, &pass(&lab, 0, situation), 1).misfit_load
    };
    let on = "misfit_reduced=on";
    assert!(load(on, Situation::Idle, 1, 51) > 0 && load(on, Situation::NewlyIdle, 1, 51) > 0);
    assert_eq!(load(on, Situation::Busy, 1, 51), 0);
    assert_eq!(load("misfit_reduced=off", Situation::Idle, 1, 51), 0);
    assert_eq!([load(on, Situation::Idle, 2, 51), load(on, Situation::Idle, 0, 51)], [0, 0]);
    assert_eq!(load(on, Situation::Idle, 1, 876), 0, "876 · 117 > 102400");
}

/// deadline-groups C1: where CPUs are not worth the same, whether the task fits takes the place of that, and
/// somebody who does not is a reason to look for work.
#[test]
fn misfits_of_unequal_cpus() {
    let seen = |util| {
        let lab = Lab::on(&Topology::flat(2).with_capacities([1024, 446].into()), "6.1.y", &[]);
        let p = lab.spawn_allowed(Policy::Normal, 1, CpuMask::single(CpuId(1)));
        lab.run(crate::affinity::set_cpus_allowed(lab.cpu(1), p, CpuMask::first_n(2)));
        set_averages(lab.cpu(0), p, 700, util);
        crate::fair::pelt::update_misfit(&lab.run(lab.cpu(1).lock(CpuId(1))), Some(p));
        leave(&lab, 1, 300);
        let load = figures(&lab, &pass(&lab, 0, Situation::Idle), 1).misfit_load;
        let overload = &lab.k.root_domain(CpuId(0)).overload;
        overload.set(util < 400);
        pass(&lab, 0, Situation::Idle).find_busiest_group(lab.cpu(0));
        (load > 0, overload.get())
    };
    assert_eq!([seen(100), seen(600)], [(false, false), (true, true)]);
}

/// 4.5, eevdf-class 4.5: threads of a core compete if there are two fair tasks there, for a CPU that idles,
/// since 6.6.
#[test]
fn when_threads_of_a_core_compete() {
    let compete = |rule: &str, situation, tasks: u16, size| {
        let kind = if size == 1 { LevelKind::Mc } else { LevelKind::Smt };
        let lowest = level(4, kind, 2);
        let all = level(4, LevelKind::Package, 4);
        let lab = Lab::on(&Topology::of(4, [lowest, all].into()), "6.6", &[rule]);
        (0..tasks).for_each(|n| hog(&lab, 2 + n, 700, 700));
        figures(&lab, &pass(&lab, 1, situation), 2).threads_compete
    };
    let on = "smt_balance=on";
    assert!(compete(on, Situation::Idle, 2, 2) && compete(on, Situation::NewlyIdle, 2, 2));
    assert!(!compete(on, Situation::Busy, 2, 2));
    assert!(!compete("smt_balance=off", Situation::Idle, 2, 2));
    assert!(!compete(on, Situation::Idle, 1, 2), "one task");
    assert!(!compete(on, Situation::Idle, 2, 1), "two cores");
}

/// eevdf-class 4.5: since 6.6 only a CPU that idles spreads tasks over siblings.
#[test]
fn since_when_busy_cpus_do_not_spread() {
    let reason = |rule: &str, situation| {
        let cores = level(4, LevelKind::Smt, 2);
        let all = level(4, LevelKind::Mc, 4);
        let lab = Lab::on(&Topology::of(4, [cores, all].into()), "6.1.y", &[rule]);
        (0..2).for_each(|n| hog(&lab, 2 + n, 700, 700));
        lab.forget();
        pass(&lab, 1, situation).find_busiest_group(lab.cpu(0));
        lab.count(Reason::LbSibling)
    };
    assert_eq!(reason("smt_balance=off", Situation::Busy), 1);
    assert_eq!([Situation::Busy, Situation::Idle].map(|s| reason("smt_balance=on", s)), [0, 1]);
}

/// 4.7 row 7, 8.7: as in the table of `decide`: loads of 3072, 3200 and 1024, and an average of 2432.
#[test]
fn a_lack_that_wraps() {
    let amount = |rule: &str| {
        let lab = Lab::on(&Topology::flat(3), "6.1.y", &[rule]);
        hog(&lab, 0, 3072, 1024);
        [1600, 1600].into_iter().for_each(|load| hog(&lab, 1, load, 512));
        hog(&lab, 2, 1024, 1024);
        pass(&lab, 0, Situation::Idle).find_busiest_group(lab.cpu(0)).map(|busiest| busiest.imbalance.amount)
    };
    assert_eq!([amount("lb_average=stays"), amount("lb_average=wraps")], [None, Some(3200 - 2432)]);
}

/// 4.5: the local group's worth is refreshed by each periodic pass, and by a newly idle one from its tick on.
#[test]
fn when_the_worth_of_the_own_group_is_refreshed() {
    let refreshed = |situation, due_in: i64| {
        let lab = Lab::on(&Topology::flat(2), "6.1.y", &[]);
        lab.advance(Nanos::from_millis(100));
        let search = pass(&lab, 0, situation);
        let own = search.domain.own_group();
        own.capacity.set(7);
        own.next_update.set(Nanos(100_000_000_u64.saturating_add_signed(due_in)));
        search.find_busiest_group(lab.cpu(0));
        own.capacity.get() != 7
    };
    assert_eq!([1, 0, -1].map(|due| refreshed(Situation::NewlyIdle, due)), [false, true, true]);
    assert!(refreshed(Situation::Idle, 1) && refreshed(Situation::Busy, 1));
}

/// 4.5: a pass over all CPUs says whether anybody waits, be it in the own group.
#[test]
fn a_pass_over_all_knows_whether_anybody_waits() {
    let waits = |cpu: u16, tasks: usize| {
        let lab = Lab::on(&Topology::flat(3), "6.1.y", &[]);
        (0..tasks).for_each(|_| hog(&lab, cpu, 100, 100));
        let overload = &lab.k.root_domain(CpuId(0)).overload;
        overload.set(tasks < 2);
        pass(&lab, 0, Situation::Idle).find_busiest_group(lab.cpu(0));
        overload.get()
    };
    assert_eq!([0, 1].map(|cpu| waits(cpu, 2)), [true; 2]);
    assert_eq!([0, 1].map(|cpu| waits(cpu, 1)), [false; 2]);
    // A task that deserves a better CPU does not wait.
    let lab = Lab::on(&Topology::flat(2), "6.1.y", &[]);
    hog(&lab, 1, 700, 700);
    leave(&lab, 1, 51);
    lab.k.root_domain(CpuId(0)).overload.set(true);
    pass(&lab, 0, Situation::Idle).find_busiest_group(lab.cpu(0));
    assert!(!lab.k.root_domain(CpuId(0)).overload.get());
}

/// 4.8: the largest number of tasks; of equals, the lowest CPU.
#[test]
fn the_busiest_queue_of_equals_is_the_lowest() {
    let caches = level(4, LevelKind::Mc, 2);
    let all = level(4, LevelKind::Package, 4);
    for (tasks, found) in [([2, 2], 2), ([2, 3], 3), ([3, 2], 2)] {
        let lab = Lab::on(&Topology::of(4, [caches.clone(), all.clone()].into()), "6.1.y", &[]);
        for (cpu, tasks) in [2, 3].into_iter().zip(tasks) {
            (0..tasks).for_each(|_| hog(&lab, cpu, 700, 700));
        }
        let search = pass(&lab, 1, Situation::Idle);
        let busiest = search.find_busiest_group(lab.cpu(0)).expect("the other cache");
        let imbalance = Imbalance { kind: Kind::Task, amount: 1 };
        assert_eq!(search.find_busiest_queue(lab.cpu(0), busiest.group, imbalance), Some(CpuId(found)));
    }
}

/// deadline-groups C9, the row of the busiest queue: in a packed domain a CPU keeps its only task if it is
/// preferred to the destination.
#[test]
fn a_preferred_cpu_keeps_its_only_task() {
    let preferred = [35, 35, 60, 60];
    let found = |kind, rule: &str, tasks: usize, priorities: [u16; 4]| {
        let caches = level(4, LevelKind::Mc, 2);
        let all = level(4, kind, 4);
        let topology = Topology::of(4, [caches, all].into()).with_priorities(priorities.into());
        let lab = Lab::on(&topology, "6.18.y", &[rule]);
        (0..tasks).for_each(|_| hog(&lab, 2, 700, 700));
        let search = pass(&lab, 1, Situation::Idle);
        search.find_busiest_group(lab.cpu(0));
        let group = search.domain.other_groups().next().expect("the other cache");
        let imbalance = Imbalance { kind: Kind::Task, amount: 1 };
        search.find_busiest_queue(lab.cpu(0), group, imbalance).is_some()
    };
    let packs = "asym_packing=idle_cores";
    let of_all = |tasks| found(LevelKind::Package, packs, tasks, preferred);
    assert!(!of_all(1) && of_all(2));
    assert!(found(LevelKind::Package, packs, 1, [60, 60, 35, 35]), "the destination is preferred");
    assert!(found(LevelKind::Package, "asym_packing=off", 1, preferred));
    assert!(found(LevelKind::Numa { distance: 20 }, packs, 1, preferred), "nodes are not packed");
}

/// 4.8, 8.5: a CPU whose only task is heavier than what is to move is passed over; up to 5.4 real-time tasks
/// beside it were company.
#[test]
fn what_an_only_task_is() {
    let found = |rule: &str, rt: bool| {
        let lab = Lab::on(&Topology::flat(2), "6.1.y", &[rule]);
        hog(&lab, 1, 700, 700);
        if rt {
            lab.spawn_allowed(crate::testing::fifo(50), 1, CpuMask::single(CpuId(1)));
        }
        let search = pass(&lab, 0, Situation::Idle);
        lab.cpu(0).scan(search.domain.cpus_by_group());
        lab.k.fair_root.sums.now(lab.cpu(0));
        let group = search.domain.other_groups().next().expect("the other CPU");
        search.find_busiest_queue(lab.cpu(0), group, Imbalance { kind: Kind::Load, amount: 10 }).is_some()
    };
    assert_eq!([found("lb=group_type", false), found("lb=group_type", true)], [false, false]);
    assert_eq!([found("lb=group_room", false), found("lb=group_room", true)], [false, true]);
}
