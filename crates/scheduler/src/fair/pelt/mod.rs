//! Load tracking (PELT, fair-placement 1): how much of a CPU each task has asked for and used, with half of
//! it forgotten every 32 ms.
//!
//! Every event first counts the time up to now under the state that it ends, then the state changes. Nothing
//! is counted for whoever has no event: what sleeps or idles is brought up to date when somebody needs it,
//! and the sums are what they would be had it been done all the time.
//!
//! Tasks and queues are counted apart (`average`); a task's share is part of its queue's averages, also while
//! it sleeps (`attach`). `estimate` remembers what a task used before it slept, `capacity` what real-time
//! tasks leave of a CPU, and `load` is how the rest of the class reads all this. Under
//! `load_tracking=weights`, which is what kernels up to 3.7 do, nothing is counted.

mod attach;
mod average;
mod capacity;
mod climb;
mod clock;
mod decay;
mod estimate;
mod fits;
mod load;
mod windows;

pub use attach::Removed;
pub use average::Average;
pub use capacity::Capacity;
pub(in crate::fair) use capacity::{capacity_of, higher_class_charged, is_reduced, refresh};
pub(crate) use capacity::{higher_class_begins, higher_class_ran, interrupted, used_by_others};
pub(in crate::fair) use climb::Change;
pub use clock::PeltClock;
pub(crate) use clock::pelt_clock_advances;
pub use estimate::Estimate;
pub(in crate::fair) use fits::{Fit, fit, greater, misfits, task_fit, task_fits, update_misfit};
pub(crate) use load::cpu_util;
pub(in crate::fair) use load::{
    UtilWith, Without, cpu_load, cpu_load_of_all, cpu_runnable, cpu_util_with, cpu_without, task_load,
    task_util_estimate,
};

use super::hierarchy::bandwidth::clock_of;
use super::hierarchy::{self, GroupQueue};
use super::queue::{CfsRq, EntityId, FairEntity};
use crate::class::{DequeueKind, EnqueueKind};
use crate::platform::Platform;
use crate::registry::{Feature, LoadTracking, NewTaskUtil, PeltLag};
use crate::rq::RqGuard;
use crate::shared::Kept;
use crate::task::Task;
use crate::{CpuId, GroupId, GroupOnCpu, TaskId, TaskState, ThisCpu};
pub(super) use average::Activity;
use core::hint::cold_path;

/// What is kept of a task. (In this order in memory: a group's entity uses the first field alone.)
#[derive(Debug, Default)]
#[repr(C)]
pub struct TaskPelt {
    /// Its averages.
    pub average: Average,
    /// What it is expected to use.
    pub estimate: Estimate,
    /// Its averages are part of those of its CPU's queue.
    pub attached: Kept<bool>,
    /// What its queue's sum of queued load contains of it, while it is queued.
    queued_load: Kept<Option<u64>>,
}

/// What is kept of a queue, beside its lock.
/// (In this order in memory: [`crate::rq::Published`] says why.)
#[derive(Debug)]
#[repr(C)]
pub struct QueuePelt {
    /// Its averages: shares of all tasks that run, wait or sleep here.
    pub average: Average,
    /// Sum of the estimates of the queued tasks, in 1024ths.
    pub estimated: Kept<u64>,
    /// Sum of their loads, without those of tasks that sleep (`balance_load=queued`).
    pub queued_load: Kept<u64>,
    /// Load of the running task, if it needs a CPU that is worth more (rq.misfit_task_load); else zero.
    pub misfit_load: Kept<u64>,
    /// What has left it since they were last updated.
    pub removed: Removed,
    /// What real-time tasks leave.
    pub capacity: Capacity,
    /// The time of all averages, where CPUs are not worth the same.
    pub clock: PeltClock,
}

impl QueuePelt {
    /// Of a CPU that is worth so much, in 1024ths of the best one.
    pub(crate) fn of(capacity: u64) -> QueuePelt {
        QueuePelt {
            average: Average::default(),
            removed: Removed::default(),
            estimated: Kept::default(),
            queued_load: Kept::default(),
            capacity: Capacity::of(capacity),
            clock: PeltClock::default(),
            misfit_load: Kept::default(),
        }
    }
}

impl TaskPelt {
    /// State of a new task of this weight.
    pub(in crate::fair) fn reset(&self, weight: u64) {
        attach::reset(&self.average, weight);
        self.estimate.clear();
        self.attached.set(false);
        self.queued_load.set(None);
    }

    /// State of an entity that stands for a group: part of its queue's averages, with nothing.
    pub(in crate::fair) fn reset_group(&self) {
        self.average.clear();
        self.attached.set(true);
    }

