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
    let (published, right) = (queue.published.rt_counted.get(), counted(moment, queue));
    found.expect("deadline-groups B9", published == right, || {
        format!("CPU {}: nr_running is to contain {right} real-time tasks, it contains {published}", rq.cpu)
    });
}

/// How many real-time tasks `nr_running` is to contain: those that compete in the root, which are none while
/// that has used up its time; or all, in the kernels in which `nr_running` knows of no throttling. After a
/// change from one rule to the other either may still be so.
pub(super) fn counted<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>) -> u32 {
    let (k, rq) = (moment.k, &*queue.rq);
    let boosted = |p: TaskId| k.task(p).prio.get() != k.task(p).normal_prio.get();
    let competing = || competing(k, rq, GroupId::ROOT);
    let stopped = rq.rt.is_throttled_in(GroupId::ROOT) && !competing().any(boosted);
    let left_out = if stopped { 0 } else { competing().count() };
    let by_rules = [
        moment.past.throttled_left_out.then_some(left_out),
        moment.past.throttled_counted.then(|| rq.rt.queued(&k.tasks).count()),
    ];
    let all = || by_rules.iter().flatten().map(|count| *count as u32);
    all().find(|count| *count == queue.published.rt_counted.get()).or(all().next()).unwrap_or_default()
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
