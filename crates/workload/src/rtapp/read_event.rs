//! Events.

use super::RtAppDialect;
use super::error::{Fault, RtAppError};
use super::json::{Member, Value};
use super::keys::{EventKey, TaskKey, task_key};
use super::model::{Event, Names, Resources, TaskGroup, TimerRef, What};
use super::note::NoteKind;
use super::read::Reader;

/// What an event needs to know of its task and file.
pub(super) struct EventContext<'a> {
    /// Name of the task.
    pub task: &'a str,
    /// How many threads run it.
    pub instances: u32,
    /// Names of all tasks.
    pub names: &'a [&'a str],
    /// The control group of the task.
    pub group: Option<&'a TaskGroup>,
    /// Whether `iorun` writes to /dev/null.
    pub io_is_null: bool,
    pub resources: &'a mut Resources,
    /// The task's own timers, by name, and whether they are absolute.
    pub own_timers: &'a mut OwnTimers,
}

/// Timers of each instance's own.
#[derive(Default)]
pub(super) struct OwnTimers {
    names: Names,
    pub absolute: Vec<bool>,
}

/// Reads the event of a key that is one.
pub(super) fn event(
    reader: &mut Reader,
    member: &Member,
    context: &mut EventContext<'_>,
) -> Result<Event, RtAppError> {
    let TaskKey::Event(key) = task_key(&member.key) else {
        let fault = Fault::NoEvents { name: member.key.clone() };
        return Err(reader.fault(&member.key_span, fault));
    };
    let mut description = member.name().to_owned();
    let mut of = |name: &str| {
        description.push(':');
        description.push_str(name);
    };
    let what = match key {
        EventKey::Run => What::Run(reader.micros(member)?),
        EventKey::Runtime => What::Runtime(reader.micros(member)?),
        EventKey::Sleep => What::Sleep(reader.micros(member)?),
        EventKey::Mem => What::Mem { bytes: reader.count(member, " bytes")? },
        EventKey::IoRun => {
            if !context.io_is_null {
                reader.note(NoteKind::DeviceAsCopy, member);
            }
            What::IoRun { bytes: reader.count(member, " bytes")? }
        }
        EventKey::Yield => What::Yield,
        EventKey::Timer => {
            let timer = timer(reader, member, context)?;
            of(timer.name);
            timer.what
        }
        EventKey::Lock | EventKey::Unlock => {
            let name = reader.text(member)?;
            of(name);
            let mutex = context.resources.mutexes.number(name);
            if key == EventKey::Lock { What::Lock(mutex) } else { What::Unlock(mutex) }
        }
        EventKey::Signal | EventKey::Broad => {
            let name = reader.text(member)?;
            of(name);
            let condition = context.resources.conditions.number(name);
            if key == EventKey::Signal { What::Signal(condition) } else { What::Broadcast(condition) }
        }
        EventKey::Wait | EventKey::Sync => {
            let members = members_of(reader, member, &["ref", "mutex"])?;
            let (name, mutex) = (
                needed_text(reader, member, members, "ref")?,
                needed_text(reader, member, members, "mutex")?,
            );
            of(name);
            of(mutex);
            let condition = context.resources.conditions.number(name);
            let mutex = context.resources.mutexes.number(mutex);
            if key == EventKey::Wait {
                What::Wait { condition, mutex }
            } else {
                What::Sync { condition, mutex }
            }
        }
        EventKey::Suspend | EventKey::Resume => {
            // workgen fills in the task's own name where a suspend has none.
            let own = key == EventKey::Suspend && reader.dialect == RtAppDialect::Workgen;
            let name = match &member.value.value {
                Value::Nothing if own => context.task,
                Value::Text(name) if own && name.is_empty() => context.task,
                _ => reader.text(member)?,
            };
            of(name);
            let condition = context.resources.conditions.number(name);
            let mutex = context.resources.mutexes.number(name);
            if key == EventKey::Suspend {
                What::Suspend { condition, mutex }
            } else {
                What::Resume { condition, mutex }
            }
        }
        EventKey::Barrier => {
            let name = reader.text(member)?;
            of(name);
            let barrier = context.resources.barriers.number(name);
            context.resources.parties.resize(context.resources.barriers.len(), 0);
            context.resources.parties[barrier] += context.instances;
            What::Barrier(barrier)
        }
        EventKey::SemPost | EventKey::SemWait => {
            let name = reader.text(member)?;
            of(name);
            let semaphore = context.resources.semaphores.number(name);
            if key == EventKey::SemPost { What::SemPost(semaphore) } else { What::SemWait(semaphore) }
        }
        EventKey::Fork => {
            let name = reader.text(member)?;
            of(name);
            let Some(task) = context.names.iter().position(|n| *n == name) else {
                return Err(reader.fault(&member.value.span, Fault::NoSuchTask { task: name.to_owned() }));
            };
            What::Fork(task)
        }
    };
    Ok(Event { span: member.key_span.start..member.value.span.end, description, what })
}

struct Timer<'m> {
    name: &'m str,
    what: What,
}

fn timer<'m>(
    reader: &mut Reader,
    member: &'m Member,
    context: &mut EventContext<'_>,
) -> Result<Timer<'m>, RtAppError> {
    let members = members_of(reader, member, &["ref", "period", "mode"])?;
    let name = needed_text(reader, member, members, "ref")?;
    let period = reader.micros(needed(reader, member, members, "period")?)?;
    let absolute = match members.iter().find(|m| m.key == "mode") {
        None => false,
        Some(mode) => match reader.text(mode)? {
            "relative" => false,
            "absolute" => true,
            other => return Err(reader.unknown_word(mode, other, "relative, absolute")),
        },
    };
    let own = name.starts_with("unique");
    let (names, modes) = if own {
        (&mut context.own_timers.names, &mut context.own_timers.absolute)
    } else {
        (&mut context.resources.timers, &mut context.resources.absolute)
    };
    let number = names.number(name);
    modes.resize(names.len(), false);
    modes[number] |= absolute;
    let timer = if own { TimerRef::Own(number) } else { TimerRef::Shared(number) };
    Ok(Timer { name, what: What::Timer { timer, period } })
}

/// The members of an event that is an object; others than those known are noted.
fn members_of<'m>(
    reader: &mut Reader,
    event: &'m Member,
    known: &[&str],
) -> Result<&'m [Member], RtAppError> {
    let members = match &event.value.value {
        Value::Object(members) => members,
        _ => return Err(reader.wrong_type(event, "an object such as {\"ref\": \"name\", …}")),
    };
    for member in members {
        if member.renamed.is_some() {
            reader.note(NoteKind::PropertyTwice, member);
        } else if !known.contains(&member.key.as_str()) {
            reader.note(NoteKind::Unknown, member);
        }
    }
    Ok(members)
}

fn needed<'m>(
    reader: &Reader,
    event: &Member,
    members: &'m [Member],
    key: &'static str,
) -> Result<&'m Member, RtAppError> {
    members.iter().find(|m| m.key == key).ok_or_else(|| {
        let fault = Fault::MissingMember { event: event.key.clone(), member: key };
        reader.fault(&event.value.span, fault)
    })
}

fn needed_text<'m>(
    reader: &Reader,
    event: &Member,
    members: &'m [Member],
    key: &'static str,
) -> Result<&'m str, RtAppError> {
    reader.text(needed(reader, event, members, key)?)
}
