//! From ring-buffer records to events, by the file's own descriptions of them.

use super::format::{EventFormat, Field, Storage};
use super::state_bits;
use crate::builder::TraceBuilder;
use crate::error::ReadError;
use crate::model::{
    Context, Cpu, Event, EventKind, Pid, Provenance, SchedMigrateTask, SchedPiSetprio, SchedProcessExec,
    SchedProcessFork, SchedStatRuntime, SchedSwitch, SchedWakeup, TaskRef,
};
use crate::notes::{NoteKind, Position};
use crate::state::{PrevState, StateBits};
use crate::strings::StrId;

/// A number in a record.
#[derive(Clone, Copy, Debug)]
struct Int {
    offset: usize,
    size: usize,
    signed: bool,
}

impl Int {
    fn new(field: &Field) -> Option<Self> {
        let fits = matches!(field.size, 1 | 2 | 4 | 8) && field.storage == Storage::InPlace;
        fits.then_some(Int { offset: field.offset, size: field.size, signed: field.signed })
    }

    fn get(&self, record: &[u8]) -> Option<i64> {
        let bytes = record.get(self.offset..self.offset + self.size)?;
        Some(match (bytes, self.signed) {
            (&[a, b, c, d], true) => i64::from(i32::from_le_bytes([a, b, c, d])),
            (&[a, b, c, d], false) => i64::from(u32::from_le_bytes([a, b, c, d])),
            (&[a], true) => i64::from(a as i8),
            (bytes, signed) => {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                let value = i64::from_le_bytes(word);
                if signed && bytes.len() == 2 { i64::from(value as i16) } else { value }
            }
        })
    }

    fn i32(&self, record: &[u8]) -> Option<i32> {
        i32::try_from(self.get(record)?).ok()
    }

    fn pid(&self, record: &[u8]) -> Option<Pid> {
        self.i32(record).map(Pid)
    }

    fn cpu(&self, record: &[u8]) -> Option<Cpu> {
        // A negative CPU is damage; as a huge number it is caught where all CPU numbers are.
        self.i32(record).map(|cpu| Cpu(cpu as u32))
    }
}

/// A text in a record.
#[derive(Clone, Copy, Debug)]
struct Text {
    offset: usize,
    size: usize,
    storage: Storage,
}

impl Text {
    fn new(field: &Field) -> Self {
        Text { offset: field.offset, size: field.size, storage: field.storage }
    }

    fn get<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        let own = match self.storage {
            Storage::ToEnd => record.get(self.offset..)?,
            Storage::InPlace => record.get(self.offset..self.offset + self.size)?,
            Storage::DataLoc | Storage::RelLoc => {
                let place = Int { offset: self.offset, size: 4, signed: false }.get(record)? as usize;
                let base = if self.storage == Storage::RelLoc { self.offset + 4 } else { 0 };
                let start = base + (place & 0xffff);
                record.get(start..start + (place >> 16))?
            }
        };
        Some(own.split(|byte| *byte == 0).next().unwrap_or(own))
    }
}

/// Where the three fields are that name a task.
#[derive(Clone, Copy, Debug)]
struct TaskFields {
    comm: Text,
    pid: Int,
    prio: Int,
}

/// The layout of one kind of event.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Switch { prev: TaskFields, prev_state: Int, next: TaskFields },
    Wakeup { make: fn(SchedWakeup) -> EventKind, task: TaskFields, target_cpu: Int, success: Option<Int> },
    Migrate { task: TaskFields, orig_cpu: Int, dest_cpu: Int },
    Fork { parent_comm: Text, parent_pid: Int, child_comm: Text, child_pid: Int },
    Exec { filename: Text, pid: Int, old_pid: Int },
    Exit { task: TaskFields },
    PiSetprio { comm: Text, pid: Int, oldprio: Int, newprio: Int },
    StatRuntime { comm: Text, pid: Int, runtime: Int, vruntime: Option<Int> },
    Print { buf: Text },
}

/// Finds fields in a description and remembers the first that is missing.
struct Finder<'a> {
    format: &'a EventFormat,
    missing: Option<&'a str>,
}

