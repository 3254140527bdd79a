//! Bundles: the events of one CPU, as single messages and as columns ([`compact`](super::compact)).

use super::compact::{Columns, Entry};
use super::events::{COMMON_FLAGS, Decoded, PID, TIMESTAMP, decode};
use super::wire::{Field, Fields, Value};
use crate::builder::TraceBuilder;
use crate::model::{
    Context, Cpu, Event, EventKind, MAX_CPUS, NeedResched, Pid, Provenance, SchedSwitch, SchedWakeup, TaskRef,
};
use crate::notes::{NoteKind, Position};
use crate::state::{PrevState, StateBits};

const CPU: u64 = 1;
const EVENT: u64 = 2;
const LOST_EVENTS: u64 = 3;
const COMPACT_SCHED: u64 = 4;
const FTRACE_CLOCK: u64 = 5;

/// What is known across bundles.
#[derive(Debug)]
pub(super) struct Bundles {
    states: StateBits,
    /// Who runs on each CPU since the last switch there: columns do not say who leaves.
    current: Vec<Option<TaskRef>>,
    /// Events seen.
    events: u64,
}

impl Default for Bundles {
    fn default() -> Self {
        Bundles { states: StateBits::modern(), current: Vec::new(), events: 0 }
    }
}

impl Bundles {
    /// How many events there were, and a note on what had to be assumed about them.
    pub(super) fn finish(self, builder: &mut TraceBuilder) -> u64 {
        // The schema has no description of the state bits; they have been the same since 4.14.
        let version = builder.meta.kernel.as_deref().and_then(|kernel| kernel.split(' ').nth(1));
        let mut numbers = version.unwrap_or("").split('.').map_while(|number| number.parse::<u32>().ok());
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version < (4, 14) {
            builder.notes.add(NoteKind::AssumedStateBits, Position::Whole);
        }
        if builder.meta.clock.is_none() {
            builder.meta.clock = Some("boot".to_owned());
        }
        self.events
    }

    /// Reads a bundle in the packet at offset `at`.
    pub(super) fn read(&mut self, builder: &mut TraceBuilder, bundle: &[u8], at: u64) {
        let place = Position::Byte(at);
        let (mut cpu, mut lost, mut clock) = (None, false, None);
        // The CPU may stand behind the events.
        let mut fields = Fields::new(bundle);
        for Field { number, value } in fields.by_ref() {
            match (number, value) {
                (CPU, Value::Number(number)) => cpu = Some(u32::try_from(number).unwrap_or(u32::MAX)),
                (LOST_EVENTS, Value::Number(number)) => lost = number != 0,
                (FTRACE_CLOCK, Value::Number(number)) => clock = clock_name(number),
                _ => {}
            }
        }
        if fields.is_broken() {
            builder.notes.add(NoteKind::CorruptRecord, place);
        }
        if let Some(clock) = clock {
            builder.meta.clock.get_or_insert_with(|| clock.to_owned());
        }
        let cpu = Cpu(cpu.unwrap_or(0));
        if cpu.0 >= MAX_CPUS {
            return builder.notes.add_detailed(NoteKind::CpuOutOfRange, place, || format!("CPU {cpu}"));
        }
        if self.current.len() <= cpu.index() {
            self.current.resize(cpu.index() + 1, None);
        }
        let mut bundle_of_cpu = Bundle { cpu, place, lost };
        if lost {
            self.current[cpu.index()] = None;
        }
        for Field { number, value } in Fields::new(bundle) {
            match (number, value) {
                (EVENT, Value::Bytes(event)) => self.event(builder, &mut bundle_of_cpu, event),
                (COMPACT_SCHED, Value::Bytes(columns)) => self.columns(builder, &mut bundle_of_cpu, columns),
                _ => {}
            }
        }
        if bundle_of_cpu.lost {
            builder.lost(cpu, builder.last_ns(cpu), None, place);
        }
    }

