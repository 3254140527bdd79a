//! fair-class 8.3, 8.4, 8.7.

use super::q6600;
use crate::testing::{Lab, cpus, fifo};
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{CpuId, CpuMask, LevelKind, Policy, Reason, TaskId, Topology, TopologyLevel};

/// A machine on which a sleeper of CPU `from` is woken by CPU `waker`, with so many hogs on every CPU.
struct Wake<'a> {
    profile: &'a str,
    settings: &'a [&'a str],
    hogs: [usize; 4],
    from: u16,
    waker: u16,
    sync: bool,
}

const PLAIN: Wake<'_> =
    Wake { profile: "2.6.32", settings: &[], hogs: [0; 4], from: 2, waker: 0, sync: false };

impl Wake<'_> {
    fn goes_to(&self) -> (u16, Reason) {
        self.on(&q6600(), CpuMask::ALL)
    }

    fn on(&self, topology: &Topology, allowed: CpuMask) -> (u16, Reason) {
        let lab = Lab::on(topology, self.profile, self.settings);
        let sleeper = lab.spawn_allowed(Policy::Normal, self.from, allowed);
        lab.block(self.from);
        for (cpu, hogs) in self.hogs.iter().enumerate() {
            for _ in 0..*hogs {
                lab.spawn_allowed(Policy::Normal, cpu as u16, CpuMask::single(CpuId(cpu as u16)));
            }
        }
        lab.k.platform.events.borrow_mut().clear();
        let flags = WakeFlags { sync: self.sync, interrupt: false, exiting: false };
        lab.run(try_to_wake_up(lab.cpu(self.waker), sleeper, flags));
        (lab.cpu_of(sleeper), lab.first_decision())
    }
}

#[test]
fn wake_affine_compares_the_loads() {
    let cases = [
        // Waker's CPU idle (a timer): tl = 0 is balanced.
        ([0, 0, 0, 0], false, 0, Reason::WakeAffine),
        // 100 × (1024 + 1024) ≤ 112 × pl needs two tasks there.
        ([1, 0, 1, 0], false, 2, Reason::WakePrevious),
        ([1, 0, 2, 0], false, 0, Reason::WakeAffine),
        // The waker is about to sleep: tl = 0.
        ([1, 0, 0, 0], true, 0, Reason::WakeAffine),
        // "If V is idle and T is busy beyond the discounted waker, the answer is no."
        ([2, 0, 0, 0], true, 2, Reason::WakePrevious),
        ([2, 0, 2, 0], true, 0, Reason::WakeAffine),
    ];
    for (hogs, sync, cpu, reason) in cases {
        assert_eq!(Wake { hogs, sync, ..PLAIN }.goes_to(), (cpu, reason), "{hogs:?} sync {sync}");
    }
}

#[test]
fn the_sync_hint_counts_only_with_sync_wakeups() {
    let wake = Wake { hogs: [1, 0, 0, 0], sync: true, ..PLAIN };
    assert_eq!(Wake { settings: &["NO_SYNC_WAKEUPS"], ..wake }.goes_to().0, 2);
}

/// fair-class 1.1: up to 2.6.34 an RT task weighs more than all fair tasks of a CPU together.
#[test]
fn rt_tasks_weigh_in_the_affine_test() {
    // So many RT tasks on the waker's CPU and on the previous one, which also has a fair task.
    let woken = |rt: [u16; 2], sync, rule: &str| {
        let lab = Lab::on(&q6600(), "2.6.32", &[rule]);
        let sleeper = lab.spawn(Policy::Normal, 2);
        lab.block(2);
        lab.spawn_allowed(Policy::Normal, 2, cpus(&[2]));
        for cpu in [&[0, 0][..rt[0] as usize], &[2, 2][..rt[1] as usize]].concat() {
            lab.spawn_allowed(fifo(50), cpu, cpus(&[cpu]));
        }
        super::super::select_task_rq_wake(
            lab.cpu(0),
            sleeper,
            WakeFlags { sync, interrupt: false, exiting: false },
        )
        .0
    };
    let (heavy, weightless) = ("rt_load_weight=twice_max", "rt_load_weight=zero");
    assert_eq!(
        [woken([1, 0], false, heavy), woken([1, 0], false, weightless)],
        [2, 0],
        "away from an RT task"
    );
    assert_eq!(
        [woken([1, 0], true, heavy), woken([2, 0], true, heavy)],
        [0, 2],
        "the waker is about to leave"
    );
    assert_eq!(
        [woken([1, 2], false, heavy), woken([2, 1], false, heavy)],
        [0, 2],
        "to where there are fewer"
    );
}

#[test]
fn affine_wakeups_can_be_off() {
    let wake = Wake { settings: &["NO_AFFINE_WAKEUPS"], ..PLAIN };
    assert_eq!(wake.goes_to(), (2, Reason::WakePrevious));
}

