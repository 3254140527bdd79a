//! The class's part of a run queue, and what every discipline shares: tasks come and go, and are counted
//! (fair-class 2.1, 2.5). Which one runs, and how long, the discipline decides.

mod charge;
mod entity;
mod task_list;
mod weight;

pub(crate) use charge::higher_class_charged;
pub(super) use charge::update_curr;
pub use entity::{EntityId, FairEntity};
pub(super) use task_list::TaskList;
pub use weight::Weight;

use super::balance::takes_newest_first;
use super::cfs::{Buddies, Timeline};
use super::eevdf::{EevdfRq, SetNext, Sums, Tree};
use super::hierarchy::bandwidth::{self, is_hidden};
use super::overutilised::check_overutilised;
use super::{discipline, hierarchy, hrtick, pelt};
use crate::class::{DequeueKind, EnqueueKind, PreemptCause, uncount_runnable};
use crate::platform::Platform;
use crate::registry::Feature;
use crate::rq::RqGuard;
use crate::stats::add;
use crate::task::{Task, TaskTable};
use crate::{GroupId, Nanos, Policy, TaskId, dl};
use core::hint::cold_path;

/// A run queue's part of this class; the run-queue lock protects it. Its floor of virtual time, min_vruntime,
/// is published beside the lock, because a task that changes its CPU asleep reads it from both queues.
///
/// In this order in memory: what every event of a queue touches comes first, for with groups a CPU has very
/// many queues.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct CfsRq {
    /// Sum of the weights of the runnable tasks, the running one included.
    pub load: u64,
    /// Number of queued entities, the running one included, and under EEVDF those that are asleep
    /// (nr_queued).
    pub nr_running: u32,
    /// Of tasks, here and in the queues below (h_nr_queued). Without groups these are the same.
    pub h_nr_running: u32,
    /// How many entities are SCHED_IDLE ones or stand for `cpu.idle` groups.
    pub nr_idle: u32,
    /// Group whose queue it is.
    pub(in crate::fair) group: GroupId,
    /// The running entity, while this class serves it. It is not among those that wait.
    pub curr: Option<EntityId>,
    /// CPU time used by tasks of this queue.
    pub exec_clock: Nanos,
    /// Whom picking may prefer.
    pub buddies: Buddies,
    /// What EEVDF keeps.
    pub eevdf: EevdfRq,
    /// All runnable tasks, newest enqueue first.
    pub(in crate::fair) tasks: TaskList,
    /// The runnable entities that wait, under CFS.
    pub timeline: Timeline,
    /// Of a group's: its tasks that are parked, and so not among those (deadline-groups B7).
    pub(in crate::fair) parked: TaskList,
    /// How often a task entered or left the CPU more than three latencies away from min_vruntime.
    pub nr_spread_over: u64,
    /// When the averages of the CPU's load were last brought up to date.
    pub(in crate::fair) load_updated: Nanos,
}

impl CfsRq {
    /// That of a group.
    pub(crate) fn of_group(group: GroupId) -> CfsRq {
        let eevdf = EevdfRq { tree: Tree::with_room_for_one(), ..EevdfRq::default() };
        CfsRq { group, eevdf, ..CfsRq::default() }
    }

    /// Group whose queue it is.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// About 1 ms below wrap-around, on purpose (fair-class 0.2).
    pub const INITIAL_MIN_VRUNTIME: u64 = u64::MAX - (1 << 20) + 1;

    /// Who waits, in no order that matters to the discipline. For reports and checks: it takes memory.
    pub fn waiting(&self) -> impl Iterator<Item = EntityId> + '_ {
        let by_deadline = self.eevdf.tree.in_order().into_iter().map(|c| c.entity);
        self.timeline.iter().map(|w| w.entity).chain(by_deadline)
    }

    /// Where an entity is owed nothing and owes nothing (V, eevdf-class 2.2), rounded towards the left; the
    /// reference of the sums where nobody competes. For reports.
    pub fn zero_lag_point(&self, tasks: &TaskTable) -> u64 {
        Sums::of(tasks, self).zero_lag_point().unwrap_or(self.eevdf.v0)
    }
}

/// Whether a task that was to leave its queue has left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dequeued {
    /// It has.
    Gone,
    /// It sleeps, and stays until it has worked off its debt (eevdf-class 3.7).
    Delayed,
}

