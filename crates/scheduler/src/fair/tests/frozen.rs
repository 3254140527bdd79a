//! Who counts while a group has used up its limit, and whose time goes on (deadline-groups B7, rules 2 and
//! 5). In these tests threads of the kernel stand for tasks that are in the kernel for long: they never
//! park.

use super::groups::{hogs, limit};
use super::*;
use crate::GroupId;
use crate::fair::hierarchy::bandwidth::clock_of;
use crate::fair::{GroupParams, GroupTimer, group_timer};
use crate::testing::{fifo, plain_group};

/// What a CPU counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counted {
    running: u32,
    idle_policy: u32,
    delayed: u32,
    server: bool,
}

impl Lab {
    /// The time of the averages of a group's queue on CPU 0.
    fn pelt_clock(&self, group: GroupId) -> Nanos {
        let mut rq = self.run(self.cpu(0).lock(CpuId(0)));
        rq.update_clock();
        clock_of(&rq, group)
    }

    fn pelt_clocks<const N: usize>(&self, groups: [GroupId; N]) -> [u64; N] {
        groups.map(|group| self.pelt_clock(group).0 / 1_000_000)
    }

    fn until(&self, at_ms: u64) {
        self.k.platform.now.set(Nanos::from_millis(at_ms));
    }

    /// As many periods of a group end as it takes to let it go on here, and everything that follows.
    fn pays(&self, group: GroupId) {
        for _ in 0..10 {
            if self.is_throttled(group, 0) {
                self.run(group_timer(self.cpu(0), group, GroupTimer::Period));
                self.settle();
            }
        }
        assert!(!self.is_throttled(group, 0));
    }

    /// A hog of a group on CPU 0 that never returns to user space.
    fn thread_in(&self, group: GroupId) -> TaskId {
        let p = self.spawn_in_unsettled(Policy::Normal, group, 0);
        self.k.task(p).kernel_thread.set(true);
        self.settle();
        p
    }

    fn counted(&self) -> Counted {
        let rq = &self.k.rq(CpuId(0)).published;
        Counted {
            running: rq.nr_running.get(),
            idle_policy: rq.nr_idle_policy.get(),
            delayed: rq.nr_delayed.get(),
            server: self.k.dl_cpus.fair_server(CpuId(0)).is_active(),
        }
    }

    fn waited(&self, p: TaskId) -> Nanos {
        self.k.task(p).stats.wait_sum.get()
    }
}

/// A group of 10 ms, one in it with a hog that stays in the kernel, and one without anybody.
fn family(profile: &str) -> (Lab, [GroupId; 3]) {
    let mut lab = Lab::new(1, profile, &["hz=250"]);
    let parent = lab.group(GroupId::ROOT, limit(10, 100));
    let [busy, empty] = [(), ()].map(|()| lab.group(parent, None));
    lab.thread_in(busy);
    lab.ticks(3);
    assert!(lab.is_throttled(parent, 0), "12 ms have run");
    (lab, [parent, busy, empty])
}

/// Rule 2, entity mode: the time of the averages stands still below a throttled queue, whoever comes; and
/// goes on where it stood.
#[test]
fn below_a_frozen_queue_time_stands_still() {
    let (lab, all) = family("6.12.y");
    lab.until(30);
    assert_eq!(lab.pelt_clocks(all), [12; 3]);
    let new = lab.spawn_in(all[2], 0);
    lab.until(50);
    assert_eq!(lab.pelt_clocks(all), [12; 3]);
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), new, CpuMask::ALL));
    lab.until(100);
    lab.pays(all[0]);
    lab.until(104);
    assert_eq!(lab.pelt_clocks(all), [16; 3]);
}

/// Rule 2, task mode: it stands still where nobody is left, and goes on while somebody is.
#[test]
fn below_a_throttled_queue_time_stands_still_where_nobody_is() {
    let (lab, all) = family("6.18.y");
    lab.until(20);
    assert_eq!(lab.pelt_clocks(all), [20, 20, 12]);
    let new = lab.spawn_in_unsettled(Policy::Normal, all[2], 0);
    lab.until(23);
    assert_eq!(lab.pelt_clocks(all), [23, 23, 15], "somebody has come");
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::Full);
    while !lab.k.task(new).se.parked.get() {
        lab.ticks_of(1, 1);
    }
    let stands = lab.pelt_clock(all[2]);
    lab.until(50);
    assert_eq!((lab.pelt_clock(all[0]).0, lab.pelt_clock(all[2])), (50_000_000, stands), "it has parked");
    lab.block(0);
    lab.until(100);
    assert_eq!(lab.pelt_clocks(all)[..2], [50, 50]);
    lab.pays(all[0]);
    lab.until(104);
    assert_eq!(lab.pelt_clocks(all)[..2], [54, 54]);
    assert_eq!(lab.pelt_clock(all[2]), stands + Nanos::from_millis(4));
}