#[test]
fn a_waker_on_a_forbidden_cpu_or_the_previous_one_has_no_say() {
    let wake = Wake { hogs: [0, 0, 1, 0], ..PLAIN };
    assert_eq!(wake.on(&q6600(), cpus(&[1, 2, 3])), (2, Reason::WakePrevious));
    assert_eq!(Wake { waker: 2, ..wake }.goes_to(), (2, Reason::WakePrevious));
}

#[test]
fn far_nodes_have_no_affine_wakeups() {
    let numa = |distance| {
        let mut topology = q6600();
        topology.levels[1].kind = LevelKind::Numa { distance };
        Wake { hogs: [0, 0, 2, 0], ..PLAIN }.on(&topology, CpuMask::ALL)
    };
    assert_eq!(numa(20), (0, Reason::WakeAffine));
    assert_eq!(numa(40), (2, Reason::WakePrevious));
}

/// 8.4 step 4.
#[test]
fn an_idle_sibling_is_preferred_since_2_6_33() {
    let wake = Wake { profile: "2.6.36", waker: 0, from: 2, ..PLAIN };
    // Stays on V, which is idle.
    assert_eq!(Wake { hogs: [2, 0, 0, 0], ..wake }.goes_to(), (2, Reason::WakePrevious));
    // V is busy and not left; its cache sibling is idle.
    assert_eq!(Wake { hogs: [1, 0, 1, 0], ..wake }.goes_to(), (3, Reason::WakeIdleSibling));
    // Drawn to T, which is busy; T's sibling is idle.
    assert_eq!(Wake { hogs: [1, 0, 2, 0], ..wake }.goes_to(), (1, Reason::WakeIdleSibling));
    // Nothing near is idle.
    assert_eq!(Wake { hogs: [1, 1, 2, 0], ..wake }.goes_to(), (0, Reason::WakeAffine));
    let off = &["idle_sibling=off"];
    assert_eq!(Wake { settings: off, hogs: [1, 0, 1, 0], ..wake }.goes_to(), (2, Reason::WakePrevious));
}

/// 8.4 step 4: the search ends with the domain that holds both the waker's CPU and the last one.
#[test]
fn the_search_ends_where_waker_and_previous_cpu_meet() {
    let level =
        |kind, spans: &[&[u16]]| TopologyLevel { kind, spans: spans.iter().map(|s| cpus(s)).collect() };
    let topology = Topology::of(
        4,
        [level(LevelKind::Smt, &[&[0, 1], &[2, 3]]), level(LevelKind::Mc, &[&[0, 1, 2, 3]])].into(),
    );
    let wake = Wake { profile: "2.6.36", hogs: [1, 1, 0, 0], waker: 0, from: 1, ..PLAIN };
    assert_eq!(wake.on(&topology, CpuMask::ALL), (1, Reason::WakePrevious), "one core holds both");
    let apart = Wake { hogs: [1, 1, 1, 0], from: 2, ..wake };
    assert_eq!(apart.on(&topology, CpuMask::ALL), (3, Reason::WakeIdleSibling));
}

#[test]
fn an_idle_sibling_must_be_allowed() {
    let wake = Wake { profile: "2.6.36", hogs: [1, 0, 1, 0], ..PLAIN };
    assert_eq!(wake.on(&q6600(), cpus(&[0, 1, 2])), (2, Reason::WakePrevious));
}

/// 8.7: averages of index 1, no shortcut for an idle waker's CPU, then the passive pull.
#[test]
fn placement_of_2_6_31_pulls_by_averages() {
    let wakee = |loads: [u64; 4], averages: [u64; 4], rule: &str| {
        let lab = Lab::on(&q6600(), "2.6.32", &[rule]);
        let sleeper = lab.spawn(Policy::Normal, 2);
        lab.block(2);
        for cpu in 0..4 {
            let rq = &lab.k.rq(CpuId(cpu as u16)).published;
            rq.load.overwrite(loads[cpu]);
            rq.nr_running.overwrite((loads[cpu] / 1024) as u32);
            rq.cpu_load[0].overwrite(averages[cpu]);
        }
        lab.k.platform.events.borrow_mut().clear();
        let cpu = super::super::select_task_rq_wake(lab.cpu(0), sleeper, WakeFlags::default());
        (cpu.0, lab.first_decision())
    };
    // An idle waker's CPU is balanced by itself, or passively where less has been running there.
    assert_eq!(
        wakee([0, 0, 1024, 0], [0, 0, 500, 0], "wake_placement=present_load"),
        (0, Reason::WakeAffine)
    );
    assert_eq!(
        wakee([0, 0, 1024, 0], [0, 0, 500, 0], "wake_placement=passive_pull"),
        (0, Reason::WakePassive)
    );
    // Present load there, none on average: present loads pull, averages do not.
    assert_eq!(
        wakee([1024, 0, 2048, 0], [1024, 0, 500, 0], "wake_placement=present_load"),
        (0, Reason::WakeAffine)
    );
    assert_eq!(
        wakee([1024, 0, 2048, 0], [1024, 0, 500, 0], "wake_placement=passive_pull"),
        (2, Reason::WakePrevious)
    );
    assert_eq!(
        wakee([1024, 0, 1200, 0], [0, 0, 1200, 0], "wake_placement=passive_pull"),
        (0, Reason::WakePassive)
    );
}

