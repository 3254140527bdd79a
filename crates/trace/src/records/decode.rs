//! From ring-buffer records to events, by the file's own descriptions of them.

use super::format::EventFormat;
use super::layout::{Int, Layout, TaskFields, Text, ValueAt, layout};
use super::state_bits;
use super::symbols::Symbols;
use crate::activity::{Activity, SysEnter, SysExit, Syscall, Value, Values};
use crate::builder::TraceBuilder;
use crate::error::ReadError;
use crate::model::{
    Context, Cpu, Event, EventKind, NeedResched, Provenance, SchedMigrateTask, SchedPiSetprio,
    SchedProcessExec, SchedProcessFork, SchedStatRuntime, SchedSwitch, SchedWakeup, TaskRef, VirtualNanos,
};
use crate::notes::{NoteKind, Position};
use crate::state::{PrevState, StateBits};
use crate::strings::StrId;

/// What to do with the records of one event number.
#[derive(Clone, Debug)]
enum Plan {
    /// Not ours: counted by name.
    Other { name: String, count: u64, first: u64 },
    /// Ours, but its description lacks a field.
    Undecodable { name: String, field: String },
    /// Ours.
    Decode(Layout),
}

/// Decodes the records of one file.
pub(crate) struct Decoder {
    plans: Vec<Plan>,
    /// Position in `plans` plus one by event number, or 0 for a number that is not described.
    by_id: Vec<u32>,
    common_type: Int,
    common_pid: Int,
    common_flags: Option<Int>,
    states: StateBits,
    symbols: Symbols,
    /// Records seen.
    pub(crate) records: u64,
}

impl Decoder {
    /// From all descriptions in the file, the first of which was at offset `at`.
    pub(crate) fn new(
        formats: &[EventFormat],
        at: u64,
        symbols: Symbols,
        builder: &mut TraceBuilder,
    ) -> Result<Self, ReadError> {
        let missing = |why: &str| ReadError::Format { event: "sched_switch".into(), why: why.into() };
        let switch =
            formats.iter().find(|f| f.name == "sched_switch").ok_or_else(|| missing("it is not there"))?;
        let common = |name: &str| {
            let field = switch.field(name).and_then(Int::new);
            field.ok_or_else(|| missing(&format!("it has no field {name}")))
        };
        let (common_type, common_pid) = (common("common_type")?, common("common_pid")?);
        let common_flags = switch.field("common_flags").and_then(Int::new);
        let states = state_bits::parse(&switch.print_fmt).unwrap_or_else(|| {
            builder.notes.add(NoteKind::AssumedStateBits, Position::Byte(at));
            StateBits::modern()
        });
        let (mut plans, mut by_id) = (Vec::new(), Vec::new());
        for format in formats {
            let plan = match layout(format) {
                Ok(Some(layout)) => Plan::Decode(layout),
                Ok(None) => Plan::Other { name: format.name.clone(), count: 0, first: 0 },
                Err(field) if format.name == "sched_switch" => {
                    return Err(missing(&format!("it has no field {field}")));
                }
                Err(field) => Plan::Undecodable { name: format.name.clone(), field: field.to_owned() },
            };
            let id = usize::from(format.id);
            plans.push(plan);
            if by_id.len() <= id {
                by_id.resize(id + 1, 0);
            }
            by_id[id] = plans.len() as u32;
        }
        Ok(Decoder { plans, by_id, common_type, common_pid, common_flags, states, symbols, records: 0 })
    }

    /// Adds the event in `record` to the trace, or counts why not. `at` is the page's offset in the file.
    pub(crate) fn record(
        &mut self,
        builder: &mut TraceBuilder,
        time_ns: u64,
        cpu: Cpu,
        record: &[u8],
        at: u64,
    ) {
        self.records += 1;
        let place = Position::Byte(at);
        let layout = match self.plan(record).and_then(|n| self.plans.get_mut(n)) {
            Some(Plan::Decode(layout)) => layout,
            Some(Plan::Other { count, first, .. }) => {
                if *count == 0 {
                    *first = at;
                }
                *count += 1;
                return;
            }
            Some(Plan::Undecodable { name, field }) => {
                let detail = || format!("{name} has no field {field}");
                return builder.notes.add_detailed(NoteKind::UndecodableEvent, place, detail);
            }
            None => return builder.notes.add(NoteKind::UnknownEventId, place),
        };
        let Some(pid) = self.common_pid.pid(record) else {
            return builder.notes.add(NoteKind::CorruptRecord, place);
        };
        let mut names = Names { states: &self.states, symbols: &mut self.symbols };
        match names.decode(layout, builder, record) {
            Some(Decoded::Event(kind)) => {
                if let EventKind::SchedSwitch(SchedSwitch { prev_state: PrevState::Unknown, .. }) = kind {
                    builder.notes.add(NoteKind::UnknownPrevState, place);
                }
                let flags = self.common_flags.and_then(|field| field.get(record)).map(|flags| flags as u64);
                let context = flags.map_or(Context::Unknown, Context::from_common_flags);
                let need_resched = flags.map_or(NeedResched::Unknown, NeedResched::from_common_flags);
                builder.push_at(Event { time_ns, cpu, pid, context, need_resched, kind }, place);
            }
            Some(Decoded::NoEffect) => builder.notes.add(NoteKind::WakeupWithoutEffect, place),
            None => builder.notes.add(NoteKind::CorruptRecord, place),
        }
    }

    /// Position in `plans` for a record.
    fn plan(&self, record: &[u8]) -> Option<usize> {
        let id = usize::try_from(self.common_type.get(record)?).ok()?;
        Some(self.by_id.get(id)?.checked_sub(1)? as usize)
    }

