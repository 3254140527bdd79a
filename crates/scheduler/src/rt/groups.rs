//! RT_GROUP_SCHED: a queue for each group and CPU (deadline-groups B9).
//!
//! In the queue above, a group's entity stands for it, with the priority of its best task. It is not there
//! while the group has nobody to run, or has used up its time (throttle.rs). Whenever something comes to a
//! group's queue or leaves it, the entities on the way to the root go, the highest first, and come back, the
//! lowest first, each behind its equals: so what a level counts of those below it is right when they go.

use super::throttle;
use super::{Level, RtRq};
use crate::class::ListEnd;
use crate::platform::Platform;
use crate::registry::ThrottledCount;
use crate::rq::{RqGuard, RqState};
use crate::task::Task;
use crate::{GroupId, Prio, Scheduler, TaskId, fair};

impl<P: Platform> Scheduler<P> {
    /// The group in whose queue a real-time task is: the root, unless the kernel has groups of them. Sessions
    /// (autogroup) are none.
    pub fn rt_group(&self, task: &Task) -> GroupId {
        let mut group = task.se.group.get();
        while group != GroupId::ROOT && self.groups.get(group).rt.is_none() {
            group = self.groups.parent(group);
        }
        group
    }
}

impl RtRq {
    #[inline]
    pub(super) fn level(&self, group: GroupId) -> &Level {
        if group == GroupId::ROOT { &self.root } else { &self.groups[group.index() - 1] }
    }

    pub(super) fn level_mut(&mut self, group: GroupId) -> &mut Level {
        if group == GroupId::ROOT { &mut self.root } else { &mut self.groups[group.index() - 1] }
    }

    /// A group more, before the machine runs.
    pub(crate) fn create_group(&mut self) {
        self.groups.push(Level::default());
    }
}

/// For checkers and reports.
impl RtRq {
    /// What is queued in a group, or in the root: tasks, and the entities of groups.
    pub(crate) fn entries<'a, P: Platform>(
        &'a self,
        k: &'a Scheduler<P>,
        group: GroupId,
    ) -> impl Iterator<Item = TaskId> + 'a {
        self.level(group).active.iter(&k.tasks)
    }

    /// Tasks that compete in a group, or in the root.
    pub fn nr_running_in(&self, group: GroupId) -> u32 {
        self.level(group).nr_running
    }

    /// Whether a group, or the root, has used up its time (rt_throttled), boosted or not.
    pub fn is_throttled_in(&self, group: GroupId) -> bool {
        self.level(group).throttled
    }

    /// Whether a group has used up its time, and who is boosted in it does not keep it running.
    pub fn is_stopped(&self, group: GroupId) -> bool {
        self.level(group).is_stopped()
    }
}

impl RqState {
    /// Real-time tasks that this CPU's `nr_running` contains.
    fn rt_counted(&self, counted: ThrottledCount) -> u32 {
        match counted {
            ThrottledCount::LeftOut if self.rt.root.is_stopped() => 0,
            ThrottledCount::LeftOut => self.rt.root.nr_running,
            ThrottledCount::Counted => self.rt.nr_queued,
        }
    }
}

/// Whether the group of a queued task, or one above it, has used up its time.
#[inline]
pub(crate) fn is_hidden<P: Platform>(k: &Scheduler<P>, rq: &RqState, p: TaskId) -> bool {
    k.rt_bandwidth.has_groups() && is_below_stopped(k, rq, p)
}

#[cold]
#[inline(never)]
fn is_below_stopped<P: Platform>(k: &Scheduler<P>, rq: &RqState, p: TaskId) -> bool {
    let mut group = k.rt_group(k.task(p));
    while group != GroupId::ROOT && !rq.rt.is_stopped(group) {
        group = k.groups.parent(group);
    }
    group != GroupId::ROOT
}

/// Puts a task on the queue of its group.
pub(super) fn enqueue<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, place: ListEnd) {
    let me = rq.me;
    let task = me.task(p);
    let group = me.k.rt_group(task);
    take_off(rq, group);
    let boosted = is_boosted(task);
    task.rt_boosted.set(boosted);
    let level = rq.rt.level_mut(group);
    level.push(&me.k.tasks, p, task.prio.get(), place);
    level.nr_running += 1;
    level.nr_boosted += u32::from(boosted);
    put_on(rq, group, place);
}

/// Takes a task off the queue of its group.
pub(super) fn dequeue<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    let task = me.task(p);
    let group = me.k.rt_group(task);
    take_off(rq, group);
    let level = rq.rt.level_mut(group);
    level.active.remove(&me.k.tasks, p);
    level.nr_running -= 1;
    level.nr_boosted -= u32::from(task.rt_boosted.replace(false));
    put_on(rq, group, ListEnd::Tail);
}

/// Counts a queued task as boosted, or no longer.
pub(super) fn count_boost<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    let task = me.task(p);
    let (group, boosted) = (me.k.rt_group(task), is_boosted(task));
    take_off(rq, group);
    let was = task.rt_boosted.replace(boosted);
    let level = rq.rt.level_mut(group);
    level.nr_boosted = level.nr_boosted + u32::from(boosted) - u32::from(was);
    put_on(rq, group, ListEnd::Tail);
}

fn is_boosted(task: &Task) -> bool {
    task.prio.get() != task.normal_prio.get()
}

