//! A task enters a queue, leaves it, is picked and put back (rt-class 2.1, fair-class 2.5).

use super::Class;
use crate::dl::DlId;
use crate::fair::{Dequeued, averages};
use crate::platform::{Cost, Platform};
use crate::rq::RqGuard;
use crate::shared::{Proof, Residence};
use crate::stats::{add, bump};
use crate::task::Task;
use crate::{CpuId, Event, TaskId, TaskState, ThisCpu, dl, fair, frequency, rt, stop, tick, uclamp};

/// Why a task enters a run queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EnqueueKind {
    /// It was woken.
    Wakeup,
    /// First time after fork.
    New,
    /// It comes back after a change of its parameters, to this end of its list.
    Restore(ListEnd),
    /// It arrives from another CPU.
    Arrival,
}

/// Why a task leaves a run queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DequeueKind {
    /// It sleeps or exits.
    Sleep,
    /// Its parameters change; it comes back at once.
    Restore,
    /// It moves to another CPU.
    Departure,
    /// It has slept in its queue for a while, and leaves it now (eevdf-class 3.7).
    Finish,
    /// It waits beside the queue: its group has used up its time (deadline-groups B7).
    Park,
    /// It is no task, but stands for a group that has used up its time (deadline-groups B7).
    Throttle,
}

/// Why a running task stops being its class's current one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PutKind {
    /// schedule() goes on to another task, or back to it; it did not wish to sleep.
    Runnable,
    /// schedule() goes on to another task, because it sleeps or exits.
    Blocked,
    /// Its parameters change; it becomes current again at once.
    Restore,
}

/// An end of a priority list (rt-class 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListEnd {
    /// Next to run among its equals.
    Head,
    /// Behind its equals.
    Tail,
}

/// Puts a task on a queue.
pub(crate) fn activate_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: EnqueueKind) {
    rq.charge(Cost::Enqueue);
    let task = rq.me.task(p);
    debug_assert!(!task.on_rq.get() && task.cpu.get() == rq.cpu);
    task.on_rq.set(rq, true);
    let competes = match task.class.get() {
        Class::Fair => fair::comes_to_compete(rq, task),
        Class::Stop | Class::Deadline | Class::Rt | Class::Idle => {
            task.se.parked.set(false);
            true
        }
    };
    if competes && rq.curr != p && !matches!(kind, EnqueueKind::Restore(_)) {
        task.stats.wait_start(rq.clock);
    }
    if kind == EnqueueKind::Wakeup {
        averages::on_woken(task);
        task.stats.sleep_end(rq.clock);
    }
    // A deadline task may be runnable and have to wait all the same: its class counts.
    if counts_as_runnable(rq, task) {
        count_runnable(rq);
    }
    fair::update_avg_idle(rq, kind);
    uclamp::comes(rq, p);
    match task.class.get() {
        Class::Stop => stop::enqueue_task(rq),
        Class::Deadline => dl::enqueue_task(rq, p, kind),
        Class::Rt => rt::enqueue_task(rq, p, kind),
        Class::Fair => fair::enqueue_task(rq, p, kind),
        Class::Idle => unreachable!("the idle task is never queued"),
    }
    frequency::utilisation_changed(rq);
    tick::somebody_came(rq);
}

/// Takes a task off its queue; one that blocks may stay for a while.
pub(crate) fn deactivate_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId, kind: DequeueKind) {
    rq.charge(Cost::Dequeue);
    let task = rq.me.task(p);
    debug_assert!(task.on_rq.get());
    uclamp::goes(rq, p);
    let dequeued = match task.class.get() {
        Class::Stop => {
            stop::dequeue_task(rq);
            Dequeued::Gone
        }
        Class::Deadline => {
            dl::dequeue_task(rq, p, kind);
            Dequeued::Gone
        }
        Class::Rt => {
            rt::dequeue_task(rq, p, kind);
            Dequeued::Gone
        }
        Class::Fair => fair::dequeue_task(rq, p, kind),
        Class::Idle => unreachable!("the idle task is never queued"),
    };
    frequency::utilisation_changed(rq);
    if dequeued == Dequeued::Delayed {
        return;
    }
    task.on_rq.set(rq, false);
    match kind {
        DequeueKind::Sleep | DequeueKind::Finish => {
            averages::on_sleep(rq.me.k, task);
            if task.class.get() != Class::Stop {
                task.stats.sleep_start(rq.clock, task.state.get() == TaskState::Uninterruptible);
            }
        }
        DequeueKind::Departure => {
            // The clock of a queue from which another CPU takes a real-time task may be a tick old.
            let now = rq.clock.max(rq.me.now());
            add(&rq.published.counts.wait_time_ns, task.stats.wait_end(now));
        }
        DequeueKind::Restore | DequeueKind::Park | DequeueKind::Throttle => {}
    }
    if counts_as_runnable(rq, task) {
        uncount_runnable(rq);
    }
    if kind == DequeueKind::Sleep && task.state.get() == TaskState::Dead {
        dl::leaves_for_good(rq, p);
    }
}

/// The running task waits beside its queue: it stays runnable, and competes no longer.
pub(crate) fn park_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    deactivate_task(rq, p, DequeueKind::Park);
    fair::park(rq, p);
    rq.me.task(p).on_rq.set(rq, true);
}

/// Whether a task counts as soon as it is queued here.
fn counts_as_runnable<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) -> bool {
    match task.class.get() {
        Class::Deadline => false,
        // With groups the class counts what competes.
        Class::Rt => !rq.me.k.rt_bandwidth.has_groups() && !rq.published.rt_left_out.get(),
        Class::Fair => !fair::is_hidden(rq.me.k, task),
        Class::Stop | Class::Idle => true,
    }
}

