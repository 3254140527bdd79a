//! Push: a CPU gives away RT tasks that it cannot run (rt-class 5.2 to 5.4).

use super::pushable::{has_pushable_tasks, next_to_push};
use super::search::{For, find_lowest_rq};
use super::select::stands_in_the_way;
use crate::class::move_queued_task;
use crate::platform::{Access, Line, Platform};
use crate::registry::{PostPush, PushFail, PushRevalidate, PushSource, WakeRoute, WakeVerifyTarget};
use crate::rq::{DoubleLocked, RqGuard, double_lock_balance};
use crate::stats::bump;
use crate::task::Class;
use crate::{CpuId, Reason, TaskId};

/// How often a push looks for a target before it gives up.
const MAX_TRIES: usize = 3;

/// Restarts with another candidate under `push_fail=retry3`.
const MAX_RESTARTS: usize = 3;

/// One attempt to push, and the guard back. Other CPUs acted on the queue if locks were taken.
pub(super) struct Attempt<'k, P: Platform> {
    pub(super) rq: RqGuard<'k, P>,
    /// Whether another attempt may find more to do.
    pub(super) progress: bool,
}

/// Pushes until nothing more can be pushed.
pub(crate) async fn push_rt_tasks<P: Platform>(mut rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    loop {
        let attempt = push_rt_task(rq).await;
        rq = attempt.rq;
        if !attempt.progress {
            return rq;
        }
    }
}

/// Pushes one task, if the queue is overloaded and a CPU with a lower priority is found.
pub(super) async fn push_rt_task<P: Platform>(mut rq: RqGuard<'_, P>) -> Attempt<'_, P> {
    let me = rq.me;
    if !rq.rt.overloaded {
        return Attempt { rq, progress: false };
    }
    let Some(mut p) = next_to_push(&rq) else { return Attempt { rq, progress: false } };
    let mut restarts = 0;
    loop {
        if me.task(p).prio.get().beats(me.task(rq.curr).prio.get()) {
            me.decide(p, Reason::PushPreempts);
            rq.resched();
            return Attempt { rq, progress: false };
        }
        let found = find_lock_lowest_rq(rq, p).await;
        rq = found.own;
        if let Some(mut target) = found.target {
            move_queued_task(&mut rq, &mut target, p);
            bump(&me.k.totals.pushes);
            me.decide(p, Reason::Pushed);
            target.resched();
            return Attempt { rq, progress: true };
        }
        // The lock may have been dropped: which task would it be now?
        let rule = me.k.config.rules.push_fail.get();
        match next_to_push(&rq) {
            Some(same) if same == p => {
                let progress = rule == PushFail::DropAndContinue && drop_pushable(&mut rq, p);
                return Attempt { rq, progress };
            }
            Some(_) if rule == PushFail::Retry3 && restarts == MAX_RESTARTS => {
                return Attempt { rq, progress: false };
            }
            Some(other) => p = other,
            None => return Attempt { rq, progress: rule == PushFail::DropAndContinue },
        }
        restarts += 1;
    }
}

/// Takes a task that could not be pushed off the pushable list, until an event of 1.4 brings it back.
fn drop_pushable<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) -> bool {
    let me = rq.me;
    let dropped = rq.rt.pushable.remove(&me.k.tasks, p);
    super::queue::pushable_changed(rq);
    dropped
}

/// The own queue's guard, and that of a CPU to which the task can go.
struct Found<'k, P: Platform> {
    own: RqGuard<'k, P>,
    target: Option<RqGuard<'k, P>>,
}

/// Searches, locks, and makes sure that everything still holds under both locks.
async fn find_lock_lowest_rq<P: Platform>(mut rq: RqGuard<'_, P>, p: TaskId) -> Found<'_, P> {
    let me = rq.me;
    let task = me.task(p);
    for _ in 0..MAX_TRIES {
        let found = find_lowest_rq(me, p, For::Push(rq.cpu));
        let Some(cpu) = found.filter(|cpu| *cpu != rq.cpu) else { break };
        if me.k.config.rules.wake_verify_target.get() == WakeVerifyTarget::On {
            me.touch(Line::Rq(cpu), Access::Read);
            if !task.prio.get().beats(me.k.rq(cpu).published.rt_highest.get()) {
                break;
            }
        }
        let DoubleLocked { own, other: target, dropped } = double_lock_balance(rq, cpu).await;
        rq = own;
        if dropped {
            rq.update_clock();
            if !still_pushable(&rq, p, cpu) {
                me.decide(p, Reason::PushChanged);
                return Found { own: rq, target: None };
            }
        }
        if task.prio.get().beats(target.rt.active.best()) {
            return Found { own: rq, target: Some(target) };
        }
    }
    me.decide(p, Reason::PushNoTarget);
    Found { own: rq, target: None }
}

/// Whether a task can still go from here to `cpu`, after the lock was dropped (5.4 step 4).
fn still_pushable<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId, cpu: CpuId) -> bool {
    let task = rq.me.task(p);
    let rules = &rq.me.k.config.rules;
    let by_list = rules.push_source.get() == PushSource::PushableList;
    let waits_here = match rules.push_revalidate.get() {
        PushRevalidate::FirstPushable if by_list => rq.rt.pushable.first() == Some(p),
        _ => task.on_rq.get() && task.cpu.get() == rq.cpu && rq.curr != p && task.class.get() == Class::Rt,
    };
    waits_here && task.may_run_on(cpu)
}

/// After a switch to `next`: whether something waits behind it that might be pushed.
#[inline]
pub(crate) fn wants_post_schedule<P: Platform>(rq: &RqGuard<'_, P>, next: TaskId) -> bool {
    rq.me.task(next).class.get() == Class::Rt && has_pushable_tasks(rq)
}

/// Pushes what waits behind the task that the CPU has just switched to, then releases the lock.
pub(crate) async fn post_schedule<P: Platform>(rq: RqGuard<'_, P>) {
    let me = rq.me;
    match me.k.config.rules.post_push.get() {
        PostPush::CallbackLocked => drop(push_rt_tasks(rq).await),
        PostPush::TailRelock => {
            let cpu = rq.cpu;
            drop(rq);
            let mut rq = me.lock(cpu).await;
            rq.update_clock();
            if has_pushable_tasks(&rq) {
                drop(push_rt_tasks(rq).await);
            }
        }
    }
}

/// After `p` was woken and queued here: whether it cannot run here soon, so that this CPU has to push (3.5).
#[inline]
pub(crate) fn woken_cannot_run<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) -> bool {
    rq.me.task(p).class.get() == Class::Rt && rq.curr != p && wants_post_push(rq, p)
}

/// The table of 3.5; `p` does not run.
#[inline]
fn wants_post_push<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) -> bool {
    let me = rq.me;
    let (task, curr) = (me.task(p), me.task(rq.curr));
    let route = me.k.config.rules.wake_route.get();
    let blocked = curr.class.get() == Class::Rt && stands_in_the_way(route, curr, task);
    match route {
        WakeRoute::CfsLoad | WakeRoute::NotPreempting => blocked,
        // Whatever runs, as long as something is pushable.
        WakeRoute::AnyRt => !rq.need_resched() && !task.is_pinned() && has_pushable_tasks(rq),
        WakeRoute::StrictlyHigher | WakeRoute::HigherOrPinned | WakeRoute::GeOrPinned => {
            blocked && !rq.need_resched() && !task.is_pinned()
        }
    }
}