/// Makes a task runnable on this queue.
pub(crate) fn enqueue_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: EnqueueKind) {
    let me = rq.me;
    let task = me.task(p);
    if task.se.group.get() == GroupId::ROOT {
        pelt::enqueue(rq, p, kind);
        enter(rq, EntityId::of(p), kind);
    } else if task.se.parked.get() {
        return bandwidth::park(rq, p);
    } else {
        cold_path();
        let counted = !is_hidden(me.k, task);
        if !hierarchy::enqueue(rq, p, kind) {
            if counted {
                // Its coming froze a queue.
                uncount_runnable(rq);
                if task.se.eevdf.sched_delayed.get() {
                    rq.count_delayed(false);
                }
            }
            return rq.fair.tasks.push(&me.k.tasks, p);
        }
    }
    rq.fair.h_nr_running += 1;
    if rq.fair.h_nr_running == 1 {
        dl::fair_came(rq);
    }
    count_idle_policy(rq, task, 1);
    rq.fair.tasks.push(&me.k.tasks, p);
    if kind != EnqueueKind::New {
        check_overutilised(rq);
    }
    if me.has(Feature::Hrtick) {
        hrtick::hrtick_update(rq);
    }
}

/// An entity begins to compete in the queue in front.
#[inline(always)]
pub(super) fn enter<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, kind: EnqueueKind) {
    let task = rq.me.task(entity.task());
    discipline::enqueue_entity(rq, entity, kind);
    rq.fair.nr_running += 1;
    rq.fair.nr_idle += u32::from(task.policy.get() == Policy::Idle);
    let load = rq.fair.load + task.se.weight();
    set_load(rq, load);
}

/// An entity competes no longer in the queue in front.
#[inline(always)]
pub(super) fn leave<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let task = rq.me.task(entity.task());
    rq.fair.nr_running -= 1;
    rq.fair.nr_idle -= u32::from(task.policy.get() == Policy::Idle);
    let load = rq.fair.load - task.se.weight();
    set_load(rq, load);
}

/// Takes a task off this queue; one that blocks may stay.
pub(crate) fn dequeue_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: DequeueKind) -> Dequeued {
    let me = rq.me;
    let task = me.task(p);
    if task.se.group.get() == GroupId::ROOT {
        update_curr(rq);
        if discipline::dequeue_entity(rq, EntityId::of(p), kind) == Dequeued::Delayed {
            pelt::delay(rq, p);
            return Dequeued::Delayed;
        }
        pelt::dequeue(rq, p, kind);
        leave(rq, EntityId::of(p));
    } else if task.se.parked.get() {
        bandwidth::leave_parked(rq, p);
        return Dequeued::Gone;
    } else if hierarchy::dequeue(rq, p, kind) == Dequeued::Delayed {
        return Dequeued::Delayed;
    }
    if !is_hidden(me.k, task) {
        rq.fair.h_nr_running -= 1;
        if rq.fair.h_nr_running == 0 {
            dl::fair_went(rq);
        }
        count_idle_policy(rq, task, -1);
    }
    rq.fair.tasks.remove(&me.k.tasks, p);
    Dequeued::Gone
}

/// Who is to run, where that is asked before the running task is put back: picked again, it is neither put
/// back nor set anew. `None` where nobody is runnable.
pub(crate) fn choose<P: Platform>(rq: &mut RqGuard<'_, P>) -> Option<TaskId> {
    loop {
        let picked = discipline::pick_next_entity(rq)?;
        if !picked.is_group() {
            return Some(picked.task());
        }
        cold_path();
        let below = hierarchy::choose_below(rq, picked);
        if below.is_some() {
            return below;
        }
    }
}

/// Who is to run becomes the running one: `chosen` if that is known already; `None` where nobody is runnable.
pub(crate) fn pick_next_task<P: Platform>(rq: &mut RqGuard<'_, P>, chosen: Option<TaskId>) -> Option<TaskId> {
    let next = chosen.or_else(|| choose(rq));
    pelt::update_misfit(rq, next);
    runs_next(rq, next?, SetNext::Picked);
    next
}

/// A running task becomes the running one of this class again, or comes from another class.
pub(crate) fn set_next_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    runs_next(rq, p, SetNext::Restored);
}

