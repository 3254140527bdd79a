//! Single ftrace events: one message for each kind, with the tracepoint's fields.

use super::wire::{Field, Fields, Value};
use crate::activity::Tracepoint;
use crate::model::{
    Cpu, EventKind, Pid, Provenance, SchedMigrateTask, SchedPiSetprio, SchedProcessExec, SchedProcessFork,
    SchedStatRuntime, SchedSwitch, SchedWakeup, TaskRef, VirtualNanos,
};
use crate::state::StateBits;
use crate::strings::Strings;

/// Fields of an ftrace event that are not one of its kinds.
pub(super) const TIMESTAMP: u64 = 1;
pub(super) const PID: u64 = 2;
pub(super) const COMMON_FLAGS: u64 = 5;
/// Kinds of ftrace events.
const PRINT: u64 = 3;
const SCHED_SWITCH: u64 = 4;
const SCHED_WAKEUP: u64 = 17;
const SCHED_WAKING: u64 = 20;
const SCHED_WAKEUP_NEW: u64 = 114;
const SCHED_PROCESS_EXEC: u64 = 237;
const SCHED_PROCESS_EXIT: u64 = 238;
const SCHED_PROCESS_FORK: u64 = 239;
const GENERIC: u64 = 327;
const SCHED_PI_SETPRIO: u64 = 353;
const SCHED_MIGRATE_TASK: u64 = 491;

/// What a message says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Decoded {
    Event(EventKind),
    /// A wakeup of a task that was awake (`success=0`).
    NoEffect,
    /// Not one of ours.
    Other(String),
}

/// The fields of one message by their numbers, up to seven.
pub(super) struct Message<'a> {
    pub(super) values: [Option<Value<'a>>; 8],
    broken: bool,
}

impl<'a> Message<'a> {
    fn read(message: &'a [u8]) -> Self {
        let mut values = [None; 8];
        let mut fields = Fields::new(message);
        for Field { number, value } in fields.by_ref() {
            if let Some(place) = usize::try_from(number).ok().and_then(|number| values.get_mut(number)) {
                *place = Some(value);
            }
        }
        Message { values, broken: fields.is_broken() }
    }

    fn int(&self, number: usize) -> Option<i32> {
        self.values[number]?.int32()
    }

    fn pid(&self, number: usize) -> Option<Pid> {
        self.int(number).map(Pid)
    }

    /// A negative CPU is damage; as a huge number it is caught where all CPU numbers are.
    fn cpu(&self, number: usize) -> Option<Cpu> {
        self.int(number).map(|cpu| Cpu(cpu as u32))
    }

    /// Text that is not there is empty.
    fn text(&self, number: usize) -> Option<&'a [u8]> {
        self.values[number].map_or(Some(&[][..]), Value::bytes)
    }

    fn task(&self, strings: &mut Strings, comm: usize, pid: usize, prio: usize) -> Option<TaskRef> {
        let comm = strings.intern_bytes(self.text(comm)?);
        Some(TaskRef { comm, pid: self.pid(pid)?, prio: self.int(prio)? })
    }
}