impl<'a> Finder<'a> {
    fn find<T>(&mut self, name: &'a str, make: impl FnOnce(&Field) -> Option<T>) -> Option<T> {
        let found = self.format.field(name).and_then(make);
        if found.is_none() {
            self.missing.get_or_insert(name);
        }
        found
    }

    fn int(&mut self, name: &'a str) -> Option<Int> {
        self.find(name, Int::new)
    }

    fn text(&mut self, name: &'a str) -> Option<Text> {
        self.find(name, |field| Some(Text::new(field)))
    }

    fn task(&mut self, comm: &'a str, pid: &'a str, prio: &'a str) -> Option<TaskFields> {
        Some(TaskFields { comm: self.text(comm)?, pid: self.int(pid)?, prio: self.int(prio)? })
    }

    fn wakeup(&mut self, make: fn(SchedWakeup) -> EventKind) -> Option<Layout> {
        let success = self.format.field("success").and_then(Int::new);
        let task = self.task("comm", "pid", "prio")?;
        Some(Layout::Wakeup { make, task, target_cpu: self.int("target_cpu")?, success })
    }

    /// The layout of the described event; `Ok(None)` if it is not one of ours.
    fn layout(mut self) -> Result<Option<Layout>, &'a str> {
        let layout = match &*self.format.name {
            "sched_switch" => self.switch(),
            "sched_waking" => self.wakeup(EventKind::SchedWaking),
            "sched_wakeup" => self.wakeup(EventKind::SchedWakeup),
            "sched_wakeup_new" => self.wakeup(EventKind::SchedWakeupNew),
            "sched_migrate_task" => self.migrate(),
            "sched_process_fork" => self.fork(),
            "sched_process_exec" => self.exec(),
            "sched_process_exit" => self.task("comm", "pid", "prio").map(|task| Layout::Exit { task }),
            "sched_pi_setprio" => self.pi_setprio(),
            "sched_stat_runtime" => self.stat_runtime(),
            "print" => self.text("buf").map(|buf| Layout::Print { buf }),
            _ => return Ok(None),
        };
        match self.missing {
            Some(field) => Err(field),
            None => Ok(layout),
        }
    }

    fn switch(&mut self) -> Option<Layout> {
        let prev = self.task("prev_comm", "prev_pid", "prev_prio")?;
        let next = self.task("next_comm", "next_pid", "next_prio")?;
        Some(Layout::Switch { prev, prev_state: self.int("prev_state")?, next })
    }

    fn migrate(&mut self) -> Option<Layout> {
        let task = self.task("comm", "pid", "prio")?;
        Some(Layout::Migrate { task, orig_cpu: self.int("orig_cpu")?, dest_cpu: self.int("dest_cpu")? })
    }

    fn fork(&mut self) -> Option<Layout> {
        let (parent_comm, parent_pid) = (self.text("parent_comm")?, self.int("parent_pid")?);
        Some(Layout::Fork {
            parent_comm,
            parent_pid,
            child_comm: self.text("child_comm")?,
            child_pid: self.int("child_pid")?,
        })
    }

    fn exec(&mut self) -> Option<Layout> {
        Some(Layout::Exec {
            filename: self.text("filename")?,
            pid: self.int("pid")?,
            old_pid: self.int("old_pid")?,
        })
    }

    fn pi_setprio(&mut self) -> Option<Layout> {
        let (comm, pid) = (self.text("comm")?, self.int("pid")?);
        Some(Layout::PiSetprio { comm, pid, oldprio: self.int("oldprio")?, newprio: self.int("newprio")? })
    }

    fn stat_runtime(&mut self) -> Option<Layout> {
        let vruntime = self.format.field("vruntime").and_then(Int::new);
        let (comm, pid) = (self.text("comm")?, self.int("pid")?);
        Some(Layout::StatRuntime { comm, pid, runtime: self.int("runtime")?, vruntime })
    }
}

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
pub(super) struct Decoder {
    plans: Vec<Plan>,
    /// Position in `plans` plus one by event number, or 0 for a number that is not described.
    by_id: Vec<u32>,
    common_type: Int,
    common_pid: Int,
    common_flags: Option<Int>,
    states: StateBits,
    /// Records seen.
    pub(super) records: u64,
}

