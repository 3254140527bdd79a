//! Kinds of causes: what pictures give one colour.

use schema::why::Cause;

/// A kind of causes, in the order of a wakeup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseKind {
    /// A timer that expires late.
    Timer,
    /// Interrupts, and where they are off.
    Interrupts,
    /// What leads to the queue.
    WakeupPath,
    /// Spinning for a lock of the kernel.
    KernelLocks,
    /// A mutex of user space.
    Mutexes,
    /// Other tasks in its place.
    OthersRun,
    /// A budget that is used up.
    Throttled,
    /// An idle CPU, and its way out.
    Idle,
    /// The switch, and what the caches have lost.
    Switch,
    /// Nothing tells.
    NotRecorded,
}

impl CauseKind {
    /// All, in their order.
    pub const ALL: [CauseKind; 10] = [
        CauseKind::Timer,
        CauseKind::Interrupts,
        CauseKind::WakeupPath,
        CauseKind::KernelLocks,
        CauseKind::Mutexes,
        CauseKind::OthersRun,
        CauseKind::Throttled,
        CauseKind::Idle,
        CauseKind::Switch,
        CauseKind::NotRecorded,
    ];

    /// Of a cause.
    #[must_use]
    pub fn of(cause: &Cause) -> CauseKind {
        match cause {
            Cause::TimerLate {} => CauseKind::Timer,
            Cause::InterruptsOff { .. }
            | Cause::Interrupt { .. }
            | Cause::Softirq {}
            | Cause::Handler { .. } => CauseKind::Interrupts,
            Cause::WakePath {}
            | Cause::WakerWaits { .. }
            | Cause::InFlight { .. }
            | Cause::HandOver { .. } => CauseKind::WakeupPath,
            Cause::LockWait { .. } => CauseKind::KernelLocks,
            Cause::Mutex { .. } => CauseKind::Mutexes,
            Cause::Running { .. } | Cause::Sibling { .. } => CauseKind::OthersRun,
            Cause::Throttled { .. } => CauseKind::Throttled,
            Cause::IdleExit { .. } | Cause::Idle {} => CauseKind::Idle,
            Cause::Switch {} | Cause::CacheRefill { .. } => CauseKind::Switch,
            Cause::NotRecorded {} => CauseKind::NotRecorded,
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            CauseKind::Timer => "timer",
            CauseKind::Interrupts => "interrupts",
            CauseKind::WakeupPath => "wakeup path",
            CauseKind::KernelLocks => "locks of the kernel",
            CauseKind::Mutexes => "mutexes",
            CauseKind::OthersRun => "other tasks run",
            CauseKind::Throttled => "throttled",
            CauseKind::Idle => "idle",
            CauseKind::Switch => "switch",
            CauseKind::NotRecorded => "not recorded",
        }
    }
}
