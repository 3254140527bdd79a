//! fair-placement 8.5: the forms of 4.19 to 5.15, where they differ from 6.1's.

use super::wakeup::Wake;
use super::{all_but, allow, modern, two_sockets};
use crate::class::SelectFor;
use crate::fair::balance::{numa_difference, stays_on_node};
use crate::fair::group::Figures;
use crate::testing::{Lab, cpus};
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{Class, CpuId, LevelKind, Nanos, Policy, Reason, Topology, TopologyLevel};

/// The scan of fair-placement E32, with a budget: only CPU 2 is idle, the fourth that is looked at.
fn scan_by_time(left: u64, cost: u64, rule: &str) -> Wake {
    let wake = Wake::new(6, 6, &["NO_SIS_UTIL", "SIS_PROP", rule]).busy(&all_but(&[2], 8));
    let times = &wake.lab.k.rq(CpuId(6)).published.balance.idle;
    times.for_scans.set(Nanos(left));
    times.for_scans_at.set(wake.lab.k.platform.now.get());
    times.average.set(Nanos(512 * left));
    wake.lab.k.fair_root.caches[0].scan_cost.set(cost - 1);
    wake
}

/// 2.8: eight CPUs times their idle time, by what looking costs; but at least four, the last not looked at.
#[test]
fn sis_prop_looks_at_fewer_the_shorter_cpus_idle() {
    let scan = |left, cost| scan_by_time(left, cost, "idle_sibling=scan").last();
    assert_eq!(scan(3_125, 5_000), (2, Reason::SisCpu), "five, so that four are looked at");
    assert_eq!(scan(2_500, 5_000), (6, Reason::SisCut), "four");
    assert_eq!(scan(0, 5_000), (6, Reason::SisCut), "at least four");
}

/// 2.8: what is left halves with each tick.
#[test]
fn what_is_left_for_looking_fades() {
    let wake = scan_by_time(6_250, 5_000, "idle_sibling=scan");
    wake.lab.advance(Nanos::from_millis(4));
    assert_eq!(wake.last(), (2, Reason::SisCpu), "3125 of it");
    wake.lab.advance(Nanos::from_millis(4));
    assert_eq!(wake.last(), (6, Reason::SisCut));
}

/// 8.5, `core_cpu_thread`: from the target, by a 512th of the mean idle time; then the thread beside it.
#[test]
fn the_older_scan_starts_at_the_target() {
    let scan = |left, cost, more: &str| {
        let wake = scan_by_time(left, cost, "idle_sibling=core_cpu_thread");
        wake.lab.k.config.set(more).expect("legal");
        wake.last()
    };
    assert_eq!(scan(3_750, 5_000, "SIS_PROP"), (2, Reason::SisCpu), "six: 6, 7, 0, 1, 2");
    assert_eq!(scan(3_125, 5_000, "SIS_PROP"), (6, Reason::SisCut), "five: 6, 7, 0, 1");
    assert_eq!(scan(0, 5_000, "NO_SIS_PROP"), (2, Reason::SisCpu), "all");
    assert_eq!(scan(4_999, 5_000, "SIS_AVG_CPU"), (6, Reason::SisNone), "not worth it");
    assert_eq!(scan(5_000, 5_000, "SIS_AVG_CPU"), (2, Reason::SisCpu));
    let older = |t| Wake::new(t, t, &["idle_sibling=core_cpu_thread", "NO_SIS_UTIL", "NO_SIS_PROP"]);
    // fair-placement E28 and E27.
    assert_eq!(older(4).busy(&[0, 1, 2, 3, 4]).last(), (5, Reason::SisCpu), "no core is known");
    assert_eq!(older(4).busy(&[0, 1, 2, 3, 4]).core_known().last(), (6, Reason::SisCore));
    let beside = older(5).busy(&all_but(&[4], 8));
    beside.lab.k.config.set("SIS_PROP").expect("legal");
    beside.lab.k.fair_root.caches[0].scan_cost.set(1_000_000);
    assert_eq!(beside.last(), (4, Reason::SisSmt), "5, 6, 7 are looked at, then the thread beside 5");
}