    /// What its queue's sum of queued load contains of it.
    pub(crate) fn counted_load(&self) -> u64 {
        self.queued_load.get().unwrap_or(0)
    }
}

/// A queued task's load in its queue's sum is what it is now.
#[inline]
fn count_load(queue: &QueuePelt, pelt: &TaskPelt) {
    let now = pelt.average.load_avg.get();
    let before = pelt.queued_load.replace(Some(now)).unwrap_or(0);
    queue.queued_load.set(queue.queued_load.get() + now - before);
}

/// Gives a task these averages, in its queue too.
#[cfg(test)]
pub(crate) fn set_averages<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, load: u64, util: u64) {
    let task = me.task(p);
    let (own, weight) = (&task.se.pelt.average, task.se.weight());
    let queue = &me.k.rq(task.cpu.get()).published.pelt.average;
    attach::detach(queue, own, weight);
    own.load_avg.set(load);
    own.util_avg.set(util);
    own.runnable_avg.set(average::FULL);
    attach::attach(queue, own, weight);
    if task.on_rq.get() {
        count_load(&me.k.rq(task.cpu.get()).published.pelt, &task.se.pelt);
    }
}

#[inline]
pub(in crate::fair) fn tracked<P: Platform>(me: ThisCpu<'_, P>) -> bool {
    me.k.config.rules.load_tracking.get() == LoadTracking::Pelt
}

/// Counts a task up to the queue's present, in the state in which it has been.
#[inline(always)]
fn update_task<P: Platform>(rq: &RqGuard<'_, P>, task: &Task, active: Activity) {
    let pelt = &task.se.pelt;
    let now = clock_of(rq, task.se.group.get());
    if pelt.average.update(now, active, task.se.weight()) {
        pelt.estimate.averages_changed();
        if pelt.queued_load.get().is_some() {
            count_load(&rq.published.pelt, pelt);
        }
    }
}

/// The averages of a group's queue here.
#[inline]
fn averages<'k, P: Platform>(rq: &RqGuard<'k, P>, group: GroupId) -> &'k Average {
    if group == GroupId::ROOT {
        return &rq.published.pelt.average;
    }
    rq.me.k.averages_of(group, rq.cpu).average
}

/// Counts a group's queue up to its present.
#[inline]
pub(in crate::fair) fn update_queue<P: Platform>(rq: &RqGuard<'_, P>, group: GroupId) {
    if group != GroupId::ROOT {
        cold_path();
        update_queue_of_group(rq, group, rq.me.group_queue(group, rq.cpu));
        return;
    }
    let queue = &rq.published.pelt;
    queue.removed.apply(&queue.average);
    let active = activity_of_queue(rq.queue(GroupId::ROOT));
    queue.average.update(rq.clock_pelt(), active, 1);
}

/// The same of a group other than the root; whether the queue changed.
#[inline(never)]
pub(in crate::fair) fn update_queue_of_group<P: Platform>(
    rq: &RqGuard<'_, P>,
    group: GroupId,
    queue: &GroupQueue,
) -> bool {
    let GroupQueue { average, removed, .. } = queue;
    let gone = removed.apply(average);
    if let Some(runnable) = gone {
        hierarchy::queue_changed(rq.me, group, rq.cpu, -(runnable as i64));
    }
    // Most queues of a CPU only fade: of those nothing else is looked at.
    let is_empty = queue.load.get() == 0;
    debug_assert_eq!(queue.load.get(), rq.queue(group).load, "the load beside the lock is that behind it");
    let active = if is_empty { Activity::NONE } else { activity_of_queue(rq.queue(group)) };
    average.update(clock_of(rq, group), active, 1) || gone.is_some()
}

#[inline]
fn activity_of_queue(fair: &CfsRq) -> Activity {
    Activity { load: fair.load, runnable: u64::from(fair.h_nr_running), running: fair.curr.is_some() }
}

/// Counts a group's entity and the queue in front, in which it competes.
pub(in crate::fair) fn update_group<P: Platform>(rq: &RqGuard<'_, P>, entity: EntityId, on: &GroupOnCpu) {
    if !tracked(rq.me) {
        return;
    }
    let stands = &on.entity;
    let (load, runnable) = (u64::from(stands.on_rq.get()), on.queue.runnable.get());
    let active = Activity { load, runnable, running: rq.fair.curr == Some(entity) };
    let now = clock_of(rq, rq.fair.group);
    stands.se.pelt.average.update(now, active, stands.se.weight());
    update_queue(rq, rq.fair.group);
}

/// A group's entity in the queue in front had another weight, which its share follows.
pub(in crate::fair) fn reweight_group<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity, old: u64) {
    attach::reweight(averages(rq, rq.fair.group), &se.pelt.average, old, se.weight());
}

