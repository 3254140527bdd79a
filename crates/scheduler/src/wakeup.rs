//! try_to_wake_up: from a sleeping task to a queued one (rt-class 3).
//!
//! The stages are the same in every kernel; what differs is the lock under which the CPU is chosen. Up to
//! 2.6.38 the waker holds the run-queue lock of the sleeper's last CPU, then takes the new one's. Since 3.0
//! it holds only the sleeper's pi_lock and takes one run-queue lock, or hands the rest of the work to the
//! target CPU.

use crate::class::{
    EnqueueKind, PreemptCause, SelectFor, activate_task, check_preempt_curr, on_wake_other, requeue_delayed,
    set_task_cpu, task_woken,
};
use crate::pi_lock::{PiGuard, pi_lock_here};
use crate::platform::{Access, Cost, Ipi, Line, Platform};
use crate::registry::{Feature, TtwuList, WakeLock, WakeOnCpu};
use crate::rq::{RqGuard, lock_here};
use crate::select::select_task_rq;
use crate::shared::Unseen;
use crate::stats::bump;
use crate::{CpuId, Event, Reason, TaskId, TaskState, ThisCpu};

/// What the waker says about the wakeup.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WakeFlags {
    /// The waker is about to sleep (WF_SYNC).
    pub sync: bool,
    /// The wakeup happens in an interrupt, a soft one included, and not in the running task's own right.
    pub interrupt: bool,
    /// The waker is about to exit (PF_EXITING).
    pub exiting: bool,
}

/// Wakes `p` if it sleeps. Returns whether it did; a task that is not asleep is left alone.
pub fn try_to_wake_up<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    flags: WakeFlags,
) -> impl Future<Output = bool> {
    try_to_wake_up_if(me, p, flags, || true)
}

/// The same for a waker that no lock keeps informed: `still` is asked, once the sleeper can no longer be
/// woken by others, whether it sleeps for the reason that the waker knows.
pub(crate) async fn try_to_wake_up_if<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    flags: WakeFlags,
    still: impl Fn() -> bool,
) -> bool {
    match me.k.config.rules.wake_lock.get() {
        WakeLock::PiLock => wake_under_pi_lock(me, p, flags, still).await,
        WakeLock::OldRq => wake_under_rq_lock(me, p, flags, still).await,
    }
}

fn asleep<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> bool {
    matches!(me.task(p).state.get(), TaskState::Interruptible | TaskState::Uninterruptible)
}

async fn wake_under_pi_lock<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    flags: WakeFlags,
    still: impl Fn() -> bool,
) -> bool {
    let pi = pi_lock_here!(me, p);
    let woken = asleep(me, p) && still();
    if woken {
        sched_waking(me, p);
        let queued = me.task(p).on_rq.get() || me.task(p).migrating.get();
        if !(queued && ttwu_runnable(me, p, flags).await) {
            wake_dequeued(&pi, flags).await;
        }
    }
    woken
}

/// Stage 2: the sleeper is still queued, whether it executes or not. No CPU selection, no enqueue. Not if it
/// has left by the time that its queue is locked.
async fn ttwu_runnable<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, flags: WakeFlags) -> bool {
    let mut rq = me.task_rq_lock(p).await;
    if !me.task(p).on_rq.get() {
        return false;
    }
    rq.update_clock();
    requeue_delayed(&mut rq, p);
    ttwu_do_wakeup(&mut rq, p, flags);
    true
}

/// Stages 3 to 7 under the sleeper's pi_lock.
async fn wake_dequeued<P: Platform>(pi: &PiGuard<'_, P>, flags: WakeFlags) {
    let (me, p) = (pi.me, pi.task);
    let task = me.task(p);
    task.state.set(pi, TaskState::Waking);
    let last = task.cpu.get();
    if task.on_cpu.get()
        && me.k.config.rules.wake_on_cpu.get() == WakeOnCpu::List
        && ttwu_queue_cond(me, last, true)
    {
        // It is still being switched away from: it wakes where it is, and nobody chooses a CPU.
        me.decide(p, Reason::WakeOnCpuList);
        ttwu_stat(me, p, last, flags);
        on_wake_other(me, flags);
        ttwu_queue_wakelist(me, p, last);
        return;
    }
    while task.on_cpu.get() {
        me.k.platform.relax(me.id).await;
    }
    let cpu = select_task_rq(me, p, SelectFor::Wakeup(flags));
    ttwu_stat(me, p, cpu, flags);
    set_task_cpu(me, pi, p, cpu);
    on_wake_other(me, flags);
    if ttwu_queue_cond(me, cpu, false) {
        ttwu_queue_wakelist(me, p, cpu);
        return;
    }
    let mut rq = lock_here!(me, cpu);
    rq.update_clock();
    ttwu_do_activate(&mut rq, p, flags);
    task_woken!(rq, p);
}

