//! What else the kernel did: interrupts, softirqs, timers, work items, block requests, system calls, packets.
//!
//! These events do not schedule. They tell *why* a wait ended: a wakeup inside of a timer's expiry is a
//! timer's, one after the completion of a block request is the disk's. Names are the tracepoints', as in
//! [`EventKind`](crate::EventKind).

mod tracepoints;
mod values;

use std::fmt;

use crate::model::{Cpu, Pid};
use crate::strings::StrId;
pub(crate) use tracepoints::{Field, FieldType, TRACEPOINTS, Tracepoint};
pub(crate) use values::{MAX_FIELDS, Value, Values};

/// Address of a kernel object, by which events of the same timer or work item are told to be that. In text
/// the kernel prints a hash of it, so it means nothing outside of its trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KernelAddress(pub u64);

/// A device's interrupt handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IrqHandlerEntry {
    /// Number of the interrupt, as in /proc/interrupts.
    pub irq: i32,
    /// Name of the handler, e.g. `virtio1-req.0`.
    pub name: StrId,
}

/// The end of a device's interrupt handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IrqHandlerExit {
    /// Number of the interrupt.
    pub irq: i32,
    /// Whether the device had asked for it; of several handlers that share an interrupt most have not.
    pub handled: bool,
}

/// An interrupt of the processor itself, on x86 (tracepoints of the system `irq_vectors`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IrqVector {
    /// What it is for.
    pub kind: IrqVectorKind,
    /// Its vector, 32 to 255.
    pub vector: u8,
}

/// What an interrupt of the processor is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum IrqVectorKind {
    /// The local timer: ticks and high-resolution timers.
    LocalTimer,
    /// Another CPU wants this one to schedule.
    Reschedule,
    /// Another CPU wants a function called on several.
    CallFunction,
    /// Another CPU wants a function called here.
    CallFunctionSingle,
    /// Work that was put off out of an interrupt that could not do it.
    IrqWork,
}

/// Number of a softirq, 0 to 9.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SoftirqVec(pub u8);

impl SoftirqVec {
    /// Soft timers (the timer wheel).
    pub const TIMER: SoftirqVec = SoftirqVec(1);
    /// Packets to send.
    pub const NET_TX: SoftirqVec = SoftirqVec(2);
    /// Packets that have come.
    pub const NET_RX: SoftirqVec = SoftirqVec(3);
    /// Completed block requests.
    pub const BLOCK: SoftirqVec = SoftirqVec(4);
    /// Small pieces of work that interrupts leave for later.
    pub const TASKLET: SoftirqVec = SoftirqVec(6);
    /// Load balancing.
    pub const SCHED: SoftirqVec = SoftirqVec(7);
    /// High-resolution timers that may expire in a softirq.
    pub const HRTIMER: SoftirqVec = SoftirqVec(8);
    /// Callbacks of RCU.
    pub const RCU: SoftirqVec = SoftirqVec(9);

    /// The kernel's name for it, `?` for a number above 9.
    pub fn action(self) -> &'static str {
        const ACTIONS: [&str; 10] =
            ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];
        ACTIONS.get(usize::from(self.0)).copied().unwrap_or("?")
    }
}

/// How a high-resolution timer was started: the kernel's bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HrtimerMode(pub u8);

impl HrtimerMode {
    /// The time was given as a distance from now; else it was a point in time.
    pub fn is_relative(self) -> bool {
        self.0 & 1 != 0
    }

    /// It stays on its CPU.
    pub fn is_pinned(self) -> bool {
        self.0 & 2 != 0
    }

    /// What the bits are called.
    pub(crate) const NAMES: [ModeName; 5] = [
        ModeName { bits: 0, text: "ABS" },
        ModeName { bits: 1, text: "REL" },
        ModeName { bits: 2, text: "PINNED" },
        ModeName { bits: 4, text: "SOFT" },
        ModeName { bits: 8, text: "HARD" },
    ];
}

/// A bit of [`HrtimerMode`], or none, and the kernel's word for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ModeName {
    pub(crate) bits: u8,
    pub(crate) text: &'static str,
}

/// As the kernel writes it: `REL|HARD`.
impl fmt::Display for HrtimerMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_relative() { "REL" } else { "ABS" })?;
        let others = Self::NAMES.iter().filter(|name| name.bits > 1 && self.0 & name.bits != 0);
        others.into_iter().try_for_each(|name| write!(f, "|{}", name.text))
    }
}

/// A high-resolution timer expires and its function begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HrtimerExpireEntry {
    /// The timer.
    pub hrtimer: KernelAddress,
    /// What is called, e.g. `hrtimer_wakeup` to wake a sleeper, `tick_nohz_handler` for the tick; an address
    /// in hexadecimal where the file does not name it.
    pub function: StrId,
    /// The time on the timer's own clock, ns.
    pub now_ns: i64,
}

