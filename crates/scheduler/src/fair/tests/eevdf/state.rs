//! What stays of an entity and of its queue from one event to the next: the reference of virtual time (2.2),
//! protection (3.4), relative deadlines (3.2), weights (3.8), who counts as asleep in the queue (3.7).

use super::super::groups::{hogs, limit};
use crate::fair::eevdf::{reweight_queued, set_protect_slice};
use crate::fair::queue::{EntityId, Weight};
use crate::policy::set_user_nice;
use crate::testing::Lab;
use crate::{CpuId, Nice, Policy, TaskId};

const MS: u64 = 1_000_000;

impl Lab {
    /// v0 of CPU 0's queue, in ns.
    fn reference(&self) -> u64 {
        self.run(self.cpu(0).lock(CpuId(0))).fair.eevdf.v0
    }

    /// The same queue counts from another virtual time, in ns.
    fn count_from(&self, at: u64) {
        let mut rq = self.run(self.cpu(0).lock(CpuId(0)));
        let queue = &mut rq.fair.eevdf;
        queue.sum_wv -= i128::from(queue.sum_w) * i128::from(at.wrapping_sub(queue.v0) as i64);
        queue.v0 = at;
    }

    /// How many tasks count as asleep in CPU 0's queue.
    fn asleep_in_queue(&self) -> u32 {
        self.k.rq(CpuId(0)).published.nr_delayed.get()
    }

    fn renice(&self, p: TaskId, nice: i8) {
        self.run(set_user_nice(self.cpu(0), p, Nice::new(nice).expect("-20 to 19")));
    }
}

/// 2.2: `min`: each charge moves v0 to the least virtual runtime, never back. `zero`: a charge moves it to V,
/// but only where a new request begins.
#[test]
fn when_a_charge_moves_the_reference() {
    let after_charges = |rule: &str| {
        let lab = Lab::new(1, "6.18.y", &[rule]);
        let tasks = lab.crowd(0, &[0, 0]);
        lab.stand(tasks[0], 10.0, 17.0);
        lab.stand(tasks[1], 15.0, 25.0);
        lab.count_from(9 * MS);
        [1.0, 5.0, 2.0].map(|ms| {
            lab.charge(0, ms);
            lab.reference()
        })
    };
    assert_eq!(after_charges("v_ref=min"), [11 * MS, 15 * MS, 15 * MS]);
    assert_eq!(after_charges("v_ref=zero"), [9 * MS, 9 * MS, 16_500_000], "V of 18 and 15");
}

/// 2.2, `min`: a dequeue moves v0 too, unless it will be undone at once.
#[test]
fn which_dequeue_moves_the_reference() {
    let lab = Lab::new(1, "6.18.y", &["v_ref=min", "NO_DELAY_DEQUEUE"]);
    let tasks = lab.crowd(0, &[0, 0, 0]);
    for (p, v) in [(tasks[0], 15.0), (tasks[1], 10.0), (tasks[2], 16.0)] {
        lab.stand(p, v, 30.0);
    }
    lab.count_from(9 * MS);
    lab.renice(tasks[1], 1);
    assert_eq!(lab.reference(), 9 * MS);
    lab.stand(tasks[0], 10.5, 30.0);
    lab.stand(tasks[1], 15.0, 30.0);
    lab.block(0);
    assert_eq!(lab.reference(), 15 * MS);
}

/// 3.4: of equal slices the protection goes up to the deadline, wherever that is.
#[test]
fn protection_among_equal_slices() {
    let lab = Lab::new(1, "6.18.y", &[]);
    let tasks = lab.crowd(0, &[0, 0]);
    lab.stand(tasks[0], 10.0, 20.0);
    let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    let se = &lab.k.task(tasks[0]).se;
    set_protect_slice(&rq, se);
    assert_eq!(se.eevdf.vprot.get(), 20 * MS);
}

/// 3.4: a group's entity stays on its queue when the task that runs changes, and is set back: a reason to
/// protect it anew under `protect_when=set_next` only.
#[test]
fn when_a_groups_protection_begins() {
    for (rule, renewed) in [("protect_when=pick", false), ("protect_when=set_next", true)] {
        let (lab, g) = hogs(1, "6.18.y", None);
        lab.k.config.set(rule).expect("a legal setting");
        lab.spawn_in(g, 0);
        let vprot = &lab.cpu(0).entity(EntityId::of_group(g, CpuId(0))).eevdf.vprot;
        vprot.set(1);
        lab.renice(lab.running(0), 1);
        assert_eq!(vprot.get() != 1, renewed, "{rule}");
    }
}