async fn wake_under_rq_lock<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    flags: WakeFlags,
    still: impl Fn() -> bool,
) -> bool {
    let task = me.task(p);
    let mut rq = me.task_rq_lock(p).await;
    if !asleep(me, p) || !still() {
        return false;
    }
    rq.update_clock();
    sched_waking(me, p);
    if task.on_rq.get() {
        requeue_delayed(&mut rq, p);
        ttwu_do_wakeup(&mut rq, p, flags);
        return true;
    }
    // A task that is still being switched away from is queued where it is: its CPU may pick it again at once.
    if rq.curr == p {
        ttwu_stat(me, p, rq.cpu, flags);
    } else {
        task.state.set(&rq, TaskState::Waking);
        let cpu = select_task_rq(me, p, SelectFor::Wakeup(flags));
        ttwu_stat(me, p, cpu, flags);
        if cpu != rq.cpu {
            drop(rq);
            // Its state says that it is being woken, so nobody else looks for it.
            set_task_cpu(me, &Unseen, p, cpu);
            rq = me.lock(cpu).await;
            rq.update_clock();
        }
    }
    activate_task(&mut rq, p, EnqueueKind::Wakeup);
    on_wake_other(me, flags);
    ttwu_do_wakeup(&mut rq, p, flags);
    task_woken!(rq, p);
    true
}

/// Start of a wakeup.
fn sched_waking<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) {
    me.charge(Cost::Wakeup);
    me.touch(Line::Task(p), Access::Write);
    me.event(Event::Waking { task: p, target: me.task(p).cpu.get() });
}

/// Counts a wakeup that will enqueue the task on `cpu` (fair-class 11.1).
fn ttwu_stat<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, cpu: CpuId, flags: WakeFlags) {
    let (task, counts) = (me.task(p), &me.k.rq(cpu).published.counts);
    let woken = &task.stats.woken;
    bump(&counts.wakeups);
    if flags.sync {
        bump(&woken.sync);
    }
    if cpu != task.cpu.get() {
        bump(&woken.migrate);
    }
    if cpu == me.id {
        bump(&woken.local);
        bump(&counts.local_wakeups);
    } else {
        bump(&woken.remote);
        if let Some(domain) = me.k.domains(me.id).iter().find(|d| d.span.contains(cpu)) {
            bump(&domain.balance.other_counts.wake_remote);
        }
    }
}

/// Stages 5 and 6.
fn ttwu_do_activate<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, flags: WakeFlags) {
    activate_task(rq, p, EnqueueKind::Wakeup);
    ttwu_do_wakeup(rq, p, flags);
}

/// Stage 6: preemption check, runnable state, trace.
fn ttwu_do_wakeup<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, flags: WakeFlags) {
    let task = rq.me.task(p);
    check_preempt_curr(rq, p, PreemptCause::Wakeup { sync: flags.sync });
    task.state.set(rq, TaskState::Running);
    if rq.curr != p {
        task.stats.woken_at.set(Some(rq.clock));
    }
    bump(&task.stats.nr_wakeups);
    bump(&rq.me.k.totals.wakeups);
    rq.me.event(Event::Wakeup { task: p, target: rq.cpu });
}

/// Whether the target CPU is to do the enqueue itself (rt-class 3.6). `leaving`: the sleeper has not left it
/// yet.
fn ttwu_queue_cond<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, leaving: bool) -> bool {
    let within_cache = || {
        let nr_running = me.k.rq(cpu).published.nr_running.get();
        match me.k.config.rules.ttwu_list.get() {
            TtwuList::EmptyTarget => nr_running == 0,
            TtwuList::LastCpu => leaving && nr_running <= 1,
            TtwuList::OtherCache => false,
        }
    };
    me.has(Feature::TtwuQueue) && cpu != me.id && (!me.k.cpus_share_cache(me.id, cpu) || within_cache())
}

fn ttwu_queue_wakelist<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, cpu: CpuId) {
    me.touch(Line::WakeList(cpu), Access::Write);
    me.k.fair_root.may_change(cpu);
    if me.k.rq(cpu).wake_list.push(p) {
        me.k.platform.send_ipi(me.id, cpu, Ipi::Wakeup);
    }
}

/// Handler of [`Ipi::Wakeup`]: does stages 5 to 7 for every queued wakeup under the local lock.
pub async fn sched_ttwu_pending<P: Platform>(me: ThisCpu<'_, P>) {
    me.touch(Line::WakeList(me.id), Access::Write);
    while let Some(p) = me.k.rq(me.id).wake_list.pop() {
        me.k.fair_root.may_change(me.id);
        let mut rq = me.lock(me.id).await;
        rq.update_clock();
        ttwu_do_activate(&mut rq, p, WakeFlags::default());
        task_woken!(rq, p);
    }
}
