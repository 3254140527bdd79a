//! Pull: a CPU that ran a deadline task and has an earlier one no more takes from others (deadline-groups
//! deadline-groups A9).

use super::preempt::precedes;
use crate::Class;
use crate::class::move_queued_task;
use crate::double_lock::{DoubleLocked, double_lock_balance};
use crate::platform::{Access, Cost, Line, Platform};
use crate::rq::RqGuard;
use crate::{CpuId, Nanos, Reason, TaskId};

/// Before a pick: whether a deadline task has just left the tree, and another CPU has one to give away.
pub(crate) fn wants_pre_schedule<P: Platform>(rq: &mut RqGuard<'_, P>, prev: TaskId) -> bool {
    let task = rq.me.task(prev);
    if task.class.get() != Class::Deadline || task.dl.is_queued() {
        return false;
    }
    let overloaded = dl_overloaded(rq);
    if !overloaded {
        // The look at the shared line took time.
        rq.update_clock();
    }
    overloaded
}

fn dl_overloaded<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    rq.me.k.root_domain(rq.cpu).dl.overload.others(rq.me, rq.cpu)
}

/// The same for other causes: everything known about this queue is stale afterwards.
pub(super) async fn pull_dl_task<P: Platform>(rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    if dl_overloaded(&rq) { pre_schedule(rq).await } else { rq }
}

/// Visits every other overloaded CPU once, ascending. It goes on after a success: a later one may have
/// something even earlier.
pub(crate) async fn pre_schedule<P: Platform>(mut rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    let me = rq.me;
    let overload = &me.k.root_domain(rq.cpu).dl.overload;
    let mut taken = None;
    let mut next = overload.next(None);
    while let Some(source) = next {
        if source != rq.cpu {
            me.charge(Cost::ScanCpu);
            if has_earlier(&rq, source) {
                let DoubleLocked { own, other, dropped } = double_lock_balance(rq, source).await;
                rq = own;
                if dropped {
                    rq.update_clock();
                }
                taken = pull_from(&mut rq, other, taken);
            } else {
                me.decide(rq.curr, Reason::PullSkipped);
            }
        }
        next = overload.next(Some(source));
    }
    if taken.is_some() {
        rq.resched();
    }
    rq
}

/// The look before the lock.
fn has_earlier<P: Platform>(rq: &RqGuard<'_, P>, source: CpuId) -> bool {
    rq.me.touch(Line::Rq(source), Access::Read);
    match (rq.dl.earliest(), rq.me.k.rq(source).published.dl_next.get()) {
        (None, _) => true,
        (Some(own), next) => next.is_some_and(|next| next < own),
    }
}

/// With both locks held: takes the earliest task of `source` that may run here and belongs here. The earliest
/// deadline that this walk has taken; `taken` before.
fn pull_from<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    mut source: RqGuard<'_, P>,
    taken: Option<Nanos>,
) -> Option<Nanos> {
    let me = rq.me;
    let earlier = |p: &TaskId| {
        let deadline = me.task(*p).dl.deadline();
        let before = |other: Option<Nanos>| other.is_none_or(|other| deadline < other);
        before(taken) && before(rq.dl.earliest())
    };
    let may_come = |p: &TaskId| {
        me.charge(Cost::ScanTask);
        me.task(*p).may_run_on(rq.cpu)
    };
    let candidate = source.dl.pushable().find(may_come).filter(earlier);
    let Some(p) = candidate.filter(|_| source.dl.nr_running() > 1) else {
        me.decide(rq.curr, Reason::PullNothing);
        return taken;
    };
    let curr = me.task(source.curr);
    if curr.class.get() != Class::Deadline || precedes(me.task(p), curr) {
        // It has just been woken there, and that CPU is about to switch to it.
        me.decide(p, Reason::PullPreempts);
        return taken;
    }
    let deadline = me.task(p).dl.deadline();
    move_queued_task(&mut source, rq, p);
    me.decide(p, Reason::DlPulled);
    Some(deadline)
}