/// 3.2 step 4, in the form of 6.12: a relative deadline counts only with PLACE_REL_DEADLINE.
#[test]
fn a_relative_deadline_without_the_feature_is_none() {
    for (feature, request) in [("PLACE_REL_DEADLINE", 300_000), ("NO_PLACE_REL_DEADLINE", 700_000)] {
        let lab = Lab::new(1, "6.12", &[feature, "base_slice_ns=700000"]);
        lab.crowd(0, &[0, 0]);
        let n = lab.sleeper(0, 0.0);
        let kept = &lab.k.task(n).se.eevdf;
        kept.rel_deadline.set(true);
        kept.deadline.set(300_000);
        lab.wake_unsettled(0, n);
        assert_eq!(lab.deadline(n).wrapping_sub(lab.vr(n)), request, "{feature}");
    }
}

/// 3.8: an entity that runs gets twice its weight: V stays, and what it is owed, its deadline and the end of
/// its protection are half as far from V.
#[test]
fn another_weight_on_the_queue() {
    let lab = Lab::new(1, "7.1", &[]);
    let tasks = lab.crowd(0, &[0, 0]);
    lab.stand(tasks[0], 10.0, 20.0);
    lab.stand(tasks[1], 12.0, 30.0);
    lab.protect(15.0);
    assert_eq!(lab.zero_lag_point(0), 11 * MS);
    let owed = lab.lag_of(tasks[0]);
    {
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        reweight_queued(&mut rq, EntityId::of(tasks[0]), Weight::from(2048));
    }
    assert_eq!((owed, lab.zero_lag_point(0)), (MS as i64, 11 * MS));
    assert_eq!(lab.standing_at(tasks[0]), [10_500_000, 15_500_000]);
    assert_eq!(lab.k.task(tasks[0]).se.eevdf.vprot.get(), 13 * MS);
}

/// 3.8: alone on its queue it stays where it is, wherever the reference of that is.
#[test]
fn another_weight_alone() {
    let lab = Lab::new(1, "6.6", &[]);
    let p = lab.spawn(Policy::Normal, 0);
    lab.stand(p, 10.0, 20.0);
    lab.count_from(12 * MS);
    let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    reweight_queued(&mut rq, EntityId::of(p), Weight::from(2048));
    drop(rq);
    assert_eq!(lab.standing_at(p), [10 * MS, 15 * MS]);
}

/// 3.7: whoever sleeps in its queue exactly at V comes out of it where it stands: nothing is owed to it.
#[test]
fn a_wakeup_at_the_zero_lag_point_changes_nothing() {
    let lab = Lab::new(1, "6.18.y", &[]);
    let tasks = lab.crowd(0, &[0, 0]);
    lab.stand(tasks[0], 12.0, 12.3);
    lab.stand(tasks[1], 10.0, 10.7);
    lab.block(0);
    lab.stand(tasks[0], 10.0, 12.3);
    lab.wake_unsettled(0, tasks[0]);
    assert_eq!(lab.standing_at(tasks[0]), [10 * MS, 12_300_000]);
}

/// deadline-groups B4: a group that works its debt off is no task that sleeps in the queue.
#[test]
fn a_group_asleep_in_its_queue_is_no_task() {
    let (lab, g) = hogs(1, "6.18.y", None);
    let member = lab.running(0);
    let other = lab.spawn_unsettled(Policy::Normal, 0, 0, crate::CpuMask::single(CpuId(0)));
    lab.stand(other, 10.0, 10.7);
    let group = &lab.cpu(0).entity(EntityId::of_group(g, CpuId(0)));
    group.vruntime.set(12 * MS);
    group.eevdf.deadline.set(12_300_000);
    lab.k.rq(CpuId(0)).published.resched.overwrite(crate::rq::Resched::No);
    assert_eq!(lab.block_unsettled(0), member);
    assert!(group.eevdf.sched_delayed.get() && !lab.k.task(member).se.eevdf.sched_delayed.get());
    assert_eq!((lab.running(0), lab.asleep_in_queue()), (other, 0));
}

/// deadline-groups B7: below a queue that is throttled as a whole nobody counts, and who is woken there does
/// not begin to.
#[test]
fn who_sleeps_in_a_frozen_queue_is_not_counted() {
    let (lab, g) = hogs(1, "6.12.y", limit(10, 100));
    let other = lab.spawn_in(g, 0);
    let sleeper = lab.running(0);
    let se = &lab.k.task(sleeper).se;
    se.vruntime.set(se.vruntime.get().wrapping_add(50 * MS));
    se.eevdf.deadline.set(se.vruntime.get().wrapping_add(MS));
    assert_eq!(lab.block(0), sleeper);
    assert!(se.eevdf.sched_delayed.get() && lab.running(0) != sleeper);
    assert_eq!(lab.asleep_in_queue(), 1);
    lab.ticks(4);
    assert!(lab.is_throttled(g, 0) && lab.idle(0));
    assert!(se.eevdf.sched_delayed.get() && lab.k.task(other).on_rq.get());
    assert_eq!(lab.asleep_in_queue(), 0);
    lab.wake_unsettled(0, sleeper);
    assert_eq!((se.eevdf.sched_delayed.get(), lab.asleep_in_queue()), (false, 0));
    lab.settle();
}
