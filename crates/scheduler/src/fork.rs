//! Fork, exec and exit, as far as they concern the scheduler (fair-class 5.1).
//!
//! A fork has two ends: [`sched_fork`] at its start and [`wake_up_new_task`] after the work of copying. Which
//! of them chooses the CPU and places the child on the virtual time line depends on the era (rule
//! `fork_path`).

use crate::class::{
    EnqueueKind, PreemptCause, SelectFor, activate_task, check_preempt_curr, inherit_habits, init_task,
    task_woken,
};
use crate::platform::{Cost, Platform};
use crate::registry::ForkPath;
use crate::rq::RqGuard;
use crate::schedule::{Entry, move_running_task, schedule, set_current_state};
use crate::select::select_task_rq;
use crate::shared::Unseen;
use crate::stats::bump;
use crate::stop::{Job, stop_one_cpu};
use crate::{CpuId, CpuMask, Event, GroupId, Nice, Pid, Policy, Scheduler, TaskId, TaskState, ThisCpu};

/// What a new task is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewTask {
    /// Its pid.
    pub pid: Pid,
    /// Its policy.
    pub policy: Policy,
    /// Its nice value.
    pub nice: Nice,
    /// Where it may run; at least one CPU of the machine.
    pub cpus_allowed: CpuMask,
    /// It is a thread of the kernel.
    pub kernel_thread: bool,
    /// The task group that it is in.
    pub group: GroupId,
}

/// Creates a task, not yet runnable: see [`sched_fork`], or outside any fork [`wake_up_new_task_on`].
pub fn new_task<P: Platform>(k: &Scheduler<P>, new: NewTask) -> TaskId {
    let id = k.tasks.create(new.pid, new.policy, new.nice, new.cpus_allowed);
    k.task(id).kernel_thread.set(new.kernel_thread);
    k.task(id).se.group.set(new.group);
    init_task(k, k.task(id));
    id
}

/// Start of a fork by the executing CPU's running task; `child` has just been created ([`new_task`]).
pub async fn sched_fork<P: Platform>(me: ThisCpu<'_, P>, child: TaskId) {
    let task = me.task(child);
    let parent = me.task(me.curr());
    task.se.eevdf.inherit(&parent.se.eevdf);
    task.clamps.inherit(&parent.clamps);
    task.cpu.set(&Unseen, me.id);
    inherit_habits(me, task);
    match me.k.config.rules.fork_path.get() {
        ForkPath::Late => {
            let cpu = select_task_rq(me, child, SelectFor::Fork);
            task.cpu.set(&Unseen, cpu);
        }
        ForkPath::Early if task.class.get().has_task_fork(me.k) => {
            let mut rq = me.lock(me.id).await;
            rq.update_clock();
            task.class.get().task_fork(&mut rq, child);
        }
        ForkPath::Early => {}
    }
}

/// End of a fork: the child becomes runnable.
pub async fn wake_up_new_task<P: Platform>(me: ThisCpu<'_, P>, child: TaskId) {
    let pi = me.pi_lock(child).await;
    let task = me.task(child);
    let late = me.k.config.rules.fork_path.get() == ForkPath::Late;
    if !late {
        // Not a migration: the child has not run anywhere yet.
        let cpu = select_task_rq(me, child, SelectFor::Fork);
        task.cpu.set(&pi, cpu);
    }
    me.charge(Cost::Wakeup);
    let mut rq = me.task_rq_lock(child).await;
    rq.update_clock();
    if late {
        task.class.get().task_fork(&mut rq, child);
    }
    first_wakeup(rq, child).await;
}

async fn first_wakeup<P: Platform>(mut rq: RqGuard<'_, P>, child: TaskId) {
    let me = rq.me;
    let task = me.task(child);
    task.state.set(&rq, TaskState::Running);
    activate_task(&mut rq, child, EnqueueKind::New);
    check_preempt_curr(&mut rq, child, PreemptCause::Fork);
    task.stats.woken_at.set(Some(rq.clock));
    bump(&me.k.totals.wakeups);
    me.event(Event::WakeupNew { task: child, target: rq.cpu });
    task_woken!(rq, child);
}

/// execve by the executing CPU's running task: a good moment to move it, its cache is worthless
/// (SD_BALANCE_EXEC, fair-class 8.4).
pub async fn sched_exec<P: Platform>(me: ThisCpu<'_, P>) {
    let p = me.curr();
    let task = me.task(p);
    if task.is_pinned() {
        return;
    }
    let dest = task.class.get().select_task_rq(me, p, SelectFor::Exec);
    if dest == me.id || !task.may_run_on(dest) {
        return;
    }
    match me.k.rq(me.id).stop.thread.get() {
        Some(_) => stop_one_cpu(me, me.id, p, Job::GoTo(dest)).await,
        None => move_running_task(me, dest).await,
    }
}

/// Exit of the executing CPU's running task. It never runs again; its slot can be reaped afterwards.
pub async fn do_exit<P: Platform>(me: ThisCpu<'_, P>) {
    set_current_state(me, TaskState::Dead);
    schedule(me, Entry::Call).await;
}

/// Makes a task from [`new_task`] runnable: on `cpu`, or where a fork on the executing CPU would put it.
pub async fn wake_up_new_task_on<P: Platform>(me: ThisCpu<'_, P>, child: TaskId, cpu: Option<CpuId>) {
    let pi = me.pi_lock(child).await;
    let task = me.task(child);
    task.cpu.set(&pi, me.id);
    let cpu =
        cpu.filter(|c| task.may_run_on(*c)).unwrap_or_else(|| select_task_rq(me, child, SelectFor::Fork));
    task.cpu.set(&pi, cpu);
    let mut rq = me.task_rq_lock(child).await;
    rq.update_clock();
    task.class.get().place_orphan(&mut rq, child);
    first_wakeup(rq, child).await;
}