/// 8.5: a search from the target, of four less the one at which it ends: 6, 7 and 0, or 6, 1 and 2.
#[test]
fn in_4_19_forbidden_cpus_counted_in_the_scan() {
    let scan = |rule: &str| {
        let wake = scan_by_time(0, 5_000, "idle_sibling=core_cpu_thread");
        wake.lab.k.config.set(rule).expect("legal");
        allow(&wake.lab, wake.woken, cpus(&[1, 2, 6]));
        wake.last()
    };
    assert_eq!(scan("scan_counts=allowed"), (2, Reason::SisCpu));
    assert_eq!(scan("scan_counts=all"), (6, Reason::SisCut));
}

/// 8.5, `wake_placement=idle_near_or_load`: row 3 of 2.6 is not there; 8.7: up to 6.1.27 row 1 counts as
/// affine.
#[test]
fn an_idle_last_cpu_of_another_cache_was_no_reason() {
    let first = |rule: &str| Wake::new(2, 12, &[rule]).busy(&[2]).first(false).1;
    assert_eq!(first("wake_placement=idle_or_load"), Reason::WaPrevIdle);
    assert_ne!(first("wake_placement=idle_near_or_load"), Reason::WaPrevIdle);
    let counted = |rule: &str| {
        let wake = Wake::new(0, 4, &[rule]);
        assert_eq!(wake.first(false), (4, Reason::WaPrevIdle));
        wake.lab.k.task(wake.woken).stats.woken.affine.get()
    };
    assert_eq!(counted("affine_count=waker"), 0);
    assert_eq!(counted("affine_count=idle"), 1);
}

/// 8.5, `recent_used=waker`: fair-placement E29 again.
#[test]
fn the_recent_cpu_was_noted_when_taken_and_for_wakers() {
    let wake = Wake::new(2, 4, &["recent_used=waker", "NO_WA_IDLE"]).busy(&[2, 4]).load(4, 8000).recent(1);
    assert_eq!(wake.last(), (1, Reason::SisRecent));
    assert_ne!(wake.last().1, Reason::SisRecent, "its last one is the recent one now");
    let refused = wake.recent(8);
    _ = refused.last();
    assert_eq!(
        refused.lab.k.task(refused.woken).se.habits.recent_used_cpu(),
        CpuId(8),
        "in another cache: not taken, not noted"
    );
    let waker = refused.lab.running(2);
    assert_eq!(refused.lab.k.task(waker).se.habits.recent_used_cpu(), CpuId(2));
}

/// Not by wakeups that leave the waker's CPU out, and not since 5.11.
#[test]
fn the_recent_cpu_of_wakers_was_noted_by_affine_wakeups() {
    let noted = |rule: &str, allowed: &[u16]| {
        let wake = Wake::new(2, 4, &[rule]);
        allow(&wake.lab, wake.woken, cpus(allowed));
        let waker = wake.lab.running(2);
        let habits = &wake.lab.k.task(waker).se.habits;
        habits.set_recent_used_cpu(CpuId(7));
        _ = wake.last();
        habits.recent_used_cpu() == CpuId(2)
    };
    assert!(noted("recent_used=waker", &[2, 4]));
    assert!(!noted("recent_used=waker", &[4, 5]), "it cannot come to the waker");
    assert!(!noted("recent_used=prev", &[2, 4]));
}

/// 8.5, `ttwu_list`: within a cache only the CPU that the sleeper is leaving.
#[test]
fn wakeups_were_handed_to_other_caches_and_last_cpus() {
    let handed = |target: u16| {
        let wake = Wake::new(0, target, &["ttwu_list=last_cpu"]);
        allow(&wake.lab, wake.woken, cpus(&[target]));
        _ = wake.lab.run(try_to_wake_up(wake.lab.cpu(0), wake.woken, WakeFlags::default()));
        !wake.lab.k.rq(CpuId(target)).wake_list.is_empty()
    };
    assert!(!handed(2) && handed(12));
}

