//! A simulated run as a trace, as if it had been recorded.

use crate::told::{Told, step_line};
use machine::{Arrival, ChannelId, ToldMessage};
use scheduler::Nanos;
use schema::{CpuId, LogArrival, LogEvent, LogPrevState, LogRecord, LogTaskRef, Pid, Prio};
use std::collections::BTreeMap;
use trace::{
    Activity, Context, Cpu, Event, EventKind, NeedResched, PrevState, Provenance, SchedMigrateTask,
    SchedPiSetprio, SchedProcessExec, SchedProcessFork, SchedStatRuntime, SchedSwitch, SchedWakeup,
    SoftirqVec, StrId, TaskRef, Trace, TraceBuilder,
};

/// The trace of a run, from the records of its log ([`machine::Outcome::log`]). Times are virtual. What has
/// no tracepoint is left out, decisions for instance; steps of programs have none either and are events of
/// our own.
pub fn run_trace<'a>(records: impl IntoIterator<Item = &'a LogRecord>, cpus: usize) -> Trace {
    let mut names =
        Names { builder: TraceBuilder::new(cpus as u32), idle: Vec::new(), comms: BTreeMap::new() };
    names.builder.meta.tool = Some(concat!("schedlab ", env!("CARGO_PKG_VERSION")).into());
    for cpu in 0..cpus {
        names.idle.push(names.builder.strings.intern(&format!("swapper/{cpu}")));
    }
    for record in records {
        if let Some(kind) = names.kind(record) {
            let context = if record.in_interrupt { Context::Hardirq } else { Context::Task };
            names.builder.push(Event {
                time_ns: record.time.0,
                cpu: cpu(record.cpu),
                pid: record.pid,
                context,
                need_resched: NeedResched::Unknown,
                kind,
            });
        }
    }
    names.builder.finish()
}

struct Names {
    builder: TraceBuilder,
    /// Of the idle tasks, by CPU.
    idle: Vec<StrId>,
    comms: BTreeMap<Pid, StrId>,
}

/// As the trace shows the idle tasks.
const IDLE_PRIO: i32 = 120;

impl Names {
    fn comm(&mut self, pid: Pid, on: CpuId) -> StrId {
        match self.comms.get(&pid) {
            _ if pid == Pid::IDLE => self.idle[on.index()],
            Some(comm) => *comm,
            None => self.builder.strings.intern("<...>"),
        }
    }

    fn task(&mut self, task: &LogTaskRef, on: CpuId) -> TaskRef {
        let prio = if task.prio == Prio::IDLE { IDLE_PRIO } else { i32::from(task.prio.0) };
        TaskRef { comm: self.comm(task.pid, on), pid: task.pid, prio }
    }

    fn kind(&mut self, record: &LogRecord) -> Option<EventKind> {
        let on = record.cpu;
        Some(match &record.event {
            LogEvent::Comm { of, comm } => {
                let name = self.builder.strings.intern(comm);
                self.comms.insert(*of, name);
                self.builder.thread(*of, name, None);
                return None;
            }
            LogEvent::SchedSwitch { prev, prev_state, next } => EventKind::SchedSwitch(SchedSwitch {
                prev: self.task(prev, on),
                prev_state: state(*prev_state),
                next: self.task(next, on),
                provenance: Provenance::Recorded,
            }),
            LogEvent::SchedWaking { task, target_cpu } => {
                EventKind::SchedWaking(self.wakeup(task, *target_cpu))
            }
            LogEvent::SchedWakeup { task, target_cpu } => {
                EventKind::SchedWakeup(self.wakeup(task, *target_cpu))
            }
            LogEvent::SchedWakeupNew { task, target_cpu } => {
                EventKind::SchedWakeupNew(self.wakeup(task, *target_cpu))
            }
            LogEvent::SchedMigrateTask { task, orig_cpu, dest_cpu } => {
                EventKind::SchedMigrateTask(SchedMigrateTask {
                    task: self.task(task, on),
                    orig_cpu: cpu(*orig_cpu),
                    dest_cpu: cpu(*dest_cpu),
                })
            }
            LogEvent::SchedPiSetprio { of, oldprio, newprio } => EventKind::SchedPiSetprio(SchedPiSetprio {
                comm: self.comm(*of, on),
                pid: *of,
                oldprio: i32::from(oldprio.0),
                newprio: i32::from(newprio.0),
            }),
            LogEvent::SchedStatRuntime { of, runtime, vruntime_ns } => {
                EventKind::SchedStatRuntime(SchedStatRuntime {
                    comm: self.comm(*of, on),
                    pid: *of,
                    runtime_ns: runtime.0,
                    vruntime: Some(trace::VirtualNanos::new(vruntime_ns.cast_unsigned())),
                })
            }
            LogEvent::SchedProcessFork { parent, child } => EventKind::SchedProcessFork(SchedProcessFork {
                parent_comm: self.comm(*parent, on),
                parent_pid: *parent,
                child_comm: self.comm(*child, on),
                child_pid: *child,
            }),
            LogEvent::SchedProcessExec { of } => EventKind::SchedProcessExec(SchedProcessExec {
                filename: self.comm(*of, on),
                pid: *of,
                old_pid: *of,
            }),
            LogEvent::SchedProcessExit { task } => EventKind::SchedProcessExit(self.task(task, on)),
            LogEvent::Marker { text } => EventKind::Marker(self.builder.strings.intern(text)),
            LogEvent::Step { step } => self.program(&step_line(&step.to_string())),
            LogEvent::Message { channel, by, at } => {
                self.program(&Told::Message(message(*channel, *by, *at)).text())
            }
            LogEvent::Decision { .. } | LogEvent::LockWait { .. } => return None,
            LogEvent::IrqRaise { .. } | LogEvent::IrqHandlerEntry { .. } | LogEvent::IrqHandlerExit {} => {
                return None;
            }
            LogEvent::SoftirqEntry {} => EventKind::Activity(Activity::SoftirqEntry(SoftirqVec::TASKLET)),
            LogEvent::SoftirqExit {} => EventKind::Activity(Activity::SoftirqExit(SoftirqVec::TASKLET)),
            LogEvent::SchedWakeIdleWithoutIpi { target_cpu, .. } => {
                EventKind::Activity(Activity::SchedWakeIdleWithoutIpi(cpu(*target_cpu)))
            }
            LogEvent::Schedule {} | LogEvent::IrqEnter { .. } | LogEvent::Executes {} => return None,
            LogEvent::ThrottleBegins { .. } | LogEvent::ThrottleEnds { .. } => return None,
            LogEvent::IpiSend { .. } | LogEvent::CacheRefill { .. } | LogEvent::Setting { .. } => {
                return None;
            }
            LogEvent::CpusAllowed { .. } | LogEvent::SlowedBySibling { .. } => return None,
            LogEvent::CpuFrequency { .. } => return None,
            LogEvent::CpuIdle { of_cpu, state } => {
                EventKind::Activity(Activity::CpuIdle(trace::CpuIdle { state: *state, cpu: cpu(*of_cpu) }))
            }
        })
    }

