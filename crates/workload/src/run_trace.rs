//! A simulated run as a trace, as if it had been recorded.

use crate::told::Told;
use machine::{CommOf, Record, RecordKind, Who};
use scheduler::{CpuId, Pid, Prio, SwitchState};
use std::collections::BTreeMap;
use trace::{
    Activity, Context, Cpu, Event, EventKind, NeedResched, PrevState, Provenance, SchedMigrateTask,
    SchedPiSetprio, SchedProcessExec, SchedProcessFork, SchedStatRuntime, SchedSwitch, SchedWakeup, StrId,
    TaskRef, Trace, TraceBuilder,
};

/// The trace of a run with [`machine::RunOptions::trace`]: `records` and `comms` are those of its
/// [`machine::Outcome`]. Times are virtual. Decisions have no tracepoint and are left out;
/// steps of programs have none either and are events of our own.
pub fn run_trace<'a>(records: impl IntoIterator<Item = &'a Record>, comms: &[CommOf], cpus: usize) -> Trace {
    let mut names =
        Names { builder: TraceBuilder::new(cpus as u32), idle: Vec::new(), comms: BTreeMap::new() };
    names.builder.meta.tool = Some(concat!("schedlab ", env!("CARGO_PKG_VERSION")).into());
    for cpu in 0..cpus {
        names.idle.push(names.builder.strings.intern(&format!("swapper/{cpu}")));
    }
    let mut news = comms.iter().peekable();
    for record in records {
        while let Some(comm) = news.next_if(|comm| comm.since <= record.time) {
            let name = names.builder.strings.intern(&comm.comm);
            names.comms.insert(comm.pid, name);
            names.builder.thread(trace::Pid(comm.pid.0), name, None);
        }
        if let Some(kind) = names.kind(record) {
            let (time_ns, cpu, pid) = (record.time.0, cpu(record.cpu), trace::Pid(record.pid.0));
            let context = if record.in_interrupt { Context::Hardirq } else { Context::Task };
            let need_resched = NeedResched::Unknown;
            names.builder.push(Event { time_ns, cpu, pid, context, need_resched, kind });
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

impl Names {
    fn comm(&mut self, pid: Pid, on: CpuId) -> StrId {
        match self.comms.get(&pid) {
            _ if pid.0 == 0 => self.idle[on.index()],
            Some(comm) => *comm,
            None => self.builder.strings.intern("<...>"),
        }
    }

    fn task(&mut self, who: &Who, on: CpuId) -> TaskRef {
        let prio = if who.prio == Prio::IDLE { Prio::NICE_0 } else { who.prio };
        TaskRef { comm: self.comm(who.pid, on), pid: trace::Pid(who.pid.0), prio: i32::from(prio.0) }
    }

    fn kind(&mut self, record: &Record) -> Option<EventKind> {
        let on = record.cpu;
        let pid = |pid: &Pid| trace::Pid(pid.0);
        Some(match &record.kind {
            RecordKind::Switch { prev, prev_state, next } => EventKind::SchedSwitch(SchedSwitch {
                prev: self.task(prev, on),
                prev_state: state(*prev_state),
                next: self.task(next, on),
                provenance: Provenance::Recorded,
            }),
            RecordKind::Waking { task, target } => EventKind::SchedWaking(self.wakeup(task, *target)),
            RecordKind::Wakeup { task, target } => EventKind::SchedWakeup(self.wakeup(task, *target)),
            RecordKind::WakeupNew { task, target } => EventKind::SchedWakeupNew(self.wakeup(task, *target)),
            RecordKind::Migrate { task, orig, dest } => EventKind::SchedMigrateTask(SchedMigrateTask {
                task: self.task(task, on),
                orig_cpu: cpu(*orig),
                dest_cpu: cpu(*dest),
            }),
            RecordKind::PiSetprio { pid: p, old, new } => EventKind::SchedPiSetprio(SchedPiSetprio {
                comm: self.comm(*p, on),
                pid: pid(p),
                oldprio: i32::from(old.0),
                newprio: i32::from(new.0),
            }),
            RecordKind::StatRuntime { pid: p, runtime, vruntime } => {
                EventKind::SchedStatRuntime(SchedStatRuntime {
                    comm: self.comm(*p, on),
                    pid: pid(p),
                    runtime_ns: runtime.0,
                    vruntime: Some(trace::VirtualNanos::new(*vruntime)),
                })
            }
            RecordKind::Fork { parent, child } => EventKind::SchedProcessFork(SchedProcessFork {
                parent_comm: self.comm(*parent, on),
                parent_pid: pid(parent),
                child_comm: self.comm(*child, on),
                child_pid: pid(child),
            }),
            RecordKind::Exec { pid: p } => EventKind::SchedProcessExec(SchedProcessExec {
                filename: self.comm(*p, on),
                pid: pid(p),
                old_pid: pid(p),
            }),
            RecordKind::Exit { task } => EventKind::SchedProcessExit(self.task(task, on)),
            RecordKind::Marker { text } => EventKind::Marker(self.builder.strings.intern(text)),
            RecordKind::Step { step } => self.told(&Told::Step(step.clone())),
            RecordKind::Message { message } => self.told(&Told::Message(*message)),
            RecordKind::Decision { .. } => return None,
        })
    }

    fn told(&mut self, told: &Told) -> EventKind {
        EventKind::Activity(Activity::SchedlabProgram(self.builder.strings.intern(&told.text())))
    }

    fn wakeup(&mut self, task: &Who, target: CpuId) -> SchedWakeup {
        SchedWakeup { task: self.task(task, target), target_cpu: cpu(target) }
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
    use machine::{Machine, MachineSpec, RunOptions, Setup, Step, TaskSpec, Tracing};
    use scheduler::registry::Config;
    use scheduler::{Nanos, Topology};

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
        let trace = run_trace(&outcome.trace.expect("records"), &outcome.comms, 1);
        let summary = trace::summarise(&trace);
        let task = summary.task(trace::Pid(machine::FIRST_PID)).expect("the task");
        assert_eq!((task.cpu_time_ns, task.voluntary_switches), (7_000_000, 1));
        assert_eq!(task.comm.map(|comm| &trace.strings[comm]), Some("cc1"));
        assert_eq!(trace.notes.worst(), None, "{}", trace.notes);
    }
}
