//! fair-placement 4, courses.

use super::{modern, two_sockets};
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuId, LevelKind, Nanos, Policy, Reason, Topology, TopologyLevel};

/// So many hogs that start one after the other on CPUs of one cache, for four seconds; how many moves.
fn moves(cpus: usize, hogs: usize, phase_us: u64, more: &[&str]) -> (u64, Lab) {
    let lab = modern(&Topology::flat(cpus), more);
    for n in 0..hogs {
        lab.spawn(Policy::Normal, (n % cpus) as u16);
        lab.advance(Nanos::from_micros(phase_us));
    }
    let before = lab.count(Reason::BalancedPeriodic);
    lab.run_on(Nanos::from_secs(4));
    (lab.count(Reason::BalancedPeriodic) - before, lab)
}

/// 4.11 and the last table of 6.3: how often hogs that do not divide evenly change places, in ten phases.
/// With six on four CPUs there are two patterns, of 42 and of 62 moves.
#[test]
fn hogs_take_turns() {
    for (cpus, hogs, least, most) in
        [(2, 3, 33, 45), (2, 5, 69, 69), (4, 5, 45, 52), (4, 6, 42, 64), (8, 11, 40, 46)]
    {
        for phase_us in [100, 300, 700, 900, 1100, 1300, 1900, 2300, 2900, 3700] {
            let (moves, _) = moves(cpus, hogs, phase_us, &[]);
            let as_modelled = (least..=most).contains(&moves);
            assert!(as_modelled, "{hogs} hogs on {cpus} CPUs, {phase_us} us apart: {moves}");
        }
    }
}

/// The same with the weights of the moment, which know nothing of the past.
#[test]
fn without_averages_hogs_move_more_often() {
    for (cpus, hogs, least) in [(2, 3, 69), (4, 5, 71)] {
        let (moves, _) = moves(cpus, hogs, 700, &["load_tracking=weights"]);
        assert!(moves >= least, "{hogs} hogs on {cpus} CPUs: {moves}");
    }
}

/// V7: nobody is moved while it runs in loads of fair tasks only.
#[test]
fn hogs_that_divide_evenly_stay() {
    for (cpus, hogs) in [(2, 4), (4, 4), (4, 8)] {
        let (moves, lab) = moves(cpus, hogs, 700, &[]);
        assert_eq!((moves, lab.count(Reason::BalancedActive)), (0, 0), "{hogs} hogs on {cpus} CPUs");
    }
}

/// 1.9, 4.9: a fair hog does not wait behind a real-time one for long.
#[test]
fn a_fair_task_behind_a_real_time_hog_is_taken_away() {
    let waits = |more: &[&str]| {
        let lab = modern(&Topology::flat(2), &[&["sched_rt_runtime_us=-1"], more].concat());
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        let p = lab.spawn(Policy::Normal, 0);
        lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
        // It has taken its CPU for long enough to be known for it.
        (0..250)
            .take_while(|_| {
                lab.run_on(Nanos::from_millis(4));
                lab.cpu_of(p) == 0
            })
            .count()
    };
    assert!(waits(&[]) < 125, "{}", waits(&[]));
    assert_eq!(waits(&["cpu_capacity=ignored", "misfit_reduced=off"]), 250);
}

/// 4.8, the list: who is picked goes to the head, so that balancing finds whoever has not run for longest.
#[test]
fn the_coldest_task_is_at_the_end_of_the_list() {
    let lab = modern(&Topology::flat(1), &[]);
    let tasks = [0, 0, 5].map(|nice| lab.spawn_unsettled(Policy::Normal, nice, 0, cpus(&[0])));
    lab.settle();
    lab.run_on(Nanos::from_millis(200));
    for _ in 0..50 {
        lab.run_on(Nanos::from_millis(4));
        let waits = tasks.into_iter().filter(|p| *p != lab.running(0));
        let coldest = waits.min_by_key(|p| lab.k.task(*p).stats.last_ran.get());
        let oldest = lab.run(lab.cpu(0).lock(CpuId(0))).fair.tasks.oldest();
        assert_eq!(oldest, coldest);
    }
    let slices = tasks.map(|p| lab.k.task(p).stats.nr_slices.get());
    assert!(slices.iter().all(|n| *n > 5), "{slices:?}");
}

/// 4.8: an idle puller leaves the last task; a build that can preempt takes one.
#[test]
fn a_newly_idle_cpu_takes_one_task() {
    let pulled = |more: &[&str]| {
        let lab = modern(&Topology::flat(2), more);
        let last = lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        for _ in 0..6 {
            lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        }
        lab.run_on(Nanos::from_millis(200));
        for p in lab.k.tasks.iter().filter(|p| p.0 > 2 && *p != last) {
            lab.k.task(p).cpus_allowed.overwrite(lab.k.online);
            lab.k.task(p).nr_cpus_allowed.overwrite(2);
        }
        lab.block(1);
        lab.queued_on()
    };
    assert_eq!(pulled(&[]), [5, 1]);
    assert_eq!(pulled(&["double_lock=trylock"]), [3, 3]);
}

/// 4.9: the gate.
#[test]
fn a_cpu_that_never_idles_for_long_does_not_look() {
    let lab = modern(&Topology::flat(2), &[]);
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    for _ in 0..3 {
        lab.spawn(Policy::Normal, 0);
    }
    let domain = &lab.k.domains(CpuId(1))[0];
    domain.balance.max_newidle_lb_cost.set(Nanos(1_000_001));
    lab.advance(Nanos::from_millis(10));
    lab.block(1);
    assert!(lab.idle(1) && lab.count(Reason::NiShortIdle) == 1, "mean idle time 1 ms");
}