/// Decodes the message of kind `number`; `None` if it contradicts itself or lacks a field.
pub(super) fn decode(
    number: u64,
    message: &[u8],
    states: &StateBits,
    strings: &mut Strings,
) -> Option<Decoded> {
    let fields = Message::read(message);
    if fields.broken {
        return None;
    }
    let event = match number {
        PRINT => EventKind::Marker(strings.intern_bytes(marker(fields.text(2)?))),
        SCHED_SWITCH => EventKind::SchedSwitch(SchedSwitch {
            prev: fields.task(strings, 1, 2, 3)?,
            prev_state: states.decode(fields.values[4]?.number()? as i64),
            next: fields.task(strings, 5, 6, 7)?,
            provenance: Provenance::Recorded,
        }),
        SCHED_WAKEUP | SCHED_WAKING | SCHED_WAKEUP_NEW => {
            if fields.int(4) == Some(0) && number == SCHED_WAKEUP {
                return Some(Decoded::NoEffect);
            }
            let wakeup = SchedWakeup { task: fields.task(strings, 1, 2, 3)?, target_cpu: fields.cpu(5)? };
            match number {
                SCHED_WAKEUP => EventKind::SchedWakeup(wakeup),
                SCHED_WAKING => EventKind::SchedWaking(wakeup),
                _ => EventKind::SchedWakeupNew(wakeup),
            }
        }
        SCHED_PROCESS_EXEC => EventKind::SchedProcessExec(SchedProcessExec {
            filename: strings.intern_bytes(fields.text(1)?),
            pid: fields.pid(2)?,
            old_pid: fields.pid(3)?,
        }),
        SCHED_PROCESS_EXIT => EventKind::SchedProcessExit(fields.task(strings, 1, 2, 4)?),
        SCHED_PROCESS_FORK => EventKind::SchedProcessFork(SchedProcessFork {
            parent_comm: strings.intern_bytes(fields.text(1)?),
            parent_pid: fields.pid(2)?,
            child_comm: strings.intern_bytes(fields.text(3)?),
            child_pid: fields.pid(4)?,
        }),
        SCHED_PI_SETPRIO => EventKind::SchedPiSetprio(SchedPiSetprio {
            comm: strings.intern_bytes(fields.text(1)?),
            newprio: fields.int(2)?,
            oldprio: fields.int(3)?,
            pid: fields.pid(4)?,
        }),
        SCHED_MIGRATE_TASK => EventKind::SchedMigrateTask(SchedMigrateTask {
            task: fields.task(strings, 1, 2, 3)?,
            orig_cpu: fields.cpu(4)?,
            dest_cpu: fields.cpu(5)?,
        }),
        GENERIC => return generic(message, strings),
        number => match super::activity::message(number, &fields, strings) {
            Some(activity) => EventKind::Activity(activity?),
            None => return Some(Decoded::Other(format!("ftrace event {number} of Perfetto's schema"))),
        },
    };
    Some(Decoded::Event(event))
}

/// Marks that [`write_perfetto`](crate::write_perfetto) puts before text that is no command of atrace.
fn marker(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_prefix(b"I|0|").unwrap_or(text)
}

/// An event for which the schema has no message: its name and its fields by name.
fn generic(message: &[u8], strings: &mut Strings) -> Option<Decoded> {
    const NAME: u64 = 1;
    const FIELD: u64 = 2;
    let (mut name, mut fields) = (None, Vec::new());
    for Field { number, value } in Fields::new(message) {
        match (number, value) {
            (NAME, Value::Bytes(bytes)) => name = name.or(Some(bytes)),
            (FIELD, Value::Bytes(field)) if fields.len() < MAX_GENERIC => fields.extend(generic_field(field)),
            _ => {}
        }
    }
    let (name, fields) = (name?, GenericFields(fields));
    if name == b"sched_stat_runtime" {
        return Some(Decoded::Event(EventKind::SchedStatRuntime(SchedStatRuntime {
            comm: strings.intern_bytes(fields.find("comm")?.bytes()?),
            pid: fields.find("pid")?.int32().map(Pid)?,
            runtime_ns: fields.find("runtime")?.number()?,
            vruntime: fields.find("vruntime").and_then(Value::number).map(VirtualNanos::new),
        })));
    }
    let activity = match std::str::from_utf8(name).ok().and_then(Tracepoint::find) {
        Some(tracepoint) => Some(super::activity::generic(tracepoint, &fields, strings)?),
        None => super::activity::syscall(name, &fields, strings),
    };
    Some(match activity {
        Some(activity) => Decoded::Event(EventKind::Activity(activity)),
        None => Decoded::Other(String::from_utf8_lossy(&name[..name.len().min(100)]).into_owned()),
    })
}

/// No event that we know has more fields.
const MAX_GENERIC: usize = 16;

/// The fields of such an event.
pub(super) struct GenericFields<'a>(Vec<GenericField<'a>>);

impl<'a> GenericFields<'a> {
    /// The value of the first field with this name.
    pub(super) fn find(&self, name: &str) -> Option<Value<'a>> {
        self.0.iter().find(|field| field.name == name.as_bytes()).map(|field| field.value)
    }
}

struct GenericField<'a> {
    name: &'a [u8],
    value: Value<'a>,
}

/// The name of a field of such an event, and its value: one of text, signed and unsigned number.
fn generic_field(field: &[u8]) -> Option<GenericField<'_>> {
    let (mut name, mut value) = (None, None);
    for part in Fields::new(field) {
        match part.number {
            1 => name = part.value.bytes(),
            3..6 => value = value.or(Some(part.value)),
            _ => {}
        }
    }
    Some(GenericField { name: name?, value: value? })
}