#[inline(always)]
fn runs_next<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, how: SetNext) {
    let task = rq.me.task(p);
    if task.se.group.get() == GroupId::ROOT {
        become_curr(rq, EntityId::of(p), how);
    } else {
        cold_path();
        hierarchy::set_next(rq, p, how);
    }
    if !takes_newest_first(rq.me) && task.is_in_queue() {
        // Balancing takes whoever has not run for longest.
        let me = rq.me;
        let tasks = &me.k.tasks;
        rq.fair.tasks.remove(tasks, p);
        rq.fair.tasks.push(tasks, p);
    }
}

/// An entity becomes the running one of the queue in front.
#[inline(always)]
pub(super) fn become_curr<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId, how: SetNext) {
    let task = rq.me.task(entity.task());
    let stats = &task.stats;
    if !entity.is_group() {
        add(&rq.published.counts.wait_time_ns, stats.wait_end(rq.clock));
        pelt::set_next(rq, entity.task());
    }
    discipline::set_next_entity(rq, entity, how);
    stats.exec_start.set(rq.clock_task());
    rq.fair.curr = Some(entity);
    if how == SetNext::Continued {
        return;
    }
    // A stint without competition says nothing about slices.
    if rq.fair.load >= 2 * task.se.weight() {
        stats.slice_max.set(stats.slice_max.get().max(task.ran()));
    }
    stats.prev_sum_exec_runtime.set(stats.sum_exec_runtime.get());
}

/// The running task of this class stops running; if it is still runnable it waits from now on.
pub(crate) fn put_prev_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    if rq.me.task(p).se.group.get() == GroupId::ROOT {
        put_here(rq, EntityId::of(p));
    } else {
        cold_path();
        hierarchy::put_prev(rq, p);
    }
}

/// The running entity of the queue in front stops running.
#[inline(always)]
pub(super) fn put_here<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let task = rq.me.task(entity.task());
    if task.is_in_queue() {
        update_curr(rq);
        if !entity.is_group() {
            pelt::ran(rq, entity.task());
            if !task.se.eevdf.sched_delayed.get() {
                task.stats.wait_start(rq.clock);
            }
        }
        discipline::put_prev_entity(rq, entity);
    }
    rq.fair.curr = None;
}

/// A tick while a fair task runs.
pub(crate) fn task_tick<P: Platform>(rq: &mut RqGuard<'_, P>, curr: TaskId) {
    if rq.me.task(curr).se.group.get() == GroupId::ROOT {
        pelt::ran(rq, curr);
        discipline::task_tick(rq, curr);
    } else {
        cold_path();
        hierarchy::tick(rq, curr);
    }
    pelt::update_misfit(rq, Some(curr));
    check_overutilised(rq);
}

/// The running task reads its CPU clock, which accounts the queue that it is in, and none above.
pub(crate) fn update_curr_leaf<P: Platform>(rq: &mut RqGuard<'_, P>, curr: TaskId) {
    if rq.me.task(curr).se.group.get() == GroupId::ROOT {
        update_curr(rq);
    } else {
        hierarchy::with_queue_of(rq, curr, update_curr);
    }
}

/// Asks for a reschedule if `p`, just queued here, should run before the fair task that runs.
pub(crate) fn check_preempt_wakeup<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, cause: PreemptCause) {
    if rq.me.k.groups.is_empty() {
        discipline::check_preempt_siblings(rq, EntityId::of(p), p, cause);
    } else {
        cold_path();
        hierarchy::check_preempt_wakeup(rq, p, cause);
    }
}

/// A runnable task comes or goes; those of SCHED_IDLE and of `cpu.idle` groups are counted.
fn count_idle_policy<P: Platform>(rq: &RqGuard<'_, P>, task: &Task, change: i32) {
    if task.policy.get() == Policy::Idle || rq.me.k.groups.is_idle(task.se.group.get()) {
        let nr = &rq.published.nr_idle_policy;
        nr.set(rq, nr.get().wrapping_add_signed(change));
    }
}

/// The weights in the queue in front add up to so much.
#[inline(always)]
pub(in crate::fair) fn set_load<P: Platform>(rq: &mut RqGuard<'_, P>, load: u64) {
    rq.fair.load = load;
    if rq.fair.group != GroupId::ROOT {
        cold_path();
        rq.me.group_queue(rq.fair.group, rq.cpu).load.set(load);
        return;
    }
    rq.published.load.set(rq, load);
    rq.touch_published();
}