/// 4.9: dice decide whether a domain is searched; half of the calls at first.
#[test]
fn a_search_by_dice() {
    let found = |dice: u64, more: &[&str]| {
        let lab = modern(&Topology::flat(2), more);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        for _ in 0..3 {
            lab.spawn(Policy::Normal, 0);
        }
        lab.run_on(Nanos::from_millis(8));
        lab.k.platform.dice.set(dice);
        lab.block(1);
        (lab.count(Reason::NiDice) == 0, lab.idle(1))
    };
    assert_eq!(found(513, &["NI_RANDOM"]), (true, false));
    assert_eq!(found(514, &["NI_RANDOM"]), (false, true));
    assert_eq!(found(514, &[]), (true, false));
}

/// 4.9 row 2: after more than cache_nice_tries + 2 failures to move a task the busy CPU is asked itself.
#[test]
fn the_fourth_failure_asks_the_busy_cpu() {
    let lab = modern(&Topology::flat(2), &["idle_tick=keep"]);
    let p = lab.spawn(Policy::Normal, 0);
    lab.hogs_of_load(&[0], 1024);
    let state = &lab.k.domains(CpuId(1))[0].balance;
    let (failed, asked) = (|| state.counts[0].failed.get(), || state.other_counts.active.get());
    // Only the one that may not leave waits whenever CPU 1 looks.
    for _ in 0..100 {
        let before = failed();
        lab.advance(Nanos::from_millis(1));
        if lab.running(0) == p {
            lab.tick(1);
        }
        assert_eq!(asked(), u64::from(failed() >= 4), "after {} failures", failed());
        if asked() > 0 {
            assert_eq!((before, lab.cpu_of(p)), (3, 1));
            return;
        }
    }
    panic!("{} failures", failed());
}

/// 4.1, 4.4: where all is well, a level is looked at half as often, and no less.
#[test]
fn the_longest_interval_is_twice_the_shortest() {
    for cpus in [2, 4] {
        let (_, lab) = moves(cpus, 2 * cpus, 700, &[]);
        let interval = lab.k.domains(CpuId(0))[0].balance.balance_interval_ms.get();
        assert_eq!(interval, 2 * cpus as u64);
    }
}

/// 4.4 step 6d: where nobody of the busiest CPU may come, the next busiest is asked in the same pass.
#[test]
fn where_all_are_bound_the_next_busiest_is_asked() {
    let lab = modern(&Topology::flat(3), &["idle_tick=keep"]);
    for _ in 0..4 {
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    }
    let movable = [(); 2].map(|()| lab.spawn_allowed(Policy::Normal, 2, cpus(&[2])));
    lab.run_on(Nanos::from_millis(200));
    assert_eq!(lab.queued_on(), [0, 4, 2]);
    for p in movable {
        lab.k.task(p).cpus_allowed.overwrite(lab.k.online);
        lab.k.task(p).nr_cpus_allowed.overwrite(3);
    }
    // By now it looks twice a second at most.
    let passes = || lab.k.domains(CpuId(0))[0].balance.counts[0].attempts.get();
    let (before, redone) = (passes(), lab.count(Reason::LbAllPinned));
    for _ in 0..400 {
        lab.advance(Nanos::from_millis(4));
        lab.tick(0);
        if passes() > before {
            break;
        }
    }
    assert_eq!((lab.queued_on(), lab.count(Reason::LbAllPinned) - redone), ([1, 4, 1].into(), 1));
}

/// 4.4: bound tasks make the level above look.
#[test]
fn bound_tasks_are_for_the_level_above() {
    let topology = {
        let level =
            |kind, spans: &[&[u16]]| TopologyLevel { kind, spans: spans.iter().map(|s| cpus(s)).collect() };
        Topology::of(
            4,
            [level(LevelKind::Mc, &[&[0, 1], &[2, 3]]), level(LevelKind::Package, &[&[0, 1, 2, 3]])].into(),
        )
    };
    let lab = modern(&topology, &[]);
    for _ in 0..4 {
        lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    }
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    let flagged = || {
        lab.run_on(Nanos::from_millis(4));
        lab.k.domains(CpuId(1))[1].own_group().imbalanced.get()
    };
    assert!((0..100).any(|_| flagged()));
    assert_eq!(lab.queued_on()[..2], [4, 1], "nobody may move");
}

/// 4.4: a CPU that may not be the answer is, next to the one that pulls.
#[test]
fn a_pull_goes_on_for_a_cpu_beside() {
    let mut topology = two_sockets();
    topology.levels.remove(0);
    let lab = modern(&topology, &[]);
    // Node 1 is overloaded with tasks that may go to CPU 3 only; CPU 0 balances for node 0.
    for cpu in 8..16 {
        for _ in 0..2 {
            lab.spawn_allowed(Policy::Normal, cpu, cpus(&[3, cpu]));
        }
    }
    for cpu in 0..8 {
        lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
    }
    lab.run_on(Nanos::from_secs(4));
    assert!(lab.count(Reason::LbRedirected) > 0);
    assert!(lab.queued_on()[3] > 1, "{:?}", lab.queued_on());
}