    /// Notes the events that were only counted.
    pub(crate) fn finish(&mut self, builder: &mut TraceBuilder) {
        for plan in &self.plans {
            if let Plan::Other { name, count, first } = plan
                && *count > 0
            {
                builder.notes.add_other_event(name, *count, Position::Byte(*first));
            }
        }
    }
}

enum Decoded {
    Event(EventKind),
    /// A wakeup of a task that was awake (`success=0`, kernels up to 4.2).
    NoEffect,
}

fn task(fields: &TaskFields, builder: &mut TraceBuilder, record: &[u8]) -> Option<TaskRef> {
    let comm = comm(&fields.comm, builder, record)?;
    Some(TaskRef { comm, pid: fields.pid.pid(record)?, prio: fields.prio.i32(record)? })
}

fn comm(text: &Text, builder: &mut TraceBuilder, record: &[u8]) -> Option<StrId> {
    Some(builder.strings.intern_bytes(text.get(record)?))
}

/// What numbers in records stand for.
struct Names<'a> {
    states: &'a StateBits,
    symbols: &'a mut Symbols,
}

impl Names<'_> {
    /// `None` for a record that is too short or holds a number out of range.
    fn decode(&mut self, layout: &Layout, builder: &mut TraceBuilder, record: &[u8]) -> Option<Decoded> {
        let kind = match layout {
            Layout::Switch { prev, prev_state, next } => EventKind::SchedSwitch(SchedSwitch {
                prev: task(prev, builder, record)?,
                prev_state: self.states.decode(prev_state.get(record)?),
                next: task(next, builder, record)?,
                provenance: Provenance::Recorded,
            }),
            Layout::Wakeup { success: Some(success), .. } if success.get(record)? == 0 => {
                return Some(Decoded::NoEffect);
            }
            Layout::Wakeup { make, task: fields, target_cpu, .. } => make(SchedWakeup {
                task: task(fields, builder, record)?,
                target_cpu: target_cpu.cpu(record)?,
            }),
            Layout::Migrate { task: fields, orig_cpu, dest_cpu } => {
                EventKind::SchedMigrateTask(SchedMigrateTask {
                    task: task(fields, builder, record)?,
                    orig_cpu: orig_cpu.cpu(record)?,
                    dest_cpu: dest_cpu.cpu(record)?,
                })
            }
            Layout::Fork { parent_comm, parent_pid, child_comm, child_pid } => {
                EventKind::SchedProcessFork(SchedProcessFork {
                    parent_comm: comm(parent_comm, builder, record)?,
                    parent_pid: parent_pid.pid(record)?,
                    child_comm: comm(child_comm, builder, record)?,
                    child_pid: child_pid.pid(record)?,
                })
            }
            Layout::Exec { filename, pid, old_pid } => EventKind::SchedProcessExec(SchedProcessExec {
                filename: comm(filename, builder, record)?,
                pid: pid.pid(record)?,
                old_pid: old_pid.pid(record)?,
            }),
            Layout::Exit { task: fields } => EventKind::SchedProcessExit(task(fields, builder, record)?),
            Layout::PiSetprio { comm: name, pid, oldprio, newprio } => {
                EventKind::SchedPiSetprio(SchedPiSetprio {
                    comm: comm(name, builder, record)?,
                    pid: pid.pid(record)?,
                    oldprio: oldprio.i32(record)?,
                    newprio: newprio.i32(record)?,
                })
            }
            Layout::StatRuntime { comm: name, pid, runtime, vruntime } => {
                EventKind::SchedStatRuntime(SchedStatRuntime {
                    comm: comm(name, builder, record)?,
                    pid: pid.pid(record)?,
                    runtime_ns: runtime.get(record)? as u64,
                    vruntime: match vruntime {
                        Some(field) => Some(VirtualNanos::new(field.get(record)? as u64)),
                        None => None,
                    },
                })
            }
            Layout::Print { buf } => {
                let text = buf.get(record)?;
                let text = text.strip_suffix(b"\n").unwrap_or(text);
                EventKind::Marker(builder.strings.intern_bytes(text))
            }
            Layout::Activity { of, places } => {
                let mut values = Values::default();
                for (value, place) in values.0.iter_mut().zip(places) {
                    if let Some(place) = place {
                        *value = Some(self.value(place, builder, record)?);
                    }
                }
                EventKind::Activity((of.make)(&values)?)
            }
            Layout::SysEnter { name, number, args } => {
                let call = syscall(name, number, builder, record)?;
                let args = args.map(|arg| arg.and_then(|arg| arg.get(record)).unwrap_or(0) as u64);
                EventKind::Activity(Activity::SysEnter(SysEnter { call, args }))
            }
            Layout::SysExit { name, number, ret } => {
                let call = syscall(name, number, builder, record)?;
                EventKind::Activity(Activity::SysExit(SysExit { call, ret: ret.get(record)? }))
            }
        };
        Some(Decoded::Event(kind))
    }

    fn value(&mut self, place: &ValueAt, builder: &mut TraceBuilder, record: &[u8]) -> Option<Value> {
        Some(match place {
            ValueAt::Number(field) => Value::Number(field.get(record)?),
            ValueAt::Function(field) => {
                Value::Text(self.symbols.name(field.get(record)? as u64, &mut builder.strings))
            }
            ValueAt::Text(text) => Value::Text(comm(text, builder, record)?),
        })
    }
}

fn syscall(name: &str, number: &Int, builder: &mut TraceBuilder, record: &[u8]) -> Option<Syscall> {
    let number = u16::try_from(number.get(record)?).ok();
    Some(Syscall { number, name: Some(builder.strings.intern(name)) })
}
