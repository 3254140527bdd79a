//! deadline-groups B9: the real-time queues of the groups hang together, and count what is in them.

use super::{Findings, Moment, Queue};
use crate::platform::Platform;
use crate::rq::RqState;
use crate::rt::is_hidden;
use crate::{GroupId, Scheduler, TaskId};
use alloc::format;

pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (k, rq) = (moment.k, &*queue.rq);
    if !k.rt_bandwidth.has_groups() {
        return;
    }
    let with_queues = || k.groups.ids().filter(|group| k.groups.get(*group).rt.is_some());
    for group in with_queues().chain([GroupId::ROOT]) {
        let counted = rq.rt.nr_running_in(group);
        let right = competing(k, rq, group).count();
        found.expect("deadline-groups B9", counted as usize == right, || {
            format!("CPU {}: {right} real-time tasks compete in {group:?}, {counted} are counted", rq.cpu)
        });
    }
    for group in with_queues() {
        let entity = TaskId::of_group(group, rq.cpu);
        let is_queued = rq.rt.entries(k, k.groups.parent(group)).any(|entry| entry == entity);
        let members = rq.rt.nr_running_in(group);
        let stopped = rq.rt.is_stopped(group);
        found.expect("deadline-groups B9", is_queued == (members > 0 && !stopped), || {
            let is = if stopped { "stopped" } else { "not stopped" };
            format!(
                "CPU {}: {group:?} has {members} real-time tasks to run and is {is}, its entity is queued: \
                 {is_queued}",
                rq.cpu
            )
        });
        let boosted = competing(k, rq, group).any(|p| k.task(p).prio.get() != k.task(p).normal_prio.get());
        found.expect("deadline-groups B9", !stopped || !boosted, || {
            format!("CPU {}: {group:?} is stopped, and somebody is boosted in it", rq.cpu)
        });
    }
    // A pick goes from the root downwards, where each entity stands by the priority of its best task.
    let above = |p: &TaskId| core::iter::successors(Some(*p), |entry| above(k, rq, *entry));
    for p in rq.rt.queued(&k.tasks).filter(|p| !is_hidden(k, rq, *p)) {
        let last = above(&p).last().unwrap_or(p);
        let is_queued = rq.rt.entries(k, GroupId::ROOT).any(|entry| entry == last);
        found.expect("deadline-groups B9", is_queued, || {
            format!("CPU {}: no pick from the root would find {p:?}, which competes", rq.cpu)
        });
    }
    let counted = queue.published.rt_counted.get();
    let most = rq.rt.nr_queued();
    found.expect("deadline-groups B9", counted <= most, || {
        format!("CPU {}: {most} real-time tasks are queued, nr_running contains {counted}", rq.cpu)
    });
}

/// The entity of the group in whose queue an entry is.
fn above<P: Platform>(k: &Scheduler<P>, rq: &RqState, entry: TaskId) -> Option<TaskId> {
    let group = match entry.is_of_group() {
        true => k.groups.parent(entry.group()),
        false => k.rt_group(k.task(entry)),
    };
    (group != GroupId::ROOT).then(|| TaskId::of_group(group, rq.cpu))
}

/// The tasks that a group's queue would let run, if it competes itself: those that are in it, or below it and
/// below no stopped one.
fn competing<'a, P: Platform>(
    k: &'a Scheduler<P>,
    rq: &'a RqState,
    group: GroupId,
) -> impl Iterator<Item = TaskId> + 'a {
    let open = move |p: &TaskId| {
        let mut own = k.rt_group(k.task(*p));
        while own != group && own != GroupId::ROOT {
            if rq.rt.is_stopped(own) {
                return false;
            }
            own = k.groups.parent(own);
        }
        own == group
    };
    rq.rt.queued(&k.tasks).filter(open)
}