/// A soft timer (of the timer wheel) expires and its function begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimerExpireEntry {
    /// The timer.
    pub timer: KernelAddress,
    /// What is called, e.g. `process_timeout` to wake a sleeper.
    pub function: StrId,
    /// The time in ticks (jiffies).
    pub now_jiffies: u64,
}

/// A kernel worker begins or ends a work item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkqueueExecute {
    /// The work item.
    pub work: KernelAddress,
    /// What is called; kernels before 5.6 do not say that at the end.
    pub function: Option<StrId>,
}

/// Number of a block device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BlockDevice(pub u32);

impl BlockDevice {
    /// Bits of the minor number.
    const MINOR_BITS: u32 = 20;

    /// From its two numbers; of the minor one the low 20 bits count.
    pub fn new(major: u32, minor: u32) -> Self {
        BlockDevice(major << Self::MINOR_BITS | minor & ((1 << Self::MINOR_BITS) - 1))
    }

    /// The driver.
    pub fn major(self) -> u32 {
        self.0 >> Self::MINOR_BITS
    }

    /// The device or partition of that driver.
    pub fn minor(self) -> u32 {
        self.0 & ((1 << Self::MINOR_BITS) - 1)
    }
}

/// What a block request does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BlockOperation {
    /// Data come from the device.
    Read,
    /// Data go to the device.
    Write,
    /// The device is told that sectors are no longer needed.
    Discard,
    /// The device empties its cache.
    Flush,
    /// Anything else, as commands of the driver's own.
    Other,
}

impl BlockOperation {
    /// From the kernel's letters (`rwbs`), e.g. `WS` for a synchronous write, `FWFS` for one between two
    /// flushes.
    pub fn from_rwbs(letters: &str) -> Self {
        // A flush before the request is an F in front of the operation; alone it is the operation.
        let operation =
            letters.strip_prefix('F').filter(|rest| rest.starts_with(['R', 'W', 'D'])).unwrap_or(letters);
        match operation.as_bytes().first() {
            Some(b'R') => BlockOperation::Read,
            Some(b'W') => BlockOperation::Write,
            Some(b'D') => BlockOperation::Discard,
            Some(b'F') => BlockOperation::Flush,
            _ => BlockOperation::Other,
        }
    }
}

/// A request that is given to a device, or that it has completed. Device and sector tell which completion
/// belongs to which request; a device that merges or splits may complete it in parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockRq {
    /// The device.
    pub dev: BlockDevice,
    /// Where it begins, in units of 512 bytes; `u64::MAX` for requests without a place, as flushes.
    pub sector: u64,
    /// Its length in bytes.
    pub bytes: u32,
    /// The kernel's letters for what it does; see [`BlockOperation::from_rwbs`].
    pub rwbs: StrId,
}

impl BlockRq {
    /// Its length in sectors of 512 bytes, rounded down.
    pub fn sectors(&self) -> u32 {
        self.bytes / SECTOR_BYTES
    }
}

/// Bytes of a sector: the kernel's unit of places on block devices, whatever their own is.
const SECTOR_BYTES: u32 = 512;

/// A CPU enters an idle state, or leaves it (`cpu_idle`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuIdle {
    /// The state, by the number that its driver gives it; 4294967295 as the CPU leaves it.
    pub state: u32,
    /// The CPU.
    pub cpu: Cpu,
}

/// A delay that the kernel measured itself (`sched_stat_*`, with schedstats switched on).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchedStatDelay {
    /// Name of the task.
    pub comm: StrId,
    /// The task.
    pub pid: Pid,
    /// How long, ns.
    pub delay_ns: u64,
}

/// Which system call. A trace gives its number, its name, or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Syscall {
    /// Its number on the recorded machine's architecture.
    pub number: Option<u16>,
    /// Its name, e.g. `futex`, where the tracepoint is that of this one call (`sys_enter_futex`).
    pub name: Option<StrId>,
}

/// A task enters the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SysEnter {
    /// Which call.
    pub call: Syscall,
    /// Its first two arguments, 0 where the trace does not have them: for `futex` the address and the
    /// operation.
    pub args: [u64; 2],
}

/// A task returns from the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SysExit {
    /// Which call.
    pub call: Syscall,
    /// What it returned, a negative error number included.
    pub ret: i64,
}

/// A packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Name of the network device.
    pub dev: StrId,
    /// Length in bytes.
    pub len: u32,
}

