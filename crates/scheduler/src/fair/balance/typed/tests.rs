//! fair-placement 4.4, 4.8, 4.10: which tasks a pull takes, and what its end changes.

use super::decide::{Imbalance, Kind};
use super::detach::{Pull, attach_tasks, detach_tasks};
use super::load_balance::{Outcome, load_balance};
use super::statistics::Search;
use crate::domains::SchedDomain;
use crate::fair::balance::Situation;
use crate::testing::{Lab, cpus, level};
use crate::{CpuId, LevelKind, Nanos, Policy, TaskId, Topology};
use alloc::vec;
use alloc::vec::Vec;

fn tasks(amount: u64) -> Imbalance {
    Imbalance { kind: Kind::Task, amount }
}

/// CPU 0 of as many as there are gives, CPU 1 takes.
fn lab(cpus: usize, settings: &[&str]) -> Lab {
    Lab::on(&Topology::flat(cpus), "6.1.y", settings)
}

fn domain_of(lab: &Lab, cpu: u16) -> &SchedDomain {
    lab.k.domains(CpuId(cpu)).last().expect("a domain")
}

/// Tasks that lie on CPU 0 and may run on these CPUs; the first one runs. None has run for long enough to be
/// cache-hot.
fn crowd(lab: &Lab, allowed: &[&[u16]]) -> Vec<TaskId> {
    let crowd: Vec<TaskId> = allowed
        .iter()
        .map(|allowed| {
            let p = lab.spawn_unsettled(Policy::Normal, 0, 0, cpus(allowed));
            lab.settle();
            p
        })
        .collect();
    assert_eq!(lab.running(0), crowd[0]);
    lab.advance(Nanos::from_millis(1));
    crowd
}

/// One pull from CPU 0 to `dest`; how many moved, and what it knows then.
fn pull(lab: &Lab, dest: u16, situation: Situation, imbalance: Imbalance) -> Pull {
    let domain = domain_of(lab, dest);
    let search = Search { dest: CpuId(dest), domain, situation, cpus: domain.span };
    let mut pull = Pull::default();
    pull.begin(lab.cpu(dest), CpuId(0), imbalance);
    let detached = lab.run(detach_tasks(lab.cpu(dest), &search, &mut pull));
    lab.run(attach_tasks(lab.cpu(dest), search.dest, detached));
    pull
}

const ANY: &[u16] = &[0, 1];
const BOUND: &[u16] = &[0];

/// An idle CPU leaves the last task where it is and does not even look at it; a busy one looks at all.
#[test]
fn an_idle_cpu_leaves_the_last_task() {
    let looked_at_running = |situation| {
        let lab = lab(2, &[]);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        let crowd = crowd(&lab, &[ANY, ANY, ANY]);
        // Who has been picked last is looked at last.
        while lab.running(0) == crowd[0] {
            lab.advance(Nanos::from_millis(4));
            lab.tick(0);
        }
        let running = lab.running(0);
        crowd.iter().for_each(|p| lab.k.task(*p).stats.exec_start.set(Nanos::ZERO));
        assert_eq!(pull(&lab, 1, situation, tasks(9)).moved, 2);
        lab.k.task(running).stats.balanced.failed_running.get()
    };
    assert_eq!([Situation::Idle, Situation::Busy].map(looked_at_running), [0, 1]);
}

/// Nothing is to move, or nobody waits.
#[test]
fn nobody_moves_for_nothing() {
    let moved = |crowd_of: usize, amount| {
        let lab = lab(2, &[]);
        crowd(&lab, &[ANY].repeat(crowd_of));
        let pull = pull(&lab, 1, Situation::Busy, tasks(amount));
        (pull.moved, pull.all_pinned)
    };
    assert_eq!(moved(3, 0), (0, true), "not even looked at");
    assert_eq!(moved(3, 1), (1, false));
    assert_eq!(moved(1, 1), (0, false), "one task is no matter of affinities");
    let bound = lab(2, &[]);
    crowd(&bound, &[BOUND]);
    assert!(!pull(&bound, 1, Situation::Busy, tasks(1)).all_pinned, "nor is one that is bound");
}