impl Decoder {
    /// From all descriptions in the file, the first of which was at offset `at`.
    pub(super) fn new(
        formats: &[EventFormat],
        at: u64,
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
            let layout = Finder { format, missing: None }.layout();
            let plan = match layout {
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
        Ok(Decoder { plans, by_id, common_type, common_pid, common_flags, states, records: 0 })
    }

    /// Adds the event in `record` to the trace, or counts why not. `at` is the page's offset in the file.
    pub(super) fn record(
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
        match decode(layout, &self.states, builder, record) {
            Some(Decoded::Event(kind)) => {
                if let EventKind::SchedSwitch(SchedSwitch { prev_state: PrevState::Unknown, .. }) = kind {
                    builder.notes.add(NoteKind::UnknownPrevState, place);
                }
                let context = self.context(record);
                builder.push_at(Event { time_ns, cpu, pid, context, kind }, place);
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

    /// What was going on, by the flags that every record has.
    fn context(&self, record: &[u8]) -> Context {
        const HARDIRQ_OR_NMI: i64 = 0x08 | 0x40;
        const SOFTIRQ: i64 = 0x10;
        match self.common_flags.and_then(|field| field.get(record)) {
            None => Context::Unknown,
            Some(flags) if flags & HARDIRQ_OR_NMI != 0 => Context::Hardirq,
            Some(flags) if flags & SOFTIRQ != 0 => Context::Softirq,
            Some(_) => Context::Task,
        }
    }

    /// Notes the events that were only counted.
    pub(super) fn finish(&mut self, builder: &mut TraceBuilder) {
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

/// `None` for a record that is too short or holds a number out of range.
fn decode(layout: &Layout, states: &StateBits, builder: &mut TraceBuilder, record: &[u8]) -> Option<Decoded> {
    let kind = match layout {
        Layout::Switch { prev, prev_state, next } => EventKind::SchedSwitch(SchedSwitch {
            prev: task(prev, builder, record)?,
            prev_state: states.decode(prev_state.get(record)?),
            next: task(next, builder, record)?,
            provenance: Provenance::Recorded,
        }),
        Layout::Wakeup { success: Some(success), .. } if success.get(record)? == 0 => {
            return Some(Decoded::NoEffect);
        }
        Layout::Wakeup { make, task: fields, target_cpu, .. } => {
            make(SchedWakeup { task: task(fields, builder, record)?, target_cpu: target_cpu.cpu(record)? })
        }
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
                vruntime_ns: match vruntime {
                    Some(field) => Some(field.get(record)? as u64),
                    None => None,
                },
            })
        }
        Layout::Print { buf } => {
            let text = buf.get(record)?;
            let text = text.strip_suffix(b"\n").unwrap_or(text);
            EventKind::Marker(builder.strings.intern_bytes(text))
        }
    };
    Some(Decoded::Event(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(size: usize, signed: bool) -> Int {
        Int { offset: 1, size, signed }
    }

    #[test]
    fn numbers_of_every_size_keep_their_sign() {
        let record = [9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        for size in [1, 2, 4, 8] {
            assert_eq!(int(size, true).get(&record), Some(-2));
        }
        assert_eq!(int(1, false).get(&record), Some(0xfe));
        assert_eq!(int(2, false).get(&record), Some(0xfffe));
        assert_eq!(int(4, false).get(&record), Some(0xffff_fffe));
        assert_eq!(int(4, true).get(&record[..4]), None);
    }

    #[test]
    fn text_in_place_elsewhere_and_to_the_end() {
        let text = |storage, size| Text { offset: 4, size, storage };
        assert_eq!(text(Storage::InPlace, 5).get(b"....ab\0xx.."), Some(&b"ab"[..]));
        assert_eq!(text(Storage::InPlace, 5).get(b"....abcde.."), Some(&b"abcde"[..]));
        assert_eq!(text(Storage::ToEnd, 0).get(b"....abcde\0\0"), Some(&b"abcde"[..]));
        assert_eq!(text(Storage::DataLoc, 4).get(b"....\x09\0\x03\0.hi\0"), Some(&b"hi"[..]));
        assert_eq!(text(Storage::RelLoc, 4).get(b"....\x01\0\x03\0.hi\0"), Some(&b"hi"[..]));
        assert_eq!(text(Storage::DataLoc, 4).get(b"....\x09\0\x04\0.hi\0"), None, "beyond the record");
    }
}
