//! What can be wrong with an rt-app file, where, and what to do.

use super::source::{Position, Source};
use scheduler::DlParamsError;
use std::fmt;
use std::ops::Range;
use thiserror::Error;

/// An rt-app file that cannot be run: `file:line:column: what is wrong; what to do`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RtAppError(Box<Located>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Located {
    file: String,
    place: Position,
    fault: Fault,
}

impl RtAppError {
    pub(super) fn new(source: &Source, span: &Range<usize>, fault: Fault) -> RtAppError {
        RtAppError(Box::new(Located { file: source.name().to_owned(), place: source.place(span), fault }))
    }

    /// Name of the file, as it was given.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// Where in the file.
    pub fn place(&self) -> &Position {
        &self.0.place
    }

    /// What is wrong.
    pub fn fault(&self) -> &Fault {
        &self.0.fault
    }

    /// What to do about it.
    pub fn advice(&self) -> String {
        self.0.fault.advice()
    }
}

impl fmt::Display for RtAppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Located { file, place, fault } = &*self.0;
        write!(f, "{file}:{}:{}: {fault}; {}", place.line, place.column, fault.advice())
    }
}

impl std::error::Error for RtAppError {}

/// The kinds of mistakes.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// Not even rt-app's JSON.
    #[error("this is not JSON that rt-app reads: {problem}")]
    Syntax {
        /// The parser's words.
        problem: String,
    },
    /// A key without a value, where the dialect or the key wants one.
    #[error("`{key}` has no value")]
    NoValue {
        /// Which key.
        key: String,
    },
    /// No `tasks` object, or an empty one.
    #[error("the file defines no task")]
    NoTasks,
    /// A task or phase that does nothing.
    #[error("`{name}` has no event")]
    NoEvents {
        /// Name of the task or phase.
        name: String,
    },
    /// A value of the wrong type.
    #[error("`{key}` wants {expected}, not {found}")]
    WrongType {
        /// Which key.
        key: String,
        /// What it takes.
        expected: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// A number outside its range.
    #[error("`{key}` is {value}, but must be {low} to {high}{unit}")]
    OutOfRange {
        /// Which key.
        key: String,
        /// What stands there.
        value: i64,
        /// Smallest that is allowed.
        low: i64,
        /// Largest that is allowed.
        high: i64,
        /// Unit with a blank before it, or nothing.
        unit: &'static str,
    },
    /// A word that is none of those known.
    #[error("`{key}` is \"{value}\", which is not known")]
    UnknownWord {
        /// Which key.
        key: String,
        /// What stands there.
        value: String,
        /// What it could be.
        known: &'static str,
    },
    /// A key in a task that looks like a misspelt event or property: ignoring it would change the load.
    #[error("unknown event or property `{key}`")]
    UnknownKey {
        /// Which key.
        key: String,
        /// The nearest known one.
        nearest: &'static str,
    },
    /// SCHED_DEADLINE with parameters that no kernel takes.
    #[error("SCHED_DEADLINE: {why}")]
    Deadline {
        /// What the kernel says.
        why: DlParamsError,
    },
    /// Clamps of utilisation that no kernel takes.
    #[error("`util_min` is above `util_max`")]
    Clamps,
    /// A control group that cannot be.
    #[error("{problem}")]
    Group {
        /// What is wrong, and what to write.
        problem: String,
    },
    /// What changes how a task is scheduled, and is not modelled.
    #[error("`{key}` asks for {what}, which is not modelled")]
    NotModelled {
        /// Which key.
        key: String,
        /// What it asks for.
        what: &'static str,
    },
    /// A key of the format that rt-app read up to 2013.
    #[error("`{key}` belongs to the old format of rt-app")]
    OldFormat {
        /// Which key.
        key: String,
    },
    /// An event object without a member that it needs.
    #[error("`{event}` has no \"{member}\"")]
    MissingMember {
        /// Key of the event.
        event: String,
        /// What is missing.
        member: &'static str,
    },
    /// A fork of a task that is not in the file.
    #[error("`fork` names the task \"{task}\", which the file does not define")]
    NoSuchTask {
        /// The name.
        task: String,
    },
    /// A barrier whose number of parties cannot be known.
    #[error("task \"{task}\" is forked and waits at the barrier \"{barrier}\"")]
    BarrierInFork {
        /// The task.
        task: String,
        /// The barrier.
        barrier: String,
    },
    /// Locking what is locked already by the same task.
    #[error("task \"{task}\" would wait for itself: it holds \"{mutex}\" already")]
    LockedTwice {
        /// The task.
        task: String,
        /// The mutex.
        mutex: String,
    },
    /// Unlocking what is not locked.
    #[error("task \"{task}\" does not hold \"{mutex}\" here")]
    NotHeld {
        /// The task.
        task: String,
        /// The mutex.
        mutex: String,
    },
    /// A task that ends with a mutex locked.
    #[error("task \"{task}\" ends while it holds \"{mutex}\"")]
    EndsHolding {
        /// The task.
        task: String,
        /// The mutex.
        mutex: String,
    },
    /// An affinity that names nothing.
    #[error("`cpus` is empty")]
    NoCpus,
    /// An affinity that the machine cannot give.
    #[error("CPU {cpu} does not exist: this machine has {count}")]
    NoSuchCpu {
        /// The number in the file.
        cpu: u32,
        /// How many CPUs there are.
        count: usize,
    },
    /// More threads than a machine takes.
    #[error("the file asks for {threads} threads, more than {limit}")]
    TooManyThreads {
        /// Sum of all instances.
        threads: u64,
        /// The limit.
        limit: u64,
    },
}

