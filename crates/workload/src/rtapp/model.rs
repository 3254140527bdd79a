//! What a file means: tasks, phases and events with names resolved.

use super::RtAppDialect;
use super::note::Note;
use super::source::Source;
use scheduler::{ClampRequest, Nanos, Nice, Policy};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A checked rt-app file, a [`crate::load::Load`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RtApp(pub(super) Arc<App>);

#[derive(Debug)]
pub(super) struct App {
    pub source: Source,
    pub dialect: RtAppDialect,
    pub global: Global,
    pub tasks: Vec<Task>,
    pub resources: Resources,
    pub notes: Vec<Note>,
}

impl RtApp {
    /// What the file says that changes nothing here, and what else its user should know; empty for most
    /// files.
    pub fn notes(&self) -> &[Note] {
        &self.0.notes
    }

    /// How the file was read.
    pub fn dialect(&self) -> RtAppDialect {
        self.0.dialect
    }

    /// How long the use case lasts (`duration`); `None`: until all threads end by themselves.
    pub fn duration(&self) -> Option<Nanos> {
        self.0.global.duration
    }

    /// Threads that exist from the start: all tasks by their `instance`.
    pub fn threads(&self) -> u64 {
        self.0.tasks.iter().map(|task| u64::from(task.instances)).sum()
    }
}

/// The `global` object.
#[derive(Clone, Debug)]
pub(super) struct Global {
    pub duration: Option<Nanos>,
    pub default_policy: PolicyName,
    /// `calibration` as a number: time of one loop of the calibration workload.
    pub loop_ns: Option<u64>,
    pub pi_enabled: bool,
    pub mem_buffer_bytes: u64,
    /// Whether `io_device` swallows writes without copying them.
    pub io_is_null: bool,
    pub cumulative_slack: bool,
    pub ftrace: Categories,
}

/// What rt-app writes into the trace (`ftrace`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Categories {
    /// Start and end of each thread, and the reference of the clock.
    pub task: bool,
    /// Each event.
    pub event: bool,
    /// Start and end of each loop.
    pub r#loop: bool,
    /// Figures of each loop.
    pub stats: bool,
}

/// A `policy`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PolicyName {
    Other,
    Batch,
    Idle,
    Fifo,
    Rr,
    Deadline,
}

/// One entry of `tasks`.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub name: String,
    pub instances: u32,
    pub delay: Nanos,
    pub repeat: Repeat,
    pub scheduling: Scheduling,
    pub cpus: Option<Cpus>,
    pub group: Option<TaskGroup>,
    pub phases: Vec<Phase>,
    /// Timers of each instance's own; whether they are absolute.
    pub own_timers: Vec<bool>,
}

/// One phase.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub repeat: Repeat,
    pub scheduling: Option<Scheduling>,
    pub cpus: Option<Cpus>,
    pub events: Vec<Event>,
}

/// A `loop`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Repeat {
    Times(u64),
    Forever,
}

/// Policy, nice value where the policy uses one, slice where a fair task asks for one, and clamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scheduling {
    pub policy: Policy,
    pub nice: Option<Nice>,
    pub slice: Option<Nanos>,
    /// Clamps of utilisation that are said here.
    pub clamps: ClampRequest,
}

/// A `taskgroup`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum TaskGroup {
    /// That of whoever is in no other.
    Root,
    /// One of this path below it.
    Below(String),
}

/// A `cpus` array; whether the machine has them is known when the load is built.
#[derive(Clone, Debug)]
pub(super) struct Cpus(pub Vec<CpuNumber>);

#[derive(Clone, Debug)]
pub(super) struct CpuNumber {
    pub cpu: u32,
    pub span: Range<usize>,
}

/// One event and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub span: Range<usize>,
    /// As rt-app describes it in a trace.
    pub description: String,
    pub what: What,
}

/// What an event does, in rt-app's own terms: one event may be several steps of the machine. Times are as
/// written; numbers index [`Resources`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Run(Nanos),
    Runtime(Nanos),
    Mem { bytes: u64 },
    IoRun { bytes: u64 },
    Sleep(Nanos),
    Timer { timer: TimerRef, period: Nanos },
    Lock(usize),
    Unlock(usize),
    Wait { condition: usize, mutex: usize },
    Signal(usize),
    Broadcast(usize),
    Sync { condition: usize, mutex: usize },
    Barrier(usize),
    Suspend { condition: usize, mutex: usize },
    Resume { condition: usize, mutex: usize },
    Fork(usize),
    Yield,
    SemPost(usize),
    SemWait(usize),
}

impl What {
    /// The condition variable on which it blocks.
    pub fn waits_on(self) -> Option<usize> {
        match self {
            What::Wait { condition, .. } | What::Sync { condition, .. } | What::Suspend { condition, .. } => {
                Some(condition)
            }
            _ => None,
        }
    }

    /// The condition variable whose waiters it wakes.
    pub fn wakes(self) -> Option<usize> {
        match self {
            What::Signal(condition)
            | What::Broadcast(condition)
            | What::Sync { condition, .. }
            | What::Resume { condition, .. } => Some(condition),
            _ => None,
        }
    }
}

/// A timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimerRef {
    /// Shared by all tasks that name it.
    Shared(usize),
    /// Of this instance alone (`unique…`).
    Own(usize),
}

/// Everything that tasks share, by the order of first mention. rt-app makes resources as it meets their
/// names.
#[derive(Clone, Debug, Default)]
pub(super) struct Resources {
    pub mutexes: Names,
    pub conditions: Names,
    pub semaphores: Names,
    pub barriers: Names,
    /// Parties of each barrier: the instances of the tasks that mention it, once for each mention.
    pub parties: Vec<u32>,
    pub timers: Names,
    /// Whether each timer is absolute: it is, once any event says so.
    pub absolute: Vec<bool>,
}

/// Names and their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    names: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Names {
    /// The number of this name, a new one if it is new.
    pub fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    pub fn name(&self, number: usize) -> &str {
        &self.names[number]
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }
}