/// 4.12, 8.5: what a difference between two nodes of eight CPUs comes to.
#[test]
fn few_tasks_were_left_on_a_node_by_simpler_rules() {
    let lab = modern(&two_sockets(), &[]);
    let domain = lab.k.domains(CpuId(0)).last().expect("a domain");
    let node =
        |nr_running: u64| Figures { nr_running, weight: 8, idle: 8 - nr_running, ..Figures::default() };
    let left = |rule: &str, local, busiest, difference| {
        lab.k.config.set(rule).expect("legal");
        numa_difference(lab.cpu(0), domain, &node(local), &node(busiest), difference)
    };
    assert_eq!(left("numa_imbalance=quarter", 0, 2, 2), 0, "one of eight CPUs");
    assert_eq!([left("numa_imbalance=quarter", 1, 3, 2), left("numa_imbalance=quarter", 0, 3, 3)], [2, 3]);
    assert_eq!([left("numa_imbalance=pair", 0, 2, 2), left("numa_imbalance=pair", 2, 3, 1)], [0, 1]);
    assert_eq!(left("numa_imbalance=off", 0, 2, 2), 2);
    let stays = |rule: &str, local, difference| {
        lab.k.config.set(rule).expect("legal");
        stays_on_node(lab.cpu(0), domain, &node(local), 8, difference)
    };
    assert!(stays("numa_imbalance=quarter", 0, 2) && !stays("numa_imbalance=quarter", 1, 2));
    assert!(stays("numa_imbalance=pair", 7, 9) && !stays("numa_imbalance=pair", 8, 9));
    let core = &lab.k.domains(CpuId(0))[0];
    lab.k.config.set("numa_imbalance=pair").expect("legal");
    assert_eq!(numa_difference(lab.cpu(0), core, &node(0), &node(2), 2), 2, "no NUMA level");
}

/// 8.5, `newidle_gate=migration_cost`: whatever looking has cost.
#[test]
fn a_newly_idle_cpu_looked_if_it_idles_for_long() {
    let looks = |rule: &str, avg_idle: u64| {
        let lab = modern(&Topology::flat(2), &[rule]);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        for _ in 0..3 {
            lab.spawn(Policy::Normal, 0);
        }
        lab.k.rq(CpuId(1)).published.balance.idle.average.set(Nanos(avg_idle));
        lab.advance(Nanos::from_millis(10));
        lab.block(1);
        !lab.idle(1)
    };
    assert!(looks("newidle_gate=migration_cost", 500_000) && !looks("newidle_gate=migration_cost", 499_999));
    assert!(looks("newidle_gate=measured_cost", 499_999), "it has cost nothing yet");
}

/// Failures of a busy CPU's passes to move the task that always runs when it looks, until the busy CPU is
/// asked for it; `None`: never.
fn failures_until_asked(rule: &str) -> Option<u64> {
    let lab: Lab = modern(&Topology::flat(2), &[rule]);
    let p = lab.spawn(Policy::Normal, 0);
    lab.hogs_of_load(&[0], 1024);
    lab.hogs_of_load(&[1], 1024);
    let state = &lab.k.domains(CpuId(1))[0].balance;
    for _ in 0..2_000 {
        lab.advance(Nanos::from_millis(1));
        if lab.running(0) == p {
            lab.tick(1);
        } else {
            lab.tick(0);
        }
        if state.other_counts.active.get() > 0 {
            return Some(state.counts[1].failed.get());
        }
    }
    assert!(state.counts[1].failed.get() > 4, "{}", state.counts[1].failed.get());
    None
}

/// 8.5, `lb_active`: passes of busy CPUs count load, not tasks.
#[test]
fn any_failure_made_a_busy_cpu_give_its_task_away() {
    assert_eq!(failures_until_asked("lb_active=any_failure"), Some(4));
    assert_eq!(failures_until_asked("lb_active=task_counts"), None);
}

