//! schedule(): from one task to the next.

use crate::class::{
    DequeueKind, EnqueueKind, PreemptCause, activate_task, check_preempt_curr, deactivate_task,
    pick_next_task, put_prev_task, set_task_cpu,
};
use crate::mutex::owner_left;
use crate::platform::{Cost, Platform};
use crate::rq::{RqGuard, lock_here};
use crate::stats::{add, bump};
use crate::task::Class;
use crate::wakeup::fallback_cpu;
use crate::{Cpu, CpuId, Event, SwitchState, TaskId, TaskState, fair, rt};

/// How a CPU comes into [`schedule`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// The task called it, to sleep (its state says how) or to exit.
    Call,
    /// The need-resched flag was found set at a preemption point.
    Preemption,
    /// sched_yield.
    Yield,
    /// The stopper takes the running task off its queue, to put it onto another CPU's.
    Stopped,
}

/// Switches the executing CPU to the task that should run now. Virtual time passes: at its run-queue lock, and at
/// other CPUs' while it pulls, pushes or balances.
pub async fn schedule<P: Platform>(me: Cpu<'_, P>, entry: Entry) {
    let mut rq = lock_here!(me, me.id);
    rq.update_clock();
    rq.charge(Cost::Schedule);
    bump(&rq.published.counts.schedules);
    let prev = rq.curr;
    let task = me.task(prev);
    // Effective priority at this moment, still boosted if it holds locks (rt-class 5.1).
    let (prev_prio, prev_class) = (task.prio.get(), task.class.get());
    rq.published.need_resched.set(false);

    let blocking =
        entry == Entry::Call && task.state.get() != TaskState::Running && prev_class != Class::Idle;
    let leaving = blocking || entry == Entry::Stopped;
    if blocking {
        deactivate_task(&mut rq, prev, DequeueKind::Sleep);
    } else if leaving {
        deactivate_task(&mut rq, prev, DequeueKind::Departure);
    }
    // Here and below: a path that is not taken does not make and move its state.
    if prev_class == Class::Rt && rt::lowers(&rq, prev, prev_prio) {
        if rt::others_overloaded(&rq) {
            rq = rt::take_from_others(rq).await;
        }
        rq.update_clock();
    }
    if rq.nr_running == 0 {
        if fair::wants_idle_balance(&mut rq) {
            rq = fair::idle_balance(rq).await;
        }
        rq.update_clock();
    }
    fair::stint_ends(me.k, task, !blocking);
    put_prev_task(&mut rq, prev);
    let next = pick_next_task(&mut rq);
    // The pull and the new-idle balancing were followed by this pick.
    rq.published.need_resched.set(false);
    if next != prev {
        context_switch(&mut rq, prev, next, entry, blocking);
    }
    if !rt::wants_post_schedule(&rq, next) {
        drop(rq);
    } else if rt::relocks_to_push(&rq) {
        rt::relock_and_push(rq).await;
    } else {
        drop(rt::push_rt_tasks(rq).await);
    }
}

fn context_switch<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    prev: TaskId,
    next: TaskId,
    entry: Entry,
    blocking: bool,
) {
    let me = rq.me;
    let (leaver, comer) = (me.task(prev), me.task(next));
    rq.nr_switches += 1;
    let counts = &rq.published.counts;
    let since = rq.published.switched_at.replace(rq.clock);
    if leaver.class.get() != Class::Idle {
        let counter = if blocking {
            &leaver.stats.nr_voluntary_switches
        } else {
            &leaver.stats.nr_involuntary_switches
        };
        bump(counter);
        add(&counts.run_time_ns, rq.clock.saturating_sub(since));
        leaver.stats.last_ran.set(rq.clock);
    }
    if comer.class.get() == Class::Idle {
        bump(&counts.went_idle);
    } else {
        bump(&counts.slices);
        bump(&comer.stats.nr_slices);
    }
    let prev_state = match leaver.state.get() {
        // The idle loop calls schedule itself: nobody preempts it.
        _ if leaver.class.get() == Class::Idle => SwitchState::Runnable,
        _ if !blocking && matches!(entry, Entry::Preemption | Entry::Stopped) => SwitchState::Preempted,
        TaskState::Interruptible => SwitchState::Interruptible,
        TaskState::Uninterruptible => SwitchState::Uninterruptible,
        TaskState::Dead => SwitchState::Dead,
        _ => SwitchState::Runnable,
    };
    me.event(Event::Switch { prev, prev_state, next });
    add(&counts.wait_time_ns, comer.stats.wait_end(rq.clock));
    comer.on_cpu.set(true);
    rq.set_curr(next);
    rq.touch_published();
    rq.charge(Cost::ContextSwitch);
    leaver.on_cpu.set(false);
    owner_left(me, prev);
}

/// The stopper moves the task that the executing CPU runs to another CPU: off its queue, then onto the other one. Nobody
/// who changes its affinity meanwhile can find it on a queue, so it looks itself.
pub(crate) async fn move_running_task<P: Platform>(me: Cpu<'_, P>, dest: CpuId) {
    let p = me.curr();
    schedule(me, Entry::Stopped).await;
    set_task_cpu(me, p, dest);
    let mut rq = me.lock(dest).await;
    // Its affinity may have changed while it was on no queue.
    while !me.task(p).may_run_on(rq.cpu) {
        drop(rq);
        let dest = fallback_cpu(me, p);
        set_task_cpu(me, p, dest);
        rq = me.lock(dest).await;
    }
    rq.update_clock();
    activate_task(&mut rq, p, EnqueueKind::Arrival);
    check_preempt_curr(&mut rq, p, PreemptCause::Migration);
}

/// sched_yield for the running task: its class moves it, then [`schedule`].
pub async fn sched_yield<P: Platform>(me: Cpu<'_, P>) {
    let mut rq = me.lock(me.id).await;
    rq.update_clock();
    bump(&rq.published.counts.yields);
    let curr = rq.curr;
    match me.task(curr).class.get() {
        Class::Rt => rt::yield_task(&mut rq, curr),
        Class::Fair => fair::yield_task(&mut rq, curr),
        Class::Idle => {}
    }
    drop(rq);
    schedule(me, Entry::Yield).await;
}
