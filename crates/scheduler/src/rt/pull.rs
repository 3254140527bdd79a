//! Pull: a CPU that lowered its priority takes RT tasks from overloaded CPUs (rt-class 5.5), or asks those to
//! push (6).

use super::push_away::get_push_task;
use super::push_ipi::tell_cpu_to_push;
use super::pushable::pick_highest_pushable_task;
use crate::class::move_queued_task;
use crate::double_lock::{DoubleLocked, double_lock_at_once};
use crate::platform::{Access, Cost, Line, Platform};
use crate::registry::{Feature, PullFilter, RtBalance};
use crate::rq::RqGuard;
use crate::stats::bump;
use crate::stop::push_away_nowait;
use crate::{Class, CpuId, Prio, Reason, TaskId, dl};

/// Before a pick: whether this CPU has just lowered its priority, and another has something to give.
#[inline]
pub(crate) fn wants_pre_schedule<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    prev: TaskId,
    prev_prio: Prio,
) -> bool {
    if !need_pull_rt_task(rq, prev, prev_prio) {
        return false;
    }
    let overloaded = rt_overloaded(rq);
    if !overloaded {
        // The look at the shared line took time.
        rq.update_clock();
    }
    overloaded
}

/// Whether this schedule lowers the CPU's priority: the previous task is gone, and what is left here is
/// lower.
#[inline]
fn need_pull_rt_task<P: Platform>(rq: &RqGuard<'_, P>, prev: TaskId, prev_prio: Prio) -> bool {
    let prev = rq.me.task(prev);
    // A throttled deadline task is gone, too; but one of its class goes before all that could be pulled.
    let gone = match prev.class.get() {
        Class::Deadline => dl::first(rq).is_none(),
        Class::Stop | Class::Rt | Class::Fair | Class::Idle => !prev.on_rq.get(),
    };
    gone && prev_prio.beats(rq.rt.root.active.best())
}

/// Whether another CPU has something to give, as far as the shared line tells.
#[inline]
fn rt_overloaded<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    let balances = rq.me.k.config.rules.rt_balance.get() == RtBalance::On;
    balances && rq.me.k.root_domain(rq.cpu).rt.overload.others(rq.me, rq.cpu)
}

/// For the queue's CPU, which has just lowered its priority: takes from others, or asks them to push. Virtual
/// time passes wherever another queue is locked, and everything known about this one is stale afterwards.
pub(super) async fn pull_rt_task<P: Platform>(rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    if rt_overloaded(&rq) { pre_schedule(rq).await } else { rq }
}

/// The same for schedule(), which has asked [`wants_pre_schedule`].
#[inline]
pub(crate) async fn pre_schedule<P: Platform>(rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    let me = rq.me;
    if me.has(Feature::RtPushIpi) {
        tell_cpu_to_push(&rq).await;
        return rq;
    }
    pull_from_others(rq).await
}

/// Visits every other overloaded CPU once, ascending. It goes on after a success: a later one may have
/// something even better.
async fn pull_from_others<P: Platform>(mut rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    let me = rq.me;
    let overload = &me.k.root_domain(rq.cpu).rt.overload;
    let mut pulled = false;
    let mut next = overload.next(None);
    while let Some(source) = next {
        if source != rq.cpu {
            me.charge(Cost::ScanCpu);
            if has_better(&rq, source) {
                let DoubleLocked { own, other, dropped } = match double_lock_at_once(rq, source) {
                    Ok(locked) => locked,
                    Err(pending) => pending.wait().await,
                };
                rq = own;
                if dropped {
                    rq.update_clock();
                }
                match pull_from(&mut rq, other) {
                    Found::Taken => pulled = true,
                    Found::Nothing => {}
                    Found::Held(running) => rq = has_it_pushed_away(rq, source, running).await,
                }
            } else {
                me.decide(rq.curr, Reason::PullSkipped);
            }
        }
        next = overload.next(Some(source));
    }
    if pulled {
        rq.resched();
    }
    rq
}

/// The look before the lock (5.5a).
fn has_better<P: Platform>(rq: &RqGuard<'_, P>, source: CpuId) -> bool {
    let me = rq.me;
    match me.k.config.rules.pull_filter.get() {
        PullFilter::None => true,
        PullFilter::NextPrio => {
            me.touch(Line::Rq(source), Access::Read);
            me.k.rq(source).published.rt_next.get().beats(rq.rt.root.active.best())
        }
    }
}

/// What a CPU that was locked had to give.
enum Found {
    Nothing,
    /// A task, which is here now.
    Taken,
    /// A task that may not migrate. This one runs in its way, and may go.
    Held(TaskId),
}

/// With both locks held: takes the best task of `source` that may run here and belongs here.
fn pull_from<P: Platform>(rq: &mut RqGuard<'_, P>, mut source: RqGuard<'_, P>) -> Found {
    let me = rq.me;
    let beats_here = |p: &TaskId| me.task(*p).prio.get().beats(rq.rt.root.active.best());
    let Some(p) = pick_highest_pushable_task(&source, rq.cpu).filter(beats_here) else {
        me.decide(rq.curr, Reason::PullNothing);
        return Found::Nothing;
    };
    if me.task(p).prio.get().beats(me.task(source.curr).prio.get()) {
        // It has just been woken there, and that CPU is about to switch to it.
        me.decide(p, Reason::PullPreempts);
        return Found::Nothing;
    }
    if me.task(p).migration.is_disabled() {
        me.decide(p, Reason::PushHeld);
        return get_push_task(&source).map_or(Found::Nothing, Found::Held);
    }
    move_queued_task(&mut source, rq, p);
    bump(&me.k.totals.pulls);
    me.decide(p, Reason::Pulled);
    Found::Taken
}

/// The stopper of `source` moves the task that runs there, and comes when it comes: the lock is dropped.
async fn has_it_pushed_away<P: Platform>(
    rq: RqGuard<'_, P>,
    source: CpuId,
    running: TaskId,
) -> RqGuard<'_, P> {
    let (me, cpu) = (rq.me, rq.cpu);
    drop(rq);
    push_away_nowait(me, source, running).await;
    let mut rq = me.lock(cpu).await;
    rq.update_clock();
    rq
}
