//! The class's part of a run queue, and what every discipline shares: tasks come and go, and are counted
//! (fair-class 2.1, 2.5). Which one runs, and how long, the discipline decides (`cfs`).

mod charge;
mod entity;
mod task_list;

pub(super) use charge::update_curr;
pub use entity::{EntityId, FairEntity};
pub(super) use task_list::TaskList;

use super::balance::IdleTimes;
use super::cfs::{self, Buddies, Timeline};
use crate::class::{DequeueKind, EnqueueKind};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::stats::add;
use crate::{Nanos, TaskId, TaskState};

/// A run queue's part of this class; the run-queue lock protects it. Its floor of virtual time, min_vruntime,
/// is published beside the lock, because a task that changes its CPU asleep reads it from both queues.
#[derive(Debug, Default)]
pub struct CfsRq {
    /// Sum of the weights of the runnable tasks, the running one included.
    pub load: u64,
    /// Number of runnable tasks, the running one included.
    pub nr_running: u32,
    /// The running entity, while this class serves it. It is not in the timeline.
    pub curr: Option<EntityId>,
    /// The runnable entities that wait.
    pub timeline: Timeline,
    /// TaskSelector picking may prefer to the leftmost.
    pub buddies: Buddies,
    /// All runnable tasks, newest enqueue first.
    pub(in crate::fair) tasks: TaskList,
    /// CPU time used by tasks of this queue.
    pub exec_clock: Nanos,
    /// How often a task entered or left the CPU more than three latencies away from min_vruntime.
    pub nr_spread_over: u64,
    /// When the averages of the CPU's load were last brought up to date.
    pub(in crate::fair) load_updated: Nanos,
    /// How long the CPU idles.
    pub(in crate::fair) idle: IdleTimes,
}

impl CfsRq {
    /// About 1 ms below wrap-around, on purpose (fair-class 0.2).
    pub const INITIAL_MIN_VRUNTIME: u64 = u64::MAX - (1 << 20) + 1;

    /// Average length of the CPU's idle times.
    pub fn avg_idle(&self) -> Nanos {
        self.idle.average
    }
}

/// Makes a task runnable on this queue.
pub(crate) fn enqueue_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: EnqueueKind) {
    let me = rq.me;
    let task = me.task(p);
    cfs::enqueue_entity(rq, EntityId::of(p), kind);
    rq.fair.nr_running += 1;
    let load = rq.fair.load + task.se.weight.get();
    set_load(rq, load);
    rq.fair.tasks.push(&me.k.tasks, p);
    if kind == EnqueueKind::Wakeup {
        task.stats.sleep_end(rq.clock);
    }
}

/// Takes a runnable task off this queue.
pub(crate) fn dequeue_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: DequeueKind) {
    let me = rq.me;
    let task = me.task(p);
    update_curr(rq);
    if kind == DequeueKind::Sleep {
        task.stats.sleep_start(rq.clock, task.state.get() == TaskState::Uninterruptible);
    }
    cfs::dequeue_entity(rq, EntityId::of(p), kind);
    rq.fair.nr_running -= 1;
    let load = rq.fair.load - task.se.weight.get();
    set_load(rq, load);
    rq.fair.tasks.remove(&me.k.tasks, p);
}

/// Who is to run becomes the running one; `None` where nobody is runnable.
pub(crate) fn pick_next_task<P: Platform>(rq: &mut RqGuard<'_, P>) -> Option<TaskId> {
    let next = cfs::pick_next_entity(rq)?.task();
    set_next_task(rq, next);
    Some(next)
}

/// A task becomes the running one of this class.
pub(crate) fn set_next_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    let stats = &task.stats;
    add(&rq.published.counts.wait_time_ns, stats.wait_end(rq.clock));
    let entity = EntityId::of(p);
    cfs::set_next_entity(rq, entity);
    stats.exec_start.set(rq.clock);
    rq.fair.curr = Some(entity);
    // A stint without competition says nothing about slices.
    if rq.fair.load >= 2 * task.se.weight.get() {
        stats.slice_max.set(stats.slice_max.get().max(task.ran()));
    }
    stats.prev_sum_exec_runtime.set(stats.sum_exec_runtime.get());
}

/// The running task of this class stops running; if it is still runnable it waits from now on.
pub(crate) fn put_prev_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    if task.on_rq.get() {
        update_curr(rq);
        task.stats.wait_start(rq.clock);
        cfs::put_prev_entity(rq, EntityId::of(p));
    }
    rq.fair.curr = None;
}

fn set_load<P: Platform>(rq: &mut RqGuard<'_, P>, load: u64) {
    rq.fair.load = load;
    rq.published.load.set(rq, load);
    rq.touch_published();
}
