//! Which task a push or a pull would move (rt-class 5.2, 5.5c).

use super::groups;
use crate::platform::{Access, Cost, Line, Platform};
use crate::registry::{OverloadRule, PullSource, PushSource, RtBalance};
use crate::rq::RqGuard;
use crate::{CpuId, TaskId};

/// Whether a push could find something to do: what the kernel tests before it pushes after a switch.
#[inline]
pub(crate) fn has_pushable_tasks<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    let rules = &rq.me.k.config.rules;
    if rules.rt_balance.get() == RtBalance::Off {
        return false;
    }
    match rules.push_source.get() {
        PushSource::PushableList => !rq.rt.pushable.is_empty(),
        PushSource::QueueScan => rq.rt.overloaded,
    }
}

/// The task to push: the best that waits here and may move.
pub(super) fn pick_next_pushable_task<P: Platform>(rq: &RqGuard<'_, P>) -> Option<TaskId> {
    match rq.me.k.config.rules.push_source.get() {
        PushSource::PushableList => rq.rt.pushable.first(),
        PushSource::QueueScan => {
            // By depth, an immovable task is as good as any: the push fails on it, and those behind are
            // stranded.
            let any = rq.me.k.config.rules.overload_rule.get() == OverloadRule::Depth;
            scan_queue(rq, |task| any || !rq.me.task(task).is_pinned())
        }
    }
}

/// The task that `cpu` would take from here: the best that waits here and may run there. The executing CPU
/// reads another one's queue, and the tasks on it (rt-class 10.2).
pub(super) fn pick_highest_pushable_task<P: Platform>(rq: &RqGuard<'_, P>, cpu: CpuId) -> Option<TaskId> {
    let me = rq.me;
    me.touch(Line::Rq(rq.cpu), Access::Read);
    let may_go = |p: TaskId| {
        me.touch(Line::Task(p), Access::Read);
        me.task(p).is_allowed_on(cpu)
    };
    match me.k.config.rules.pull_source.get() {
        PullSource::PushableList => rq.rt.pushable.iter(&me.k.tasks).find(|p| {
            me.charge(Cost::ScanTask);
            may_go(*p)
        }),
        PullSource::QueueScan => scan_queue(rq, |p| may_go(p) && !me.task(p).is_pinned()),
    }
}

/// The best queued task that does not run and suits; the kernels that scanned did so only with two or more
/// queued.
fn scan_queue<P: Platform>(rq: &RqGuard<'_, P>, suits: impl Fn(TaskId) -> bool) -> Option<TaskId> {
    if rq.rt.nr_queued < 2 {
        return None;
    }
    groups::find_best(rq, |p| {
        rq.charge(Cost::ScanTask);
        *p != rq.curr && suits(*p)
    })
}
