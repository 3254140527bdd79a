//! P15 and P16: the counters agree with the events. And the part of I11 that needs no clock.

use super::checker::Memory;
use super::{Findings, Moment};
use crate::Class;
use crate::platform::Platform;
use crate::{Event, TaskState, ThisCpu};
use alloc::format;

pub(super) fn event<P: Platform>(
    memory: &mut Memory,
    me: ThisCpu<'_, P>,
    event: Event,
    found: &mut Findings,
) {
    match event {
        Event::Switch { prev, .. } => {
            memory.queues[me.id.index()].switches += 1;
            let task = me.task(prev);
            if task.class.get() == Class::Idle {
                return;
            }
            let stats = &task.stats;
            let counted = stats.nr_voluntary_switches.get() + stats.nr_involuntary_switches.get();
            let seen = &mut memory.tasks.of(prev, task.pid.get()).switches;
            *seen += 1;
            found.expect("rt-class P15", counted == *seen, || {
                format!("{prev:?} counts {counted} switches, {seen} were seen")
            });
        }
        Event::Migrate { task: p, orig, dest } => {
            let task = me.task(p);
            let memory = memory.tasks.of(p, task.pid.get());
            let (counted, seen) = (task.stats.nr_migrations.get(), memory.migrations);
            found.expect("rt-class P16", counted == seen && orig != dest && orig == task.cpu.get(), || {
                format!(
                    "{p:?} migrates from {orig} to {dest}; it counts {counted} migrations, {seen} were seen"
                )
            });
            found.expect("rt-class P3", me.k.online.contains(dest), || {
                format!("{p:?} goes to CPU {dest}, which is offline")
            });
            let leaves = me.k.root_domain(orig).id != me.k.root_domain(dest).id;
            found.expect("deadline-groups GB14", !leaves || !task.may_run_on(orig), || {
                format!("{p:?} leaves the root domain of CPU {orig}, where it may run, for CPU {dest}")
            });
            memory.migrations += 1;
            memory.cpu = Some(dest);
            // Its virtual time was converted.
            memory.vruntime = None;
        }
        Event::WakeupNew { task, target } => {
            memory.tasks.of(task, me.task(task).pid.get()).cpu = Some(target);
        }
        Event::StatRuntime { task: p, runtime, .. } => {
            let task = me.task(p);
            let seen = &mut memory.tasks.of(p, task.pid.get()).runtime;
            *seen += runtime;
            let counted = task.stats.sum_exec_runtime.get();
            found.expect("fair-class I11", counted == *seen, || {
                format!("{p:?} has run for {counted}, the events add up to {seen}")
            });
        }
        _ => {}
    }
}

pub(super) fn look<P: Platform>(memory: &mut Memory, moment: &Moment<'_, P>, found: &mut Findings) {
    let k = moment.k;
    for queue in moment.queues() {
        let (counted, seen) = (queue.rq.nr_switches, memory.queues[queue.rq.cpu.index()].switches);
        found.expect("rt-class P15", counted == seen, || {
            format!("CPU {} counts {counted} switches, {seen} were seen", queue.rq.cpu)
        });
    }
    for p in moment.tasks() {
        let task = k.task(p);
        if matches!(task.state.get(), TaskState::New | TaskState::Free) {
            continue;
        }
        let (cpu, told) = (task.cpu.get(), memory.tasks.of(p, task.pid.get()).cpu);
        found.expect("rt-class P16", told.is_none_or(|told| told == cpu), || {
            format!("{p:?} is assigned to CPU {cpu}, the last event said {told:?}")
        });
    }
}
