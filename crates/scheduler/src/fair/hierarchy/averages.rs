//! What joins or leaves a group's queue shows at all levels above (deadline-groups B4).
//!
//! A level is brought up to date when something happens there. Then the entity of a group whose queue has
//! changed takes over what that queue uses, and its parent's queue the difference; so a change climbs level
//! by level.

use super::weight::{publish, update_cfs_group};
use crate::fair::pelt;
use crate::fair::queue::EntityId;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{CpuId, GroupId, GroupOnCpu, ThisCpu};
use alloc::vec::Vec;
use core::cell::RefCell;

/// A share of so much runnable time has joined the queue of a group, or left it if negative.
#[inline]
pub(in crate::fair) fn queue_changed<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, cpu: CpuId, load: i64) {
    if group == GroupId::ROOT {
        return;
    }
    lives(me, group, cpu);
    let queue = me.group_queue(group, cpu);
    queue.changed.set(true);
    queue.load_change.set(queue.load_change.get() + load);
}

/// Brings the entity of a group and the queue in front, in which it competes, up to date; the entity has been
/// what it is now.
pub(super) fn update_entity<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let group = entity.group();
    let on = rq.me.group_on(group, rq.cpu);
    publish(rq, group, &on.queue);
    pelt::update_group(rq, entity, on);
    propagate(rq, group, on);
}

/// Its entity counts as many tasks as the queue of a group has now.
pub(super) fn note_runnable<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId) {
    rq.me.group_queue(group, rq.cpu).runnable.set(u64::from(rq.queue(group).h_nr_running));
}

/// The entity shows what its group's queue has become, and the queue in front the difference.
fn propagate<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId, on: &GroupOnCpu) {
    let from = &on.queue;
    if !from.changed.replace(false) {
        return;
    }
    let change = from.load_change.take();
    let se = &on.entity.se;
    let own = &se.pelt.average;
    let to = rq.me.k.averages_of(rq.fair.group, rq.cpu).average;
    own.follow_use(&from.average, to);
    own.follow_load(pelt::Change {
        joined: change,
        of_queue: from.average.load_sum.get(),
        weight_of_queue: rq.queue(group).load,
        weight: se.weight(),
        to,
    });
    queue_changed(rq.me, rq.fair.group, rq.cpu, change);
}

/// The groups whose queues on a CPU hold averages that fade (B4, leaf list), the latest made first: so those
/// below come before those above.
#[derive(Debug, Default)]
pub(crate) struct Living(RefCell<Vec<GroupId>>);

impl Living {
    fn place(list: &[GroupId], group: GroupId) -> Result<usize, usize> {
        list.binary_search_by(|other| group.cmp(other))
    }

    fn insert(&self, group: GroupId) {
        let mut list = self.0.borrow_mut();
        if let Err(place) = Living::place(&list, group) {
            list.insert(place, group);
        }
    }

    fn remove(&self, group: GroupId) {
        let mut list = self.0.borrow_mut();
        if let Ok(place) = Living::place(&list, group) {
            list.remove(place);
        }
    }

    /// The first that was made before `group`; with `None` of all.
    fn after(&self, group: Option<GroupId>) -> Option<GroupId> {
        let list = self.0.borrow();
        let behind = group.map_or(0, |group| match Living::place(&list, group) {
            Ok(place) => place + 1,
            Err(place) => place,
        });
        list.get(behind).copied()
    }
}

/// The queue of a group on a CPU holds something from now on.
#[inline]
pub(super) fn lives<P: Platform>(me: ThisCpu<'_, P>, group: GroupId, cpu: CpuId) {
    if group != GroupId::ROOT && !me.group_queue(group, cpu).lives.replace(true) {
        me.k.rq(cpu).living.insert(group);
    }
}

/// Whether nothing is left in the averages of a group's queue, nor in what the levels above know of it.
fn is_faded<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId, on: &GroupOnCpu) -> bool {
    let GroupOnCpu { entity, queue } = on;
    let is_zero = |average: &pelt::Average| {
        average.load_avg.get() == 0 && average.util_avg.get() == 0 && average.runnable_avg.get() == 0
    };
    let is_empty = || rq.queue(group).nr_running == 0 && !entity.on_rq.get();
    is_zero(&queue.average) && !queue.changed.get() && is_empty() && is_zero(&entity.se.pelt.average)
}

/// Brings all averages of a CPU's groups up to date, from the leaves on: what sleeps there, and what has
/// left. Who has nothing left to fade is forgotten.
pub(in crate::fair) fn update_all<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let living = &rq.me.k.rq(rq.cpu).living;
    let mut last = None;
    while let Some(group) = living.after(last) {
        last = Some(group);
        let on = rq.me.group_on(group, rq.cpu);
        let queue = &on.queue;
        let changes = pelt::update_queue_of_group(rq, group, queue);
        // What the rate limit has kept back when the last of it faded is still to be published.
        let is_behind = queue.average.load_avg.get() == 0 && queue.contrib.get() > 0;
        if changes || is_behind {
            let parent = rq.me.k.groups.parent(group);
            rq.bring(parent);
            update_entity(rq, EntityId::of_group(group, rq.cpu));
        } else if is_faded(rq, group, on) {
            queue.lives.set(false);
            living.remove(group);
        }
    }
    rq.bring(GroupId::ROOT);
}

