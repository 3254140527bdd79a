//! What a task of a group brings to its CPU: its part of its group's part (deadline-groups B2, B4, B14).

use crate::fair::pelt;
use crate::fair::queue::EntityId;
use crate::fair::vruntime::proportion;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{GroupId, TaskId, ThisCpu};

/// The load of a task as the whole CPU sees it: of what each level brings to the one above, its part.
#[inline(never)]
pub(in crate::fair) fn task_h_load<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, own: u64) -> u64 {
    let task = me.task(p);
    let (mut load, mut group, cpu) = (own, task.se.group.get(), task.cpu.get());
    while group != GroupId::ROOT {
        let entity = me.entity(EntityId::of_group(group, cpu));
        let queue = me.group_queue(group, cpu);
        let (of_entity, of_queue) = if pelt::tracked(me) {
            (entity.pelt.average.load_avg.get(), queue.average.load_avg.get())
        } else {
            (entity.weight(), queue.contrib.get())
        };
        load = load * of_entity / (of_queue + 1);
        group = me.k.groups.parent(group);
    }
    load
}

/// What is left of a CFS slice in the queue in front, after the shares of the levels above.
pub(in crate::fair) fn share_above<P: Platform>(rq: &RqGuard<'_, P>, mut share: u64) -> u64 {
    let mut group = rq.fair.group;
    while group != GroupId::ROOT {
        let entity = EntityId::of_group(group, rq.cpu);
        group = rq.me.k.groups.parent(group);
        let weight = rq.me.entity(entity).weight();
        let queued = rq.me.task(entity.task()).on_rq.get();
        let load = rq.queue(group).load + if queued { 0 } else { weight };
        share = proportion(share, weight, load);
    }
    share
}
