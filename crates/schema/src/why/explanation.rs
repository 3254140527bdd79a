//! One wakeup, from what should have brought it to the task's first instruction.

use super::{Budget, Cause, Handler, Precedence, Remedies, WhyRecorded};
use crate::{CpuId, LogInterrupt, Nanos, Pid, Prio};
use serde::Serialize;

/// Why a task was late once. The stretches follow each other without a gap, from `due_ns` to `first_ns`, and
/// add up to the latency exactly.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Who was late.
    pub task: WhyTask,
    /// What should have woken it.
    pub due: Due,
    /// When that was.
    #[serde(rename = "due_ns")]
    pub due_at: Nanos,
    /// Who woke it, and when.
    pub woken: Woken,
    /// When it executed its first instruction, in a recording: when a CPU switched to it.
    #[serde(rename = "first_ns")]
    pub first: Nanos,
    /// On which CPU.
    pub cpu: CpuId,
    /// From `due_ns` to `first_ns`, nanoseconds.
    #[serde(rename = "latency_ns")]
    pub latency: Nanos,
    /// What the latency is made of.
    pub stretches: Vec<WhyStretch>,
    /// What its first work is longer by, behind the latency: fetching what the caches have lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub afterwards: Vec<WhyStretch>,
    /// What else a recording tells of it; absent of a simulated run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Box<WhyRecorded>>,
    /// What would have helped, if that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedies: Option<Remedies>,
}

/// A task, as it was at some moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhyTask {
    /// Its pid.
    pub pid: Pid,
    /// Its command name.
    pub comm: Box<str>,
    /// Its effective priority, as the kernel counts: -1 a deadline task, 0 to 98 real-time, 100 to 139 fair.
    pub prio: Prio,
}

/// What should have woken a task. JSON tells the kinds apart by the field `kind`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Due {
    /// Its timer: at the time that it had asked for.
    Timer {},
    /// An interrupt: when it came to the CPU.
    Interrupt {
        /// Which.
        irq: LogInterrupt,
    },
    /// Another task: when that set about it.
    Task {
        /// Which.
        by: WhyTask,
    },
    /// It wants a mutex, since it asked for that.
    Mutex {
        /// The mutex's name, or its number.
        mutex: Box<str>,
    },
    /// An interrupt of a recording: when that set about waking it.
    Handler {
        /// Which; absent where the recording does not tell.
        #[serde(skip_serializing_if = "Option::is_none")]
        handler: Option<Handler>,
    },
    /// It was not to stop at all: when another task came in its place.
    Preempted {
        /// Which.
        by: WhyTask,
    },
    /// It was not to stop at all: when a budget of its was used up.
    Throttled {
        /// Which.
        budget: Budget,
    },
    /// It is new: when its parent set about making it.
    Start {
        /// Its parent.
        parent: WhyTask,
    },
    /// The wakeup itself, where nothing tells what it was for.
    Unknown {},
}

/// A wakeup.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Woken {
    /// When it began (sched_waking), in nanoseconds; of a new task, when it came into a queue.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// On which CPU.
    pub cpu: CpuId,
    /// The task that did it; absent if an interrupt did, or a CPU that idled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<WhyTask>,
    /// When the task was put into a queue (sched_wakeup); absent where nothing tells.
    #[serde(rename = "queued_ns", skip_serializing_if = "Option::is_none")]
    pub queued: Option<Nanos>,
    /// Whose queue that was; absent where nothing tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<CpuId>,
}

/// A part of a latency with one cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhyStretch {
    /// When it begins, nanoseconds.
    #[serde(rename = "from_ns")]
    pub from: Nanos,
    /// When it ends, nanoseconds.
    #[serde(rename = "to_ns")]
    pub to: Nanos,
    /// Where it happens; absent where no CPU is concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuId>,
    /// Why the task does not execute meanwhile.
    pub cause: Cause,
    /// What makes it longer than its cause alone would: parts of its length, wherever in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<WhyShare>,
    /// What the scheduler decided about the task in this time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<WhyDecision>,
}

/// A part of a stretch that has a cause of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhyShare {
    /// Which.
    pub cause: Cause,
    /// How long the stretch would not be without it, nanoseconds.
    #[serde(rename = "length_ns")]
    pub length: Nanos,
}

impl WhyStretch {
    /// One with nothing but a cause.
    #[must_use]
    pub fn new(from: Nanos, to: Nanos, cpu: Option<CpuId>, cause: Cause) -> WhyStretch {
        WhyStretch { from, to, cpu, cause, shares: Vec::new(), decisions: Vec::new() }
    }

    /// How long it is, nanoseconds.
    #[must_use]
    pub fn length(&self) -> Nanos {
        Nanos(self.to.0.saturating_sub(self.from.0))
    }

    /// How much of that is due to its cause alone, nanoseconds.
    #[must_use]
    pub fn own_length(&self) -> Nanos {
        let others: u64 = self.shares.iter().map(|share| share.length.0).sum();
        Nanos(self.length().0.saturating_sub(others))
    }
}

/// A decision of the scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhyDecision {
    /// When, nanoseconds.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// Its name, as `schedlab list decisions` has it.
    pub reason: &'static str,
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// What else there was to decide for: CPUs where it is decided where the task goes, tasks where it is
    /// decided who runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<WhyAlternative>,
    /// How many more there were.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_alternatives: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What else the scheduler could have decided for. JSON tells the kinds apart by the field `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WhyAlternative {
    /// Another CPU than the one that it was decided for.
    Cpu {
        /// Which.
        cpu: CpuId,
        /// Whether the task may use it.
        allowed: bool,
        /// Who had it then; absent if it idled.
        #[serde(skip_serializing_if = "Option::is_none")]
        runs: Option<WhyTask>,
        /// Why that one goes before the task; absent if it does not.
        #[serde(skip_serializing_if = "Option::is_none")]
        precedence: Option<Precedence>,
    },
    /// Another task that waited for the CPU.
    Task {
        /// Which.
        task: WhyTask,
        /// Since when, nanoseconds.
        #[serde(rename = "since_ns")]
        since: Nanos,
    },
}
