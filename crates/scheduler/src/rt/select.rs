//! select_task_rq: where a woken RT task goes (rt-class 3.2, 3.3).

use super::load_route::route_by_load;
use super::search::{For, find_lowest_rq};
use crate::platform::{Access, Line, Platform};
use crate::registry::{WakeLock, WakeRoute, WakeVerifyTarget};
use crate::task::Task;
use crate::wakeup::WakeFlags;
use crate::{CpuId, Reason, TaskId, ThisCpu};

/// The CPU for a woken task that may run on more than one. No lock of a run queue is needed.
#[inline]
pub(crate) fn select_task_rq<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, flags: WakeFlags) -> CpuId {
    let route = me.k.config.rules.wake_route.get();
    if route == WakeRoute::CfsLoad {
        me.decide(p, Reason::WakeLoad);
        return route_by_load(me, p, flags);
    }
    let task = me.task(p);
    let here = task.cpu.get();
    me.touch(Line::Rq(here), Access::Read);
    let in_the_way = looks_elsewhere(me, task, route);
    if !in_the_way && me.k.rt_task_fits(task, here) {
        me.decide(p, Reason::WakeStay);
        return here;
    }
    let Some(target) = find_lowest_rq(me, p, For::Wakeup) else {
        me.decide(p, Reason::WakeNoLower);
        return here;
    };
    if !in_the_way && !me.k.rt_task_fits(task, target) {
        me.decide(p, Reason::WakeNoFit);
        return here;
    }
    if target == here {
        me.decide(p, Reason::WakeLowestHere);
        return here;
    }
    if me.k.config.rules.wake_verify_target.get() == WakeVerifyTarget::On {
        me.touch(Line::Rq(target), Access::Read);
        if !task.prio.get().beats(me.k.rq(target).published.rt_highest.get()) {
            me.decide(p, Reason::WakeTargetRose);
            return here;
        }
    }
    me.decide(p, Reason::WakeRouted);
    target
}

/// The table of 3.3. `curr` is read without a lock.
#[inline]
fn looks_elsewhere<P: Platform>(me: ThisCpu<'_, P>, task: &Task, route: WakeRoute) -> bool {
    let here = &me.k.rq(task.cpu.get()).published;
    let prio = task.prio.get();
    if route == WakeRoute::NotPreempting {
        // The one test on the queue, not on the running task.
        return !prio.beats(here.rt_highest.get());
    }
    let curr = me.task(here.curr.get());
    curr.class.get().is_realtime() && stands_in_the_way(route, curr, task)
}

/// Whether a running RT task keeps `task` from running on its CPU, as each era saw it.
#[inline]
pub(super) fn stands_in_the_way(route: WakeRoute, curr: &Task, task: &Task) -> bool {
    let (prio, curr_prio) = (task.prio.get(), curr.prio.get());
    match route {
        WakeRoute::AnyRt => true,
        WakeRoute::StrictlyHigher => curr_prio.beats(prio),
        WakeRoute::HigherOrPinned => curr_prio.beats(prio) || curr.is_pinned(),
        WakeRoute::GeOrPinned => !prio.beats(curr_prio) || curr.is_pinned(),
        WakeRoute::NotPreempting | WakeRoute::CfsLoad => !prio.beats(curr_prio),
    }
}

/// The CPU for a new task: as for a wakeup since 3.0, the forking CPU before.
pub(crate) fn select_task_rq_fork<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> CpuId {
    match me.k.config.rules.wake_lock.get() {
        WakeLock::PiLock => select_task_rq(me, p, WakeFlags::default()),
        WakeLock::OldRq => me.id,
    }
}
