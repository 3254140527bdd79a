//! Who ran where, who waited, and for what: a run or a recording, ready for a page.
//!
//! A [`Builder`] takes what happened in the order of time; [`of_log`] feeds it with the log of a run. What
//! comes out is packed column by column (`pack`), and the script of the page unpacks it
//! (`web/src/timeline.ts`).

mod build;
mod log;
mod pack;
mod picture;
mod rows;
mod throttling;

pub use crate::naming::locks::LockKind;
pub use build::{At, Builder, Interrupted, LeftAs, Seen, Spun};
pub use log::{LogPart, of_log};
pub(super) use pack::{Detail, Head, Packed, pack};
pub use throttling::Budget;

use serde::Serialize;

/// A timeline. Tasks are numbered, the idle task is 0; times are nanoseconds since its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// What it shows: of a comparison the variant.
    pub name: String,
    /// Number of CPUs.
    pub cpus: u32,
    /// When it begins, on the clock that the reader knows: nanoseconds since the start of the run, or since
    /// the first event of the recording.
    pub start_ns: u64,
    /// How long it is, nanoseconds.
    pub length_ns: u64,
    /// Number of the task that each CPU ran at the beginning, where that is known.
    pub first_on_cpu: Vec<Option<u32>>,
    /// Every task, the idle task first.
    pub tasks: Vec<Task>,
    /// Switches, wakeups and migrations, in the order of time.
    pub events: Vec<Event>,
    /// Waits for locks of the kernel, by their ends.
    pub lock_waits: Vec<LockWait>,
    /// Interrupts that were served, by their ends.
    pub interrupts: Vec<Interrupt>,
    /// Names of these.
    pub interrupt_names: Vec<String>,
    /// What the scheduler decided.
    pub decisions: Vec<Decision>,
    /// Names and meanings of their reasons.
    pub reasons: Vec<Reason>,
    /// Priorities that were lent and given back.
    pub boosts: Vec<Boost>,
    /// Stretches in which somebody had used up its run time.
    pub throttles: Vec<Throttle>,
    /// Paths of the task groups, by their numbers.
    pub groups: Vec<String>,
    /// Texts that tasks wrote into the trace.
    pub markers: Vec<Marker>,
    /// Settings that changed meanwhile.
    pub settings: Vec<Setting>,
}

impl Timeline {
    /// Whether there is a switch, a wakeup or a migration in it.
    #[must_use]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// From each wakeup of the tasks that are meant until the task ran, nanoseconds.
    #[must_use]
    pub fn latencies_ns(&self, is_meant: impl Fn(&Task) -> bool) -> Vec<u64> {
        rows::Rows::of(self).latencies_of(|task| is_meant(&self.tasks[task]))
    }
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Task {
    /// Its pid.
    pub pid: i32,
    /// Its command names, in their order.
    pub names: Vec<String>,
    /// The priority with which it was first seen, as the kernel counts.
    pub prio: Option<i32>,
    /// Its state at the beginning.
    pub state: State,
    /// Its CPU then.
    pub cpu: u32,
}

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "u8")]
#[repr(u8)]
pub enum State {
    /// It is not there, or nobody knows.
    Absent = 0,
    /// It runs.
    Running = 1,
    /// It was woken and waits for its CPU.
    Runnable = 2,
    /// It lost its CPU and waits for one.
    Preempted = 3,
    /// It sleeps.
    Sleeping = 4,
    /// It sleeps and cannot be disturbed.
    Blocked = 5,
    /// It waits, and may not run: a budget is used up.
    Throttled = 6,
}

impl From<State> for u8 {
    fn from(state: State) -> u8 {
        state as u8
    }
}

/// A switch, a wakeup or a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time_ns: u64,
    /// On which CPU.
    pub cpu: u32,
    /// Of a switch, the task that comes; else the one that it is about.
    pub task: u32,
    /// What.
    pub kind: Kind,
}

/// What happens in an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The CPU goes to another task, and that which leaves it is in this state from now on.
    Switch(State),
    /// A wakeup begins, done by an interrupt or by the task that runs.
    Waking {
        /// Whether it was an interrupt.
        in_interrupt: bool,
    },
    /// The task is in the queue of this CPU.
    Wakeup(u32),
    /// The same of a new task.
    WakeupNew(u32),
    /// The task gets another CPU.
    Migrate {
        /// Where it was.
        from: u32,
        /// Where it goes.
        to: u32,
    },
}

/// A CPU spun for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockWait {
    /// Since when.
    pub since_ns: u64,
    /// Until when.
    pub until_ns: u64,
    /// Which CPU.
    pub cpu: u32,
    /// For what kind of lock.
    pub lock: LockKind,
    /// The lock's CPU, task or number.
    pub of: u32,
    /// Which CPU held it.
    pub holder: u32,
    /// How many CPUs waited already.
    pub waiters: u32,
}

/// A CPU served an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupt {
    /// From when on.
    pub from_ns: u64,
    /// Until when.
    pub until_ns: u64,
    /// Which CPU.
    pub cpu: u32,
    /// Number of its name.
    pub name: u32,
    /// How long it had waited for the CPU.
    pub waited_ns: u64,
}

/// The scheduler decided something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// When.
    pub time_ns: u64,
    /// On which CPU.
    pub cpu: u32,
    /// About which task.
    pub task: u32,
    /// Number of its reason.
    pub reason: u32,
}

/// Why the scheduler decides so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Its name.
    pub name: String,
    /// What it means, where that is known.
    pub meaning: String,
}

/// An effective priority changed by inheritance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boost {
    /// When.
    pub time_ns: u64,
    /// Whose.
    pub task: u32,
    /// Before.
    pub old: i32,
    /// After.
    pub new: i32,
}

/// Somebody had used up its run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttle {
    /// From when on.
    pub from_ns: u64,
    /// Until when.
    pub until_ns: u64,
    /// Who.
    pub whom: Throttled,
}

/// Who may not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Throttled {
    /// Those of a CPU that share a budget.
    Queue {
        /// Which CPU.
        cpu: u32,
        /// Which budget.
        budget: Budget,
    },
    /// A task: by its own budget, or because it waits in such a queue.
    Task(u32),
}

/// A text in the trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Marker {
    /// When.
    pub time_ns: u64,
    /// On which CPU.
    pub cpu: u32,
    /// By whom.
    pub task: u32,
    /// The text.
    pub text: String,
}

/// A setting changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// When.
    pub time_ns: u64,
    /// What.
    pub text: String,
}
