use super::*;
use crate::fair::pelt::set_averages;
use crate::testing::{Lab, level};
use crate::{CpuMask, Policy, Topology};
use Situation::{Busy, Idle, NewlyIdle};

/// CPUs with so many hogs.
fn hogs(nr_fair: u64, weight: u64) -> Room {
    Room {
        load: 1024 * nr_fair,
        load_now: 1024 * nr_fair,
        nr_fair,
        util: 1024 * nr_fair.min(weight),
        idle: weight.saturating_sub(nr_fair),
        weight,
        capacity: 1024 * weight,
        ..Room::default()
    }
}

fn comes_to(local: Room, busiest: Room, situation: Situation) -> (Reason, u64) {
    by_form(Form::Recent, local, busiest, situation)
}

fn by_form(form: Form, local: Room, busiest: Room, situation: Situation) -> (Reason, u64) {
    let average = (local.load + busiest.load) * 1024 / (local.capacity + busiest.capacity);
    let pass = Pass { form, situation, pct: 117, average };
    let rank = busiest.rank(117);
    (pass.decide(&local, &busiest, rank), pass.amount(&local, &busiest, rank, || 0))
}

/// 8.5: a task moves where that leaves the groups no more apart than they are.
#[test]
fn hogs_on_two_cpus() {
    assert_eq!(comes_to(hogs(1, 1), hogs(2, 1), Busy), (Reason::LbMove, 1024), "1024 + 1024 is 2 × 1024");
    assert_eq!(comes_to(hogs(0, 1), hogs(2, 1), Idle), (Reason::LbMove, 1024));
    assert_eq!(comes_to(hogs(6, 1), hogs(7, 1), Busy).0, Reason::LbWithinPct);
    assert_eq!(comes_to(hogs(2, 1), hogs(2, 1), Busy).0, Reason::LbLocalBusier);
}

/// A group with a free CPU helps one whose tasks have no room, whatever the averages say.
#[test]
fn room_here_and_none_there() {
    let light = Room { load: 300, load_now: 300, ..hogs(5, 4) };
    let heavy = Room { load: 3000, load_now: 3000, ..hogs(3, 4) };
    assert_eq!(comes_to(heavy, light, NewlyIdle).0, Reason::LbMove);
    assert_eq!(comes_to(heavy, light, Busy).0, Reason::LbLocalBusier);
}

/// 8.5, `group_room_newest`: only a CPU about to idle does so.
#[test]
fn before_4_15_an_idle_pass_went_by_the_averages() {
    let light = Room { load: 300, load_now: 300, ..hogs(5, 4) };
    let heavy = Room { load: 3000, load_now: 3000, ..hogs(3, 4) };
    let reason = |situation| by_form(Form::Old, heavy, light, situation).0;
    assert_eq!(
        [NewlyIdle, Idle, Busy].map(reason),
        [Reason::LbMove, Reason::LbLocalBusier, Reason::LbLocalBusier]
    );
}

/// The same: eight heavy tasks on four CPUs against five light ones. 4096 tasks' worth in excess are more
/// than the average allows (3456); scaled by what the group is worth (1024) they are less.
#[test]
fn before_4_15_tasks_in_excess_counted_in_full() {
    let heavy = Room { load: 8 * 4096, load_now: 8 * 4096, ..hogs(8, 4) };
    let amount = |form| by_form(form, hogs(5, 4), heavy, Busy).1;
    assert_eq!(amount(Form::Recent), 1024 * 4096 / 1024);
    assert_eq!(amount(Form::Old), 3456 * 4096 / 1024);
}

/// The same: a group beside one with room has too many tasks with two of them.
#[test]
fn before_4_15_two_tasks_were_too_many_beside_room() {
    let crowds = |form: Form, nr| form.crowds(&hogs(nr, 2), &hogs(1, 2));
    assert_eq!([2, 3].map(|nr| crowds(Form::Recent, nr)), [false, true]);
    assert_eq!([1, 2].map(|nr| crowds(Form::Old, nr)), [false, true]);
}

