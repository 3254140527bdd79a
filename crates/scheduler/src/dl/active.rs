//! Which bandwidth is in use on which CPU, and when it is free (deadline-groups A6).
//!
//! A task that blocks may wake at once and claim what is left of its period. So its bandwidth stays in use
//! until its zero-lag time, when it would have used that up at its own rate. Likewise what was promised to a
//! task that leaves the class is free at that time only, so that leaving and entering gains nothing.

use super::admission::{give_back, reserve};
use super::budget::{cancel_replenishment, unthrottle};
use super::cbs::Budget;
use super::entity::DlEntity;
use super::params::DlParams;
use super::timer::{What, arm, cancel};
use super::tree::DlId;
use crate::platform::Platform;
use crate::registry::DlBwRelease;
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{CpuId, Nanos, Policy, RootId, TaskId, ThisCpu};

fn is_own(task: &Task) -> bool {
    matches!(task.policy.get(), Policy::Deadline(_))
}

/// The bandwidth of an entity is one of `cpu`'s.
fn count_on<P: Platform>(me: ThisCpu<'_, P>, e: &DlEntity, cpu: CpuId) {
    if e.counted_on.get().is_none() {
        e.counted_on.set(Some(cpu));
        let this = &me.k.dl_cpus.cpus[cpu.index()].this;
        this.set(this.get() + e.bw());
    }
}

/// It is no CPU's any more.
fn uncount<P: Platform>(me: ThisCpu<'_, P>, e: &DlEntity) {
    set_inactive(me, e);
    if let Some(cpu) = e.counted_on.take() {
        let this = &me.k.dl_cpus.cpus[cpu.index()].this;
        this.set(this.get() - e.bw());
    }
}

fn set_inactive<P: Platform>(me: ThisCpu<'_, P>, e: &DlEntity) {
    e.non_contending.set(false);
    if let Some(cpu) = e.counted_on.get().filter(|_| e.active.replace(false)) {
        let running = &me.k.dl_cpus.cpus[cpu.index()].running;
        running.set(running.get() - e.bw());
    }
}

/// A task is about to be queued here, or is throttled and would be: its bandwidth is in use.
pub(super) fn contends<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    let (me, task) = (rq.me, rq.me.task(p));
    if !is_own(task) {
        return;
    }
    let e = &task.dl;
    cancel(me, e.zero_lag.take(), What::ZeroLag(p));
    e.non_contending.set(false);
    if e.reserved.get().is_none() {
        // It was made with this policy, and this is its first wakeup.
        e.own.get().inspect(|params| e.reserved.set(Some(reserve(me.k, rq.cpu, *params))));
    }
    // A task that has not run yet changes its CPU without migrating.
    moved_to(me, e, rq.cpu);
    count_on(me, e, rq.cpu);
    if !e.active.replace(true) {
        let running = &me.k.dl_cpus.cpus[rq.cpu.index()].running;
        running.set(running.get() + e.bw());
    }
}

/// When the bandwidth of an entity is free that stops competing now; `None`: at once.
fn free_at<P: Platform>(me: ThisCpu<'_, P>, e: &DlEntity, now: Nanos) -> Option<Nanos> {
    let own = e.own.get()?;
    let at = e.budget().zero_lag(own);
    (me.k.config.rules.dl_bw_release.get() == DlBwRelease::ZeroLag && at > now).then_some(at)
}

/// A task blocks: its bandwidth is in use up to its zero-lag time.
pub(super) fn blocks<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    let (me, task) = (rq.me, rq.me.task(p));
    if !is_own(task) {
        return;
    }
    let e = &task.dl;
    match free_at(me, e, rq.clock) {
        Some(at) => {
            e.non_contending.set(true);
            e.zero_lag.set(Some(arm(me, rq.cpu, at, What::ZeroLag(p))));
        }
        None => set_inactive(me, e),
    }
}

/// That time has come for a sleeper, or for a task that has left the class.
pub(super) fn zero_lag_passed<P: Platform>(me: ThisCpu<'_, P>, task: &Task) {
    let e = &task.dl;
    e.zero_lag.set(None);
    if is_own(task) {
        set_inactive(me, e);
    } else {
        release(me, e);
    }
}

