//! Why a task that should execute does not.

use super::WhyTask;
use crate::{CpuId, LogInterrupt, LogLock, Nanos};
use serde::Serialize;

/// Why a task that should execute does not, and who is to blame. JSON tells the kinds apart by the field
/// `kind`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Cause {
    /// Its timer expires later than it asked for: by its slack, and what the hardware adds.
    TimerLate {},
    /// The CPU that is to take the interrupt has its interrupts off.
    InterruptsOff {
        /// What keeps them off.
        path: IrqsOffPath,
        /// The task on top of which that happens; absent on an idle CPU.
        #[serde(skip_serializing_if = "Option::is_none")]
        during: Option<WhyTask>,
    },
    /// The CPU serves an interrupt that has nothing to do with the task.
    Interrupt {
        /// Which; absent where nothing tells.
        #[serde(skip_serializing_if = "Option::is_none")]
        irq: Option<LogInterrupt>,
    },
    /// The CPU works on what interrupts have left.
    Softirq {},
    /// The path to it: of the interrupt, or of the task, that wakes it, and of the CPU that queues it.
    WakePath {},
    /// The waker waits for a CPU itself.
    WakerWaits {
        /// The waker.
        waker: WhyTask,
    },
    /// A CPU spins for a lock of the kernel on the way.
    LockWait {
        /// Which lock.
        lock: LogLock,
        /// The CPU that held it when the wait began.
        holder: CpuId,
        /// The task on whose behalf, or on top of which, that CPU did; absent where it idled.
        #[serde(skip_serializing_if = "Option::is_none")]
        on_behalf_of: Option<WhyTask>,
        /// How many CPUs waited for it then already.
        waiters: u16,
    },
    /// A CPU has asked another one, or told an idle one that watches, and that has not noticed yet.
    InFlight {
        /// Who asked.
        from: CpuId,
    },
    /// The task is being moved to another CPU.
    HandOver {
        /// Where it was.
        from: CpuId,
        /// Where it goes.
        to: CpuId,
    },
    /// Another task runs in its place.
    Running {
        /// Who.
        task: WhyTask,
        /// Since when it has the CPU, nanoseconds.
        #[serde(rename = "since_ns")]
        since: Nanos,
        /// Why it may.
        precedence: Precedence,
    },
    /// It waits for a mutex.
    Mutex {
        /// That mutex first; behind each, the one that its owner waits for.
        chain: Vec<HeldMutex>,
        /// Who runs in the place of the last owner; absent while that one runs, or sleeps.
        #[serde(skip_serializing_if = "Option::is_none")]
        behind: Option<WhyTask>,
    },
    /// It may not run: a budget is used up.
    Throttled {
        /// Which.
        budget: Budget,
        /// Until when, nanoseconds; absent where nothing tells.
        #[serde(rename = "until_ns", skip_serializing_if = "Option::is_none")]
        until: Option<Nanos>,
    },
    /// The CPU wakes up from idle.
    IdleExit {
        /// From which idle state; absent where the machine has one, and in recordings.
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<Box<str>>,
    },
    /// The CPU idles, although the task waits: nobody has asked it yet.
    Idle {},
    /// The CPU chooses the task and switches to it.
    Switch {},
    /// Part of its working set is outside the caches.
    CacheRefill {
        /// Where it executed before; absent if nowhere.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<CpuId>,
    },
    /// Another hardware thread of the core is busy, and takes its share of it.
    Sibling {
        /// The CPU that is that thread.
        cpu: CpuId,
        /// The task that runs there.
        task: WhyTask,
    },
    /// The CPU serves an interrupt, hard or soft, as a recording names it.
    Handler {
        /// Which.
        handler: Handler,
    },
    /// A recording does not tell.
    NotRecorded {},
}

/// What serves an interrupt, as a recording names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Handler {
    /// Whether it is a hard or a soft interrupt.
    pub context: HandlerContext,
    /// The device's handler with its number (`virtio1-req.0, irq 24`), the processor's own interrupt
    /// (`local_timer`) or the softirq (`NET_RX`).
    pub name: Box<str>,
}

/// Where an interrupt is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HandlerContext {
    /// In the interrupt itself.
    Hardirq,
    /// In a softirq.
    Softirq,
}

/// What keeps interrupts off, where it is no lock and no other interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IrqsOffPath {
    /// A stretch of the machine's noise.
    Noise,
    /// The CPU chooses whom it executes, and switches.
    Schedule,
    /// Another path of the kernel, such as the beginning of a system call.
    Kernel,
}

/// A mutex that somebody waits for, and its owner.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HeldMutex {
    /// Its name, or its number.
    pub mutex: Box<str>,
    /// Who has it; absent where nothing tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<WhyTask>,
    /// Whether the owner has inherited a priority meanwhile.
    pub boosted: bool,
}

/// Why a running task goes before another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Precedence {
    /// Its class goes before: a deadline task before a real-time one, that before a fair one.
    Class,
    /// Both are deadline tasks, and its deadline is earlier.
    EarlierDeadline,
    /// Both are real-time tasks, and its priority is higher.
    HigherPriority,
    /// Both are real-time tasks of the same priority, and it came first.
    SamePriority,
    /// Both are fair tasks: by virtual runtime or deadline the other one is not to preempt it.
    Fair,
    /// Both are fair tasks, and it has been asked lazily to make room: it does when it goes back to user mode
    /// from the kernel, or at its next tick.
    AskedLazily,
    /// It does not go before; it executes until the kernel lets it make room.
    NotPreempted,
    /// Both are deadline tasks of a recording, which does not tell their deadlines.
    NotRecorded,
}

/// A budget that a task can use up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Budget {
    /// That of the real-time tasks of a CPU (sched_rt_runtime_us).
    RealTime {},
    /// Its own, of a deadline task.
    Deadline {},
    /// That of the real-time tasks of its task group on a CPU (cpu.rt_runtime_us).
    RtGroup {
        /// The group's path.
        group: Box<str>,
    },
    /// The limit of its task group (cpu.max).
    Group {
        /// The group's path; absent where nothing tells.
        #[serde(skip_serializing_if = "Option::is_none")]
        group: Option<Box<str>>,
    },
}