    fn event(&mut self, builder: &mut TraceBuilder, bundle: &mut Bundle, event: &[u8]) {
        self.events += 1;
        let (mut time, mut pid, mut flags, mut message) = (None, None, None, None);
        let mut fields = Fields::new(event);
        for Field { number, value } in fields.by_ref() {
            match (number, value) {
                (TIMESTAMP, Value::Number(number)) => time = Some(number),
                (PID, value) => pid = value.int32(),
                (COMMON_FLAGS, Value::Number(number)) => flags = Some(number),
                (number, Value::Bytes(bytes)) => message = Some((number, bytes)),
                _ => {}
            }
        }
        let whole = !fields.is_broken();
        let Some((time_ns, (number, message))) = time.zip(message).filter(|_| whole) else {
            return builder.notes.add(NoteKind::CorruptRecord, bundle.place);
        };
        bundle.place_loss(builder, time_ns);
        match decode(number, message, &self.states, &mut builder.strings) {
            Some(Decoded::Event(kind)) => {
                if let EventKind::SchedSwitch(switch) = &kind {
                    self.current[bundle.cpu.index()] = Some(switch.next);
                    note_state(builder, bundle, switch.prev_state);
                }
                let (cpu, pid) = (bundle.cpu, pid.map_or(Pid::UNKNOWN, Pid));
                let context = flags.map_or(Context::Unknown, Context::from_common_flags);
                let need_resched = flags.map_or(NeedResched::Unknown, NeedResched::from_common_flags);
                builder.push_at(Event { time_ns, cpu, pid, context, need_resched, kind }, bundle.place);
            }
            Some(Decoded::NoEffect) => builder.notes.add(NoteKind::WakeupWithoutEffect, bundle.place),
            Some(Decoded::Other(name)) => builder.notes.add_other_event(&name, 1, bundle.place),
            None => builder.notes.add(NoteKind::CorruptRecord, bundle.place),
        }
    }

    fn columns(&mut self, builder: &mut TraceBuilder, bundle: &mut Bundle, columns: &[u8]) {
        let mut columns = Columns::new(columns, &mut builder.strings);
        for entry in columns.by_ref() {
            self.events += 1;
            bundle.place_loss(builder, entry.time_ns());
            let current = &mut self.current[bundle.cpu.index()];
            let cpu = bundle.cpu;
            let event = match entry {
                Entry::Switch { time_ns, prev_state, next } => {
                    let Some(prev) = current.replace(next) else {
                        builder.notes.add(NoteKind::SwitchWithoutPrev, bundle.place);
                        continue;
                    };
                    let prev_state = self.states.decode(prev_state);
                    note_state(builder, bundle, prev_state);
                    let kind = EventKind::SchedSwitch(SchedSwitch {
                        prev,
                        prev_state,
                        next,
                        provenance: Provenance::Recorded,
                    });
                    let (context, need_resched) = (Context::Task, NeedResched::Unknown);
                    Event { time_ns, cpu, pid: prev.pid, context, need_resched, kind }
                }
                Entry::Waking { time_ns, task, target_cpu, flags } => {
                    let pid = current.map_or(Pid::UNKNOWN, |current| current.pid);
                    let kind = EventKind::SchedWaking(SchedWakeup { task, target_cpu });
                    let context = flags.map_or(Context::Unknown, Context::from_common_flags);
                    let need_resched = flags.map_or(NeedResched::Unknown, NeedResched::from_common_flags);
                    Event { time_ns, cpu, pid, context, need_resched, kind }
                }
            };
            builder.push_at(event, bundle.place);
        }
        if columns.is_broken() {
            builder.notes.add(NoteKind::CorruptRecord, bundle.place);
        }
    }
}

/// What holds for all events of a bundle.
struct Bundle {
    cpu: Cpu,
    place: Position,
    /// Events were lost before the next one.
    lost: bool,
}

impl Bundle {
    fn place_loss(&mut self, builder: &mut TraceBuilder, before_ns: u64) {
        if std::mem::take(&mut self.lost) {
            builder.lost(self.cpu, before_ns, None, self.place);
        }
    }
}

fn note_state(builder: &mut TraceBuilder, bundle: &Bundle, state: PrevState) {
    if state == PrevState::Unknown {
        builder.notes.add(NoteKind::UnknownPrevState, bundle.place);
    }
}

/// The name of a value of the schema's `FtraceClock`; times are of the boot clock where none is given.
fn clock_name(number: u64) -> Option<&'static str> {
    match number {
        0 => None,
        2 => Some("global"),
        3 => Some("local"),
        4 => Some("mono_raw"),
        _ => Some("another"),
    }
}