    fn program(&mut self, text: &str) -> EventKind {
        EventKind::Activity(Activity::SchedlabProgram(self.builder.strings.intern(text)))
    }

    fn wakeup(&mut self, task: &LogTaskRef, target: CpuId) -> SchedWakeup {
        SchedWakeup { task: self.task(task, target), target_cpu: cpu(target) }
    }
}

fn cpu(cpu: CpuId) -> Cpu {
    Cpu(u32::from(cpu.0))
}

fn message(channel: u32, by: LogArrival, at: schema::Nanos) -> ToldMessage {
    let by = match by {
        LogArrival::Own => Arrival::Own,
        LogArrival::Tick => Arrival::Tick,
    };
    ToldMessage { channel: ChannelId(channel), by, at: Nanos(at.0) }
}

fn state(state: LogPrevState) -> PrevState {
    match state {
        LogPrevState::Runnable => PrevState::Running,
        LogPrevState::Preempted => PrevState::Preempted,
        LogPrevState::Interruptible => PrevState::Interruptible,
        LogPrevState::Uninterruptible => PrevState::Uninterruptible,
        LogPrevState::Dead => PrevState::Dead,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::{Machine, MachineSpec, RunOptions, Setup, Step, TaskSpec, Tracing};
    use scheduler::Topology;
    use scheduler::registry::Config;

    #[derive(Debug)]
    struct RunOnce(u32);

    impl machine::Behaviour for RunOnce {
        fn next(&mut self, _: &mut machine::Env<'_>) -> Step {
            self.0 += 1;
            match self.0 {
                1 => Step::Compute(Nanos::from_millis(3)),
                2 => Step::Exec("cc1".into()),
                3 => Step::Compute(Nanos::from_millis(4)),
                _ => Step::Exit,
            }
        }
    }

    #[test]
    fn a_run_reads_like_a_recording() {
        let spec = MachineSpec::ideal(Topology::flat(1));
        let mut setup = Setup::new(1);
        setup.spawn(Nanos::from_millis(1), TaskSpec::new("sh", RunOnce(0)));
        let options = RunOptions { trace: Tracing::Everything, ..RunOptions::default() };
        let machine = Machine::new(spec, Config::default(), setup, options).expect("a machine");
        let outcome = machine.run().expect("a run");
        let trace = run_trace(&outcome.log.expect("a log"), 1);
        let summary = trace::summarise(&trace);
        let task = summary.task(trace::Pid(machine::FIRST_PID)).expect("the task");
        assert_eq!((task.cpu_time_ns, task.voluntary_switches), (7_000_000, 1));
        assert_eq!(task.comm.map(|comm| &trace.strings[comm]), Some("cc1"));
        assert_eq!(trace.notes.worst(), None, "{}", trace.notes);
    }
}
