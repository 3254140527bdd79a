//! P9: among equal priorities, first come first served.

use super::checker::Memory;
use super::memory::{QueueMemory, Queued, Stamp, TaskMemories};
use super::{Findings, Moment, Queue};
use crate::platform::Platform;
use crate::{Event, Reason, Scheduler, SwitchState, ThisCpu};
use alloc::format;

/// Remembers what excuses a task from its place.
pub(super) fn event<P: Platform>(memory: &mut Memory, me: ThisCpu<'_, P>, event: Event) {
    let now = memory.now;
    match event {
        Event::Waking { task, .. } => {
            let p = me.task(task);
            memory.tasks.of(task, p.pid.get()).was_queued = p.on_rq.get();
        }
        // It was woken before it had left its queue, a spinner for example: it kept its place, or left after
        // all.
        Event::Wakeup { task, .. } if memory.tasks.of(task, me.task(task).pid.get()).was_queued => {
            memory.tasks.of(task, me.task(task).pid.get()).placed = now;
        }
        Event::Wakeup { task, .. }
        | Event::WakeupNew { task, .. }
        | Event::Migrate { task, .. }
        // It yielded, and somebody else ran.
        | Event::Switch { prev: task, prev_state: SwitchState::Runnable, .. }
        | Event::Decision { task, reason: Reason::RrSlice } => {
            memory.tasks.of(task, me.task(task).pid.get()).requeued = now;
        }
        // 2.3, and boosts.
        Event::Decision { task, reason: Reason::PreemptEqual } | Event::PiSetprio { task, .. } => {
            memory.tasks.of(task, me.task(task).pid.get()).placed = now;
        }
        _ => {}
    }
}

/// P9: tasks that stayed on a queue with their priority keep their order; one that came or was sent to the
/// end stands behind them.
pub(super) fn look<P: Platform>(memory: &mut Memory, moment: &Moment<'_, P>, found: &mut Findings) {
    let Memory { tasks, queues, now } = memory;
    for queue in moment.queues() {
        let memory = &mut queues[queue.rq.cpu.index()];
        let entry = |task| Queued { task, prio: moment.k.task(task).prio.get() };
        memory.next_order.clear();
        memory.next_order.extend(queue.rq.rt.queued(&moment.k.tasks).map(entry));
        note_a_yield(tasks, memory, moment.k, &queue, *now);
        // Those of other groups are in other queues.
        let group = |p| moment.k.rt_group(moment.k.task(p));
        for pair in memory.next_order.windows(2) {
            let in_order = pair[0].prio != pair[1].prio
                || group(pair[0].task) != group(pair[1].task)
                || may_stand_before(tasks, memory, moment.k, pair[0], pair[1]);
            found.expect("rt-class P9", in_order, || {
                format!("CPU {}: {:?} has overtaken {:?}", queue.rq.cpu, pair[0], pair[1])
            });
        }
        core::mem::swap(&mut memory.order, &mut memory.next_order);
        memory.at = *now;
    }
}

/// The running task has yielded and not left the CPU yet: sched_yield gives the lock back before schedule()
/// takes it. Then it stands behind its equals and no event has told of it, while otherwise a running task is
/// the first of them.
fn note_a_yield<P: Platform>(
    tasks: &mut TaskMemories,
    memory: &mut QueueMemory,
    k: &Scheduler<P>,
    queue: &Queue<'_>,
    now: Stamp,
) {
    let yields = queue.published.counts.yields.get();
    let curr = queue.rq.curr;
    let prio = k.task(curr).prio.get();
    let group = |p| k.rt_group(k.task(p));
    let is_equal = |queued: &&Queued| queued.prio == prio && group(queued.task) == group(curr);
    let first = memory.next_order.iter().find(is_equal);
    if memory.yields != yields && first.is_some_and(|first| first.task != curr) {
        tasks.of(curr, k.task(curr).pid.get()).requeued = now;
    }
    memory.yields = yields;
}

/// Whether `first` may stand right before its equal `second` now.
fn may_stand_before<P: Platform>(
    tasks: &mut TaskMemories,
    queue: &QueueMemory,
    k: &Scheduler<P>,
    first: Queued,
    second: Queued,
) -> bool {
    let place = |q: Queued| queue.order.iter().position(|old| *old == q);
    let mut since = |q: Queued| {
        let memory = tasks.of(q.task, k.task(q.task).pid.get());
        (memory.requeued > queue.at, memory.placed > queue.at)
    };
    let ((first_requeued, first_placed), (second_requeued, second_placed)) = (since(first), since(second));
    if first_placed || second_placed || second_requeued {
        return true;
    }
    match (place(first), place(second)) {
        // Both were here.
        (Some(a), Some(b)) => a < b && !first_requeued,
        // Only the second was: the first has come since, or its priority has changed.
        (None, Some(_)) => !first_requeued,
        (_, None) => true,
    }
}