/// The same: where the newly idle CPU's group has more load, nothing is to move, and up to 4.14 that was
/// an amount.
#[test]
fn before_4_15_nothing_was_an_amount() {
    let found = |rule: &str| {
        let levels = [level(8, LevelKind::Mc, 4), level(8, LevelKind::Package, 8)].into();
        let lab = Lab::on(&Topology::of(8, levels), "6.1.y", &[rule]);
        for (cpu, load) in [(1, 1000), (2, 1000), (3, 1000), (4, 60), (4, 60), (5, 60), (6, 60), (7, 60)] {
            let p = lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(CpuId(cpu)));
            set_averages(lab.cpu(0), p, load, 1024);
        }
        let domain = &lab.k.domains(CpuId(0))[1];
        let search = Search { dest: CpuId(0), domain, situation: NewlyIdle, cpus: domain.span };
        search.find_busiest_group(lab.cpu(0)).map(|busiest| busiest.imbalance.amount)
    };
    assert_eq!(found("lb=group_room"), None);
    assert_eq!(found("lb=group_room_newest"), Some(0));
}

#[test]
fn an_idle_cpu_takes_nothing_where_as_many_idle() {
    assert_eq!(comes_to(hogs(1, 4), hogs(2, 4), Idle).0, Reason::LbIdleEven);
    assert_eq!(comes_to(hogs(0, 4), hogs(3, 4), Idle).0, Reason::LbMove);
}

/// 8.5: a group has room with a CPU free, or where 117 of 100 of its use are less than it is worth; it
/// has none with more tasks than CPUs of which that is more.
#[test]
fn who_has_room_and_who_has_none() {
    let four = |nr_fair, util| Room { nr_fair, util, ..hogs(4, 4) };
    let has_room = |room: Room| room.has_room(117);
    assert_eq!([four(3, 4096), four(4, 3500), four(4, 3501)].map(has_room), [true, true, false]);
    let rank = |nr, util, imbalanced| Room { imbalanced, ..four(nr, util) }.rank(117);
    let none = [rank(5, 3501, false), rank(5, 3500, false), rank(4, 4096, false)];
    assert_eq!(none, [Rank::Overloaded, Rank::Other, Rank::Other]);
    assert_eq!([rank(5, 3501, true), rank(4, 4096, true)], [Rank::Overloaded, Rank::Imbalanced]);
    let just = Room { nr_fair: 2, weight: 1, util: 100, capacity: 117, ..Room::default() };
    assert_eq!((just.has_room(117), just.rank(117)), (false, Rank::Other), "exactly as much");
}

/// deadline-groups C9, up to 5.4: of equally crowded groups one with more load goes first only if its CPU
/// is less preferred, too; all of its load comes. The loads alone decide where packing is off, and in
/// busy passes.
#[test]
fn an_idle_cpu_that_is_preferred_takes_from_the_least_preferred() {
    let found = |rule: &str, dest: u16, situation| {
        let topology = Topology::flat(4).with_priorities([60, 50, 35, 35].into());
        let lab = Lab::on(&topology, "5.4", &[rule]);
        for (cpu, load) in [(1, 500), (2, 900), (3, 1000)] {
            let p = lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(CpuId(cpu)));
            set_averages(lab.cpu(0), p, load, 1024);
        }
        lab.forget();
        let domain = &lab.k.domains(CpuId(dest))[0];
        let search = Search { dest: CpuId(dest), domain, situation, cpus: domain.span };
        let busiest = search.find_busiest_group(lab.cpu(0));
        let found = busiest.map(|b| (b.group.span.first().map(|cpu| cpu.0), b.imbalance.amount));
        (found, lab.count(Reason::LbAsymPacking) > 0)
    };
    let packs = "asym_packing=by_priority";
    let least = (Some((Some(2), 900)), true);
    assert_eq!([Idle, NewlyIdle].map(|situation| found(packs, 0, situation)), [least; 2]);
    assert!(!found(packs, 0, Busy).1 && !found("asym_packing=off", 0, Idle).1);
    assert_eq!(found(packs, 2, Idle), (None, false), "1 is preferred, 3 is no less");
}

/// CPUs of such load each, of which so many idle.
fn loaded(load: u64, idle: u64) -> Room {
    Room { load, load_now: load, idle, ..hogs(1, 1) }
}

fn decides(situation: Situation, average: u64, rank: Rank, [local, busiest]: [Room; 2]) -> Reason {
    Pass { form: Form::Recent, situation, pct: 117, average }.decide(&local, &busiest, rank)
}

