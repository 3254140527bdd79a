//! I4, I7 to I10: the course of virtual time under CFS.

use super::checker::Memory;
use super::{Findings, Moment, Past};
use crate::Class;
use crate::fair::lag;
use crate::platform::Platform;
use crate::registry::FairPolicy;
use crate::{Event, SwitchState, TaskId, TaskState, ThisCpu};
use alloc::format;

pub(super) fn event<P: Platform>(past: &Past, me: ThisCpu<'_, P>, event: Event, found: &mut Findings) {
    if me.k.config.rules.fair_policy.get() != FairPolicy::Cfs {
        return;
    }
    match event {
        Event::Wakeup { task, target } if me.task(task).class.get() == Class::Fair => {
            let left_by = left_of_floor(me, task, target);
            let bound = past.sleeper_threshold;
            found.expect("fair-class I8", left_by <= bound as i64, || {
                format!(
                    "{task:?} wakes {left_by} left of min_vruntime of CPU {target}, at most {bound} is \
                         allowed"
                )
            });
        }
        Event::WakeupNew { task, target } if me.task(task).class.get() == Class::Fair => {
            let left_by = left_of_floor(me, task, target);
            found.expect(
                "fair-class I9",
                past.child_first || past.floor_passed_newcomers || left_by <= 0,
                || format!("the new {task:?} starts {left_by} left of min_vruntime of CPU {target}"),
            );
        }
        Event::Switch { prev, prev_state, .. } if me.task(prev).class.get() == Class::Fair => {
            let asleep = matches!(
                prev_state,
                SwitchState::Interruptible | SwitchState::Uninterruptible | SwitchState::Dead
            );
            let se = &me.task(prev).se;
            found.expect("fair-class I10", !asleep || se.penalty.get() == 0, || {
                format!("{prev:?} sleeps with START_NICE penalty {}", se.penalty.get())
            });
        }
        _ => {}
    }
}

fn left_of_floor<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, target: crate::CpuId) -> i64 {
    let se = &me.task(p).se;
    lag(me.k.floor_of(se.group.get(), target).get(), se.vruntime.get())
}

pub(super) fn look<P: Platform>(memory: &mut Memory, moment: &Moment<'_, P>, found: &mut Findings) {
    if moment.k.config.rules.fair_policy.get() != FairPolicy::Cfs {
        return;
    }
    floors_only_rise(memory, moment, found);
    for p in moment.tasks() {
        children_start_right_of_the_floor(moment, p, found);
        only_forward(memory, moment, p, found);
    }
}

/// I4: min_vruntime never decreases.
fn floors_only_rise<P: Platform>(memory: &mut Memory, moment: &Moment<'_, P>, found: &mut Findings) {
    for rq in moment.k.rqs() {
        let now = rq.published.min_vruntime.get();
        let before = core::mem::replace(&mut memory.queues[rq.cpu.index()].min_vruntime, now);
        found.expect("fair-class I4", lag(now, before) >= 0, || {
            format!("CPU {}: min_vruntime went back from {before} to {now}", rq.cpu)
        });
    }
}

/// I9: a child that waits for its first wakeup is at or right of the floor from which its virtual time
/// counts.
fn children_start_right_of_the_floor<P: Platform>(moment: &Moment<'_, P>, p: TaskId, found: &mut Findings) {
    let task = moment.k.task(p);
    let new = task.state.get() == TaskState::New && !moment.past.child_first;
    let ahead = task.se.vruntime.get() as i64;
    found.expect("fair-class I9", !new || ahead >= 0, || {
        format!("the new {p:?} is placed {ahead} from min_vruntime")
    });
}

/// I7: virtual time goes back only where it is converted: with the CPU, or while the task is served as a
/// real-time one.
fn only_forward<P: Platform>(memory: &mut Memory, moment: &Moment<'_, P>, p: TaskId, found: &mut Findings) {
    let task = moment.k.task(p);
    let asleep = matches!(task.state.get(), TaskState::Interruptible | TaskState::Uninterruptible);
    if !(asleep || task.on_rq.get()) || task.class.get() != Class::Fair || task.se.is_relative() {
        return;
    }
    let now = task.se.vruntime.get();
    let before = memory.tasks.of(p, task.pid.get()).vruntime.replace(now);
    found.expect("fair-class I7", before.is_none_or(|before| lag(now, before) >= 0), || {
        format!("the vruntime of {p:?} went back from {before:?} to {now}")
    });
}
