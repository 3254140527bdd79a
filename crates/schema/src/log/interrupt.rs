//! Interrupts: what raises them, what holds them off, and those that CPUs send each other.

use crate::{CpuId, Nanos, Pid};
use serde::Serialize;

/// An interrupt at a CPU. JSON tells the kinds apart by the field `kind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LogInterrupt {
    /// A task's timer expired.
    Timer {
        /// Whose.
        pid: Pid,
    },
    /// The tick.
    Tick {},
    /// The timer that ends a fair task's turn exactly (HRTICK).
    Hrtick {},
    /// The timer for deadline tasks: a period begins, or bandwidth becomes free.
    Deadline {},
    /// The timer of the real-time period.
    RtPeriod {},
    /// Another CPU sent it, or the CPU itself.
    Ipi {
        /// What it asks for.
        ipi: LogIpi,
    },
    /// No interrupt: the idle CPU polls or waits with MWAIT, and notices by itself what another CPU asks for.
    Polled {
        /// What it asks for.
        ipi: LogIpi,
    },
    /// A task that nobody forks begins.
    Start {
        /// Which task.
        pid: Pid,
    },
    /// A message from outside comes.
    Message {
        /// The number of the channel to which it goes.
        channel: u32,
    },
    /// A device has served a request.
    Device {
        /// The number of the channel on which it says so.
        channel: u32,
    },
    /// Settings have changed, and the queues are brought in line with them.
    Settings {},
    /// A timer that raises a soft interrupt, by its number.
    SoftirqTimer {
        /// Which.
        timer: u32,
    },
    /// A stretch of the machine's noise begins, in which the CPU takes no other interrupt.
    IrqsOff {
        /// The source's number in the machine file, from 0.
        source: u32,
        /// How long it lasts, nanoseconds.
        #[serde(rename = "length_ns")]
        length: Nanos,
    },
}

/// What a CPU asks another one for. JSON tells the kinds apart by the field `kind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LogIpi {
    /// To look whether it should reschedule.
    Reschedule {},
    /// To wake the tasks on its list.
    Wakeup {},
    /// To push real-time tasks away (RT_PUSH_IPI).
    Push {
        /// The CPU on whose behalf.
        source: CpuId,
    },
    /// To balance on behalf of idle CPUs.
    Nohz {},
    /// To let task groups go on that have got more of their limit.
    Unthrottle {},
    /// To tick again, as it has more than one task (nohz_full).
    Tick {},
    /// To stop its task and move tasks away.
    Stop {},
}

/// Why a CPU does not take an interrupt at once. JSON tells the kinds apart by the field `kind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LogHeldOff {
    /// It spins for a lock of the kernel, with interrupts off.
    LockWait {},
    /// It holds the lock of a run queue, with interrupts off.
    RqLock {
        /// Whose run queue.
        cpu: CpuId,
    },
    /// It serves another interrupt.
    Interrupt {},
    /// Its interrupts are off otherwise.
    InterruptsOff {},
}
