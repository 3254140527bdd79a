//! The kernel's locks.

use crate::{CpuId, Pid};
use serde::Serialize;

/// A lock of the kernel for which CPUs spin. JSON tells the kinds apart by the field `kind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LogLock {
    /// A run queue's lock.
    Rq {
        /// Whose run queue.
        cpu: CpuId,
    },
    /// A task's pi_lock, which serialises its wakeups.
    Pi {
        /// Whose.
        pid: Pid,
    },
    /// A mutex's wait_lock.
    MutexWait {
        /// The mutex's number.
        mutex: u32,
    },
    /// The mutex of a pipe, which reads and writes take.
    Pipe {
        /// The channel's number.
        channel: u32,
    },
    /// The root domain's rto_lock.
    Rto {},
    /// The lock of a run queue's push walker.
    PushWalker {
        /// Whose run queue.
        cpu: CpuId,
    },
}