/// A group of 10 ms with a hog in the kernel, in it one of 5 ms with another, and in that one without
/// anybody. The first hog is the later one.
fn nested(profile: &str) -> (Lab, [GroupId; 3]) {
    let mut lab = Lab::new(1, profile, &["hz=250"]);
    let outer = lab.group(GroupId::ROOT, limit(10, 100));
    let inner = lab.group(outer, limit(5, 100));
    let empty = lab.group(inner, None);
    lab.thread_in(inner);
    lab.ticks(2);
    assert!(lab.is_throttled(inner, 0) && !lab.is_throttled(outer, 0), "8 ms have run");
    (lab, [outer, inner, empty])
}

/// Rules 2 and 5, entity mode: whoever is below two throttled queues counts again, and has time again, when
/// both go on, in whatever order.
#[test]
fn who_is_below_two_frozen_queues_waits_for_both() {
    let frozen = || {
        let (lab, all) = nested("6.12.y");
        lab.thread_in(all[0]);
        assert_eq!(lab.counted().running, 1);
        lab.ticks(1);
        assert!(lab.is_throttled(all[0], 0));
        assert_eq!((lab.counted().running, lab.pelt_clocks(all)), (0, [12, 8, 8]));
        lab.until(100);
        (lab, all)
    };
    // Who goes on first, then second; what is counted, and the clocks a millisecond later.
    for (order, first, second) in
        [([0, 1], (1, [13, 8, 8]), (2, [14, 9, 9])), ([1, 0], (0, [12, 8, 8]), (2, [13, 9, 9]))]
    {
        let (lab, all) = frozen();
        for (nth, (which, right)) in order.into_iter().zip([first, second]).enumerate() {
            lab.pays(all[which]);
            lab.until(101 + nth as u64);
            assert_eq!((lab.counted().running, lab.pelt_clocks(all)), right, "{order:?}, {nth}");
        }
    }
}

/// The same in task mode, where nobody is left in the inner queue.
#[test]
fn an_empty_queue_below_two_throttled_ones_waits_for_both() {
    let (lab, [outer, inner, _]) = nested("6.18.y");
    lab.ticks(1);
    assert!(lab.is_throttled(outer, 0));
    lab.block(0);
    lab.until(20);
    lab.pays(inner);
    lab.until(30);
    assert_eq!(lab.pelt_clocks([outer, inner]), [12, 12]);
    lab.pays(outer);
    lab.until(31);
    assert_eq!(lab.pelt_clocks([outer, inner]), [13, 13]);
}

/// Where the rule changes in the middle: a frozen queue that goes on below one that is throttled task by task
/// has time if it has tasks.
#[test]
fn a_queue_with_tasks_that_is_frozen_no_more_has_time() {
    let (lab, all) = nested("6.12.y");
    lab.k.config.set("bw_throttle=task").expect("a rule");
    lab.thread_in(all[0]);
    lab.ticks(1);
    assert!(lab.is_throttled(all[0], 0));
    lab.pays(all[1]);
    lab.until(20);
    assert_eq!(lab.pelt_clocks(all), [20, 16, 8]);
}

/// Rule 2: frozen tasks count nowhere, neither as runnable nor as idle ones (B6); 5: afterwards they count as
/// before.
#[test]
fn frozen_tasks_do_not_count() {
    let counts = |policy: Policy, idle_group: bool| {
        let mut lab = Lab::new(1, "6.12.y", &["hz=250", "dl_server_stop=on_empty"]);
        let quota = limit(10, 100);
        let params = GroupParams { idle: idle_group, quota, ..plain_group(GroupId::ROOT) };
        let limited = lab.k.create_group(params);
        let below = lab.group(limited, None);
        lab.spawn_in_as(policy, below, 0);
        let before = lab.counted();
        lab.ticks(3);
        assert_eq!(lab.counted(), Counted { running: 0, idle_policy: 0, delayed: 0, server: false });
        lab.until(100);
        lab.pays(limited);
        assert_eq!(lab.counted(), before);
        (before.running, before.idle_policy)
    };
    assert_eq!(counts(Policy::Normal, false), (1, 0));
    assert_eq!(counts(Policy::Idle, false), (1, 1));
    assert_eq!(counts(Policy::Normal, true), (1, 1));
}

/// deadline-groups A11: the server stops when the last fair task is frozen, and protects those that are left.
#[test]
fn the_fair_server_protects_who_is_not_frozen() {
    let protects = |beside: bool| {
        let (lab, group) = hogs(1, "6.12.y", limit(10, 100));
        lab.k.config.set("dl_server_stop=on_empty").expect("a rule");
        if beside {
            lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        }
        while !lab.is_throttled(group, 0) {
            lab.ticks(1);
        }
        let frozen = lab.counted().server;
        lab.until(100);
        lab.pays(group);
        [frozen, lab.counted().server]
    };
    assert_eq!([false, true].map(protects), [[false, true], [true, true]]);
}