/// Brings a queue's averages up to date, those of real-time tasks included: what sleeps there, and what left
/// (update_blocked_averages).
pub(in crate::fair) fn update_blocked_averages<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if tracked(rq.me) {
        hierarchy::update_all(rq);
        update_queue(rq, GroupId::ROOT);
        capacity::update_blocked(rq);
    }
}

/// Whether anything in a CPU's averages still fades.
pub(in crate::fair) fn has_blocked_load<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    let pelt = &me.k.rq(cpu).published.pelt;
    pelt.average.load_avg.get() > 0 || pelt.average.util_avg.get() > 0 || pelt.capacity.fades()
}

fn attach_task<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) {
    let (own, group) = (&task.se.pelt.average, task.se.group.get());
    attach::attach(averages(rq, group), own, task.se.weight());
    hierarchy::queue_changed(rq.me, group, rq.cpu, own.load_sum.get() as i64);
    task.se.pelt.attached.set(true);
}

fn detach_task<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) {
    let (own, group) = (&task.se.pelt.average, task.se.group.get());
    hierarchy::queue_changed(rq.me, group, rq.cpu, -(own.load_sum.get() as i64));
    attach::detach(averages(rq, group), own, task.se.weight());
}

/// A task is about to be queued here.
#[inline]
pub(in crate::fair) fn enqueue<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId, kind: EnqueueKind) {
    if !tracked(rq.me) {
        return;
    }
    let task = rq.me.task(p);
    let pelt = &task.se.pelt;
    if kind == EnqueueKind::New {
        let util = match rq.me.k.config.rules.new_task_util.get() {
            NewTaskUtil::Half => {
                let queue = averages(rq, task.se.group.get());
                let capacity = rq.published.pelt.capacity.full;
                attach::initial_utilisation(queue, task.se.weight(), capacity)
            }
            NewTaskUtil::Full => average::FULL,
        };
        pelt.average.util_avg.set(util);
        pelt.average.runnable_avg.set(util);
    }
    let group = task.se.group.get();
    if pelt.attached.get() {
        update_task(rq, task, Activity::NONE);
        update_queue(rq, group);
    } else {
        update_queue(rq, group);
        attach_task(rq, task);
    }
    count_load(&rq.published.pelt, pelt);
    // One that works its debt off asleep (eevdf-class 3.7) is counted when it is woken.
    if !task.se.eevdf.sched_delayed.get() {
        count_estimate(rq, task);
    }
}

/// The queue expects of a task what it used before.
fn count_estimate<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) {
    if rq.me.has(Feature::UtilEst) {
        let estimate = &task.se.pelt.estimate;
        estimate.counted.set(estimate.of_last_activations());
        let sum = &rq.published.pelt.estimated;
        sum.set(sum.get() + estimate.counted.get());
    }
}

/// A task falls asleep and stays in its queue (eevdf-class 3.7): nothing is expected of it any more, and its
/// load and time in the queue go on.
pub(in crate::fair) fn delay<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    let (task, queue) = (rq.me.task(p), &rq.published.pelt);
    let pelt = &task.se.pelt;
    queue.estimated.set(queue.estimated.get().saturating_sub(pelt.estimate.counted.take()));
    if tracked(rq.me) {
        update_queued(rq, p, activity(rq, p));
        if rq.me.has(Feature::UtilEst) {
            fall_asleep(rq, pelt);
        }
    }
}

/// A task sleeps: what it used until now is what it will use.
fn fall_asleep<P: Platform>(rq: &RqGuard<'_, P>, pelt: &TaskPelt) {
    let util = pelt.average.util_avg.get();
    pelt.estimate.fall_asleep(util, rq.published.pelt.capacity.full, rq.me.has(Feature::UtilEstFastup));
}

/// Such a task is woken where it is.
pub(in crate::fair) fn wake_delayed<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    if tracked(rq.me) {
        update_queued(rq, p, activity(rq, p));
        count_estimate(rq, rq.me.task(p));
    }
}

/// Counts the running task and its queue: at a tick, and before it is put back or leaves. One that was queued
/// while nothing was tracked joins now.
#[inline]
fn update_queued<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId, active: Activity) {
    let task = rq.me.task(p);
    let group = task.se.group.get();
    if task.se.pelt.attached.get() {
        update_task(rq, task, active);
        update_queue(rq, group);
    } else {
        update_queue(rq, group);
        attach_task(rq, task);
    }
}

/// What a queued task has been doing here.
#[inline]
fn activity<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) -> Activity {
    let runs = rq.queue(rq.me.task(p).se.group.get()).curr.is_some_and(|curr| curr.task() == p);
    if runs { Activity::RUNNING } else { Activity::WAITING }
}

