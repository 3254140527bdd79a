//! A recording as a timeline.

use crate::inspect::OpenedTrace;
use report::page::Timeline;
use report::page::timeline::{At, Builder, LeftAs, Seen};
use schema::{Nanos, Window};
use trace::{Activity, Context, Event, EventKind, IrqVectorKind, PrevState, TaskRef, Trace};

/// Of a trace, or of the part of it that is looked at; times count from its first event.
pub(super) fn timeline(name: &str, opened: &OpenedTrace) -> Timeline {
    let on_clock = |time: u64| time.saturating_sub(opened.zero_ns);
    let (from_ns, to_ns) = (on_clock(opened.trace.start_ns()), on_clock(opened.trace.end_ns()));
    timeline_of(name, opened, Window { from_ns, to_ns })
}

/// Of a stretch of it, since its first event.
pub(super) fn timeline_of(name: &str, opened: &OpenedTrace, stretch: Window) -> Timeline {
    let trace = &opened.trace;
    let [from, to] = [stretch.from_ns, stretch.to_ns].map(|time| Nanos(time + opened.zero_ns));
    let mut builder = Builder::new(name, trace.cpus, from, to, stretch.from_ns);
    for event in &trace.events {
        tell(&mut builder, trace, event);
    }
    builder.finish()
}

/// A task as it is seen; an idle task by whatever name.
fn seen(builder: &mut Builder, trace: &Trace, task: &TaskRef) -> Seen {
    builder.named(task.pid, &trace.strings[task.comm]);
    Seen { pid: task.pid, prio: task.prio }
}

fn tell(builder: &mut Builder, trace: &Trace, event: &Event) {
    let at = At { time: Nanos(event.time_ns), cpu: event.cpu.0 };
    let in_interrupt = matches!(event.context, Context::Hardirq | Context::Softirq);
    match &event.kind {
        EventKind::SchedSwitch(switch) => {
            let prev = seen(builder, trace, &switch.prev);
            let next = seen(builder, trace, &switch.next);
            builder.switch(at, prev, left(switch.prev_state), next);
        }
        EventKind::SchedWaking(wakeup) => {
            let task = seen(builder, trace, &wakeup.task);
            builder.waking(at, task, in_interrupt);
        }
        EventKind::SchedWakeup(wakeup) => {
            let task = seen(builder, trace, &wakeup.task);
            builder.wakeup(at, task, wakeup.target_cpu.0);
        }
        EventKind::SchedWakeupNew(wakeup) => {
            let task = seen(builder, trace, &wakeup.task);
            builder.wakeup_new(at, task, wakeup.target_cpu.0);
        }
        EventKind::SchedMigrateTask(migrate) => {
            let task = seen(builder, trace, &migrate.task);
            builder.migrate(at, task, migrate.orig_cpu.0, migrate.dest_cpu.0);
        }
        EventKind::SchedPiSetprio(boost) => builder.boost(at, boost.pid, boost.oldprio, boost.newprio),
        EventKind::Marker(text) => builder.marker(at, event.pid, &trace.strings[*text]),
        EventKind::Activity(activity) => interrupt(builder, trace, at, activity),
        // Shown by what comes of them.
        EventKind::SchedProcessFork(_)
        | EventKind::SchedProcessExec(_)
        | EventKind::SchedProcessExit(_)
        | EventKind::SchedStatRuntime(_) => {}
    }
}

fn left(state: PrevState) -> LeftAs {
    match state {
        PrevState::Running | PrevState::Preempted => LeftAs::Runnable,
        PrevState::Uninterruptible => LeftAs::Blocked,
        PrevState::Dead | PrevState::Zombie => LeftAs::Dead,
        PrevState::Interruptible
        | PrevState::Stopped
        | PrevState::Traced
        | PrevState::Parked
        | PrevState::Idle
        | PrevState::Unknown => LeftAs::Sleeping,
    }
}

fn interrupt(builder: &mut Builder, trace: &Trace, at: At, activity: &Activity) {
    match activity {
        Activity::IrqHandlerEntry(entry) => builder.interrupt_begins(at, &trace.strings[entry.name]),
        Activity::IrqVectorEntry(vector) => builder.interrupt_begins(at, vector_name(vector.kind)),
        Activity::SoftirqEntry(vector) => {
            builder.interrupt_begins(at, &format!("softirq {}", vector.action()));
        }
        Activity::IrqHandlerExit(_) | Activity::IrqVectorExit(_) | Activity::SoftirqExit(_) => {
            builder.interrupt_ends(at);
        }
        _ => {}
    }
}

fn vector_name(kind: IrqVectorKind) -> &'static str {
    match kind {
        IrqVectorKind::LocalTimer => "local timer",
        IrqVectorKind::Reschedule => "reschedule IPI",
        IrqVectorKind::CallFunction | IrqVectorKind::CallFunctionSingle => "function call IPI",
        IrqVectorKind::IrqWork => "irq work",
    }
}
