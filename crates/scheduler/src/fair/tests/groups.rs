//! Task groups and their limits, one step at a time (deadline-groups B3, B4, B7).

use super::*;
use crate::cpu_clock::task_sched_runtime;
use crate::fair::{GroupParams, QuotaParams};
use crate::testing::plain_group;
use crate::{GroupId, fair};

/// A machine of so many CPUs with one group, and a hog of it on each CPU.
pub(in crate::fair) fn hogs(cpus: u16, profile: &str, quota: Option<QuotaParams>) -> (Lab, GroupId) {
    let mut lab = Lab::new(cpus.into(), profile, &["hz=250"]);
    let group = lab.group(GroupId::ROOT, quota);
    for cpu in 0..cpus {
        lab.spawn_in(group, cpu);
    }
    (lab, group)
}

pub(in crate::fair) fn limit(quota: u64, period: u64) -> Option<QuotaParams> {
    let (quota, period) = (Nanos::from_millis(quota), Nanos::from_millis(period));
    Some(QuotaParams { quota, period, burst: Nanos::ZERO, offset: Nanos::ZERO })
}

impl Lab {
    /// A group of 1024 shares.
    pub(super) fn group(&mut self, parent: GroupId, quota: Option<QuotaParams>) -> GroupId {
        self.k.create_group(GroupParams { quota, ..plain_group(parent) })
    }

    /// A hog of a group on a CPU.
    pub(crate) fn spawn_in(&self, group: GroupId, cpu: u16) -> TaskId {
        self.spawn_in_as(Policy::Normal, group, cpu)
    }

    /// The same under another policy.
    pub(super) fn spawn_in_as(&self, policy: Policy, group: GroupId, cpu: u16) -> TaskId {
        let p = self.spawn_in_unsettled(policy, group, cpu);
        self.settle();
        p
    }

    /// The same; nothing is rescheduled yet.
    pub(super) fn spawn_in_unsettled(&self, policy: Policy, group: GroupId, cpu: u16) -> TaskId {
        let new = NewTask {
            pid: Pid(100 + i32::from(cpu)),
            policy,
            nice: Nice::default(),
            cpus_allowed: CpuMask::single(CpuId(cpu)),
            kernel_thread: false,
            group,
        };
        let p = new_task(&self.k, new);
        self.run(crate::fork::wake_up_new_task_on(self.cpu(cpu), p, Some(CpuId(cpu))));
        p
    }

    /// What a CPU's queue of a group may use before it asks again, in ns.
    pub(super) fn remaining(&self, group: GroupId, cpu: u16) -> i64 {
        self.k.group_queue(group, CpuId(cpu)).bandwidth.remaining.get()
    }

    pub(super) fn pool(&self, group: GroupId) -> Nanos {
        self.k.groups.get(group).pool.as_ref().expect("a limit").runtime.get()
    }

    pub(in crate::fair) fn is_throttled(&self, group: GroupId, cpu: u16) -> bool {
        self.k.group_queue(group, CpuId(cpu)).bandwidth.is_throttled()
    }

    /// So many ticks of 4 ms on all CPUs.
    pub(super) fn ticks(&self, n: u32) {
        self.ticks_of(4, n);
    }

    /// The same every so many ms.
    pub(super) fn ticks_of(&self, ms: u64, n: u32) {
        for _ in 0..n {
            self.advance(Nanos::from_millis(ms));
            (0..self.k.cpus() as u16).for_each(|cpu| self.tick(cpu));
            self.settle();
        }
    }
}

pub(super) const MS: i64 = 1_000_000;

/// B7, worked example 1: 10 of 100 ms, a tick of 4 ms, from the beginning of a period on.
#[test]
fn a_hog_overruns_by_a_tick_and_pays_it_back() {
    let (lab, g) = hogs(1, "6.18.y", limit(10, 100));
    assert_eq!((lab.remaining(g, 0), lab.pool(g)), (5 * MS, Nanos::from_millis(5)));
    lab.ticks(1);
    assert_eq!(lab.remaining(g, 0), MS);
    lab.ticks(1);
    assert_eq!((lab.remaining(g, 0), lab.pool(g)), (2 * MS, Nanos::ZERO), "-3, asks for 8, gets 5");
    lab.ticks(1);
    assert!(lab.is_throttled(g, 0), "12 ms have run");
    assert_eq!(lab.remaining(g, 0), -2 * MS);
    assert_eq!(lab.k.rq(CpuId(0)).published.nr_running.get(), 0);
    lab.advance(Nanos::from_millis(88));
    lab.run(fair::group_timer(lab.cpu(0), g, fair::GroupTimer::Period));
    lab.settle();
    assert!(!lab.is_throttled(g, 0));
    assert_eq!((lab.remaining(g, 0), lab.pool(g)), (1, Nanos(8_000_000 - 1)), "just out of debt");
    lab.ticks(1);
    assert_eq!((lab.remaining(g, 0), lab.pool(g)), (4 * MS, Nanos::ZERO), "asks for 9, gets 8");
    lab.ticks(1);
    assert!(lab.is_throttled(g, 0), "8 ms have run");
}

/// B7, worked example 2, charged as each slice ends: those of 5 ms alternate, and both stop at 10 ms.
#[test]
fn two_cpus_draw_in_turn() {
    let (lab, g) = hogs(2, "6.18.y", limit(20, 100));
    assert_eq!(lab.pool(g), Nanos::from_millis(10), "each has drawn 5 ms");
    lab.ticks_of(5, 1);
    assert_eq!(lab.pool(g), Nanos::ZERO);
    assert_eq!([0, 1].map(|cpu| lab.remaining(g, cpu)), [5 * MS; 2]);
    lab.ticks_of(5, 1);
    assert!(lab.is_throttled(g, 0) && lab.is_throttled(g, 1));
}