/// 8.5: who has as much as the busiest or as the domain on average takes nothing, unless that is
/// imbalanced.
#[test]
fn who_takes_nothing() {
    let other = |average, here| decides(Busy, average, Rank::Other, [loaded(here, 0), loaded(2000, 0)]);
    assert_eq!([other(1000, 999), other(1000, 1000)], [Reason::LbMove, Reason::LbLocalBusier]);
    assert_eq!(other(9000, 2000), Reason::LbLocalBusier, "as much as the busiest");
    let rank = |rank| decides(Busy, 1000, rank, [loaded(3000, 0), loaded(2000, 0)]);
    assert_eq!([Rank::Imbalanced, Rank::Other].map(rank), [Reason::LbImbalanced, Reason::LbLocalBusier]);
}

/// 8.5: an idle pass asks how many idle, the others by how much the loads differ.
#[test]
fn idle_passes_count_idle_cpus_and_others_compare_loads() {
    let idle = |rank, idle| decides(Idle, 1500, rank, [loaded(1000, idle), loaded(1100, 0)]);
    assert_eq!([idle(Rank::Other, 1), idle(Rank::Other, 2)], [Reason::LbIdleEven, Reason::LbMove]);
    assert_eq!(idle(Rank::Overloaded, 1), Reason::LbMove, "it has too many tasks");
    for situation in [Busy, NewlyIdle] {
        let loads = |there| decides(situation, 1500, Rank::Other, [loaded(1000, 9), loaded(there, 0)]);
        assert_eq!([1170, 1171].map(loads), [Reason::LbWithinPct, Reason::LbMove]);
    }
}

/// 8.5, small: an empty local group weighs what the averages of the CPU say; half as far apart is enough
/// if the tasks there are heavier. An imbalanced group's tasks weigh no more than the average.
#[test]
fn what_is_less_than_a_task() {
    let amount = |average, rank, local: Room, empty| {
        let busiest = Room { load: 1000, load_now: 1024, ..hogs(1, 1) };
        let pass = Pass { form: Form::Recent, situation: Idle, pct: 117, average };
        pass.amount(&local, &busiest, rank, || empty)
    };
    let nobody = Room { load: 0, load_now: 0, nr_fair: 0, ..hogs(1, 1) };
    assert_eq!([1023, 1024].map(|empty| amount(1000, Rank::Other, nobody, empty)), [1024, 0]);
    assert_eq!(amount(999, Rank::Other, nobody, 1023), 1024, "one above the average is less than a task");
    assert_eq!(amount(999, Rank::Other, nobody, 1024), 1);
    let one = |load_now| Room { load: 0, load_now, ..hogs(1, 1) };
    assert_eq!([one(1023), one(1024)].map(|local| amount(1000, Rank::Other, local, 0)), [1024, 0]);
    assert_eq!(amount(600, Rank::Imbalanced, nobody, 9000), 600, "1000 + 614 against 1228");
    let as_average = Room { load: 400, load_now: 2000, ..hogs(1, 1) };
    assert_eq!(amount(400, Rank::Other, as_average, 0), 0, "it has the average");
}

/// 8.5: what tasks are in excess counts only where both groups have no room.
#[test]
fn excess_counts_where_nobody_has_room() {
    let amount = |local: Room| {
        let busiest = Room { load: 8 * 4096, load_now: 8 * 4096, ..hogs(8, 4) };
        let pass = Pass { form: Form::Recent, situation: Busy, pct: 117, average: 4736 };
        pass.amount(&local, &busiest, Rank::Overloaded, || 0)
    };
    assert_eq!([amount(hogs(5, 4)), amount(hogs(4, 4))], [1024 * 4, 3456 * 4]);
}
/// What a CPU has: loads of its tasks, and how much each uses.
type Has<'a> = (u16, &'a [u64], u64);