/// A group has used up its time, or has got more: its entity leaves the queue above, or comes back.
pub(super) fn restack<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId) {
    take_off(rq, group);
    put_on(rq, group, ListEnd::Tail);
}

/// The entities of a group and of those above it leave their queues, the highest first.
fn take_off<P: Platform>(rq: &mut RqGuard<'_, P>, group: GroupId) {
    if group == GroupId::ROOT {
        return;
    }
    let me = rq.me;
    let (parent, entity) = (me.k.groups.parent(group), TaskId::of_group(group, rq.cpu));
    take_off(rq, parent);
    let (tasks, boosted) = brings(&rq.rt, group);
    let above = rq.rt.level_mut(parent);
    if above.active.remove(&me.k.tasks, entity) {
        above.nr_running -= tasks;
        above.nr_boosted -= boosted;
    }
}

/// They come back, the lowest first, those that have somebody who may run. What is stopped now, or is no
/// longer, is told.
fn put_on<P: Platform>(rq: &mut RqGuard<'_, P>, mut group: GroupId, place: ListEnd) {
    let me = rq.me;
    while group != GroupId::ROOT {
        throttle::tell(rq, group);
        let parent = me.k.groups.parent(group);
        let level = rq.rt.level(group);
        let (best, competes) = (level.active.best(), level.nr_running > 0 && !level.is_stopped());
        throttle::publish_members(me, group, rq.cpu, level.nr_running);
        if competes {
            let (tasks, boosted) = brings(&rq.rt, group);
            let entity = TaskId::of_group(group, rq.cpu);
            let above = rq.rt.level_mut(parent);
            above.push(&me.k.tasks, entity, best, place);
            above.nr_running += tasks;
            above.nr_boosted += boosted;
        }
        group = parent;
    }
    throttle::tell(rq, GroupId::ROOT);
}

/// What a group's entity brings to the queue above: tasks that compete, and whether somebody is boosted.
fn brings(rt: &RtRq, group: GroupId) -> (u32, u32) {
    let level = rt.level(group);
    (level.nr_running, u32::from(level.nr_boosted > 0))
}

/// The task that runs if this entry of a queue is chosen.
#[inline]
pub(super) fn first_below<P: Platform>(rq: &RqGuard<'_, P>, mut entry: TaskId) -> TaskId {
    while entry.is_of_group() {
        // Only groups with somebody to run are queued.
        let Some(first) = rq.rt.level(entry.group()).active.first() else { break };
        entry = first;
    }
    entry
}

/// The best task in a group's queue, and below it.
pub(super) fn best_in<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId) -> Option<TaskId> {
    Some(first_below(rq, rq.rt.level(group).active.first()?))
}

/// Moves a task to an end of its list, and its group and those above it to that end of theirs.
pub(super) fn requeue<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, place: ListEnd) {
    let me = rq.me;
    each_entry(rq, p, |rq, group, entry, prio| {
        let level = rq.rt.level_mut(group);
        if level.active.remove(&me.k.tasks, entry) {
            level.push(&me.k.tasks, entry, prio, place);
        }
    });
}

/// Whether somebody shares its list with a task, or with its group, or with one above it.
pub(super) fn has_company<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) -> bool {
    let me = rq.me;
    let mut found = false;
    each_entry(rq, p, |rq, group, entry, _| {
        found |= rq.rt.level(group).active.has_company(&me.k.tasks, entry);
    });
    found
}

/// A task in its queue, then what stands for it in each of those above.
fn each_entry<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    p: TaskId,
    mut act: impl FnMut(&mut RqGuard<'_, P>, GroupId, TaskId, Prio),
) {
    let me = rq.me;
    let (mut group, mut entry, mut prio) = (me.k.rt_group(me.task(p)), p, me.task(p).prio.get());
    loop {
        act(rq, group, entry, prio);
        if group == GroupId::ROOT {
            return;
        }
        entry = TaskId::of_group(group, rq.cpu);
        prio = rq.rt.level(group).active.best();
        group = me.k.groups.parent(group);
    }
}

/// The best queued task for which this is true, of whatever group; of equals the one of the root, or of the
/// group that was made first.
pub(super) fn find_best<P: Platform>(
    rq: &RqGuard<'_, P>,
    mut suits: impl FnMut(&TaskId) -> bool,
) -> Option<TaskId> {
    let me = rq.me;
    let mut found: Option<TaskId> = None;
    for level in rq.rt.levels() {
        let first = level.active.iter(&me.k.tasks).find(|p| !p.is_of_group() && suits(p));
        let prio = |p: TaskId| me.task(p).prio.get();
        found = match (found, first) {
            (Some(best), Some(first)) if prio(first).beats(prio(best)) => Some(first),
            (best, first) => best.or(first),
        };
    }
    found
}

/// `nr_running` of the CPU follows what competes in the root's queue.
pub(super) fn recount<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let me = rq.me;
    let rule = me.k.config.rules.throttled_count.get();
    let (published, stopped) = (rq.published, rq.rt.root.is_stopped());
    published.rt_left_out.set(rq, stopped && rule == ThrottledCount::LeftOut);
    let counted = rq.rt_counted(rule);
    let was = published.rt_counted.replace(rq, counted);
    if was != counted {
        let n = rq.nr_running - was + counted;
        rq.set_nr_running(n);
        if counted > was {
            fair::note_overload(me, rq.cpu, n);
        }
    }
}
