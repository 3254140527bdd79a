//! The class's part of a run queue, and its four primitive operations: enqueue, dequeue, set_next, put_prev
//! (fair-class 2.1, 2.5).

use super::buddy::{self, Buddies};
use super::new_idle::IdleTimes;
use super::place::place_sleeper;
use super::task_list::TaskList;
use super::timeline::Timeline;
use super::vruntime::{lag, update_curr, update_min_vruntime};
use super::{scale, start_nice};
use crate::class::{DequeueKind, EnqueueKind};
use crate::platform::Platform;
use crate::registry::FloorOrder;
use crate::rq::RqGuard;
use crate::stats::add;
use crate::task::Task;
use crate::{Nanos, TaskId, TaskState};

/// A run queue's part of this class; the run-queue lock protects it. Its floor of virtual time, min_vruntime,
/// is published beside the lock, because a task that changes its CPU asleep reads it from both queues.
#[derive(Debug, Default)]
pub struct CfsRq {
    /// Sum of the weights of the runnable tasks, the running one included.
    pub load: u64,
    /// Number of runnable tasks, the running one included.
    pub nr_running: u32,
    /// The running task, while this class serves it. It is not in the timeline.
    pub curr: Option<TaskId>,
    /// The runnable tasks that wait.
    pub timeline: Timeline,
    /// Whom picking may prefer to the leftmost.
    pub buddies: Buddies,
    /// All runnable tasks, newest enqueue first.
    pub(super) tasks: TaskList,
    /// CPU time used by tasks of this queue.
    pub exec_clock: Nanos,
    /// How often a task entered or left the CPU more than three latencies away from min_vruntime.
    pub nr_spread_over: u64,
    /// When the averages of the CPU's load were last brought up to date.
    pub(super) load_updated: Nanos,
    /// How long the CPU idles.
    pub(super) idle: IdleTimes,
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
    // The floor moves at this charge, and far if the running task is a light one that has run for a while.
    if me.k.config.rules.floor_order.get() == FloorOrder::WithTask {
        update_curr(rq);
        task.se.make_absolute(rq.published.min_vruntime.get());
    } else {
        task.se.make_absolute(rq.published.min_vruntime.get());
        update_curr(rq);
    }
    rq.fair.nr_running += 1;
    let load = rq.fair.load + task.se.weight.get();
    set_load(rq, load);
    rq.fair.tasks.push(&me.k.tasks, p);
    if kind == EnqueueKind::Wakeup {
        place_sleeper(rq, &task.se, rq.published.min_vruntime.get());
        task.stats.sleep_end(rq.clock);
    }
    check_spread(rq, task);
    if rq.fair.curr != Some(p) {
        wait_in_timeline(rq, p);
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
    rq.fair.buddies.clear(p);
    leave_timeline(rq, p);
    rq.fair.nr_running -= 1;
    let load = rq.fair.load - task.se.weight.get();
    set_load(rq, load);
    rq.fair.tasks.remove(&me.k.tasks, p);
    if kind == DequeueKind::Sleep {
        update_min_vruntime(rq);
        start_nice::clear(&task.se);
        return;
    }
    // The task may have held the floor back. Since 4.9 one that goes elsewhere takes its distance from the
    // floor as it was, and one that comes back at once does not find that the floor has passed it.
    let departs = kind == DequeueKind::Departure;
    match me.k.config.rules.floor_order.get() {
        FloorOrder::WithTask if departs => {
            task.se.make_relative(rq.published.min_vruntime.get());
            update_min_vruntime(rq);
        }
        FloorOrder::WithTask => {}
        FloorOrder::WithoutTask if departs => {
            update_min_vruntime(rq);
            task.se.make_relative(rq.published.min_vruntime.get());
        }
        FloorOrder::WithoutTask | FloorOrder::OneStep => update_min_vruntime(rq),
    }
}

/// The leftmost task, or a buddy near it, becomes the running one; `None` where nobody is runnable.
pub(crate) fn pick_next_task<P: Platform>(rq: &mut RqGuard<'_, P>) -> Option<TaskId> {
    let left = rq.fair.timeline.leftmost()?.task;
    let next = buddy::pick(rq, left);
    set_next_task(rq, next);
    Some(next)
}

/// A task becomes the running one of this class.
pub(crate) fn set_next_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    let stats = &task.stats;
    add(&rq.published.counts.wait_time_ns, stats.wait_end(rq.clock));
    leave_timeline(rq, p);
    stats.exec_start.set(rq.clock);
    rq.fair.curr = Some(p);
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
        check_spread(rq, task);
        task.stats.wait_start(rq.clock);
        wait_in_timeline(rq, p);
    }
    rq.fair.curr = None;
}

pub(super) fn wait_in_timeline<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let se = &rq.me.task(p).se;
    if !se.in_timeline.replace(true) {
        rq.fair.timeline.insert(p, se.vruntime.get());
        let waiting = &rq.me.k.fair_root.waiting;
        waiting.set(waiting.get() + 1);
    }
}

pub(super) fn leave_timeline<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let se = &rq.me.task(p).se;
    if se.in_timeline.replace(false) {
        rq.fair.timeline.remove(p, se.vruntime.get());
        let waiting = &rq.me.k.fair_root.waiting;
        waiting.set(waiting.get() - 1);
    }
}

fn set_load<P: Platform>(rq: &mut RqGuard<'_, P>, load: u64) {
    rq.fair.load = load;
    rq.published.load.set(rq, load);
    rq.touch_published();
}

fn check_spread<P: Platform>(rq: &mut RqGuard<'_, P>, task: &Task) {
    let away = lag(task.se.vruntime.get(), rq.published.min_vruntime.get()).unsigned_abs();
    if away > 3 * scale::latency(rq.me.k) {
        rq.fair.nr_spread_over += 1;
    }
}