/// B7, worked example 5: of 4.2 ms that are left when the last task sleeps, 3.2 go back.
#[test]
fn a_queue_without_tasks_gives_back_all_but_a_millisecond() {
    let (lab, g) = hogs(1, "6.18.y", limit(20, 100));
    lab.advance(Nanos(800_000));
    lab.block(0);
    assert_eq!((lab.remaining(g, 0), lab.pool(g)), (MS, Nanos(18_200_000)));
}

/// B7, rule 7: what is left of a former period is worth nothing.
#[test]
fn under_bw_expire_a_rest_ends_with_the_period() {
    let left = |rule: &str| {
        let (lab, g) = hogs(1, "6.1.y", limit(20, 100));
        lab.k.config.set(rule).expect("a rule");
        lab.advance(Nanos::from_millis(1));
        lab.run(fair::group_timer(lab.cpu(0), g, fair::GroupTimer::Period));
        lab.advance(Nanos::from_millis(1));
        lab.tick(0);
        lab.remaining(g, 0)
    };
    assert_eq!([left("bw_expire=off"), left("bw_expire=on")], [3 * MS, 5 * MS]);
}

/// B4 and B13, example 6: each of four hogs of a group of 1024 brings 256 to its CPU.
#[test]
fn h_load_is_a_part_of_the_groups_part() {
    let mut lab = Lab::new(1, "6.1.y", &["hz=250"]);
    let a = lab.group(GroupId::ROOT, None);
    let [a1, a2] = [(), ()].map(|()| lab.group(a, None));
    let hogs: Vec<TaskId> = (0..4).map(|_| lab.spawn_in(a1, 0)).collect();
    lab.ticks(400);
    let load = |p| fair::pelt::task_load(lab.cpu(0), p);
    let near = |is: u64, right: u64| assert!(is.abs_diff(right) <= right / 20, "{is}, not {right}");
    near(load(hogs[0]), 256);
    let fifth = lab.spawn_in(a2, 0);
    lab.ticks(400);
    near(load(fifth), 512);
    near(load(hogs[3]), 128);
}

/// GB10: a debt of 3 ms and a quota of 1 ms: after four refills at the latest it goes on.
#[test]
fn a_debt_is_repaid_refill_by_refill() {
    let (lab, g) = hogs(1, "6.18.y", limit(1, 1));
    lab.ticks(1);
    assert!(lab.is_throttled(g, 0));
    assert_eq!(lab.remaining(g, 0), -3 * MS);
    let refill = |_: &i32| {
        lab.advance(Nanos::from_millis(1));
        lab.run(fair::group_timer(lab.cpu(0), g, fair::GroupTimer::Period));
        lab.settle();
        lab.is_throttled(g, 0)
    };
    let in_vain = (0..10).take_while(refill).count();
    assert_eq!(in_vain, 3);
}

/// GB5 and B3: with hogs on all of four CPUs, and averages grown, each of the group's entities weighs a
/// quarter.
#[test]
fn a_group_of_hogs_weighs_its_shares() {
    for profile in ["6.18.y", "6.1.y", "4.4"] {
        let (lab, g) = hogs(4, profile, None);
        lab.ticks(400);
        let weight = |cpu| lab.k.task(TaskId::of_group(g, CpuId(cpu))).se.weight();
        let weights = [0, 1, 2, 3].map(weight);
        assert!(weights.iter().all(|w| (253..=269).contains(w)), "{profile}: {weights:?}");
        assert!((1014..=1075).contains(&weights.iter().sum::<u64>()), "{profile}: {weights:?}");
    }
}

/// B2: whether a woken task preempts is decided between the ancestors that are siblings: nice inside a group
/// says nothing outside it, and a `cpu.idle` group makes room.
#[test]
fn siblings_decide_about_preemption() {
    let asked = |idle: bool| {
        let mut lab = Lab::new(1, "6.18.y", &["hz=250"]);
        let params = GroupParams { idle, ..plain_group(GroupId::ROOT) };
        let g = lab.k.create_group(params);
        lab.spawn_in(g, 0);
        let waker = lab.spawn(Policy::Normal, 0);
        lab.advance(Nanos(100));
        lab.settle();
        lab.running(0) == waker
    };
    assert!(asked(true), "a SCHED_NORMAL task does not wait for a cpu.idle group");
    assert!(!asked(false), "a new task waits for the end of a group's request");
}

/// B7, rule 1: who reads its CPU clock is charged in the queue that it is in, and in none above. A limit
/// there stops it at once, one above at the next tick.
#[test]
fn a_reading_of_the_clock_charges_the_own_queue_alone() {
    let stops = |above: Option<QuotaParams>, own: Option<QuotaParams>| {
        let mut lab = Lab::new(1, "6.18.y", &["hz=250"]);
        let parent = lab.group(GroupId::ROOT, above);
        let group = lab.group(parent, own);
        let hog = lab.spawn_in(group, 0);
        let stops = |at_tick: bool| {
            if at_tick {
                lab.tick(0);
            } else {
                lab.run(task_sched_runtime(lab.cpu(0), hog));
                lab.settle();
            }
            lab.is_throttled(group, 0) || lab.is_throttled(parent, 0)
        };
        lab.advance(Nanos::from_millis(9));
        assert!(!stops(false));
        lab.advance(Nanos::from_millis(1));
        [stops(false), stops(true)]
    };
    assert_eq!(stops(None, limit(10, 100)), [true, true]);
    assert_eq!(stops(limit(10, 100), None), [false, true]);
    assert_eq!(stops(None, limit(11, 100)), [false, false]);
}
