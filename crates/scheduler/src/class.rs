//! Which class does what: the few operations that every class offers, dispatched by a task's [`Class`].

use crate::fair::averages;
use crate::platform::{Cost, Platform};
use crate::rq::RqGuard;
use crate::shared::{Proof, Residence};
use crate::stats::{add, bump};
use crate::task::Class;
use crate::{CpuId, Event, Reason, TaskId, fair, rt};

/// Why a task enters a run queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EnqueueKind {
    /// It was woken.
    Wakeup,
    /// First time after fork.
    New,
    /// It comes back after a change of its parameters, to this end of its list.
    Restore(Place),
    /// It arrives from another CPU.
    Arrival,
}

/// Why a task leaves a run queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DequeueKind {
    /// It sleeps or exits.
    Sleep,
    /// Its parameters change; it comes back at once.
    Restore,
    /// It moves to another CPU.
    Departure,
}

/// An end of a priority list (rt-class 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Next to run among its equals.
    Head,
    /// Behind its equals.
    Tail,
}

/// Puts a task on a queue: activate_task.
pub(crate) fn activate_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: EnqueueKind) {
    rq.charge(Cost::Enqueue);
    let task = rq.me.task(p);
    debug_assert!(!task.on_rq.get() && task.cpu.get() == rq.cpu);
    task.on_rq.set(rq, true);
    let running = rq.curr == p;
    if !running && !matches!(kind, EnqueueKind::Restore(_)) {
        task.stats.wait_start(rq.clock);
    }
    if kind == EnqueueKind::Wakeup {
        averages::on_woken(task);
    }
    let n = rq.nr_running + 1;
    rq.set_nr_running(n);
    fair::update_avg_idle(rq, kind);
    match task.class.get() {
        Class::Rt => rt::enqueue_task(rq, p, kind),
        Class::Fair => fair::enqueue_task(rq, p, kind),
        Class::Idle => unreachable!("the idle task is never queued"),
    }
}

/// Takes a task off its queue: deactivate_task.
pub(crate) fn deactivate_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: DequeueKind) {
    rq.charge(Cost::Dequeue);
    let task = rq.me.task(p);
    debug_assert!(task.on_rq.get());
    match task.class.get() {
        Class::Rt => rt::dequeue_task(rq, p, kind),
        Class::Fair => fair::dequeue_task(rq, p, kind),
        Class::Idle => unreachable!("the idle task is never queued"),
    }
    task.on_rq.set(rq, false);
    match kind {
        DequeueKind::Sleep => averages::on_sleep(rq.me.k, task),
        DequeueKind::Departure => {
            // The clock of a queue from which another CPU takes a real-time task may be a tick old.
            let now = rq.clock.max(rq.me.now());
            add(&rq.published.counts.wait_time_ns, task.stats.wait_end(now));
        }
        DequeueKind::Restore => {}
    }
    let n = rq.nr_running - 1;
    rq.set_nr_running(n);
}

/// The task that is to run next; it becomes the class's current one.
pub(crate) fn pick_next_task<P: Platform>(rq: &mut RqGuard<'_, P>) -> TaskId {
    if let Some(p) = rt::pick_next_task(rq) {
        return p;
    }
    if let Some(p) = fair::pick_next_task(rq) {
        return p;
    }
    rq.idle
}

/// The running task stops being the class's current one; if it is still queued it waits from now on.
pub(crate) fn put_prev_task<P: Platform>(rq: &mut RqGuard<'_, P>, prev: TaskId) {
    match rq.me.task(prev).class.get() {
        Class::Rt => rt::put_prev_task(rq, prev),
        Class::Fair => fair::put_prev_task(rq, prev),
        Class::Idle => {}
    }
}

/// A running task becomes its class's current one again after its parameters changed.
pub(crate) fn set_curr_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    match rq.me.task(p).class.get() {
        Class::Rt => rt::set_next_task(rq, p),
        Class::Fair => fair::set_next_task(rq, p),
        Class::Idle => {}
    }
}

/// How a task came to be compared with the running one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PreemptCause {
    /// A wakeup; `sync`: the waker is about to sleep.
    Wakeup {
        /// The hint.
        sync: bool,
    },
    /// First run after fork.
    Fork,
    /// It arrived from another CPU, or came back from a change of its parameters.
    Migration,
}

/// Asks the queue's CPU to reschedule if `p`, just queued there, should run before its current task:
/// check_preempt_curr (rt-class 3.4, fair-class 6.4).
pub(crate) fn check_preempt_curr<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, cause: PreemptCause) {
    let curr_class = rq.me.task(rq.curr).class.get();
    let class = rq.me.task(p).class.get();
    let flagged = rq.need_resched();
    if class == curr_class {
        match class {
            Class::Rt => rt::check_preempt_curr(rq, p),
            Class::Fair => fair::check_preempt_wakeup(rq, p, cause),
            Class::Idle => {}
        }
    } else if sched_class_above(class, curr_class) {
        rq.me.decide(p, Reason::PreemptClass);
        if curr_class == Class::Fair {
            fair::preempted_by_higher_class(rq);
        }
        rq.resched();
    }
    if !flagged
        && rq.need_resched()
        && curr_class != Class::Idle
        && matches!(cause, PreemptCause::Wakeup { .. })
    {
        bump(&rq.me.k.totals.wakeup_preemptions);
    }
}

/// Whether a class is served before another.
pub(crate) fn sched_class_above(class: Class, other: Class) -> bool {
    (class as u8) < (other as u8)
}

/// Assigns a task to a CPU: trace, counter and the conversion of its virtual time, where the CPU really
/// changes. The task must not be queued.
pub(crate) fn set_task_cpu<P: Platform>(
    me: crate::ThisCpu<'_, P>,
    held: &impl Proof<Residence>,
    p: TaskId,
    dest: CpuId,
) {
    let task = me.task(p);
    let orig = task.cpu.get();
    if orig == dest {
        return;
    }
    me.event(Event::Migrate { task: p, orig, dest });
    bump(&task.stats.nr_migrations);
    bump(&me.k.totals.migrations);
    fair::migrate_task_rq(me, task, orig, dest);
    task.cpu.set(held, dest);
}

/// Moves a queued task that is not running from one held queue to another (push, pull, balancing). The caller
/// decides about preemption there.
pub(crate) fn move_queued_task<P: Platform>(from: &mut RqGuard<'_, P>, to: &mut RqGuard<'_, P>, p: TaskId) {
    deactivate_task(from, p, DequeueKind::Departure);
    set_task_cpu(from.me, from, p, to.cpu);
    to.update_clock();
    activate_task(to, p, EnqueueKind::Arrival);
}