impl Fault {
    /// What to do about it, as the end of a sentence.
    pub fn advice(&self) -> String {
        match self {
            Fault::Syntax { .. } => {
                "comments, trailing commas and single quotes are fine, the rest must be JSON".into()
            }
            Fault::NoValue { key } => {
                format!(
                    "write `{key}: value`; only the workgen dialect allows a bare \"suspend\" or \"yield\""
                )
            }
            Fault::NoTasks => r#"add one, such as "tasks": {"one": {"run": 1000, "sleep": 9000}}"#.into(),
            Fault::NoEvents { .. } => r#"give it one, such as "run": 1000 (µs), or remove it"#.into(),
            Fault::WrongType { expected, .. } => format!("write {expected}"),
            Fault::OutOfRange { .. } => "choose a value in that range".into(),
            Fault::UnknownWord { known, .. } => format!("use one of {known}"),
            Fault::UnknownKey { nearest, .. } => format!("did you mean `{nearest}`?"),
            Fault::Deadline { .. } => {
                "write dl-runtime, dl-deadline and dl-period in µs; without the last two they are as long as the \
                 run time and the period"
                    .into()
            }
            Fault::Clamps => "lower the one or raise the other (sched_setattr refuses it: EINVAL)".into(),
            Fault::NotModelled { .. } => {
                "remove it to run the tasks without (`schedlab list limits` says what that changes)".into()
            }
            Fault::OldFormat { .. } => {
                "write what the task does as events: run, lock, unlock, timer (rt-app since 1.0 refuses it \
                 too)"
                    .into()
            }
            Fault::MissingMember { event, member } => {
                format!(r#"write "{event}": {{"{member}": …}} with the members that it needs"#)
            }
            Fault::NoSuchTask { .. } => {
                r#"define it, with "instance": 0 if only forks shall start it"#.into()
            }
            Fault::BarrierInFork { .. } => {
                "a barrier must know how many threads come: use suspend and resume in forked tasks".into()
            }
            Fault::LockedTwice { .. } => {
                "unlock it before; note that suspend and resume lock the mutex of their own name".into()
            }
            Fault::NotHeld { mutex, .. } => format!(r#"put "lock": "{mutex}" before"#),
            Fault::EndsHolding { mutex, .. } => format!(r#"add "unlock": "{mutex}""#),
            Fault::NoCpus => "name at least one CPU, or remove the key to allow all".into(),
            Fault::NoSuchCpu { count, .. } => {
                format!("use CPUs 0 to {}, or a machine with more", count.saturating_sub(1))
            }
            Fault::Group { .. } => String::new(),
            Fault::TooManyThreads { .. } => "lower the `instance` counts".into(),
        }
    }
}