/// 8.5, `balance_load=queued`: what sleeps is no load.
#[test]
fn sleepers_were_no_load() {
    let load = |rule: &str| {
        let lab = modern(&Topology::flat(2), &[rule]);
        lab.hogs_of_load(&[0], 700);
        let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        lab.set_averages(p, 1000, 1000);
        let cpu = |lab: &Lab| crate::fair::pelt::cpu_load(lab.cpu(1), CpuId(0));
        let both = cpu(&lab);
        for _ in 0..100 {
            if lab.running(0) != p {
                lab.advance(Nanos::from_millis(4));
                lab.tick(0);
            }
        }
        assert_eq!(lab.block(0), p);
        (both, cpu(&lab))
    };
    assert!(load("balance_load=all").1 > 1600, "{:?}", load("balance_load=all"));
    let (both, one) = load("balance_load=queued");
    assert!(both == 1700 && (650..850).contains(&one), "{both} {one}");
}

/// 8.5, `smt_hot`: whether CPU 1 takes a task that has just run from the other thread of its core.
#[test]
fn a_task_was_hot_for_the_other_thread() {
    let taken = |rule: &str| {
        let level = TopologyLevel { kind: LevelKind::Smt, spans: [cpus(&[0, 1])].into() };
        let lab = modern(&Topology::of(2, [level].into()), &[rule]);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        let two = [(); 2].map(|()| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0])));
        lab.run_on(Nanos::from_millis(200));
        // Whoever waits there has just been put back.
        let ran = lab.running(0);
        for _ in 0..100 {
            if lab.running(0) == ran {
                lab.advance(Nanos::from_millis(1));
                lab.tick(0);
            }
        }
        assert_ne!(lab.running(0), ran);
        for p in two {
            lab.k.task(p).cpus_allowed.overwrite(lab.k.online);
            lab.k.task(p).nr_cpus_allowed.overwrite(2);
        }
        lab.forget();
        lab.block(1);
        (lab.idle(1), lab.decisions().contains(&Reason::NotMovedHot))
    };
    assert_eq!(taken("smt_hot=off"), (false, false));
    assert_eq!(taken("smt_hot=on"), (true, true));
}

/// 8.5, `fork_balance=spare_time`: 117 % are tolerated between CPUs, so 174 of load, and 108 % of all tasks'.
#[test]
fn new_tasks_went_by_load() {
    let forked = |local, other| {
        let lab = modern(&Topology::flat(2), &["fork_balance=spare_time", "balance_load=queued"]);
        lab.hogs_of_load(&[0], local);
        lab.hogs_of_load(&[1], other);
        let child = lab.fork_start(0, 0);
        lab.forget();
        let cpu = Class::Fair.select_task_rq(lab.cpu(0), child, SelectFor::Fork);
        (cpu.0, lab.first_decision())
    };
    assert_eq!(forked(1024, 800), (1, Reason::OtherLoad), "more than 174 less");
    assert_eq!(forked(1024, 948), (1, Reason::OtherLoad), "102400 of 102384");
    assert_eq!(forked(1024, 949), (0, Reason::LocalMargin), "102400 of 102492");
    assert_eq!(forked(1024, 1200), (0, Reason::LocalMargin));
}

/// The same: who calls exec stays where its CPU has enough left for it, itself left out.
#[test]
fn exec_went_to_spare_time() {
    let goes = |others: &[u16]| {
        let lab = modern(&Topology::flat(2), &["fork_balance=spare_time", "balance_load=queued"]);
        let p = lab.spawn(Policy::Normal, 0);
        lab.set_averages(p, 1024, 600);
        for cpu in others {
            let other = lab.spawn_allowed(Policy::Normal, *cpu, cpus(&[*cpu]));
            lab.set_averages(other, 1024, 900);
        }
        lab.forget();
        let cpu = Class::Fair.select_task_rq(lab.cpu(0), p, SelectFor::Exec);
        (cpu.0, lab.first_decision())
    };
    assert_eq!(goes(&[]), (0, Reason::LocalIdle), "as much here as there");
    assert_eq!(goes(&[0]), (1, Reason::OtherIdle), "124 here");
    assert_eq!(goes(&[0, 1]), (1, Reason::OtherLoad), "nobody has 300 left: by load");
}

