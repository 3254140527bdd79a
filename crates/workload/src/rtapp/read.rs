//! From the tree to the model: the file as a whole, and the helpers that check types and ranges.

use super::error::{Fault, RtAppError};
use super::json::{self, Member, Value};
use super::model::{App, Resources, RtApp};
use super::note::{NoteKind, Notes};
use super::source::Source;
use super::{RtAppDialect, check, read_global, read_task};
use scheduler::Nanos;
use std::ops::Range;
use std::sync::Arc;

/// json-c cuts numbers to 32 bits without a word; here a larger one is an error.
pub(super) const LARGEST: i64 = i32::MAX as i64;

/// As many threads as Linux gives pids by default (pid_max).
const MOST_THREADS: u64 = 32_768;

/// Kinds of resources that the old `resources` section may name.
const RESOURCE_TYPES: &str = "mutex, wait, timer, barrier, mem, iorun, signal, broadcast, sync, sleep, run, runtime, \
                              lock, unlock, suspend, resume, fork, yield";

/// Reads one file: what it says, and where it says so.
pub(super) struct Reader {
    pub source: Source,
    pub dialect: RtAppDialect,
    pub notes: Notes,
}

/// See [`super::parse`].
pub(super) fn file(text: &str, name: &str, dialect: RtAppDialect) -> Result<RtApp, RtAppError> {
    let source = Source::new(name, text);
    let mut notes = Notes::default();
    let root = json::read(text, &source, dialect, &mut notes)?;
    let mut reader = Reader { source, dialect, notes };
    let Value::Object(sections) = &root.value else {
        let (key, found) = ("the file".to_owned(), root.value.what());
        let fault = Fault::WrongType { key, expected: "an object with `tasks`", found };
        return Err(reader.fault(&root.span, fault));
    };
    let (mut global, mut tasks) = (None, None);
    for section in sections {
        match (section.key.as_str(), &section.renamed) {
            ("global" | "tasks" | "resources", Some(_)) => reader.note(NoteKind::PropertyTwice, section),
            ("global", None) => global = Some(reader.object(section)?),
            ("tasks", None) => tasks = Some(section),
            ("resources", None) => reader.resources(section)?,
            _ => reader.note(NoteKind::Unknown, section),
        }
    }
    let global = read_global::global(&mut reader, global.unwrap_or_default())?;
    // Where the tasks should be: the whole file would be shown otherwise.
    let Some(tasks) = tasks else {
        return Err(reader.fault(&(root.span.start..root.span.start + 1), Fault::NoTasks));
    };
    let mut resources = Resources::default();
    let members = reader.object(tasks)?;
    let tasks_read = read_task::tasks(&mut reader, members, &global, &mut resources)?;
    if tasks_read.is_empty() {
        return Err(reader.fault(&tasks.key_span, Fault::NoTasks));
    }
    let threads = tasks_read.iter().map(|task| u64::from(task.instances)).sum();
    if threads > MOST_THREADS {
        let fault = Fault::TooManyThreads { threads, limit: MOST_THREADS };
        return Err(reader.fault(&tasks.key_span, fault));
    }
    check::check(&mut reader, &tasks_read, &resources)?;
    Ok(RtApp(Arc::new(App {
        source: reader.source,
        dialect,
        global,
        tasks: tasks_read,
        resources,
        notes: reader.notes.into_sorted(),
    })))
}

impl Reader {
    pub fn fault(&self, span: &Range<usize>, fault: Fault) -> RtAppError {
        RtAppError::new(&self.source, span, fault)
    }

    pub fn note(&mut self, kind: NoteKind, member: &Member) {
        self.notes.add(kind, &member.key, self.source.place(&member.key_span));
    }

    pub fn wrong_type(&self, member: &Member, expected: &'static str) -> RtAppError {
        let key = member.key.clone();
        let fault = match &member.value.value {
            Value::Nothing => Fault::NoValue { key },
            other => Fault::WrongType { key, expected, found: other.what() },
        };
        self.fault(&member.value.span, fault)
    }

    pub fn integer(
        &self,
        member: &Member,
        low: i64,
        high: i64,
        unit: &'static str,
    ) -> Result<i64, RtAppError> {
        let Value::Integer(value) = member.value.value else {
            return Err(self.wrong_type(member, "an integer"));
        };
        if !(low..=high).contains(&value) {
            let fault = Fault::OutOfRange { key: member.key.clone(), value, low, high, unit };
            return Err(self.fault(&member.value.span, fault));
        }
        Ok(value)
    }

    /// A count from zero.
    pub fn count(&self, member: &Member, unit: &'static str) -> Result<u64, RtAppError> {
        self.integer(member, 0, LARGEST, unit).map(i64::unsigned_abs)
    }

    /// A time in microseconds, as all of rt-app's but `duration`.
    pub fn micros(&self, member: &Member) -> Result<Nanos, RtAppError> {
        self.count(member, " µs").map(Nanos::from_micros)
    }

    pub fn text<'m>(&self, member: &'m Member) -> Result<&'m str, RtAppError> {
        match &member.value.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong_type(member, "a string")),
        }
    }

    pub fn boolean(&self, member: &Member) -> Result<bool, RtAppError> {
        match member.value.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(self.wrong_type(member, "true or false")),
        }
    }

    pub fn object<'m>(&self, member: &'m Member) -> Result<&'m [Member], RtAppError> {
        match &member.value.value {
            Value::Object(members) => Ok(members),
            _ => Err(self.wrong_type(member, "an object")),
        }
    }

    pub fn unknown_word(&self, member: &Member, value: &str, known: &'static str) -> RtAppError {
        let fault = Fault::UnknownWord { key: member.key.clone(), value: value.to_owned(), known };
        self.fault(&member.value.span, fault)
    }

    /// The old section that declares resources. They need no declaration, so only its words are checked.
    fn resources(&mut self, section: &Member) -> Result<(), RtAppError> {
        let Value::Object(resources) = &section.value.value else {
            // A number in the oldest files; rt-app ignores it.
            self.note(NoteKind::Unknown, section);
            return Ok(());
        };
        for resource in resources {
            for member in self.object(resource)? {
                if member.key != "type" {
                    self.note(NoteKind::Unknown, member);
                    continue;
                }
                let kind = self.text(member)?;
                if !RESOURCE_TYPES.split(", ").any(|known| known == kind) {
                    return Err(self.unknown_word(member, kind, RESOURCE_TYPES));
                }
            }
        }
        Ok(())
    }
}