/// [`update_entity`], and the weight that follows from it.
pub(super) fn refresh<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    update_entity(rq, entity);
    note_runnable(rq, entity.group());
    update_cfs_group(rq, entity);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, TestPlatform, plain_group};
    use crate::{Nanos, Policy};

    fn lab() -> (Lab, GroupId) {
        let mut lab = Lab::new(1, "6.1.y", &[]);
        let group = lab.k.create_group(plain_group(GroupId::ROOT));
        (lab, group)
    }

    fn is_listed(rq: &RqGuard<'_, TestPlatform>, group: GroupId) -> bool {
        rq.me.k.rq(rq.cpu).living.after(None) == Some(group)
    }

    /// B4, leaf list: a queue is listed as long as anything of it is left, and no longer.
    #[test]
    fn a_queue_is_forgotten_when_nothing_of_it_is_left() {
        type Set = fn(&mut RqGuard<'_, TestPlatform>, GroupId, u64);
        let parts: [(&str, Set); 9] = [
            ("nothing", |_, _, _| {}),
            ("load", |rq, g, n| rq.me.group_queue(g, rq.cpu).average.load_avg.set(n)),
            ("use", |rq, g, n| rq.me.group_queue(g, rq.cpu).average.util_avg.set(n)),
            ("tasks", |rq, g, n| rq.me.group_queue(g, rq.cpu).average.runnable_avg.set(n)),
            ("load above", |rq, g, n| above(rq, g).load_avg.set(n)),
            ("use above", |rq, g, n| above(rq, g).util_avg.set(n)),
            ("a change", |rq, g, n| rq.me.group_queue(g, rq.cpu).changed.set(n > 0)),
            ("a task", |rq, g, n| {
                rq.bring(g);
                rq.fair.nr_running = n as u32;
                rq.bring(GroupId::ROOT);
            }),
            ("its entity", |rq, g, n| {
                rq.me.task(EntityId::of_group(g, rq.cpu).task()).on_rq.set(rq, n > 0);
            }),
        ];
        for (what, set) in parts {
            let (lab, group) = lab();
            let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
            lives(rq.me, group, rq.cpu);
            set(&mut rq, group, 1);
            update_all(&mut rq);
            assert_eq!(is_listed(&rq, group), what != "nothing", "{what} is left");
            set(&mut rq, group, 0);
            update_all(&mut rq);
            assert!(!is_listed(&rq, group), "{what} is left no more");
            lives(rq.me, group, rq.cpu);
            assert!(is_listed(&rq, group), "something has come again");
        }
    }

    fn above<'k>(rq: &RqGuard<'k, TestPlatform>, group: GroupId) -> &'k pelt::Average {
        &rq.me.entity(EntityId::of_group(group, rq.cpu)).pelt.average
    }

    /// B4: what sleeps in a group fades in the averages above, and in what the group has of it (B3), whoever
    /// asks.
    #[test]
    fn what_sleeps_in_a_group_fades_at_every_level() {
        let (lab, group) = lab();
        let p = crate::fork::new_task(
            &lab.k,
            crate::fork::NewTask {
                pid: crate::Pid(1),
                policy: Policy::Normal,
                nice: crate::Nice::default(),
                cpus_allowed: crate::CpuMask::single(CpuId(0)),
                kernel_thread: false,
                group,
            },
        );
        lab.run(crate::fork::wake_up_new_task_on(lab.cpu(0), p, Some(CpuId(0))));
        lab.settle();
        lab.advance(Nanos::from_millis(500));
        lab.tick(0);
        lab.block(0);
        let left = |after_ms: u64| {
            lab.advance(Nanos::from_millis(after_ms));
            let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
            rq.update_clock();
            update_all(&mut rq);
            let above = above(&rq, group);
            [above.util_avg.get(), above.load_avg.get(), lab.k.groups.get(group).load_avg.get()]
        };
        let near = |is: [u64; 3], right: u64| assert!(is.iter().all(|is| is.abs_diff(right) <= 20), "{is:?}");
        near(left(0), 1024);
        near(left(33), 512);
        near(left(33), 256);
        assert_eq!(left(1_000), [0; 3]);
    }

    /// B3: what the limit of publications has kept back is published when nothing is left; before that, only
    /// where something has been counted.
    #[test]
    fn the_last_of_a_load_is_published() {
        for (load, published) in [(0, 0), (500, 100)] {
            let (lab, group) = lab();
            let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
            let queue = rq.me.group_queue(group, rq.cpu);
            queue.average.load_avg.set(load);
            queue.contrib.set(100);
            lab.k.groups.get(group).load_avg.set(100);
            lives(rq.me, group, rq.cpu);
            update_all(&mut rq);
            assert_eq!((queue.contrib.get(), lab.k.groups.get(group).load_avg.get()), (published, published));
        }
    }
}
