//! What happens at a time: an entity's next period (dl_timer), and the end of what a sleeper may still claim
//! (inactive_timer).
//!
//! Each CPU has one hardware timer; here is what it stands for.

use super::active;
use super::budget::replenish;
use super::preempt::check_preempt_curr;
use super::push::{has_pushable_tasks, push_dl_task};
use super::queue::enter;
use super::server::server_timer;
use super::tree::DlId;
use crate::class::Class;
use crate::fair::{GroupTimer, group_timer};
use crate::platform::Platform;
use crate::{CpuId, GroupId, Nanos, Reason, RootId, TaskId, ThisCpu, rt};
use alloc::vec::Vec;
use core::cell::RefCell;

/// What a timer is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// The next period of a throttled entity.
    Replenish(DlId),
    /// The bandwidth of a task that sleeps, or has left the class, is free.
    ZeroLag(TaskId),
    /// A task group's limit (deadline-groups B7): the fair class's, on the same hardware.
    Group(GroupId, GroupTimer),
    /// The period of a task group's real-time limit (deadline-groups B9).
    RtGroup(GroupId),
    /// That of a task that has exited: this much of a root domain's, counted on this CPU if on any.
    Leftover { cpu: Option<CpuId>, root: RootId, bw: u64 },
}

/// Where and for when a timer is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Armed {
    pub at: Nanos,
    pub on: CpuId,
}

/// A CPU's timers of this class, in the order in which they fire.
#[derive(Debug, Default)]
pub(super) struct Timers(RefCell<Vec<(Nanos, What)>>);

impl Timers {
    fn next(&self) -> Option<Nanos> {
        self.0.borrow().first().map(|(at, _)| *at)
    }

    fn pop_due(&self, now: Nanos) -> Option<(Nanos, What)> {
        let mut timers = self.0.borrow_mut();
        let due = timers.first().is_some_and(|(at, _)| *at <= now);
        due.then(|| timers.remove(0))
    }
}

/// Sets a timer on `cpu`.
pub(super) fn arm<P: Platform>(me: ThisCpu<'_, P>, on: CpuId, at: Nanos, what: What) -> Armed {
    let timers = &me.k.dl_cpus.timers[on.index()];
    let before = timers.next();
    {
        let mut list = timers.0.borrow_mut();
        let behind = list.partition_point(|(other, _)| *other <= at);
        list.insert(behind, (at, what));
    }
    program(me, on, before);
    Armed { at, on }
}

/// Sets a timer of a task group on the executing CPU.
pub(crate) fn arm_group_timer<P: Platform>(me: ThisCpu<'_, P>, at: Nanos, group: GroupId, timer: GroupTimer) {
    arm(me, me.id, at, What::Group(group, timer));
}

/// Sets that of its real-time limit.
pub(crate) fn arm_rt_group_timer<P: Platform>(me: ThisCpu<'_, P>, at: Nanos, group: GroupId) {
    arm(me, me.id, at, What::RtGroup(group));
}

/// Takes a timer back that was set.
pub(super) fn cancel<P: Platform>(me: ThisCpu<'_, P>, armed: Option<Armed>, what: What) {
    let Some(Armed { on, .. }) = armed else { return };
    let timers = &me.k.dl_cpus.timers[on.index()];
    let before = timers.next();
    timers.0.borrow_mut().retain(|(_, other)| *other != what);
    program(me, on, before);
}

/// The hardware follows the first timer, which was for `before`.
fn program<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, before: Option<Nanos>) {
    let next = me.k.dl_cpus.timers[cpu.index()].next();
    if next != before {
        me.k.platform.set_dl_timer(cpu, next);
    }
}

/// Handler of the executing CPU's timer ([`Platform::set_dl_timer`]): everything that is due, then the timer
/// is set for what comes next.
pub async fn dl_timer<P: Platform>(me: ThisCpu<'_, P>) {
    let timers = &me.k.dl_cpus.timers[me.id.index()];
    while let Some((at, what)) = timers.pop_due(me.now()) {
        let armed = Armed { at, on: me.id };
        match what {
            What::Replenish(DlId::Task(p)) => next_period(me, p, armed).await,
            What::Replenish(DlId::Server(cpu)) => server_timer(me, cpu, armed).await,
            What::ZeroLag(p) => {
                let rq = me.task_rq_lock(p).await;
                if me.task(p).dl.zero_lag.get() == Some(armed) {
                    active::zero_lag_passed(rq.me, me.task(p));
                }
            }
            What::Group(group, timer) => group_timer(me, group, timer).await,
            What::RtGroup(group) => rt::group_period_ends(me, group).await,
            What::Leftover { cpu, root, bw } => active::leftover_passed(me, cpu, root, bw),
        }
    }
    me.k.platform.set_dl_timer(me.id, timers.next());
}

/// A throttled task's next period begins (deadline-groups A5). It competes from now on, is compared with the
/// running task, and the CPU tries once to push.
async fn next_period<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, armed: Armed) {
    let mut rq = me.task_rq_lock(p).await;
    rq.update_clock();
    let task = me.task(p);
    let e = &task.dl;
    // Somebody may have been quicker, while the lock was waited for.
    if e.replenish.get() != Some(armed) {
        return;
    }
    e.replenish.set(None);
    if task.class.get() != Class::Deadline || e.is_boosted() || !e.is_throttled() {
        return;
    }
    replenish(&rq, p);
    me.decide(p, Reason::DlReplenished);
    if !task.on_rq.get() {
        return;
    }
    enter(&mut rq, DlId::Task(p));
    if rq.curr == p {
        return;
    }
    if me.task(rq.curr).class.get() == Class::Deadline {
        check_preempt_curr(&mut rq, p);
    } else {
        rq.resched();
    }
    if has_pushable_tasks(&rq) {
        drop(push_dl_task(rq).await);
    }
}