/// What else the kernel did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// `irq_handler_entry`.
    IrqHandlerEntry(IrqHandlerEntry),
    /// `irq_handler_exit`.
    IrqHandlerExit(IrqHandlerExit),
    /// `local_timer_entry` and its like.
    IrqVectorEntry(IrqVector),
    /// `local_timer_exit` and its like.
    IrqVectorExit(IrqVector),
    /// `softirq_raise`: it is to be served soon, on this CPU.
    SoftirqRaise(SoftirqVec),
    /// `softirq_entry`: it is being served.
    SoftirqEntry(SoftirqVec),
    /// `softirq_exit`: it has been served.
    SoftirqExit(SoftirqVec),
    /// `hrtimer_start`: a high-resolution timer is set. With the fields in the variant itself it needs no
    /// more room than the others.
    HrtimerStart {
        /// The timer.
        hrtimer: KernelAddress,
        /// What it will call.
        function: StrId,
        /// The latest time at which it is to expire, on its own clock, ns. For a relative timer, the
        /// distance.
        expires_ns: i64,
        /// The earliest such time, ns; the difference is the slack.
        softexpires_ns: i64,
        /// How it is set; kernels before 4.16 do not say.
        mode: Option<HrtimerMode>,
    },
    /// `hrtimer_cancel`: it is taken back, or removed to be set anew.
    HrtimerCancel(KernelAddress),
    /// `hrtimer_expire_entry`.
    HrtimerExpireEntry(HrtimerExpireEntry),
    /// `hrtimer_expire_exit`: its function has returned.
    HrtimerExpireExit(KernelAddress),
    /// `timer_expire_entry`.
    TimerExpireEntry(TimerExpireEntry),
    /// `timer_expire_exit`: its function has returned.
    TimerExpireExit(KernelAddress),
    /// `workqueue_execute_start`.
    WorkqueueExecuteStart(WorkqueueExecute),
    /// `workqueue_execute_end`.
    WorkqueueExecuteEnd(WorkqueueExecute),
    /// `block_rq_issue`: the driver gives a request to its device.
    BlockRqIssue(BlockRq),
    /// `block_rq_complete`: the device has done it.
    BlockRqComplete(BlockRq),
    /// `sched_stat_wait`: a task waited for a CPU.
    SchedStatWait(SchedStatDelay),
    /// `sched_stat_sleep`: a task slept and could be disturbed.
    SchedStatSleep(SchedStatDelay),
    /// `sched_stat_blocked`: a task slept and could not be disturbed (state D).
    SchedStatBlocked(SchedStatDelay),
    /// `sched_stat_iowait`: the same, waiting for I/O (`io_schedule`).
    SchedStatIowait(SchedStatDelay),
    /// `sys_enter`, `sys_enter_futex` and their like.
    SysEnter(SysEnter),
    /// `sys_exit`, `sys_exit_futex` and their like.
    SysExit(SysExit),
    /// `net_dev_xmit`: a packet was given to a network device.
    NetDevXmit(Packet),
    /// `netif_receive_skb`: a packet has come.
    NetifReceiveSkb(Packet),
    /// `sched_wake_idle_without_ipi`: an idle CPU that polls, or waits with MWAIT, is asked to reschedule by
    /// a flag that it watches, and gets no interrupt (since 3.16).
    SchedWakeIdleWithoutIpi(Cpu),
    /// `cpu_idle`: a CPU enters an idle state, or leaves it.
    CpuIdle(CpuIdle),
    /// `schedlab_program`, which no kernel has: by this a simulated run tells what its programs do. The
    /// `workload` crate knows the words.
    SchedlabProgram(StrId),
}

impl Activity {
    /// The tracepoint's name; that of all calls for a single system call.
    pub fn name(&self) -> &'static str {
        self.tracepoint().name
    }

    /// The task that it is about, where that is not the one that runs.
    pub(crate) fn pid(&self) -> Option<Pid> {
        match self {
            Activity::SchedStatWait(delay)
            | Activity::SchedStatSleep(delay)
            | Activity::SchedStatBlocked(delay)
            | Activity::SchedStatIowait(delay) => Some(delay.pid),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_of_a_request_tell_its_operation() {
        for (letters, operation) in [
            ("R", BlockOperation::Read),
            ("RA", BlockOperation::Read),
            ("WS", BlockOperation::Write),
            ("WFS", BlockOperation::Write),
            ("FWFS", BlockOperation::Write),
            ("FF", BlockOperation::Flush),
            ("FN", BlockOperation::Flush),
            ("DS", BlockOperation::Discard),
            ("N", BlockOperation::Other),
            ("", BlockOperation::Other),
        ] {
            assert_eq!(BlockOperation::from_rwbs(letters), operation, "{letters}");
        }
    }

    #[test]
    fn devices_have_two_numbers() {
        let vdb = BlockDevice::new(254, 16);
        assert_eq!((vdb.0, vdb.major(), vdb.minor()), (254 << 20 | 16, 254, 16));
    }

    #[test]
    fn softirqs_have_the_kernels_names() {
        assert_eq!((SoftirqVec::TIMER.action(), SoftirqVec::RCU.action()), ("TIMER", "RCU"));
        assert_eq!(SoftirqVec(10).action(), "?");
    }
}
