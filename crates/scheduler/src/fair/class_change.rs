//! A task's virtual time when its CPU or its class changes (fair-class 4.4, 4.5).

use super::place::place_sleeper;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{Cpu, CpuId, TaskId, TaskState};

/// A task that is not queued changes its CPU: it keeps its distance from the floor, whatever the floor is there. In
/// one step, with both floors as they are now; no lock is needed to read them.
pub(crate) fn task_changes_cpu<P: Platform>(me: Cpu<'_, P>, task: &Task, from: CpuId, to: CpuId) {
    if task.se.relative.get() {
        return;
    }
    let floor = |cpu| me.k.rq(cpu).published.min_vruntime.get();
    let distance = task.se.vruntime.get().wrapping_sub(floor(from));
    task.se.vruntime.set(floor(to).wrapping_add(distance));
}

/// The task leaves the class for the real-time one, by policy or by inheritance. Called off the queue, in whatever
/// state it is. While the class serves others, virtual time passes here without it, so it keeps its distance from
/// the floor; a sleeper's distance is bounded as if it woke now, because that bound will not be applied again.
pub(crate) fn detach_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    let se = &task.se;
    if task.state.get() != TaskState::Running {
        place_sleeper(rq, se);
    }
    se.make_relative(rq.published.min_vruntime.get());
}

/// The task comes back from the real-time class, or enters for the first time; not yet on the queue.
pub(crate) fn attach_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    rq.me.task(p).se.make_absolute(rq.published.min_vruntime.get());
}