fn forked_to(lab: &Lab, allowed: CpuMask) -> (u16, Reason) {
    let p = lab.spawn_allowed(Policy::Normal, allowed.first().map_or(0, |c| c.0), allowed);
    lab.k.platform.events.borrow_mut().clear();
    (super::super::select_task_rq_fork(lab.cpu(0), p).0, lab.first_decision())
}

/// 8.4, fork and exec.
#[test]
fn a_child_goes_to_the_idlest_cpu_of_the_idlest_group() {
    let with_hogs = |hogs: [usize; 4], settings: &[&str]| {
        let lab = Lab::on(&q6600(), "2.6.32", settings);
        for (cpu, n) in hogs.iter().enumerate() {
            for _ in 0..*n {
                lab.spawn_allowed(Policy::Normal, cpu as u16, CpuMask::single(CpuId(cpu as u16)));
            }
        }
        let child = lab.fork_start(0, 0);
        lab.k.platform.events.borrow_mut().clear();
        (super::super::select_task_rq_fork(lab.cpu(0), child).0, lab.first_decision())
    };
    assert_eq!(
        with_hogs([1, 0, 0, 0], &[]),
        (3, Reason::ForkIdlest),
        "the other die; of two empty groups, the other"
    );
    assert_eq!(with_hogs([1, 0, 1, 0], &[]), (1, Reason::ForkIdlest), "the dies are even: next core");
    assert_eq!(with_hogs([1, 0, 1, 1], &[]), (1, Reason::ForkIdlest));
    assert_eq!(with_hogs([1, 1, 1, 0], &[]), (3, Reason::ForkIdlest));
    assert_eq!(with_hogs([1, 1, 1, 1], &[]), (0, Reason::ForkLocal), "all even: not clearly less");
}

#[test]
fn fork_of_2_6_31_compares_averages() {
    let lab = Lab::on(&q6600(), "2.6.32", &["wake_placement=passive_pull"]);
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    // The other die has been busy until a moment ago.
    for cpu in [2, 3] {
        lab.k.rq(CpuId(cpu)).published.cpu_load[0].overwrite(4096);
    }
    lab.k.rq(CpuId(0)).published.cpu_load[0].overwrite(1024);
    let child = lab.fork_start(0, 0);
    assert_eq!(super::super::select_task_rq_fork(lab.cpu(0), child), CpuId(1));
    lab.k.config.set("wake_placement=present_load").expect("legal");
    assert_eq!(super::super::select_task_rq_fork(lab.cpu(0), child), CpuId(3));
}

#[test]
fn a_child_stays_within_its_affinity() {
    let lab = Lab::on(&q6600(), "2.6.32", &[]);
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    assert_eq!(forked_to(&lab, cpus(&[0, 1])), (1, Reason::ForkIdlest));
    assert_eq!(forked_to(&lab, cpus(&[1, 3])).0, 3);
}

/// SD_BALANCE_EXEC moves the caller, running as it is.
#[test]
fn exec_moves_the_caller_to_an_idle_cpu() {
    let lab = Lab::on(&q6600(), "2.6.32", &[]);
    let p = lab.spawn(Policy::Normal, 0);
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.run(crate::fork::sched_exec(lab.cpu(0)));
    lab.settle();
    assert_eq!((lab.cpu_of(p), lab.running(3)), (3, p));
    assert_ne!(lab.running(0), TaskId(0));
}

/// More levels: the walk goes inwards from the level at which it moved.
#[test]
fn fork_walks_inwards_from_the_new_cpu() {
    let level =
        |kind, spans: &[&[u16]]| TopologyLevel { kind, spans: spans.iter().map(|s| cpus(s)).collect() };
    let topology = Topology::of(
        8,
        [
            level(LevelKind::Smt, &[&[0, 1], &[2, 3], &[4, 5], &[6, 7]]),
            level(LevelKind::Mc, &[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
            level(LevelKind::Numa { distance: 20 }, &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
        ]
        .into(),
    );
    let lab = Lab::on(&topology, "4.0", &[]);
    for cpu in [0, 4] {
        lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
    }
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    let child = lab.fork_start(0, 0);
    // Node 1 has less load; in it CPU 5 has none, but then the pair 6-7 is idler, and in that the other one.
    assert_eq!(super::super::select_task_rq_fork(lab.cpu(0), child), CpuId(7));
}