/// A task is about to leave the queue.
#[inline]
pub(in crate::fair) fn dequeue<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId, kind: DequeueKind) {
    let (task, queue) = (rq.me.task(p), &rq.published.pelt);
    let pelt = &task.se.pelt;
    if tracked(rq.me) {
        update_queued(rq, p, activity(rq, p));
    } else if !pelt.attached.get() {
        return;
    }
    queue.estimated.set(queue.estimated.get().saturating_sub(pelt.estimate.counted.take()));
    queue.queued_load.set(queue.queued_load.get() - pelt.queued_load.take().unwrap_or(0));
    match kind {
        DequeueKind::Sleep | DequeueKind::Finish if task.state.get() == TaskState::Dead => {
            leave_asleep(rq.me, task, rq.cpu);
        }
        DequeueKind::Sleep | DequeueKind::Park if rq.me.has(Feature::UtilEst) => {
            fall_asleep(rq, pelt);
        }
        DequeueKind::Departure if pelt.attached.replace(false) => {
            detach_task(rq, task);
            attach::forget_time(&pelt.average);
        }
        DequeueKind::Sleep
        | DequeueKind::Finish
        | DequeueKind::Departure
        | DequeueKind::Restore
        | DequeueKind::Park
        | DequeueKind::Throttle => {}
    }
}

/// A waiting task is about to run.
#[inline]
pub(in crate::fair) fn set_next<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    if tracked(rq.me) && rq.me.task(p).is_in_queue() {
        update_queued(rq, p, Activity::WAITING);
    }
}

/// The running task is about to wait, or has a tick.
#[inline]
pub(crate) fn ran<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    if tracked(rq.me) {
        update_queued(rq, p, Activity::RUNNING);
    }
}

/// A sleeping task is about to leave the queue of `cpu`, whose lock is not held: it is counted up to where
/// that queue is, and subtracted there when somebody updates it.
fn leave_asleep<P: Platform>(me: ThisCpu<'_, P>, task: &Task, cpu: CpuId) {
    let (pelt, queue) = (&task.se.pelt, me.k.averages_of(task.se.group.get(), cpu));
    if pelt.attached.replace(false) {
        pelt.average.update(queue.average.last_update_time.get(), Activity::NONE, task.se.weight());
        queue.removed.add(&pelt.average);
    }
}

/// A task that is not queued is about to get another CPU than `from`. An idle CPU has not counted its sleep,
/// so its newest part is forgotten unless it is made up for (pelt_lag).
pub(crate) fn migrate<P: Platform>(me: ThisCpu<'_, P>, task: &Task, from: CpuId) {
    let pelt = &task.se.pelt;
    if !pelt.attached.get() {
        return;
    }
    leave_asleep(me, task, from);
    let rq = &me.k.rq(from).published;
    let idle = rq.curr.get() == me.k.idle_task(from);
    if idle && me.k.config.rules.pelt_lag.get() == PeltLag::On {
        let now = hierarchy::bandwidth::now_of(me, task.se.group.get(), from);
        pelt.average.update(now, Activity::NONE, task.se.weight());
    }
    attach::forget_time(&pelt.average);
}

/// A task that is not queued leaves the class.
pub(crate) fn switched_from<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    let pelt = &task.se.pelt;
    if pelt.attached.replace(false) {
        update_task(rq, task, Activity::NONE);
        update_queue(rq, task.se.group.get());
        detach_task(rq, task);
    }
}

/// A task that is not queued enters the class: it has faded while it was away, if ATTACH_AGE_LOAD says so.
pub(crate) fn switched_to<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    if !tracked(rq.me) || task.se.pelt.attached.get() {
        return;
    }
    let has_been_counted = task.se.pelt.average.last_update_time.get() > crate::Nanos::ZERO;
    if has_been_counted && rq.me.has(Feature::AttachAgeLoad) {
        update_task(rq, task, Activity::NONE);
    }
    update_queue(rq, task.se.group.get());
    attach_task(rq, task);
}

/// A task that is not queued gets another weight, which its share in the queue of its CPU follows.
pub(crate) fn reweight<P: Platform>(rq: &RqGuard<'_, P>, task: &Task, weight: u64) {
    let (pelt, old) = (&task.se.pelt, task.se.weight());
    if pelt.attached.get() {
        update_task(rq, task, Activity::NONE);
        let group = task.se.group.get();
        update_queue(rq, group);
        attach::reweight(averages(rq, group), &pelt.average, old, weight);
    } else if task.state.get() == TaskState::New {
        pelt.average.load_avg.set(weight);
    }
}