/// Rule 5: a queue goes on whose tasks have left it meanwhile: its group does not compete, and nobody is
/// asked to make room.
#[test]
fn a_queue_without_tasks_goes_on_without_competing() {
    let (lab, group) = hogs(1, "6.12.y", limit(10, 100));
    let hog = lab.running(0);
    lab.ticks(3);
    lab.k.task(hog).state.overwrite(crate::TaskState::Running);
    lab.run(crate::testing::sched_setscheduler(lab.cpu(0), hog, fifo(1)));
    lab.settle();
    lab.block(0);
    assert!(lab.idle(0) && lab.is_throttled(group, 0));
    lab.until(100);
    lab.run(group_timer(lab.cpu(0), group, GroupTimer::Period));
    assert!(!lab.is_throttled(group, 0));
    assert!(!lab.k.rq(CpuId(0)).published.is_asked());
    assert!(!lab.k.task(TaskId::of_group(group, CpuId(0))).on_rq.get());
    lab.settle();
}

/// Rule 5: only an idle CPU is asked to reschedule for a queue that goes on.
#[test]
fn a_busy_cpu_is_not_asked_for_a_queue_that_goes_on() {
    let asked = |busy: bool| {
        let (lab, group) = hogs(1, "6.12.y", limit(10, 100));
        lab.ticks(3);
        if busy {
            lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        }
        lab.until(100);
        lab.run(group_timer(lab.cpu(0), group, GroupTimer::Period));
        assert!(!lab.is_throttled(group, 0));
        lab.k.rq(CpuId(0)).published.is_asked()
    };
    assert_eq!([false, true].map(asked), [true, false]);
}

/// eevdf-class 3.7: who works its debt off asleep is counted, in a group as outside.
#[test]
fn who_sleeps_in_the_queue_of_a_group_is_counted() {
    let (lab, group) = hogs(1, "6.18.y", None);
    lab.spawn_in(group, 0);
    lab.advance(Nanos::from_millis(2));
    let p = lab.block(0);
    assert!(lab.k.task(p).se.eevdf.sched_delayed.get());
    assert_eq!((lab.counted().running, lab.counted().delayed), (2, 1));
}

/// Rule 2: a parked task that comes to a CPU where its group has time goes on there. Where it has none, it
/// waits beside the queue; the time until then is no wait in a queue (B7, counters).
#[test]
fn a_parked_task_goes_on_where_its_group_has_time() {
    let moved = |has_time: bool| {
        let mut lab = Lab::new(2, "6.18.y", &["hz=250"]);
        let group = lab.group(GroupId::ROOT, limit(15, 100));
        let hog = lab.spawn_in(group, 0);
        lab.spawn_in(group, 1);
        if has_time {
            lab.block(1);
        }
        lab.ticks(if has_time { 4 } else { 3 });
        assert!(lab.k.task(hog).se.parked.get());
        assert_eq!(lab.is_throttled(group, 1), !has_time);
        let waited = lab.waited(hog);
        lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), hog, cpus(&[1])));
        lab.settle();
        assert_eq!(lab.running(1) == hog, has_time);
        assert_eq!(lab.k.task(hog).stats.wait_start.get(), None);
        lab.until(99);
        lab.pays(group);
        assert!(!lab.k.task(hog).se.parked.get());
        lab.waited(hog) - waited
    };
    assert_eq!([true, false].map(moved), [Nanos::ZERO; 2]);
}

/// eevdf-class 3.7: who works its debt off asleep in its queue does not wait for the CPU, also where it is
/// moved meanwhile.
#[test]
fn who_is_asleep_in_its_queue_does_not_wait() {
    let lab = Lab::new(2, "6.18.y", &["hz=250"]);
    let [a, _] = [(), ()].map(|()| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0])));
    lab.advance(Nanos::from_millis(2));
    while !lab.k.task(a).se.eevdf.sched_delayed.get() {
        assert_eq!(lab.running(0), a);
        lab.block(0);
    }
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), a, cpus(&[1])));
    assert_eq!(lab.cpu_of(a), 1);
    assert_eq!(lab.k.task(a).stats.wait_start.get(), None);
}

/// Counters: the time of a throttled queue runs from the first of its tasks that parks; that of a queue
/// above, which is not throttled, does not run.
#[test]
fn the_first_who_parks_starts_the_time_of_its_queue() {
    let mut lab = Lab::new(1, "6.18.y", &["hz=250"]);
    let outer = lab.group(GroupId::ROOT, limit(90, 100));
    let inner = lab.group(outer, limit(5, 100));
    let (first, second) = (lab.thread_in(inner), lab.thread_in(inner));
    lab.ticks_of(1, 10);
    let returns = |p: TaskId, at: u64| {
        lab.until(at);
        lab.k.task(p).kernel_thread.set(false);
        lab.settle();
        while lab.running(0) != p && !lab.k.task(p).se.parked.get() {
            lab.ticks_of(1, 1);
        }
        lab.settle();
        assert!(lab.k.task(p).se.parked.get());
        lab.cpu(0).now()
    };
    let begins = returns(first, 20);
    assert!(returns(second, 40) > begins);
    lab.until(50);
    let throttled = |group| lab.k.bandwidth_counts(group, lab.cpu(0).now()).expect("a limit").throttled_time;
    assert_eq!(throttled(inner), Nanos::from_millis(50) - begins);
    assert_eq!(throttled(outer), Nanos::ZERO);
}