/// One task more competes here.
pub(crate) fn count_runnable<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let n = rq.nr_running + 1;
    rq.set_nr_running(n);
    fair::note_overload(rq.me, rq.cpu, n);
}

/// One task less.
pub(crate) fn uncount_runnable<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let n = rq.nr_running - 1;
    rq.set_nr_running(n);
}

/// The task that is to run next, of the highest class that has one, in the place of `prev`; it becomes the
/// class's current one. `prev` stops being that, unless its class picks it again without putting it back.
pub(crate) fn pick_next_task<P: Platform>(rq: &mut RqGuard<'_, P>, prev: TaskId, kind: PutKind) -> TaskId {
    let chosen = if fair::chooses_first(rq.me.k) && fair_goes_first(rq) { fair::choose(rq) } else { None };
    // The charge that belongs to the choice may have used up what the fair server had.
    let chosen = chosen.filter(|_| fair_goes_first(rq));
    if chosen == Some(prev) {
        return prev;
    }
    put_prev_task(rq, prev, kind);
    stop::pick_next_task(rq)
        .inspect(|_| rt::pushable_changed(rq))
        .or_else(|| pick_by_deadline(rq, chosen).inspect(|_| rt::pushable_changed(rq)))
        .or_else(|| rt::pick_next_task(rq).inspect(|_| higher_class_picked(rq, Class::Rt)))
        .or_else(|| fair::pick_next_task(rq, chosen))
        .unwrap_or_else(|| {
            dl::idle_begins(rq);
            rq.idle
        })
}

/// [`pick_next_task`] asks all of these: with another one, it has to ask that, too.
const _: [Class; 5] = Class::ALL;

/// Whether the fair class has the say: nothing is above it, or its server is before all others.
fn fair_goes_first<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    if stop::has_runnable(rq) {
        return false;
    }
    match dl::first(rq) {
        Some(DlId::Task(_)) => false,
        Some(DlId::Server(_)) => true,
        None => !rt::has_runnable(rq),
    }
}

/// The task of the earliest deadline, or the one for which the fair server stands: `chosen`, if that is known
/// already. A server that stands for nobody stops.
fn pick_by_deadline<P: Platform>(rq: &mut RqGuard<'_, P>, chosen: Option<TaskId>) -> Option<TaskId> {
    while let DlId::Server(_) = dl::first(rq)? {
        let served = fair::pick_next_task(rq, chosen);
        if served.is_some() {
            return served;
        }
        dl::picked_in_vain(rq);
    }
    dl::pick_task(rq).inspect(|_| higher_class_picked(rq, Class::Deadline))
}

/// A task of this class was picked: the CPU has been doing something else, unless it comes from another one
/// of the class.
#[inline]
fn higher_class_picked<P: Platform>(rq: &RqGuard<'_, P>, class: Class) {
    if rq.me.task(rq.curr).class.get() != class {
        fair::pelt::higher_class_begins(rq, class);
    }
}

/// The running task stops being its class's current one; if it is still queued it waits from now on.
pub(crate) fn put_prev_task<P: Platform>(rq: &mut RqGuard<'_, P>, prev: TaskId, kind: PutKind) {
    let task = rq.me.task(prev);
    match kind {
        PutKind::Runnable => averages::on_put(rq.me.k, task, true),
        PutKind::Blocked => averages::on_put(rq.me.k, task, false),
        PutKind::Restore => {}
    }
    match task.class.get() {
        Class::Deadline => {
            dl::put_prev_task(rq, prev);
            fair::pelt::higher_class_ran(rq, Class::Deadline);
        }
        Class::Rt => {
            rt::put_prev_task(rq, prev);
            fair::pelt::higher_class_ran(rq, Class::Rt);
        }
        Class::Fair => fair::put_prev_task(rq, prev),
        Class::Stop => {}
        Class::Idle => dl::idled(rq),
    }
}

/// A running task becomes its class's current one again after its parameters changed.
pub(crate) fn set_curr_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    match rq.me.task(p).class.get() {
        Class::Deadline => dl::set_next_task(rq, p),
        Class::Rt => rt::set_next_task(rq, p),
        Class::Fair => fair::set_next_task(rq, p),
        Class::Stop | Class::Idle => {}
    }
}

/// A task that sleeps in its queue is woken there.
pub(crate) fn requeue_delayed<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    if task.se.eevdf.sched_delayed.get() {
        fair::requeue_delayed_entity(rq, p);
        uclamp::comes(rq, p);
        if rq.curr != p {
            task.stats.wait_start(rq.clock);
        }
    }
}

/// A task that sleeps in its queue leaves it: it goes to another class, which would not know why it is there.
pub(crate) fn finish_delayed<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    if rq.me.task(p).se.eevdf.sched_delayed.get() {
        fair::finish_delayed_dequeue(rq, fair::EntityId::of(p));
    }
}

/// The running task offers the CPU to others of its class.
pub(crate) fn yield_task<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let curr = rq.curr;
    match rq.me.task(curr).class.get() {
        Class::Deadline => dl::yield_task(rq, curr),
        Class::Rt => rt::yield_task(rq, curr),
        Class::Fair => fair::yield_task(rq, curr),
        Class::Stop | Class::Idle => {}
    }
}

/// Assigns a task to a CPU: trace, counter, and what its class has to convert, where the CPU really changes.
/// The task must not be queued.
pub(crate) fn set_task_cpu<P: Platform>(
    me: ThisCpu<'_, P>,
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
    match task.class.get() {
        Class::Fair => {
            fair::pelt::migrate(me, task, orig);
            fair::lose_cache(me, task);
            fair::migrate_task_rq(me, task, orig, dest);
        }
        Class::Stop | Class::Deadline | Class::Rt | Class::Idle => {}
    }
    dl::moved_to(me, &task.dl, dest);
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
