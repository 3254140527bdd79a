//! Groups in groups: who is preferred, whose turn goes on, and what a group weighs (deadline-groups B2, B3).

use super::groups::{hogs, limit};
use super::*;
use crate::GroupId;
use crate::class::{DequeueKind, deactivate_task};
use crate::fair::{EntityId, GroupParams};
use crate::policy::set_user_nice;
use crate::testing::plain_group;

/// What stands for a group on a CPU.
fn entity(group: GroupId, cpu: u16) -> EntityId {
    EntityId::of_group(group, CpuId(cpu))
}

impl Lab {
    fn weight(&self, group: GroupId, cpu: u16) -> u64 {
        self.k.task(entity(group, cpu).task()).se.weight()
    }

    /// How long a group has had a CPU.
    fn has_had(&self, group: GroupId) -> Nanos {
        self.k.task(entity(group, 0).task()).ran()
    }

    /// The next buddy of a group's queue on a CPU.
    fn next_buddy(&self, group: GroupId, cpu: u16) -> Option<EntityId> {
        self.k.rq(CpuId(cpu)).inspect().expect("nobody holds the lock").queue(group).buddies.next
    }
}

/// B2, dequeue: a group of which others are left becomes the next buddy of its level when a task of it
/// sleeps, and buddies are on.
#[test]
fn a_group_stays_near_when_one_of_its_tasks_sleeps() {
    let prefers = |settings: &[&str], idle: bool, tasks: u32, kind: DequeueKind| {
        let mut lab = Lab::new(1, "6.1.y", settings);
        let params = GroupParams { idle, ..plain_group(GroupId::ROOT) };
        let group = lab.k.create_group(params);
        let all: Vec<TaskId> = (0..tasks).map(|_| lab.spawn_in(group, 0)).collect();
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        deactivate_task(&mut rq, all[0], kind);
        rq.fair.buddies.next == Some(entity(group, 0))
    };
    let on = &["NEXT_BUDDY"][..];
    assert!(prefers(on, false, 2, DequeueKind::Sleep));
    assert!(!prefers(on, false, 1, DequeueKind::Sleep), "nobody is left");
    assert!(!prefers(on, false, 2, DequeueKind::Departure), "it goes elsewhere");
    assert!(!prefers(on, true, 2, DequeueKind::Sleep), "idle groups are nobody's buddies");
    assert!(!prefers(&["NO_NEXT_BUDDY"], false, 2, DequeueKind::Sleep));
}

/// B2: buddies are set at every level of the path; SCHED_IDLE tasks are none, nor is who sleeps in its queue.
#[test]
fn a_woken_task_is_the_next_buddy_at_every_level() {
    let marks = |policy: Policy| {
        let mut lab = Lab::new(1, "6.1.y", &["NEXT_BUDDY", "buddy_gate=off"]);
        let outer = lab.group(GroupId::ROOT, None);
        let inner = lab.group(outer, None);
        let sleeper = lab.spawn_in_as(policy, inner, 0);
        lab.block(0);
        lab.spawn(Policy::Normal, 0);
        lab.wake_unsettled(0, sleeper);
        assert_eq!(lab.next_buddy(GroupId::ROOT, 0), Some(entity(outer, 0)));
        let below = [lab.next_buddy(outer, 0), lab.next_buddy(inner, 0)];
        below == [Some(entity(inner, 0)), Some(EntityId::of(sleeper))]
    };
    assert!(marks(Policy::Normal) && !marks(Policy::Idle));

    let mut lab = Lab::new(2, "6.12.y", &["hz=250", "NEXT_BUDDY"]);
    let group = lab.group(GroupId::ROOT, None);
    let sleeper = lab.spawn_in(group, 0);
    lab.spawn_in(group, 0);
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    lab.advance(Nanos::from_millis(2));
    assert_eq!(lab.block_unsettled(0), sleeper);
    assert!(lab.k.task(sleeper).se.eevdf.sched_delayed.get());
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), sleeper, cpus(&[1])));
    assert_eq!((lab.cpu_of(sleeper), lab.next_buddy(GroupId::ROOT, 1)), (1, Some(entity(group, 1))));
    assert_eq!(lab.next_buddy(group, 1), None);
}

/// B2: an interrupted task is the last buddy at every level, too.
#[test]
fn an_interrupted_task_is_the_last_buddy_at_every_level() {
    let mut lab = Lab::new(1, "6.1.y", &["buddy_gate=off"]);
    let group = lab.group(GroupId::ROOT, None);
    let sleeper = lab.spawn_in(group, 0);
    let runs = lab.spawn_in(group, 0);
    lab.block(0);
    assert_eq!(lab.running(0), runs);
    lab.charge(0, 20.0);
    lab.wake_unsettled(0, sleeper);
    assert!(lab.decided_last(Reason::PreemptVruntime));
    let state = lab.k.rq(CpuId(0)).inspect().expect("nobody holds the lock");
    assert_eq!(state.queue(group).buddies.last, Some(EntityId::of(runs)));
    assert_eq!(state.queue(GroupId::ROOT).buddies.last, Some(entity(group, 0)));
}