/// A build that can preempt takes one task, but only where its CPU is newly idle.
#[test]
fn only_newly_idle_cpus_stop_after_one_task() {
    let moved = |situation| {
        let lab = lab(2, &["double_lock=fair"]);
        crowd(&lab, &[ANY; 5]);
        pull(&lab, 1, situation, tasks(3)).moved
    };
    assert_eq!([Situation::NewlyIdle, Situation::Idle, Situation::Busy].map(moved), [1, 3, 3]);
}

/// As many are looked at as sched_nr_migrate says, in the order in which they were picked or queued: first
/// the one that runs.
#[test]
fn so_many_are_looked_at() {
    let moved = |setting: &str| {
        let lab = lab(2, &[setting]);
        crowd(&lab, &[ANY, BOUND, BOUND, ANY, ANY]);
        let pull = pull(&lab, 1, Situation::Busy, tasks(9));
        (pull.moved, pull.some_pinned)
    };
    assert_eq!(moved("sched_nr_migrate=3"), (0, true));
    assert_eq!(moved("sched_nr_migrate=4"), (1, true));
    assert_eq!(moved("sched_nr_migrate=5"), (2, true));
}

/// After 32 of them the lock is given back for a moment: the thirty-third is not looked at.
#[test]
fn the_lock_is_given_back_after_32() {
    let looked_at = |tasks_there: usize| {
        let lab = lab(2, &["sched_nr_migrate=64"]);
        let crowd = crowd(&lab, &[BOUND].repeat(tasks_there));
        let pull = pull(&lab, 1, Situation::Busy, tasks(1));
        let failed: u32 = crowd.iter().map(|p| lab.k.task(*p).stats.balanced.failed_affine.get()).sum();
        (failed, pull.needs_break)
    };
    assert_eq!([32, 33, 40].map(looked_at), [(32, false), (32, true), (32, true)]);
}

/// A thread of the kernel that is bound to a CPU is no reason for another pass; one that may move does.
#[test]
fn bound_threads_of_the_kernel_do_not_count() {
    let seen = |allowed: &[u16]| {
        let lab = lab(2, &[]);
        crowd(&lab, &[ANY]);
        lab.spawn_kthread(0, cpus(allowed));
        lab.advance(Nanos::from_millis(1));
        let pull = pull(&lab, 1, Situation::Busy, tasks(1));
        (pull.moved, pull.some_pinned)
    };
    assert_eq!([seen(BOUND), seen(ANY)], [(0, false), (1, false)]);
}

/// Who may not come here may be good for a CPU beside; a newly idle CPU looks for itself alone.
#[test]
fn a_cpu_beside_may_be_the_answer() {
    let other = |situation| {
        let levels = [level(4, LevelKind::Mc, 2), level(4, LevelKind::Package, 4)];
        let lab = Lab::on(&Topology::of(4, levels.into()), "6.1.y", &[]);
        crowd(&lab, &[&[0, 1], &[0, 3]]);
        let pull = pull(&lab, 2, situation, tasks(1));
        (pull.moved, pull.other_dest)
    };
    assert_eq!(other(Situation::Idle), (0, Some(CpuId(3))));
    assert_eq!(other(Situation::Busy), (0, Some(CpuId(3))));
    assert_eq!(other(Situation::NewlyIdle), (0, None));
    // Of two such tasks, the first one says where.
    let levels = [level(8, LevelKind::Mc, 4), level(8, LevelKind::Package, 8)];
    let lab = Lab::on(&Topology::of(8, levels.into()), "6.1.y", &[]);
    crowd(&lab, &[&[0, 1], &[0, 6], &[0, 5]]);
    assert_eq!(pull(&lab, 4, Situation::Idle, tasks(1)).other_dest, Some(CpuId(6)));
}

