//! Where the fields of our events are in a record: a description turned into offsets once, so that decoding
//! is reading.

use super::format::{EventFormat, Field, Storage};
use crate::activity::{FieldType, MAX_FIELDS, Tracepoint};
use crate::model::{Cpu, EventKind, Pid, SchedWakeup};

/// A number in a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Int {
    offset: usize,
    size: usize,
    signed: bool,
}

impl Int {
    pub(crate) fn new(field: &Field) -> Option<Self> {
        let fits = matches!(field.size, 1 | 2 | 4 | 8) && field.storage == Storage::InPlace;
        fits.then_some(Int { offset: field.offset, size: field.size, signed: field.signed })
    }

    pub(crate) fn get(&self, record: &[u8]) -> Option<i64> {
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

    pub(crate) fn i32(&self, record: &[u8]) -> Option<i32> {
        i32::try_from(self.get(record)?).ok()
    }

    pub(crate) fn pid(&self, record: &[u8]) -> Option<Pid> {
        self.i32(record).map(Pid)
    }

    pub(crate) fn cpu(&self, record: &[u8]) -> Option<Cpu> {
        // A negative CPU is damage; as a huge number it is caught where all CPU numbers are.
        self.i32(record).map(|cpu| Cpu(cpu as u32))
    }
}

/// A text in a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    offset: usize,
    size: usize,
    storage: Storage,
}

impl Text {
    fn new(field: &Field) -> Self {
        Text { offset: field.offset, size: field.size, storage: field.storage }
    }

    pub(crate) fn get<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
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
pub(crate) struct TaskFields {
    pub(crate) comm: Text,
    pub(crate) pid: Int,
    pub(crate) prio: Int,
}

/// The layout of one kind of event.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    Switch { prev: TaskFields, prev_state: Int, next: TaskFields },
    Wakeup { make: fn(SchedWakeup) -> EventKind, task: TaskFields, target_cpu: Int, success: Option<Int> },
    Migrate { task: TaskFields, orig_cpu: Int, dest_cpu: Int },
    Fork { parent_comm: Text, parent_pid: Int, child_comm: Text, child_pid: Int },
    Exec { filename: Text, pid: Int, old_pid: Int },
    Exit { task: TaskFields },
    PiSetprio { comm: Text, pid: Int, oldprio: Int, newprio: Int },
    StatRuntime { comm: Text, pid: Int, runtime: Int, vruntime: Option<Int> },
    Print { buf: Text },
    Activity { of: &'static Tracepoint, places: [Option<ValueAt>; MAX_FIELDS] },
    SysEnter { name: String, number: Int, args: [Option<Int>; 2] },
    SysExit { name: String, number: Int, ret: Int },
}

/// Where the value of a field of an [`Activity`](crate::Activity) is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueAt {
    Number(Int),
    /// Address of a function.
    Function(Int),
    Text(Text),
}

impl ValueAt {
    fn new(field: &Field, of: FieldType) -> Option<Self> {
        match of {
            FieldType::Int
            | FieldType::UnsignedInt
            | FieldType::S64
            | FieldType::U64
            | FieldType::Address => Int::new(field).map(ValueAt::Number),
            FieldType::Function => Int::new(field).map(ValueAt::Function),
            FieldType::Text | FieldType::Comm | FieldType::Letters => Some(ValueAt::Text(Text::new(field))),
            FieldType::Element(n) => {
                // As many as a system call has arguments, of the size of the kernel's `long`.
                let size = field.size / 6;
                let fits = matches!(size, 4 | 8) && field.storage == Storage::InPlace;
                fits.then_some(ValueAt::Number(Int { offset: field.offset + n * size, size, signed: false }))
            }
        }
    }
}

/// Turns a description into a layout: `Ok(None)` if it is not of one of our events, the name of the first
/// missing field if it lacks any.
pub(crate) fn layout(format: &EventFormat) -> Result<Option<Layout>, &str> {
    Finder { format, missing: None }.layout()
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
            name => match Tracepoint::find(name) {
                Some(tracepoint) => self.activity(tracepoint),
                None => return Ok(self.syscall(name)),
            },
        };
        match self.missing {
            Some(field) => Err(field),
            None => Ok(layout),
        }
    }

    fn activity(&mut self, of: &'static Tracepoint) -> Option<Layout> {
        let mut places = [None; MAX_FIELDS];
        for (place, wanted) in places.iter_mut().zip(of.fields) {
            *place = self.format.field(wanted.name).and_then(|field| ValueAt::new(field, wanted.of));
            if place.is_none() && !wanted.optional {
                self.missing.get_or_insert(wanted.name);
            }
        }
        Some(Layout::Activity { of, places })
    }

    /// The tracepoint of a single system call, whose fields are the number and the arguments or the result.
    fn syscall(&self, event: &str) -> Option<Layout> {
        let number = self.format.field("__syscall_nr").or_else(|| self.format.field("nr"));
        let number = number.and_then(Int::new)?;
        if let Some(name) = event.strip_prefix("sys_enter_") {
            let mut args =
                self.format.fields.iter().filter(|field| field.offset > number.offset).map(Int::new);
            let args = [(); 2].map(|()| args.next().flatten());
            return Some(Layout::SysEnter { name: name.to_owned(), number, args });
        }
        let ret = self.format.field("ret").and_then(Int::new)?;
        let name = event.strip_prefix("sys_exit_")?.to_owned();
        Some(Layout::SysExit { name, number, ret })
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
