//! The stopper, migration/N: a thread for each CPU that goes before everything else there and never has to
//! make room (fair-placement 5.5). It moves what no other CPU can move, a task that runs: for an exec, for a
//! narrower affinity, for active balancing. It sleeps until it is asked.
//!
//! Each piece of work costs its CPU two switches, and the task that it interrupts an involuntary one. Where
//! there are no such threads (rule `stopper`), the same work is done in an interrupt, for which nobody waits.

mod work;

pub use work::migration_cpu_stop;
pub(crate) use work::{Job, StopWork, Stopper};

use crate::fork::{NewTask, new_task};
use crate::platform::{Ipi, Platform};
use crate::rq::RqGuard;
use crate::schedule::{Entry, schedule, set_current_state};
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{CpuId, CpuMask, Nice, Pid, Policy, RtPriority, Scheduler, TaskId, TaskState, ThisCpu};

/// Gives a CPU its stopper, which sleeps.
///
/// It is shown as SCHED_FIFO of priority 99, but is of a class of its own (deadline-groups A1).
pub fn create_stopper<P: Platform>(k: &Scheduler<P>, cpu: CpuId, pid: Pid) -> TaskId {
    let stopper = new_task(
        k,
        NewTask {
            pid,
            policy: Policy::Fifo(RtPriority::MAX),
            nice: Nice::default(),
            cpus_allowed: CpuMask::single(cpu),
            kernel_thread: true,
            group: crate::GroupId::ROOT,
        },
    );
    k.task(stopper).init_stopper(cpu);
    k.rq(cpu).stop.thread.set(Some(stopper));
    stopper
}

/// The stopper is queued; there is one, so all that its queue holds is that.
pub(crate) fn enqueue_task<P: Platform>(rq: &RqGuard<'_, P>) {
    rq.published.stop_nr_running.set(rq, 1);
}

/// It leaves its queue.
pub(crate) fn dequeue_task<P: Platform>(rq: &RqGuard<'_, P>) {
    rq.published.stop_nr_running.set(rq, 0);
}

/// Whether it is queued.
#[inline]
pub(crate) fn has_runnable<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    rq.published.stop_nr_running.get() > 0
}

/// It, if it is queued.
#[inline]
pub(crate) fn pick_next_task<P: Platform>(rq: &RqGuard<'_, P>) -> Option<TaskId> {
    if has_runnable(rq) { rq.me.k.rq(rq.cpu).stop.thread.get() } else { None }
}

/// Where the stopper of `cpu` is no thread: interrupts it for the work that lies ready, whatever locks the
/// caller holds. Returns whether that was so; else [`wake_up_stopper`].
pub(crate) fn interrupt_stopper<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    let is_interrupt = me.k.rq(cpu).stop.thread.get().is_none();
    if is_interrupt {
        me.k.platform.send_ipi(me.id, cpu, Ipi::Stop);
    }
    is_interrupt
}

/// Wakes the stopper of `cpu`, a thread whose work lies ready. The caller holds no lock that it needs.
pub(crate) async fn wake_up_stopper<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) {
    if let Some(stopper) = me.k.rq(cpu).stop.thread.get() {
        try_to_wake_up(me, stopper, WakeFlags::default()).await;
    }
}

/// Has an interrupt of `cpu` do something to `p`, if its stopper is one. Returns whether it is; else
/// [`stop_one_cpu`].
pub(crate) fn stop_by_interrupt<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, p: TaskId, job: Job) -> bool {
    let stop = &me.k.rq(cpu).stop;
    if stop.thread.get().is_none() {
        stop.works.push(StopWork { task: p, job, waiter: None });
    }
    interrupt_stopper(me, cpu)
}

/// Has the thread of `cpu` do something to `p`. The running task, which asks, waits until it is done: on its
/// own CPU by making room, else asleep.
pub(crate) async fn stop_one_cpu<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, p: TaskId, job: Job) {
    let elsewhere = cpu != me.id;
    if elsewhere {
        // Before it is asked: it may be done before this task has left its CPU.
        set_current_state(me, TaskState::Uninterruptible);
    }
    let waiter = elsewhere.then_some(me.curr());
    me.k.rq(cpu).stop.works.push(StopWork { task: p, job, waiter });
    wake_up_stopper(me, cpu).await;
    schedule(me, if elsewhere { Entry::Call } else { Entry::Preemption }).await;
}

/// The same without waiting.
pub(crate) async fn stop_one_cpu_nowait<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, p: TaskId, job: Job) {
    me.k.rq(cpu).stop.works.push(StopWork { task: p, job, waiter: None });
    wake_up_stopper(me, cpu).await;
}

/// Has the stopper of `cpu`, whichever it is, move the real-time task `p`, which runs there. The caller holds
/// no lock.
pub(crate) async fn push_away_nowait<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, p: TaskId) {
    if !stop_by_interrupt(me, cpu, p, Job::PushAway) {
        stop_one_cpu_nowait(me, cpu, p, Job::PushAway).await;
    }
}

/// What the stopper does while it is the running task: a piece of its work, or it goes to sleep.
pub async fn cpu_stopper_thread<P: Platform>(me: ThisCpu<'_, P>) {
    if !me.k.rq(me.id).has_stop_work() {
        // Nobody can come between this look and the change of its state; who comes later wakes it.
        set_current_state(me, TaskState::Interruptible);
        return schedule(me, Entry::Call).await;
    }
    if let Some(waiter) = migration_cpu_stop(me).await {
        try_to_wake_up(me, waiter, WakeFlags::default()).await;
    }
}

#[cfg(test)]
mod tests;