/// eevdf-class 3.7, 4.5, `lb_lag`: who sleeps in the queue is not moved, unless loads are evened out.
#[test]
fn who_sleeps_in_the_queue_moves_as_load_only() {
    let moved = |rule: &str, kind, amount| {
        let lab = Lab::on(&Topology::flat(2), "6.18", &[rule]);
        let crowd = crowd(&lab, &[ANY, BOUND]);
        let se = &lab.k.task(crowd[0]).se;
        se.vruntime.set(se.vruntime.get().wrapping_add(50_000_000));
        lab.block(0);
        assert!(se.eevdf.sched_delayed.get() && lab.running(0) == crowd[1]);
        lab.advance(Nanos::from_millis(1));
        pull(&lab, 1, Situation::Busy, Imbalance { kind, amount }).moved
    };
    let on = "lb_lag=on";
    assert_eq!(
        [moved(on, Kind::Task, 1), moved(on, Kind::Util, 9000), moved(on, Kind::Load, 9000)],
        [0, 0, 1]
    );
    assert_eq!(moved("lb_lag=off", Kind::Task, 1), 1);
}

/// A task that has been off its CPU for sched_migration_cost is cold; to take a cold one is nothing special.
#[test]
fn how_long_a_task_is_hot() {
    let moved = |waited_ns| {
        let lab = lab(2, &["sched_migration_cost_ns=500000", "hot_count=tested"]);
        let p = crowd(&lab, &[ANY, ANY])[1];
        lab.k.task(p).stats.exec_start.set(lab.k.platform.now.get());
        lab.advance(Nanos(waited_ns));
        let pull = pull(&lab, 1, Situation::Busy, tasks(1));
        (pull.moved, lab.k.task(p).stats.balanced.failed_hot.get(), lab.k.task(p).stats.balanced.forced.get())
    };
    assert_eq!([moved(499_999), moved(500_000)], [(0, 1, 0), (1, 0, 0)]);
}

/// Buddies of the queue stay, but not where a CPU has nothing to do, and not without CACHE_HOT_BUDDY.
#[test]
fn buddies_stay_unless_the_cpu_is_empty() {
    let moved = |setting: &str, dest_has_a_task: bool| {
        let lab = lab(2, &["NEXT_BUDDY", setting]);
        let p = crowd(&lab, &[ANY, ANY])[1];
        if dest_has_a_task {
            lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        }
        lab.run(lab.cpu(0).lock(CpuId(0))).fair.buddies.next = Some(crate::fair::EntityId::of(p));
        pull(&lab, 1, Situation::Busy, tasks(1)).moved
    };
    assert_eq!([moved("CACHE_HOT_BUDDY", true), moved("CACHE_HOT_BUDDY", false)], [0, 1]);
    assert_eq!(moved("NO_CACHE_HOT_BUDDY", true), 1);
}

/// eevdf-class 4.5, `lb_lag`: who owes service stays, unless the CPU has nothing to do, or that has failed.
#[test]
fn who_owes_service_stays() {
    let moved = |setting: &str, dest_has_a_task: bool, failures| {
        let lab = Lab::on(&Topology::flat(2), "6.18", &[setting]);
        let owes = crowd(&lab, &[ANY, ANY])[1];
        if dest_has_a_task {
            lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        }
        // A hundred milliseconds right of the other one.
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        crate::fair::eevdf::leave_tree(&mut rq, &lab.k.task(owes).se);
        let vruntime = &lab.k.task(owes).se.vruntime;
        vruntime.set(vruntime.get().wrapping_add(100_000_000));
        crate::fair::eevdf::join_tree(&mut rq, crate::fair::EntityId::of(owes), &lab.k.task(owes).se);
        drop(rq);
        domain_of(&lab, 1).balance.nr_balance_failed.set(failures);
        pull(&lab, 1, Situation::Busy, tasks(1)).moved
    };
    assert_eq!(moved("lb_lag=on", true, 0), 0);
    assert_eq!(moved("lb_lag=on", true, 1), 1);
    assert_eq!(moved("lb_lag=on", false, 0), 1);
    assert_eq!(moved("lb_lag=off", true, 0), 1);
    assert_eq!(moved("NO_PLACE_LAG", true, 0), 1);
}

