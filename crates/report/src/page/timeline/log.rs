//! The log of a run as a timeline.

use super::{At, Budget, Builder, LeftAs, LockKind, Seen, Spun, Timeline};
use crate::naming::interrupts;
use schema::{
    LogBudget, LogEvent, LogGroup, LogLock, LogPrevState, LogRecord, LogTask, LogTaskRef, Nanos, Pid, Window,
    is_in_group,
};

/// What of a run to show.
#[derive(Debug, Clone, Copy)]
pub struct LogPart<'a> {
    /// What to call it.
    pub name: &'a str,
    /// Number of CPUs of the machine.
    pub cpus: u32,
    /// How the tasks began.
    pub tasks: &'a [LogTask],
    /// Task groups, by their numbers.
    pub groups: &'a [LogGroup],
    /// All records.
    pub records: &'a [LogRecord],
    /// What the reader calls 0, in simulated time: of a replay the first event of its recording.
    pub zero: Nanos,
    /// The stretch to show, in simulated time since `zero`.
    pub window: Window,
}

/// Makes a timeline of the log of a run. `meaning` says what a reason of the scheduler means.
pub fn of_log<'m>(part: LogPart<'_>, meaning: impl Fn(&str) -> &'m str) -> Timeline {
    let on_clock = |ns: u64| Nanos(ns + part.zero.0);
    let (from, to) = (on_clock(part.window.from_ns), on_clock(part.window.to_ns));
    let mut builder = Builder::new(part.name, part.cpus, from, to, part.window.from_ns);
    builder.all_idle();
    for task in part.tasks {
        builder.named(task.pid, &task.comm);
    }
    for group in part.groups {
        builder.group(&group.path, members(part.groups, group));
    }
    for record in part.records {
        tell(&mut builder, record, &meaning);
    }
    builder.finish()
}

fn seen(task: &LogTaskRef) -> Seen {
    Seen { pid: task.pid, prio: i32::from(task.prio.0) }
}

fn tell<'m>(builder: &mut Builder, record: &LogRecord, meaning: &impl Fn(&str) -> &'m str) {
    let at = At { time: record.time, cpu: record.cpu.0.into() };
    match &record.event {
        LogEvent::Comm { of, comm } => builder.named(*of, comm),
        LogEvent::SchedSwitch { prev, prev_state, next } => {
            let left = match prev_state {
                LogPrevState::Runnable | LogPrevState::Preempted => LeftAs::Runnable,
                LogPrevState::Interruptible => LeftAs::Sleeping,
                LogPrevState::Uninterruptible => LeftAs::Blocked,
                LogPrevState::Dead => LeftAs::Dead,
            };
            builder.switch(at, seen(prev), left, seen(next));
        }
        LogEvent::SchedWaking { task, .. } => builder.waking(at, seen(task), record.in_interrupt),
        LogEvent::SchedWakeup { task, target_cpu } => builder.wakeup(at, seen(task), target_cpu.0.into()),
        LogEvent::SchedWakeupNew { task, target_cpu } => {
            builder.wakeup_new(at, seen(task), target_cpu.0.into());
        }
        LogEvent::SchedMigrateTask { task, orig_cpu, dest_cpu } => {
            builder.migrate(at, seen(task), orig_cpu.0.into(), dest_cpu.0.into());
        }
        LogEvent::SchedPiSetprio { of, oldprio, newprio } => {
            builder.boost(at, *of, oldprio.0.into(), newprio.0.into());
        }
        LogEvent::Marker { text } => builder.marker(at, record.pid, text),
        LogEvent::Decision { of, reason } => {
            builder.decision(at, *of, reason, meaning(reason));
        }
        LogEvent::ThrottleBegins { of_cpu, budget } => {
            let there = At { cpu: of_cpu.0.into(), ..at };
            match *budget {
                LogBudget::Deadline { pid } => builder.task_throttled(at, pid),
                LogBudget::RealTime {} => builder.queue_throttled(there, Budget::RealTime),
                LogBudget::RtGroup { group } => builder.queue_throttled(there, Budget::RtGroup(group)),
                LogBudget::Group { group } => builder.queue_throttled(there, Budget::Group(group)),
            }
        }
        LogEvent::ThrottleEnds { of_cpu, budget } => {
            let there = At { cpu: of_cpu.0.into(), ..at };
            match *budget {
                LogBudget::Deadline { pid } => builder.task_unthrottled(at, pid),
                LogBudget::RealTime {} => builder.queue_unthrottled(there, Budget::RealTime),
                LogBudget::RtGroup { group } => builder.queue_unthrottled(there, Budget::RtGroup(group)),
                LogBudget::Group { group } => builder.queue_unthrottled(there, Budget::Group(group)),
            }
        }
        LogEvent::LockWait { lock, since, holder, waiters } => {
            let (lock, of) = (LockKind::of(*lock), owner(*lock));
            let (holder, waiters) = (holder.0.into(), u32::from(*waiters));
            builder.spun(at, Spun { since: *since, lock, of, holder, waiters });
        }
        LogEvent::IrqRaise { irq, .. } => builder.interrupt_raised(at, interrupts::name(*irq)),
        LogEvent::IrqHandlerEntry { irq } => builder.interrupt_begins(at, interrupts::name(*irq)),
        LogEvent::SoftirqEntry {} => builder.interrupt_begins(at, "softirq"),
        LogEvent::IrqHandlerExit {} | LogEvent::SoftirqExit {} => builder.interrupt_ends(at),
        LogEvent::Setting { setting } => builder.setting(at, setting),
        // Shown by what comes of them, or of no use to the eye.
        LogEvent::SchedStatRuntime { .. }
        | LogEvent::SchedProcessFork { .. }
        | LogEvent::SchedProcessExec { .. }
        | LogEvent::SchedProcessExit { .. }
        | LogEvent::Step { .. }
        | LogEvent::Message { .. }
        | LogEvent::IpiSend { .. }
        | LogEvent::SchedWakeIdleWithoutIpi { .. }
        | LogEvent::Schedule {}
        | LogEvent::IrqEnter { .. }
        | LogEvent::Executes {}
        | LogEvent::CacheRefill { .. }
        | LogEvent::CpusAllowed { .. }
        | LogEvent::CpuFrequency { .. }
        | LogEvent::CpuIdle { .. }
        | LogEvent::SlowedBySibling { .. } => {}
    }
}

/// The tasks of a group and of the groups below it.
fn members(groups: &[LogGroup], above: &LogGroup) -> Vec<Pid> {
    let members = groups.iter().filter(|group| is_in_group(&group.path, &above.path));
    members.flat_map(|group| group.tasks.iter().copied()).collect()
}

/// Whose lock it is: a CPU, a pid or the number of a mutex or a channel.
fn owner(lock: LogLock) -> u32 {
    match lock {
        LogLock::Rq { cpu } | LogLock::PushWalker { cpu } => cpu.0.into(),
        LogLock::Pi { pid } => pid.0.unsigned_abs(),
        LogLock::MutexWait { mutex } => mutex,
        LogLock::Pipe { channel } => channel,
        LogLock::Rto {} => 0,
    }
}
