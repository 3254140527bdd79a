//! min_vruntime, the floor of a queue's virtual time (fair-class 2.4), and the distance from it that a task
//! takes along when its CPU or its class changes (4.4, 4.5).

use super::place::place_sleeper;
use crate::fair::queue::{EntityId, update_curr};
use crate::fair::vruntime::{earlier, later};
use crate::platform::Platform;
use crate::registry::{BlockedFloor, FloorOrder};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{CpuId, TaskId, TaskState, ThisCpu};

/// Moves the queue's floor up to the leftmost of the running and the waiting entities; never back. Up to 4.8
/// a running task that has just blocked, or is leaving now, counts until it is replaced (rule
/// `blocked_floor`).
pub(super) fn update_min_vruntime<P: Platform>(rq: &mut RqGuard<'_, P>, leaving: Option<EntityId>) {
    let me = rq.me;
    let left = rq.fair.timeline.leftmost().map(|w| w.vruntime);
    let holds = |c: &EntityId| {
        me.k.config.rules.blocked_floor.get() == BlockedFloor::Held
            || leaving != Some(*c) && me.task(c.task()).is_in_queue()
    };
    let curr = rq.fair.curr.filter(holds).map(|c| me.entity(c).vruntime.get());
    let Some(candidate) = left.into_iter().chain(curr).reduce(earlier) else { return };
    let floor = rq.floor();
    floor.set(rq, later(floor.get(), candidate));
}

/// A task that is not queued changes its CPU: it keeps its distance from the floor there, and takes it to the
/// floor that it finds where it is queued next. No lock is needed. Up to 2.6.32 both floors were read in one
/// step, and the destination's may move until the task is queued there.
pub(crate) fn migrate_task_rq<P: Platform>(me: ThisCpu<'_, P>, task: &Task, from: CpuId, to: CpuId) {
    let floor = |cpu| me.k.floor_of(task.se.group.get(), cpu).get();
    if task.se.is_relative() {
        return;
    }
    task.se.make_relative(floor(from));
    if me.k.config.rules.floor_order.get() == FloorOrder::OneStep {
        task.se.make_absolute(floor(to));
    }
}

/// The task leaves the class for the real-time one, by policy or by inheritance. Called off the queue, in
/// whatever state it is. While the class serves others, virtual time passes here without it, so it keeps its
/// distance from the floor; a sleeper's distance is bounded as if it woke now, because that bound will not be
/// applied again.
pub(crate) fn detach_task_cfs_rq<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    let se = &task.se;
    // Between two CPUs the virtual time is a distance from the floor already.
    let floor = if se.is_relative() { 0 } else { rq.floor().get() };
    if task.state.get() != TaskState::Running {
        place_sleeper(rq, se, floor);
    }
    se.make_relative(floor);
}

/// The task comes back from the real-time class, or enters for the first time; not yet on the queue.
pub(crate) fn attach_task_cfs_rq<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    // The floor as it is now, not as it was at the running task's last charge.
    update_curr(rq);
    rq.me.task(p).se.make_absolute(rq.floor().get());
}