/// What was promised is free.
fn release<P: Platform>(me: ThisCpu<'_, P>, e: &DlEntity) {
    if let Some(root) = e.reserved.take() {
        give_back(me.k, root, e.bw());
    }
    e.own.set(None);
}

/// A task changes its CPU: its bandwidth goes along. It leaves its root domain only where nobody is asked
/// whether there is room (deadline-groups A2): what was promised follows it there.
pub(crate) fn moved_to<P: Platform>(me: ThisCpu<'_, P>, e: &DlEntity, dest: CpuId) {
    let root = me.k.root_domain(dest).id;
    if let Some((from, own)) = e.reserved.get().filter(|from| *from != root).zip(e.own.get()) {
        give_back(me.k, from, e.bw());
        e.reserved.set(Some(reserve(me.k, dest, own)));
    }
    let Some(from) = e.counted_on.get() else { return };
    let cpus = &me.k.dl_cpus.cpus;
    let (from, to) = (&cpus[from.index()], &cpus[dest.index()]);
    from.this.set(from.this.get() - e.bw());
    to.this.set(to.this.get() + e.bw());
    if e.active.get() {
        from.running.set(from.running.get() - e.bw());
        to.running.set(to.running.get() + e.bw());
    }
    e.counted_on.set(Some(dest));
}

/// A task that is off its queue gets another policy, which has been let in ([`super::fits`]).
pub(crate) fn policy_changes<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId, new: Policy) {
    let counted = |e: &DlEntity| e.reserved.get().is_some() && e.counted_on.get().is_some();
    match new {
        Policy::Deadline(params) => enters(rq, p, params),
        _ if rq.me.task(p).dl.if_any().is_some_and(counted) => leaves(rq, p),
        _ => {}
    }
}

/// A task enters the class, or changes its parameters.
fn enters<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId, params: DlParams) {
    let (me, e) = (rq.me, &rq.me.task(p).dl);
    cancel(me, e.zero_lag.take(), What::ZeroLag(p));
    uncount(me, e);
    release(me, e);
    e.own.set(Some(params));
    e.reserved.set(Some(reserve(me.k, rq.cpu, params)));
    count_on(me, e, rq.cpu);
    let budget = e.budget();
    e.set_budget(Budget { runtime: budget.runtime.min(params.runtime().0 as i64), ..budget });
}

/// A task leaves the class for another.
fn leaves<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    let (me, e) = (rq.me, &rq.me.task(p).dl);
    cancel(me, e.zero_lag.take(), What::ZeroLag(p));
    cancel_replenishment(rq, e, DlId::Task(p));
    unthrottle(rq, p);
    e.yielded.set(false);
    uncount(me, e);
    match free_at(me, e, rq.clock) {
        Some(at) => e.zero_lag.set(Some(arm(me, rq.cpu, at, What::ZeroLag(p)))),
        None => release(me, e),
    }
}

/// A task exits, of whatever class: nobody may ask for its timers any more.
pub(crate) fn leaves_for_good<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    let me = rq.me;
    let Some(e) = me.task(p).dl.if_any() else { return };
    cancel(me, e.zero_lag.take(), What::ZeroLag(p));
    cancel_replenishment(rq, e, DlId::Task(p));
    let Some(root) = e.reserved.get() else { return };
    let Some(at) = free_at(me, e, rq.clock) else {
        uncount(me, e);
        return release(me, e);
    };
    if !e.active.replace(false) {
        uncount(me, e);
    }
    let leftover = What::Leftover { cpu: e.counted_on.take(), root, bw: e.bw() };
    arm(me, rq.cpu, at, leftover);
    e.reserved.set(None);
    e.own.set(None);
}

/// The zero-lag time of a task that has exited.
pub(super) fn leftover_passed<P: Platform>(me: ThisCpu<'_, P>, cpu: Option<CpuId>, root: RootId, bw: u64) {
    if let Some(cpu) = cpu {
        let of_cpu = &me.k.dl_cpus.cpus[cpu.index()];
        of_cpu.running.set(of_cpu.running.get() - bw);
        of_cpu.this.set(of_cpu.this.get() - bw);
    }
    give_back(me.k, root, bw);
}
