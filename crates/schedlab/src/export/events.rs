//! What the machine recorded, as events of a trace.

use crate::experiment::Run;
use machine::{CommOf, Record, RecordKind, Who};
use scheduler::{CpuId, SwitchState};
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec;
use trace::{
    Context, Cpu, Event, EventKind, Pid, PrevState, Provenance, SchedMigrateTask, SchedPiSetprio,
    SchedProcessExec, SchedProcessFork, SchedStatRuntime, SchedSwitch, SchedWakeup, StrId, TaskRef, Trace,
    TraceBuilder,
};

/// All events but the decisions, which no tracepoint can tell.
pub(super) fn trace(run: &Run) -> Trace {
    let mut builder = TraceBuilder::new(run.result.machine.cpus);
    builder.meta.kernel = Some(format!("Linux {}", run.result.kernel.profile));
    builder.meta.clock = Some("mono".to_owned());
    builder.meta.tool = Some(format!("schedlab {}", run.result.engine.version));
    let mut translator = Translator::new(builder, &run.comms);
    for record in &run.records {
        translator.record(record);
    }
    translator.builder.finish()
}

pub(super) fn pid(pid: scheduler::Pid) -> Pid {
    Pid(pid.0)
}

/// The priority that tracepoints show for the idle task.
const IDLE_PRIO: i32 = 120;

/// Follows the names of tasks while it goes through the records.
struct Translator {
    builder: TraceBuilder,
    /// Names that tasks take later.
    coming: Peekable<vec::IntoIter<CommOf>>,
    comms: BTreeMap<scheduler::Pid, StrId>,
}

impl Translator {
    fn new(builder: TraceBuilder, comms: &[CommOf]) -> Translator {
        let mut coming = comms.to_vec();
        coming.sort_by_key(|c| c.since);
        Translator { builder, coming: coming.into_iter().peekable(), comms: BTreeMap::new() }
    }

    fn record(&mut self, record: &Record) {
        while let Some(named) = self.coming.next_if(|c| c.since <= record.time) {
            let comm = self.builder.strings.intern(&named.comm);
            self.comms.insert(named.pid, comm);
        }
        if let Some(kind) = self.kind(record) {
            self.builder.push(Event {
                time_ns: record.time.0,
                cpu: cpu(record.cpu),
                pid: pid(record.pid),
                context: Context::Unknown,
                kind,
            });
        }
    }

    fn kind(&mut self, record: &Record) -> Option<EventKind> {
        Some(match &record.kind {
            RecordKind::Switch { prev, prev_state, next } => EventKind::SchedSwitch(SchedSwitch {
                prev: self.task(*prev, record.cpu),
                prev_state: state(*prev_state),
                next: self.task(*next, record.cpu),
                provenance: Provenance::Recorded,
            }),
            RecordKind::Waking { task, target } => EventKind::SchedWaking(self.wakeup(*task, *target)),
            RecordKind::Wakeup { task, target } => EventKind::SchedWakeup(self.wakeup(*task, *target)),
            RecordKind::WakeupNew { task, target } => EventKind::SchedWakeupNew(self.wakeup(*task, *target)),
            RecordKind::Migrate { task, orig, dest } => EventKind::SchedMigrateTask(SchedMigrateTask {
                task: self.task(*task, *orig),
                orig_cpu: cpu(*orig),
                dest_cpu: cpu(*dest),
            }),
            RecordKind::PiSetprio { pid: whose, old, new } => EventKind::SchedPiSetprio(SchedPiSetprio {
                comm: self.comm(*whose, record.cpu),
                pid: pid(*whose),
                oldprio: i32::from(old.0),
                newprio: i32::from(new.0),
            }),
            RecordKind::StatRuntime { pid: whose, runtime, vruntime } => {
                EventKind::SchedStatRuntime(SchedStatRuntime {
                    comm: self.comm(*whose, record.cpu),
                    pid: pid(*whose),
                    runtime_ns: runtime.0,
                    vruntime_ns: Some(*vruntime),
                })
            }
            RecordKind::Fork { parent, child } => EventKind::SchedProcessFork(SchedProcessFork {
                parent_comm: self.comm(*parent, record.cpu),
                parent_pid: pid(*parent),
                child_comm: self.comm(*child, record.cpu),
                child_pid: pid(*child),
            }),
            RecordKind::Exec { pid: whose } => EventKind::SchedProcessExec(SchedProcessExec {
                filename: self.comm(*whose, record.cpu),
                pid: pid(*whose),
                old_pid: pid(*whose),
            }),
            RecordKind::Exit { task } => EventKind::SchedProcessExit(self.task(*task, record.cpu)),
            RecordKind::Marker { text } => EventKind::Marker(self.builder.strings.intern(text)),
            RecordKind::Decision { .. } => return None,
        })
    }

    fn wakeup(&mut self, who: Who, target: CpuId) -> SchedWakeup {
        SchedWakeup { task: self.task(who, target), target_cpu: cpu(target) }
    }

    fn task(&mut self, who: Who, on: CpuId) -> TaskRef {
        let prio = if who.pid.0 == 0 { IDLE_PRIO } else { i32::from(who.prio.0) };
        TaskRef { comm: self.comm(who.pid, on), pid: pid(who.pid), prio }
    }

    /// Its name now. All idle tasks have pid 0, so theirs goes by the CPU.
    fn comm(&mut self, whose: scheduler::Pid, on: CpuId) -> StrId {
        match self.comms.get(&whose) {
            Some(comm) if whose.0 != 0 => *comm,
            _ => self.builder.strings.intern(&format!("swapper/{on}")),
        }
    }
}

fn cpu(cpu: CpuId) -> Cpu {
    Cpu(u32::from(cpu.0))
}

fn state(state: SwitchState) -> PrevState {
    match state {
        SwitchState::Runnable => PrevState::Running,
        SwitchState::Preempted => PrevState::Preempted,
        SwitchState::Interruptible => PrevState::Interruptible,
        SwitchState::Uninterruptible => PrevState::Uninterruptible,
        SwitchState::Dead => PrevState::Dead,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::{Nanos, Prio};

    fn comm_of(pid: i32, since: u64, comm: &str) -> CommOf {
        CommOf { pid: scheduler::Pid(pid), since: Nanos(since), comm: comm.into() }
    }

    #[test]
    fn a_task_has_the_name_of_the_moment_and_an_idle_task_that_of_its_cpu() {
        let comms = [comm_of(0, 0, "swapper/0"), comm_of(7, 0, "sh"), comm_of(7, 20, "cc1")];
        let mut translator = Translator::new(TraceBuilder::new(2), &comms);
        let idle = Who { pid: scheduler::Pid(0), prio: Prio::IDLE };
        let seven = Who { pid: scheduler::Pid(7), prio: Prio(120) };
        for time in [10, 20] {
            let kind = RecordKind::Switch { prev: idle, prev_state: SwitchState::Runnable, next: seven };
            translator.record(&Record { time: Nanos(time), cpu: CpuId(1), pid: idle.pid, kind });
        }
        let trace = translator.builder.finish();
        let names = |event: &Event| match &event.kind {
            EventKind::SchedSwitch(s) => {
                format!("{}:{} {}", &trace.strings[s.prev.comm], s.prev.prio, &trace.strings[s.next.comm])
            }
            _ => String::new(),
        };
        let names: Vec<String> = trace.events.iter().map(names).collect();
        assert_eq!(names, ["swapper/1:120 sh", "swapper/1:120 cc1"]);
    }
}