/// The group from which something comes to CPU 0, by its first CPU, and how often each of these reasons was
/// given.
fn busiest_of(
    topology: &Topology,
    settings: &[&str],
    situation: Situation,
    has: &[Has<'_>],
    reasons: [Reason; 2],
) -> (Option<u16>, [u64; 2]) {
    let lab = Lab::on(topology, "5.4", settings);
    for (cpu, loads, util) in has {
        for load in *loads {
            let p = lab.spawn_allowed(Policy::Normal, *cpu, CpuMask::single(CpuId(*cpu)));
            set_averages(lab.cpu(0), p, *load, *util);
        }
    }
    lab.forget();
    let domain = lab.k.domains(CpuId(0)).last().expect("a domain");
    let search = Search { dest: CpuId(0), domain, situation, cpus: domain.span };
    let found = search.find_busiest_group(lab.cpu(0));
    let group = found.and_then(|busiest| busiest.group.span.first()).map(|cpu| cpu.0);
    (group, reasons.map(|reason| lab.count(reason)))
}

/// 8.5: where tasks are rather in different groups, one with two tasks more than the local one, which has
/// room, is taken for overloaded: then it does not matter how many CPUs idle.
#[test]
fn too_many_tasks_beside_room() {
    let cores = Topology::of(4, [level(4, LevelKind::Smt, 2), level(4, LevelKind::Mc, 4)].into());
    let reasons = [Reason::LbMove, Reason::LbIdleEven];
    let decided =
        |topology, has: &[Has<'_>]| busiest_of(topology, &["smt_balance=off"], Idle, has, reasons).1;
    let (moves, stays) = ([1, 0], [0, 1]);
    let three: Has<'_> = (2, &[900, 900, 900], 100);
    assert_eq!(decided(&cores, &[(1, &[50], 100), three]), moves, "3 and 1");
    assert_eq!(decided(&cores, &[(1, &[50], 100), (2, &[900, 900], 100)]), stays, "2 and 1");
    let full: [Has<'_>; 2] = [(0, &[50], 1024), (1, &[50], 1024)];
    let four: Has<'_> = (2, &[900, 900, 900, 900], 100);
    assert_eq!(decided(&cores, &[full[0], full[1], four]), stays, "no room here");
    assert_eq!(decided(&Topology::flat(4), &[(2, &[900, 900], 100)]), stays, "no siblings");
}

/// 8.5: the higher type goes first, then more load for what the CPUs are worth, then the first one; a group
/// without tasks is none, whatever sleeps there.
#[test]
fn which_group_goes_first() {
    let flat = Topology::flat(3);
    let first = |has: &[Has<'_>]| busiest_of(&flat, &[], Busy, has, [Reason::LbNone, Reason::LbMove]);
    let overloaded: &[u64] = &[200, 200, 200];
    assert_eq!(first(&[(1, overloaded, 1024), (2, &[3000], 1024)]).0, Some(1), "it has no room");
    assert_eq!(first(&[(1, &[3000], 1024), (2, overloaded, 1024)]).0, Some(2));
    assert_eq!(first(&[(1, &[900], 1024), (2, &[900], 1024)]).0, Some(1), "of equals the first");
    assert_eq!(first(&[(1, &[900], 1024), (2, &[901], 1024)]).0, Some(2));
    assert_eq!(first(&[]), (None, [1, 0]));
}

/// 8.5, deadline-groups C9: of groups that sleepers have left load in, none goes first; nor does one with
/// more load that is preferred more, or one whose tasks weigh nothing.
#[test]
fn who_is_drained_up_to_5_4() {
    let topology = Topology::flat(4).with_priorities([60, 50, 35, 35].into());
    let found = |has: &[Has<'_>], asleep: &[u16]| {
        let lab = Lab::on(&topology, "5.4", &["asym_packing=by_priority", "balance_load=all"]);
        for (cpu, loads, util) in has {
            for load in *loads {
                let p = lab.spawn_allowed(Policy::Normal, *cpu, CpuMask::single(CpuId(*cpu)));
                set_averages(lab.cpu(0), p, *load, *util);
            }
        }
        asleep.iter().for_each(|cpu| _ = lab.block(*cpu));
        let domain = &lab.k.domains(CpuId(0))[0];
        let search = Search { dest: CpuId(0), domain, situation: Idle, cpus: domain.span };
        search.find_busiest_group(lab.cpu(0)).and_then(|busiest| busiest.group.span.first()).map(|cpu| cpu.0)
    };
    assert_eq!(found(&[(2, &[900], 900), (3, &[500], 500)], &[]), Some(2));
    assert_eq!(found(&[(2, &[900], 900), (3, &[500], 500)], &[2]), Some(3), "who sleeps is not moved");
    assert_eq!(found(&[(1, &[900], 900), (2, &[500], 500)], &[]), Some(1), "less load");
    assert_eq!(found(&[(2, &[0], 500)], &[]), None, "nothing to move");
}

/// 8.5: the loads alone decide where packing is off; an overloaded group comes to a CPU that is preferred
/// less by the loads, too.
#[test]
fn where_loads_decide_up_to_5_4() {
    let found = |rule: &str, dest: u16, has: &[Has<'_>]| {
        let lab = Lab::on(&Topology::flat(4).with_priorities([60, 50, 35, 35].into()), "5.4", &[rule]);
        for (cpu, loads, util) in has {
            for load in *loads {
                let p = lab.spawn_allowed(Policy::Normal, *cpu, CpuMask::single(CpuId(*cpu)));
                set_averages(lab.cpu(0), p, *load, *util);
            }
        }
        lab.forget();
        let domain = &lab.k.domains(CpuId(dest))[0];
        let search = Search { dest: CpuId(dest), domain, situation: Idle, cpus: domain.span };
        let group = search.find_busiest_group(lab.cpu(0)).and_then(|busiest| busiest.group.span.first());
        (group.map(|cpu| cpu.0), lab.count(Reason::LbAsymPacking))
    };
    let two: &[Has<'_>] = &[(1, &[500, 500], 1024), (2, &[900, 900], 1024)];
    assert_eq!(found("asym_packing=off", 0, two), (Some(2), 0));
    let overloaded: Has<'_> = (1, &[500, 500, 500], 1024);
    assert_eq!(found("asym_packing=by_priority", 2, &[overloaded]), (Some(1), 0));
    assert_eq!(found("asym_packing=by_priority", 0, &[overloaded]), (Some(1), 1));
}

/// 4.5, 8.5 and fair-placement I16: who idles, and where somebody waits; a pass over all CPUs that finds no
/// queue with two tasks says that nobody does.
#[test]
fn what_a_cpu_shows() {
    let waits = |tasks: usize| {
        let lab = Lab::on(&Topology::flat(2), "5.4", &[]);
        (0..tasks).for_each(|_| _ = lab.spawn_allowed(Policy::Normal, 1, CpuMask::single(CpuId(1))));
        let overload = &lab.k.root_domain(CpuId(0)).overload;
        overload.set(tasks < 2);
        let domain = &lab.k.domains(CpuId(0))[0];
        let search = Search { dest: CpuId(0), domain, situation: Idle, cpus: domain.span };
        search.find_busiest_group(lab.cpu(0));
        let room = Room::measure(lab.cpu(0), &search, domain.other_groups().next().expect("one"), false);
        (overload.get(), room.idle)
    };
    assert_eq!([0, 1, 2].map(waits), [(false, 1), (false, 0), (true, 0)]);
}

/// 8.5: without room here the averages decide; and who has more than the average, or the busiest less, gets
/// a small amount at most.
#[test]
fn averages_on_both_sides() {
    let light = Room { load: 300, load_now: 300, ..hogs(5, 4) };
    let full = Room { load: 3000, load_now: 3000, ..hogs(4, 4) };
    assert_eq!(comes_to(full, light, NewlyIdle).0, Reason::LbLocalBusier);
    let amount = |average, here| {
        let local = Room { load: here, load_now: here, ..hogs(1, 1) };
        let busiest = Room { load: 1000, load_now: 1024, ..hogs(1, 1) };
        Pass { form: Form::Recent, situation: Idle, pct: 117, average }.amount(
            &local,
            &busiest,
            Rank::Other,
            || 0,
        )
    };
    assert_eq!(amount(1200, 100), 1024, "there is less than the average: 1000 + 1024 against 100 + 1024");
    assert_eq!(amount(400, 2000), 0, "here is more");
}

/// 8.5: tasks in excess count for an overloaded group, and only if there are any.
#[test]
fn excess_of_an_overloaded_group() {
    let amount = |rank, nr| {
        let busiest = Room { load: 8 * 4096, load_now: 8 * 4096, ..hogs(nr, 4) };
        let pass = Pass { form: Form::Recent, situation: Busy, pct: 117, average: 4736 };
        pass.amount(&hogs(5, 4), &busiest, rank, || 0)
    };
    assert_eq!([amount(Rank::Overloaded, 8), amount(Rank::Other, 8)], [1024 * 4, 3456 * 4]);
    assert_eq!(amount(Rank::Overloaded, 4), 3456 * 4, "as many tasks as CPUs: none is in excess");
}
