//! Events as records: the bytes that the descriptions in [`super::formats`] describe.

use super::activity::ActivityRecords;
use super::formats::{
    COMM_SIZE, COMMON_SIZE, Description, EXEC, EXIT, FORK, MARKER_ADDRESS, MIGRATE, PI_SETPRIO, PRINT,
    STAT_RUNTIME, STAT_RUNTIME_ALONE, SWITCH, WAKEUP, WAKEUP_NEW, WAKING,
};
use super::pages::MAX_RECORD;
use crate::events::Events;
use crate::model::{Event, EventKind, Pid, SchedWakeup, TaskRef};
use crate::strings::{StrId, Strings};
use crate::write::common_flags;

/// Makes records, one after the other in the same memory.
#[derive(Debug, Default)]
pub(super) struct Records {
    bytes: Vec<u8>,
    pub(super) activity: ActivityRecords,
    /// Texts that did not fit into a page and were cut.
    pub(super) cut_texts: u64,
}

impl Records {
    /// The record of an event whose ids are of `strings`, in whole words.
    pub(super) fn make(&mut self, event: &Event, strings: &Strings) -> &[u8] {
        self.bytes.clear();
        let id = match &event.kind {
            EventKind::Activity(activity) => self.activity.id(activity),
            kind => id(kind),
        };
        let flags = common_flags(event).unwrap_or(0);
        self.bytes.extend_from_slice(&id.to_le_bytes());
        self.bytes.extend_from_slice(&[flags, 0]);
        self.i32(event.pid.0);
        debug_assert_eq!(self.bytes.len(), COMMON_SIZE);
        self.fields(&event.kind, strings);
        let whole = self.bytes.len().next_multiple_of(4);
        self.bytes.resize(whole, 0);
        &self.bytes
    }

    fn fields(&mut self, kind: &EventKind, strings: &Strings) {
        let text = |id: StrId| &strings[id];
        match kind {
            EventKind::SchedSwitch(s) => {
                self.task(&s.prev, strings);
                self.u64(s.prev_state.bits() as u64);
                self.task(&s.next, strings);
            }
            EventKind::SchedWaking(SchedWakeup { task, target_cpu })
            | EventKind::SchedWakeup(SchedWakeup { task, target_cpu })
            | EventKind::SchedWakeupNew(SchedWakeup { task, target_cpu }) => {
                self.task(task, strings);
                self.i32(target_cpu.0 as i32);
            }
            EventKind::SchedMigrateTask(m) => {
                self.task(&m.task, strings);
                self.i32(m.orig_cpu.0 as i32);
                self.i32(m.dest_cpu.0 as i32);
            }
            EventKind::SchedProcessFork(f) => {
                self.comm(text(f.parent_comm));
                self.pid(f.parent_pid);
                self.comm(text(f.child_comm));
                self.pid(f.child_pid);
            }
            EventKind::SchedProcessExec(e) => {
                // Behind the three fields; the length, in the upper half, counts the final NUL.
                let offset = COMMON_SIZE + 12;
                let name = self.cut(text(e.filename), MAX_RECORD - offset - 1);
                self.i32((((name.len() + 1) << 16) | offset) as i32);
                self.pid(e.pid);
                self.pid(e.old_pid);
                self.bytes.extend_from_slice(name);
                self.bytes.push(0);
            }
            EventKind::SchedProcessExit(task) => self.task(task, strings),
            EventKind::SchedPiSetprio(p) => {
                self.comm(text(p.comm));
                self.pid(p.pid);
                self.i32(p.oldprio);
                self.i32(p.newprio);
            }
            EventKind::SchedStatRuntime(r) => {
                self.comm(text(r.comm));
                self.pid(r.pid);
                self.u64(r.runtime_ns);
                if let Some(vruntime) = r.vruntime {
                    self.u64(vruntime.get());
                }
            }
            EventKind::Activity(activity) => self.activity.put(&mut self.bytes, activity, strings),
            EventKind::Marker(id) => {
                self.u64(MARKER_ADDRESS);
                let text = self.cut(text(*id), MAX_RECORD - self.bytes.len() - 2);
                self.bytes.extend_from_slice(text);
                self.bytes.extend_from_slice(b"\n\0");
            }
        }
    }

    /// The beginning of a text that fits into `most` bytes.
    fn cut<'a>(&mut self, text: &'a str, most: usize) -> &'a [u8] {
        let end = text.floor_char_boundary(most);
        self.cut_texts += u64::from(end < text.len());
        &text.as_bytes()[..end]
    }

    fn task(&mut self, task: &TaskRef, strings: &Strings) {
        self.comm(&strings[task.comm]);
        self.pid(task.pid);
        self.i32(task.prio);
    }

    fn comm(&mut self, comm: &str) {
        let end = comm.floor_char_boundary(COMM_SIZE - 1);
        let mut field = [0; COMM_SIZE];
        field[..end].copy_from_slice(&comm.as_bytes()[..end]);
        self.bytes.extend_from_slice(&field);
    }

    fn pid(&mut self, pid: Pid) {
        self.i32(pid.0);
    }

    fn i32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        let aligned = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(aligned, 0);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
}

/// The number of the description of every other event.
fn id(kind: &EventKind) -> u16 {
    match kind {
        EventKind::SchedSwitch(_) => SWITCH.id,
        EventKind::SchedWaking(_) => WAKING.id,
        EventKind::SchedWakeup(_) => WAKEUP.id,
        EventKind::SchedWakeupNew(_) => WAKEUP_NEW.id,
        EventKind::SchedMigrateTask(_) => MIGRATE.id,
        EventKind::SchedProcessFork(_) => FORK.id,
        EventKind::SchedProcessExec(_) => EXEC.id,
        EventKind::SchedProcessExit(_) => EXIT.id,
        EventKind::SchedPiSetprio(_) => PI_SETPRIO.id,
        EventKind::SchedStatRuntime(r) if r.vruntime.is_none() => STAT_RUNTIME_ALONE.id,
        EventKind::SchedStatRuntime(_) => STAT_RUNTIME.id,
        EventKind::Activity(_) | EventKind::Marker(_) => PRINT.id,
    }
}

/// The descriptions that the records of these events need.
pub(super) fn sched_formats(events: &Events) -> Vec<String> {
    let alone = events.iter().find_map(|event| match &event.kind {
        EventKind::SchedStatRuntime(r) => Some(r.vruntime.is_none()),
        _ => None,
    });
    let runtime = if alone == Some(true) { &STAT_RUNTIME_ALONE } else { &STAT_RUNTIME };
    let all = [&SWITCH, &WAKING, &WAKEUP, &WAKEUP_NEW, &MIGRATE, &FORK, &EXEC, &EXIT, &PI_SETPRIO, runtime];
    all.map(Description::text).into()
}