/// deadline-groups C1: of a CPU on which somebody does not fit, only that one is taken.
#[test]
fn only_who_does_not_fit_moves_as_a_misfit() {
    let moved = |util| {
        let topology = Topology::flat(2).with_capacities([446, 1024].into());
        let lab = Lab::on(&topology, "6.1.y", &[]);
        let p = crowd(&lab, &[ANY, ANY])[1];
        crate::fair::pelt::set_averages(lab.cpu(0), p, 1024, util);
        pull(&lab, 1, Situation::Idle, Imbalance { kind: Kind::Misfit, amount: 1 }).moved
    };
    assert_eq!([moved(100), moved(600)], [0, 1]);
}

/// 4.4: where there is nothing to do the interval doubles, up to the longest; a newly idle CPU changes
/// nothing of that, and where all are bound it goes on doubling to half a second.
#[test]
fn the_interval_doubles_where_nothing_is_to_do() {
    let after = |situation, tasks: &[&[u16]]| {
        let lab = lab(2, &[]);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        if !tasks.is_empty() {
            crowd(&lab, tasks);
        }
        let state = &domain_of(&lab, 1).balance;
        state.balance_interval_ms.set(2);
        (0..12)
            .map(|_| {
                lab.run(load_balance(lab.cpu(1), CpuId(1), domain_of(&lab, 1), situation));
                state.balance_interval_ms.get()
            })
            .collect::<Vec<u64>>()
    };
    assert_eq!(after(Situation::NewlyIdle, &[]), [2; 12]);
    assert_eq!(after(Situation::Busy, &[])[..3], [4, 4, 4], "twice the number of CPUs");
    let bound = after(Situation::Busy, &[BOUND; 4]);
    assert_eq!(bound[..10], [4, 8, 16, 32, 64, 128, 256, 512, 512, 512]);
}

/// 4.6, 4.9: an idle spell ends where something was found, or somebody has come meanwhile.
#[test]
fn an_idle_spell_goes_on_where_nothing_is_found() {
    let since = |allowed: &[u16]| {
        let lab = lab(2, &["NO_NI_RANDOM"]);
        let last = lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        crowd(&lab, &[ANY, allowed, allowed]);
        let p = lab.block(1);
        assert_eq!(p, last);
        (lab.idle(1), lab.k.rq(CpuId(1)).published.balance.idle_since.get().is_some())
    };
    assert_eq!([since(ANY), since(BOUND)], [(false, false), (true, true)]);
}

/// eevdf-class 4.5: from 6.6 on the first CPU of an idle core balances for its group, and an idle thread
/// beside a busy one only where no core idles.
#[test]
fn idle_cores_balance_before_idle_threads() {
    let topology = Topology::of(
        8,
        vec![level(8, LevelKind::Smt, 2), level(8, LevelKind::Mc, 4), level(8, LevelKind::Package, 8)],
    );
    // CPU 0 is busy, and so are some others of its cache; on CPU 4 lie four tasks.
    let whose = |kernel: &str, busy: &[u16]| -> Vec<u16> {
        let comes_to = |dest: &u16| {
            let lab = Lab::on(&topology, kernel, &["NO_NI_RANDOM"]);
            for cpu in busy {
                lab.spawn_allowed(Policy::Normal, *cpu, cpus(&[*cpu]));
            }
            for _ in 0..4 {
                lab.spawn_unsettled(Policy::Normal, 0, 4, cpus(&[4]));
                lab.settle();
            }
            let of_dest =
                lab.run(load_balance(lab.cpu(*dest), CpuId(*dest), domain_of(&lab, *dest), Situation::Idle));
            of_dest != Outcome::NotOurs
        };
        (0..4).filter(comes_to).collect()
    };
    for (kernel, of_one, of_two) in [("6.1.y", 1, 1), ("6.6", 2, 1), ("6.18.y", 2, 1)] {
        assert_eq!(whose(kernel, &[0]), [of_one], "{kernel}: CPUs 2 and 3 are a core that idles");
        assert_eq!(whose(kernel, &[0, 2]), [of_two], "{kernel}: no core idles");
    }
}
