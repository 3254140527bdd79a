//! A wakeup, and the ways that it takes to the task's first instruction.

use schema::{CpuId, LogInterrupt, Nanos, Pid, Prio};

/// A wakeup whose task has come to execute.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Wakeup {
    pub pid: Pid,
    pub prio: Prio,
    pub due: Wants,
    pub due_at: Nanos,
    pub waking: Nanos,
    pub waker: CpuId,
    /// The task that wakes it, if none of the interrupts does.
    pub by: Option<Pid>,
    pub queued: Nanos,
    pub queue: CpuId,
    pub first: Nanos,
    pub cpu: CpuId,
    /// The ways, without a gap from `due_at` to `first`.
    pub ways: Vec<Way>,
    pub decisions: Vec<Decided>,
    pub refill: Option<Refill>,
}

impl Wakeup {
    /// Whether it is one of this task, and no wait of a task that wanted to go on.
    pub fn is_wakeup_of(&self, pid: Pid) -> bool {
        self.pid == pid && !matches!(self.due, Wants::Preempted(_))
    }
}

/// A decision about it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Decided {
    pub at: Nanos,
    pub reason: &'static str,
}

/// What its caches have lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Refill {
    pub from: Option<CpuId>,
    pub cost: Nanos,
}

/// What should have woken a task.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Wants {
    Timer,
    Interrupt(LogInterrupt),
    Task(Pid),
    Mutex(u32),
    Start(Pid),
    /// Nothing: it wanted to go on, and another task, or none, came in its place.
    Preempted(Pid),
    /// Nothing tells.
    Nothing,
}

/// Up to when, and on which way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Way {
    pub to: Nanos,
    pub along: Along,
}

/// A part of the way from what should have woken a task to its first instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Along {
    /// Its timer has yet to expire.
    Timer,
    /// Somebody has the mutex.
    Mutex(u32),
    /// This CPU is on its way to wake it, or to queue it, by this interrupt if by any.
    Path { cpu: CpuId, irq: Option<LogInterrupt> },
    /// The waker waits for this CPU.
    WakerWaits { cpu: CpuId, waker: Pid },
    /// One CPU has asked another one.
    Flight { from: CpuId, to: CpuId },
    /// It is in the queue of this CPU; this one has put it there.
    Queue { cpu: CpuId, by: CpuId },
    /// This CPU moves it from one queue to another.
    Move { by: CpuId, from: CpuId, to: CpuId },
    /// This CPU has switched to it.
    Arrival { cpu: CpuId },
}
