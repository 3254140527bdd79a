//! Names of the kernel's locks.

use schema::LogLock;

/// A kind of lock of the kernel for which CPUs spin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LockKind {
    /// Of the run queue of a CPU.
    Rq = 0,
    /// Of a task.
    Pi = 1,
    /// Of a mutex.
    MutexWait = 2,
    /// Of the root domain.
    Rto = 3,
    /// Of the push walker of a CPU.
    PushWalker = 4,
    /// Of a pipe.
    Pipe = 5,
}

impl LockKind {
    /// All, by their numbers.
    #[cfg(feature = "page")]
    pub(crate) const ALL: [LockKind; 6] = [
        LockKind::Rq,
        LockKind::Pi,
        LockKind::MutexWait,
        LockKind::Rto,
        LockKind::PushWalker,
        LockKind::Pipe,
    ];

    /// Of a lock.
    #[must_use]
    pub fn of(lock: LogLock) -> LockKind {
        match lock {
            LogLock::Rq { .. } => LockKind::Rq,
            LogLock::Pi { .. } => LockKind::Pi,
            LogLock::MutexWait { .. } => LockKind::MutexWait,
            LogLock::Rto {} => LockKind::Rto,
            LogLock::Pipe { .. } => LockKind::Pipe,
            LogLock::PushWalker { .. } => LockKind::PushWalker,
        }
    }

    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LockKind::Rq => "run-queue lock",
            LockKind::Pi => "pi_lock",
            LockKind::MutexWait => "wait_lock",
            LockKind::Rto => "rto_lock",
            LockKind::PushWalker => "push lock",
            LockKind::Pipe => "pipe mutex",
        }
    }
}

/// As a part of a sentence, with whose it is.
#[cfg(feature = "text")]
pub(crate) fn in_words(lock: LogLock) -> String {
    let name = LockKind::of(lock).name();
    match lock {
        LogLock::Rq { cpu } | LogLock::PushWalker { cpu } => format!("the {name} of CPU {cpu}"),
        LogLock::Pi { pid } => format!("the {name} of {pid}"),
        LogLock::MutexWait { mutex } => format!("the {name} of mutex {mutex}"),
        LogLock::Rto {} => format!("the {name}"),
        LogLock::Pipe { channel } => format!("the {name} of channel {channel}"),
    }
}
