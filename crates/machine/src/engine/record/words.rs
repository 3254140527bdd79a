//! The scheduler's terms in those of the log, which are plain data.

use crate::setup::Arrival;
use crate::told::ToldMessage;
use scheduler::platform::{Ipi, Platform};
use scheduler::{CpuMask, Event, Nanos, Prio, SwitchState, TaskId, ThisCpu, Throttled};
use schema::{LogArrival, LogBudget, LogEvent, LogIpi, LogPrevState, LogTaskRef};

/// The CPUs that a task may use from now on.
pub(crate) fn cpus_allowed(of: scheduler::Pid, cpus: CpuMask) -> LogEvent {
    LogEvent::CpusAllowed { of: pid(of), cpus: cpus.iter().map(cpu).collect() }
}

/// How the log tells an event of the scheduler, if it does.
pub(crate) fn log_event<P: Platform>(me: ThisCpu<'_, P>, event: Event) -> Option<LogEvent> {
    let task = |id: TaskId| task_ref(me, id);
    let of = |id: TaskId| pid(me.task(id).pid.get());
    let told = match event {
        Event::Switch { prev, prev_state, next } => {
            LogEvent::SchedSwitch { prev: task(prev), prev_state: state(prev_state), next: task(next) }
        }
        Event::Waking { task: p, target } => LogEvent::SchedWaking { task: task(p), target_cpu: cpu(target) },
        Event::Wakeup { task: p, target } => LogEvent::SchedWakeup { task: task(p), target_cpu: cpu(target) },
        Event::WakeupNew { task: p, target } => {
            LogEvent::SchedWakeupNew { task: task(p), target_cpu: cpu(target) }
        }
        Event::Migrate { task: p, orig, dest } => {
            LogEvent::SchedMigrateTask { task: task(p), orig_cpu: cpu(orig), dest_cpu: cpu(dest) }
        }
        Event::PiSetprio { task, old, new } => {
            LogEvent::SchedPiSetprio { of: of(task), oldprio: prio(old), newprio: prio(new) }
        }
        Event::StatRuntime { task, runtime, vruntime } => LogEvent::SchedStatRuntime {
            of: of(task),
            runtime: time(runtime),
            vruntime_ns: vruntime.cast_signed(),
        },
        Event::ThrottleBegins { cpu: of, whom } => {
            LogEvent::ThrottleBegins { of_cpu: cpu(of), budget: budget(me, whom) }
        }
        Event::ThrottleEnds { cpu: of, whom } => {
            LogEvent::ThrottleEnds { of_cpu: cpu(of), budget: budget(me, whom) }
        }
        Event::Frequency { cpu: of, khz } => LogEvent::CpuFrequency { of_cpu: cpu(of), khz },
        Event::Decision { task, reason } => LogEvent::Decision { of: of(task), reason: reason.name() },
        Event::GroupLeaves { .. } => return None,
    };
    Some(told)
}

/// A task with its present priority.
pub(crate) fn task_ref<P: Platform>(me: ThisCpu<'_, P>, id: TaskId) -> LogTaskRef {
    let task = me.task(id);
    LogTaskRef { pid: pid(task.pid.get()), prio: prio(task.prio.get()) }
}

/// An interrupt brings a message.
pub(crate) fn message(message: ToldMessage) -> LogEvent {
    let ToldMessage { channel, by, at } = message;
    let by = match by {
        Arrival::Own => LogArrival::Own,
        Arrival::Tick => LogArrival::Tick,
    };
    LogEvent::Message { channel: channel.0, by, at: time(at) }
}

/// What a CPU asks another one for.
pub(crate) fn ipi(ipi: Ipi) -> LogIpi {
    match ipi {
        Ipi::Reschedule | Ipi::NohzReschedule => LogIpi::Reschedule {},
        Ipi::Wakeup => LogIpi::Wakeup {},
        Ipi::Push(source) => LogIpi::Push { source: cpu(source) },
        Ipi::Nohz => LogIpi::Nohz {},
        Ipi::Unthrottle => LogIpi::Unthrottle {},
        Ipi::Tick => LogIpi::Tick {},
        Ipi::Stop => LogIpi::Stop {},
    }
}

/// A CPU.
pub(crate) fn cpu(cpu: scheduler::CpuId) -> schema::CpuId {
    schema::CpuId(cpu.0)
}

/// A pid.
pub(crate) fn pid(pid: scheduler::Pid) -> schema::Pid {
    schema::Pid(pid.0)
}

/// A time, or a span of it.
pub(crate) fn time(time: Nanos) -> schema::Nanos {
    schema::Nanos(time.0)
}

fn budget<P: Platform>(me: ThisCpu<'_, P>, whom: Throttled) -> LogBudget {
    match whom {
        Throttled::RealTime => LogBudget::RealTime {},
        // The setup's first group is the kernel's second, behind the root.
        Throttled::Group(group) => LogBudget::Group { group: group.0.saturating_sub(1) },
        Throttled::RtGroup(group) => LogBudget::RtGroup { group: group.0.saturating_sub(1) },
        Throttled::Deadline(task) => LogBudget::Deadline { pid: pid(me.task(task).pid.get()) },
    }
}

fn prio(prio: Prio) -> schema::Prio {
    schema::Prio(prio.0)
}

fn state(state: SwitchState) -> LogPrevState {
    match state {
        SwitchState::Runnable => LogPrevState::Runnable,
        SwitchState::Preempted => LogPrevState::Preempted,
        SwitchState::Interruptible => LogPrevState::Interruptible,
        SwitchState::Uninterruptible => LogPrevState::Uninterruptible,
        SwitchState::Dead => LogPrevState::Dead,
    }
}