/// B2: each level has its own virtual time. That of a group of twice a hog's shares goes half as fast
/// outside.
#[test]
fn each_level_has_a_floor() {
    let mut lab = Lab::new(1, "6.1.y", &["hz=250"]);
    let params = GroupParams { shares: 2048, ..plain_group(GroupId::ROOT) };
    let group = lab.k.create_group(params);
    lab.spawn_in(group, 0);
    let floors = || [group, GroupId::ROOT].map(|g| lab.k.floor_of(g, CpuId(0)).get());
    let before = floors();
    lab.ticks(10);
    let after = floors();
    assert_eq!([0, 1].map(|n| lag(after[n], before[n])), [40_000_000, 20_000_000]);
}

/// GB1, eevdf-class 3.7: a group that owes service stays in its queue asleep when its last task sleeps.
#[test]
fn a_group_that_owes_service_stays_in_its_queue() {
    let (lab, group) = hogs(1, "6.18.y", None);
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.advance(Nanos::from_millis(2));
    lab.block(0);
    let stands = lab.k.task(entity(group, 0).task());
    assert!(stands.on_rq.get() && stands.se.eevdf.sched_delayed.get());
    let state = lab.k.rq(CpuId(0)).inspect().expect("nobody holds the lock");
    assert_eq!((state.queue(group).nr_running, state.queue(GroupId::ROOT).nr_running), (0, 2));
}

/// B2, pick: a group whose tasks take turns has one turn of its level; another one begins when it is picked
/// after others, and when its task comes back to the CPU from a change of its parameters.
#[test]
fn a_turn_of_a_group_lasts_while_its_tasks_take_turns() {
    let (lab, group) = hogs(1, "6.1.y", None);
    let first = lab.running(0);
    let second = lab.spawn_in(group, 0);
    let mut turns = Vec::from([first]);
    for _ in 0..10 {
        lab.ticks(1);
        turns.push(lab.running(0));
    }
    assert!(turns.contains(&first) && turns.contains(&second));
    assert_eq!(lab.has_had(group), Nanos::from_millis(40));
    lab.run(set_user_nice(lab.cpu(0), lab.running(0), Nice::new(1).expect("a nice value")));
    lab.settle();
    assert_eq!(lab.has_had(group), Nanos::ZERO);
    let other = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    while lab.running(0) != other {
        lab.ticks(1);
    }
    while lab.running(0) == other {
        lab.ticks(1);
    }
    assert_eq!(lab.has_had(group), Nanos::ZERO);
}

/// B2, slice under CFS: the product over the levels, of a period by the number of all fair tasks of the CPU
/// since 5.13, before by that of the level. Ten hogs beside a group of ten times a hog's shares that has two:
/// 12 tasks have a period of 9 ms, 11 entities one of 8.25, and two one of 6.
#[test]
fn a_slice_is_one_of_the_period_of_all_tasks() {
    let slices = |profile: &str| {
        let mut lab = Lab::new(1, profile, &[]);
        let params = GroupParams { shares: 10 * 1024, ..plain_group(GroupId::ROOT) };
        let group = lab.k.create_group(params);
        let member = [(), ()].map(|()| lab.spawn_in(group, 0))[0];
        let beside: Vec<TaskId> = (0..10).map(|_| lab.spawn(Policy::Normal, 0)).collect();
        lab.k.task(entity(group, 0).task()).se.set_weight(10 * 1024);
        let slice = |p: TaskId| {
            let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
            rq.fair.load = 20 * 1024;
            let before = rq.bring(lab.k.task(p).se.group.get());
            let slice = crate::fair::cfs::sched_slice(&rq, lab.k.task(p));
            rq.bring(before);
            slice / 1_000
        };
        [slice(member), slice(beside[0])]
    };
    assert_eq!(slices("6.1.y"), [9_000 / 2 / 2, 750], "a twentieth of 9 ms is less than the least slice");
    assert_eq!(slices("5.10"), [6_000 / 2 / 2, 8_250 / 20]);
}

/// B3: the weight is not computed anew while the queue's hierarchy is throttled.
#[test]
fn a_throttled_group_keeps_its_weight() {
    let weight = |quota| {
        let mut lab = Lab::new(2, "6.18.y", &["hz=250"]);
        let group = lab.group(GroupId::ROOT, quota);
        let below = lab.group(group, None);
        let thread = |cpu| {
            let p = lab.spawn_in_unsettled(Policy::Normal, below, cpu);
            lab.k.task(p).kernel_thread.set(true);
            lab.settle();
        };
        thread(0);
        lab.ticks(3);
        assert_eq!((lab.is_throttled(group, 0), lab.weight(below, 0)), (quota.is_some(), 1024));
        thread(1);
        lab.ticks(100);
        lab.weight(below, 0)
    };
    let shared = weight(None);
    assert!((507..=522).contains(&shared), "a half of 1024, and at most a 64th more: {shared}");
    assert_eq!(weight(limit(10, 1_000)), 1024);
}

/// B3: where nothing is averaged, a group's load is the sum of the weights in its queues, exactly.
#[test]
fn without_averages_every_weight_is_published() {
    for profile in ["3.3", "6.18.y"] {
        let mut lab = Lab::new(2, profile, &["load_tracking=weights"]);
        lab.advance(Nanos::from_millis(5));
        let group = lab.group(GroupId::ROOT, None);
        let published = || lab.k.groups.get(group).load_avg.get();
        lab.spawn_in(group, 0);
        assert_eq!(published(), 1024);
        lab.spawn_in_as(Policy::Idle, group, 0);
        assert_eq!(published(), 1027, "{profile}: 3 is less than a 64th of 1024");
        lab.spawn_in(group, 1);
        assert_eq!(published(), 2051);
    }
}
