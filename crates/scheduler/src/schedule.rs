//! schedule(): from one task to the next.

use crate::class::{
    self, DequeueKind, EnqueueKind, PreemptCause, PutKind, activate_task, check_preempt_curr,
    deactivate_task, entered_idle, park_task, pick_next_task, post_schedule, pre_schedule, set_task_cpu,
};
use crate::mutex::owner_left;
use crate::platform::{Cost, Platform};
use crate::registry::Feature;
use crate::rq::{Resched, RqGuard, lock_here};
use crate::select::select_fallback_rq;
use crate::shared::{Proof, Unseen, Wakefulness};
use crate::stats::{add, bump};
use crate::{CpuId, Event, SwitchState, TaskId, TaskState, ThisCpu};

/// How a CPU comes into [`schedule`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// The task called it, to sleep (its state says how) or to exit.
    Call,
    /// A need-resched flag was found set where it acts.
    Preemption,
    /// sched_yield.
    Yield,
    /// The stopper takes the running task off its queue, to put it onto another CPU's.
    Stopped,
    /// On the way to user space the running task parks: its group has used up its time, unless it has got
    /// more since somebody looked ([`crate::fair::parks_on_return`]).
    Park,
}

/// The running task of the executing CPU says whether, and how, it is about to sleep: set_current_state.
pub fn set_current_state<P: Platform>(me: ThisCpu<'_, P>, state: TaskState) {
    me.task(me.curr()).state.set(&Itself, state);
}

/// Only the running task does this.
struct Itself;

impl Proof<Wakefulness> for Itself {}

/// Switches the executing CPU to the task that should run now. Virtual time passes: at its run-queue lock,
/// and at other CPUs' while it pulls, pushes or balances.
pub async fn schedule<P: Platform>(me: ThisCpu<'_, P>, entry: Entry) {
    let mut rq = lock_here!(me, me.id);
    rq.update_clock();
    let prev = rq.curr;
    if entry == Entry::Park && !class::parks_on_return(me, prev) {
        return;
    }
    rq.charge(Cost::Schedule);
    bump(&rq.published.counts.schedules);
    let task = me.task(prev);
    // Effective priority at this moment, still boosted if it holds locks (rt-class 5.1).
    let prev_prio = task.prio.get();
    rq.published.resched.set(&rq, Resched::No);

    let blocking = entry == Entry::Call && task.state.get() != TaskState::Running && prev != rq.idle;
    let leaving = blocking || entry == Entry::Stopped;
    if blocking {
        deactivate_task(&mut rq, prev, DequeueKind::Sleep);
    } else if leaving {
        deactivate_task(&mut rq, prev, DequeueKind::Departure);
    } else if entry == Entry::Park {
        park_task(&mut rq, prev);
    }
    pre_schedule!(rq, prev, prev_prio);
    let put = if blocking { PutKind::Blocked } else { PutKind::Runnable };
    let next = pick_next_task(&mut rq, prev, put);
    if me.has(Feature::Hrtick) {
        class::turn_begins(&mut rq, next);
    }
    // Whatever pre_schedule asked for, this pick was the answer.
    rq.published.resched.set(&rq, Resched::No);
    if next != prev {
        context_switch(&mut rq, prev, next, entry, blocking);
    }
    post_schedule!(rq, next);
}

fn context_switch<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    prev: TaskId,
    next: TaskId,
    entry: Entry,
    blocking: bool,
) {
    let me = rq.me;
    let (prev_task, next_task) = (me.task(prev), me.task(next));
    rq.nr_switches += 1;
    let counts = &rq.published.counts;
    let since = rq.published.switched_at.replace(rq, rq.clock);
    if prev != rq.idle {
        let counter = if blocking {
            &prev_task.stats.nr_voluntary_switches
        } else {
            &prev_task.stats.nr_involuntary_switches
        };
        bump(counter);
        add(&counts.run_time_ns, rq.clock.saturating_sub(since));
        prev_task.stats.last_ran.set(rq.clock);
    }
    if next == rq.idle {
        bump(&counts.went_idle);
    } else {
        bump(&counts.slices);
        bump(&next_task.stats.nr_slices);
    }
    let prev_state = match prev_task.state.get() {
        // The idle loop calls schedule itself: nobody preempts it.
        _ if prev == rq.idle => SwitchState::Runnable,
        _ if !blocking && matches!(entry, Entry::Preemption | Entry::Stopped) => SwitchState::Preempted,
        TaskState::Interruptible => SwitchState::Interruptible,
        TaskState::Uninterruptible => SwitchState::Uninterruptible,
        TaskState::Dead => SwitchState::Dead,
        _ => SwitchState::Runnable,
    };
    me.event(Event::Switch { prev, prev_state, next });
    add(&counts.wait_time_ns, next_task.stats.wait_end(rq.clock));
    next_task.on_cpu.set(rq, true);
    rq.set_curr(next);
    if next == rq.idle {
        entered_idle(me);
    }
    rq.touch_published();
    rq.charge(Cost::ContextSwitch);
    prev_task.on_cpu.set(rq, false);
    owner_left(me, prev);
}

/// The stopper moves the task that the executing CPU runs to another CPU: off its queue, then onto the other
/// one. Nobody who changes its affinity meanwhile can find it on a queue, so it looks itself.
pub(crate) async fn move_running_task<P: Platform>(me: ThisCpu<'_, P>, dest: CpuId) {
    let p = me.curr();
    schedule(me, Entry::Stopped).await;
    set_task_cpu(me, &Unseen, p, dest);
    let mut rq = me.lock(dest).await;
    // Its affinity may have changed while it was on no queue.
    while !me.task(p).may_run_on(rq.cpu) {
        drop(rq);
        let dest = select_fallback_rq(me, p);
        set_task_cpu(me, &Unseen, p, dest);
        rq = me.lock(dest).await;
    }
    rq.update_clock();
    activate_task(&mut rq, p, EnqueueKind::Arrival);
    check_preempt_curr(&mut rq, p, PreemptCause::Migration);
}

/// sched_yield for the running task: its class moves it, then [`schedule`].
pub async fn sched_yield<P: Platform>(me: ThisCpu<'_, P>) {
    let mut rq = me.lock(me.id).await;
    rq.update_clock();
    bump(&rq.published.counts.yields);
    class::yield_task(&mut rq);
    drop(rq);
    schedule(me, Entry::Yield).await;
}