/// The same: it needs half of what it uses, 300 here; 108 of 100 are tolerated; of the others it is the one
/// with most to spare, and for a new task nothing of that counts.
#[test]
fn how_much_spare_time_is_enough() {
    let goes = |select, utils: &[u64]| {
        let lab = modern(&Topology::flat(utils.len()), &["fork_balance=spare_time", "balance_load=queued"]);
        let p = lab.spawn(Policy::Normal, 0);
        lab.set_averages(p, 0, 600);
        for (cpu, util) in (0..).zip(utils) {
            let other = lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
            lab.set_averages(other, 1024, *util);
        }
        let p = if select == SelectFor::Fork { lab.fork_start(0, 0) } else { p };
        lab.forget();
        let cpu = Class::Fair.select_task_rq(lab.cpu(0), p, select);
        (cpu.0, lab.first_decision())
    };
    let exec = |utils: &[u64]| goes(SelectFor::Exec, utils);
    assert_eq!(exec(&[524, 484]), (1, Reason::OtherIdle), "500 and 540: 108 of 100");
    assert_eq!(exec(&[523, 484]), (0, Reason::LocalIdle), "501");
    assert_eq!(exec(&[724, 734]), (0, Reason::LocalMargin), "300 and 290: nobody has more than it needs");
    assert_eq!(exec(&[900, 724]), (0, Reason::LocalMargin), "124 and 300");
    assert_eq!(exec(&[900, 723]), (1, Reason::OtherIdle));
    assert_eq!(exec(&[900, 500, 200]).0, 2);
    assert_eq!(exec(&[900, 200, 200]).0, 1, "of equals the first");
    assert_eq!(goes(SelectFor::Fork, &[0, 900]), (0, Reason::LocalMargin), "by load, which is the same");
    assert_eq!(goes(SelectFor::Fork, &[900, 0]), (0, Reason::LocalMargin));
}

/// 8.5, `sched_idle_cpu=last_resort`: an idle CPU behind it is better, and any CPU is if all count as busy.
#[test]
fn an_idle_cpu_was_better_than_one_of_sched_idle_tasks() {
    let wake = |rule: &str| {
        let wake = Wake::new(6, 6, &["idle_sibling=core_cpu_thread", "NO_SIS_UTIL", "NO_SIS_PROP", rule])
            .busy(&all_but(&[7, 0], 8))
            .recent(6);
        wake.lab.spawn_allowed(Policy::Idle, 7, cpus(&[7]));
        wake.last()
    };
    assert_eq!(wake("sched_idle_cpu=on"), (7, Reason::SisCpu));
    assert_eq!(wake("sched_idle_cpu=last_resort"), (0, Reason::SisCpu));
}

/// 8.5, `scan_counts=all`: an idle CPU that the task may not use counts, and is not taken.
#[test]
fn a_forbidden_cpu_is_not_taken() {
    let wake = Wake::new(6, 6, &["idle_sibling=core_cpu_thread", "NO_SIS_UTIL", "NO_SIS_PROP"])
        .busy(&all_but(&[7, 2], 8));
    wake.lab.k.config.set("scan_counts=all").expect("legal");
    allow(&wake.lab, wake.woken, cpus(&[0, 1, 2, 6]));
    assert_eq!(wake.last(), (2, Reason::SisCpu));
}

/// 8.5, `sched_idle_cpu=last_resort`: the older scan returns it where it may look no further.
#[test]
fn a_cpu_of_sched_idle_tasks_was_a_last_resort() {
    let wake = |rule: &str, cost| {
        let wake = Wake::new(6, 6, &["idle_sibling=core_cpu_thread", "NO_SIS_UTIL", "SIS_PROP", rule])
            .busy(&all_but(&[7], 8))
            .recent(6);
        wake.lab.spawn_allowed(Policy::Idle, 7, cpus(&[7]));
        wake.lab.k.fair_root.caches[0].scan_cost.set(cost);
        wake.last()
    };
    assert_eq!(wake("sched_idle_cpu=on", 1_000_000), (7, Reason::SisCpu));
    assert_eq!(wake("sched_idle_cpu=last_resort", 1_000_000), (7, Reason::SisCpu), "cut after 6, 7, 0");
    assert_eq!(wake("sched_idle_cpu=off", 1_000_000), (6, Reason::SisCut));
}
