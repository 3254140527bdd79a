//! Task groups (deadline-groups GB1 to GB10).

use super::{Watched, state_alarms};
use crate::fair::{GroupParams, QuotaParams};
use crate::testing::{Lab, plain_group};
use crate::{CpuId, CpuMask, GroupId, Nanos, TaskId};

const CPU0: CpuId = CpuId(0);

/// A group with a limit of 5 of 10 ms, in which a task runs on CPU 0 and another one waits.
fn grouped() -> (Lab, GroupId, TaskId) {
    let mut lab = Lab::new(1, "6.1.y", &[]);
    let ms = Nanos::from_millis;
    let quota = Some(QuotaParams { quota: ms(5), period: ms(10), burst: Nanos::ZERO, offset: Nanos::ZERO });
    let group = lab.k.create_group(GroupParams { quota, ..plain_group(GroupId::ROOT) });
    let p = lab.spawn_in(group, 0);
    lab.spawn_in(group, 0);
    assert_eq!(state_alarms(&lab), [""; 0]);
    (lab, group, p)
}

fn entity(lab: &Lab, group: GroupId) -> &crate::Task {
    lab.k.task(TaskId::of_group(group, CPU0))
}

#[test]
fn gb1_a_group_with_members_that_does_not_compete() {
    let (lab, group, _) = grouped();
    entity(&lab, group).on_rq.overwrite(false);
    assert!(state_alarms(&lab).contains(&"deadline-groups GB1"));
}

#[test]
fn gb3_a_group_heavier_than_its_shares() {
    let (lab, group, _) = grouped();
    for weight in [0, 1025] {
        entity(&lab, group).se.set_weight(weight);
        assert!(state_alarms(&lab).contains(&"deadline-groups GB3"), "{weight}");
    }
}

#[test]
fn gb4_a_load_that_no_queue_has_published() {
    let (lab, group, _) = grouped();
    let load = &lab.k.groups.get(group).load_avg;
    load.set(load.get() + 1);
    assert_eq!(state_alarms(&lab), ["deadline-groups GB4"]);
}

/// It owes 1 of 5 ms: two refills are enough, whatever comes of the first.
#[test]
fn gb10_a_queue_that_stays_throttled() {
    let (lab, group, _) = grouped();
    let bandwidth = &lab.k.group_queue(group, CPU0).bandwidth;
    while !bandwidth.is_throttled() {
        lab.advance(Nanos::from_millis(4));
        lab.tick(0);
    }
    bandwidth.remaining.set(-1_000_000);
    let mut watched = Watched::new(&lab);
    let pool = lab.k.groups.get(group).pool.as_ref().expect("a limit");
    let mut late = || {
        let found = watched.checker.look(&lab.k, &lab.k.online, &lab.k.online);
        found.map(|found| found.invariant)
    };
    assert_eq!(late(), None);
    let told = [1, 2, 3].map(|refills| {
        pool.period.set(refills);
        late()
    });
    assert_eq!(told, [None, None, Some("deadline-groups GB10")]);
}

#[test]
fn gb7_more_in_a_pool_than_a_refill_gives() {
    let (lab, group, _) = grouped();
    let pool = lab.k.groups.get(group).pool.as_ref().expect("a limit");
    pool.runtime.set(Nanos::from_millis(11));
    assert_eq!(state_alarms(&lab), ["deadline-groups GB7"], "a quota and a slice are 10 ms");
}

/// It may owe a tick, and a tick that nobody saw; and what its tasks do in the kernel meanwhile.
#[test]
fn gb8_a_queue_that_owes_without_end() {
    let (lab, group, p) = grouped();
    let remaining = &lab.k.group_queue(group, CPU0).bandwidth.remaining;
    let tick = 1_000_000_000 / lab.k.config.tunables.hz.get();
    let user = lab.k.online;
    assert_eq!(lab.running(0), p);
    let mut watched = Watched::new(&lab);
    let mut owes = |debt: i64, stoppable: &CpuMask| {
        remaining.set(-debt);
        let found = watched.checker.look(&lab.k, &lab.k.online, stoppable);
        found.is_some_and(|found| found.invariant == "deadline-groups GB8")
    };
    assert!(!owes(2 * tick, &user) && owes(2 * tick + 1, &user));
    // Half a second in the kernel.
    assert!(owes(2 * tick + 1, &CpuMask::EMPTY), "it has just entered it");
    lab.advance(Nanos::from_millis(500));
    assert!(!owes(2 * tick + 500_000_000, &user));
    lab.advance(Nanos::from_millis(500));
    assert!(owes(2 * tick + 500_000_001, &user), "it has left it");
    assert!(!owes(0, &user) && owes(2 * tick + 1, &user), "a debt that was paid");
}

#[test]
fn gb9_a_task_that_thinks_it_is_parked() {
    let (lab, _, p) = grouped();
    lab.k.task(p).se.parked.set(true);
    assert!(state_alarms(&lab).contains(&"deadline-groups GB9"));
}
