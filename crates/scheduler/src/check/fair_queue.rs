//! I1 to I3, I5, I6 and I10: a queue's fair part agrees with itself, and the loads add up.

use super::{Findings, Level, Moment, Queue, eevdf};
use crate::Class;
use crate::fair::{EntityId, lag};
use crate::platform::Platform;
use crate::registry::FairPolicy;
use crate::{Nanos, Policy, TaskId};
use alloc::format;

pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let eevdf = moment.k.config.rules.fair_policy.get() == FairPolicy::Eevdf;
    for level in queue.levels(moment.k) {
        counts_and_load(moment, &level, found);
        buddies(moment, &level, found);
        if eevdf {
            eevdf::look(moment, &level, found);
        } else {
            timeline(moment, queue, &level, found);
            floor(moment, &level, found);
        }
        level.queued(moment.k).for_each(|p| penalty(moment, p, found));
    }
    if eevdf {
        eevdf::sleepers_are_counted(moment, queue, found);
    }
}

/// I1: `nr_running` and `load` are those of the timeline and the running task.
fn counts_and_load<P: Platform>(moment: &Moment<'_, P>, level: &Level<'_>, found: &mut Findings) {
    let fair = level.fair;
    let n = level.queued(moment.k).count();
    let load: u64 = level.queued(moment.k).map(|p| moment.k.task(p).se.weight()).sum();
    found.expect("fair-class I1", fair.nr_running as usize == n && fair.load == load, || {
        let (nr, has) = (fair.nr_running, fair.load);
        format!(
            "CPU {}: nr_running {nr} and load {has}, but {n} tasks of weight {load} are queued",
            level.cpu
        )
    });
    for p in level.queued(moment.k).filter(|p| !p.is_of_group()) {
        let task = moment.k.task(p);
        let (has, right) = (task.se.weight(), task.policy.get().weight(task.nice.get()));
        found.expect("fair-class I1", has == right, || {
            format!("{p:?} has weight {has}, its policy and nice give {right}")
        });
    }
}

/// I3: the timeline is sorted, knows its tasks' virtual times, and does not hold the running task.
fn timeline<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, level: &Level<'_>, found: &mut Findings) {
    let (rq, fair) = (&queue.rq, level.fair);
    let mut last: Option<u64> = None;
    for waiting in fair.timeline.iter() {
        let own = moment.k.task(waiting.entity.task()).se.vruntime.get();
        found.expect("fair-class I3", own == waiting.vruntime, || {
            format!("CPU {}: {waiting:?} is in the timeline, its vruntime is {own}", rq.cpu)
        });
        found.expect("fair-class I3", last.is_none_or(|l| lag(l, waiting.vruntime) <= 0), || {
            format!("CPU {}: {waiting:?} stands behind vruntime {last:?}", rq.cpu)
        });
        found.expect("fair-class I3", fair.curr != Some(waiting.entity), || {
            format!("CPU {}: the running task {:?} is in the timeline", rq.cpu, waiting.entity)
        });
        last = Some(waiting.vruntime);
    }
    let runs = Some(rq.curr).filter(|p| moment.k.task(*p).class.get() == Class::Fair);
    let runs = runs.and_then(|p| moment.k.ancestor_in(p, fair.group()));
    found.expect("fair-class I3", fair.curr.map(EntityId::task) == runs, || {
        format!("CPU {}: the fair class's curr is {:?}, but the CPU runs {:?}", rq.cpu, fair.curr, rq.curr)
    });
}

/// I5: nobody is left of min_vruntime by more than the largest sleeper threshold that was ever in force.
/// Before 4.9 a task that held the floor back could be left behind when it was requeued (`floor_order`).
fn floor<P: Platform>(moment: &Moment<'_, P>, level: &Level<'_>, found: &mut Findings) {
    let (floor, bound) = (level.min_vruntime, moment.past.sleeper_threshold);
    for p in level.queued(moment.k) {
        let left_by = lag(floor, moment.k.task(p).se.vruntime.get());
        found.expect("fair-class I5", moment.past.floor_passed || left_by <= bound as i64, || {
            format!("CPU {}: {p:?} is {left_by} left of min_vruntime, sleepers at most {bound}", level.cpu)
        });
    }
}

/// I6: a buddy is runnable on this CPU, and never SCHED_IDLE.
fn buddies<P: Platform>(moment: &Moment<'_, P>, level: &Level<'_>, found: &mut Findings) {
    let (fair, cpu) = (level.fair, level.cpu);
    for p in [fair.buddies.next, fair.buddies.last].into_iter().flatten().map(EntityId::task) {
        let task = moment.k.task(p);
        let here = task.is_in_queue() && task.cpu.get() == cpu && task.class.get() == Class::Fair;
        found.expect("fair-class I6", here && task.policy.get() != Policy::Idle, || {
            format!("CPU {}: {p:?} is a buddy, policy {:?}, runnable here {here}", cpu, task.policy.get())
        });
    }
    if let Some(p) = fair.buddies.skip.map(EntityId::task) {
        let here = moment.k.task(p).is_in_queue() && moment.k.task(p).cpu.get() == cpu;
        found.expect("fair-class I6", here, || {
            format!("CPU {}: {p:?} is to be skipped and not runnable here", cpu)
        });
    }
}

/// I10: the START_NICE penalty is 0 to 8, and without one there is no timeout.
fn penalty<P: Platform>(moment: &Moment<'_, P>, p: TaskId, found: &mut Findings) {
    let se = &moment.k.task(p).se;
    let (penalty, timeout) = (se.penalty.get(), se.pen_timeout.get());
    found.expect("fair-class I10", penalty <= 8 && (penalty > 0 || timeout == Nanos::ZERO), || {
        format!("{p:?} has START_NICE penalty {penalty} until {timeout}")
    });
}

/// I2: the loads of all CPUs add up to the weights of all runnable fair tasks.
pub(super) fn loads_add_up<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let k = moment.k;
    // A queue of a group holds weights of tasks, and so does the root's but for those of groups.
    let of_groups = |level: &Level<'_>| -> u64 {
        level.queued(k).filter(|p| p.is_of_group()).map(|p| k.task(p).se.weight()).sum()
    };
    let of_queue = |q: Queue<'_>| -> u64 {
        q.levels(k).map(|level| level.fair.load.saturating_sub(of_groups(&level))).sum()
    };
    let of_queues: u64 = moment.queues().map(of_queue).sum();
    let runnable = |p: &TaskId| k.task(*p).is_in_queue() && k.task(*p).class.get() == Class::Fair;
    let of_tasks: u64 = moment.tasks().filter(runnable).map(|p| k.task(p).se.weight()).sum();
    found.expect("fair-class I2", of_queues == of_tasks, || {
        format!("the queues' loads add up to {of_queues}, the weights of their tasks to {of_tasks}")
    });
}
