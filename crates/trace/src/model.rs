//! The event model: what a scheduler trace says, whatever file it came from.
//!
//! Names are the kernel's: an event is a tracepoint, its fields have the tracepoint's names and meaning
//! (rt-class 11.2). `prio` is always the kernel's number: 0 to 98 real-time (99 minus the user's priority),
//! 100 to 139 nice -20 to 19, -1 deadline. Nothing here knows a simulator; a simulator can produce this as
//! well as a recorder.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;

use crate::activity::Activity;
use crate::events::Events;
use crate::facts::{IdleKind, TaskFacts};
use crate::host::Host;
use crate::notes::ImportNotes;
use crate::state::PrevState;
use crate::strings::{StrId, Strings};
pub use schema::Pid;

/// CPU number as the kernel counts, from 0. In a [`Trace`] always less than [`Trace::cpus`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cpu(pub u32);

impl Cpu {
    /// As an index into a table with an entry per CPU.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// More CPUs than this (the kernel's own limit on x86) are taken for a damaged number.
pub const MAX_CPUS: u32 = 8192;

/// A task as an event names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskRef {
    /// Name at that moment, at most 15 bytes on Linux.
    pub comm: StrId,
    /// Thread id.
    pub pid: Pid,
    /// Effective kernel priority, inheritance included.
    pub prio: i32,
}

/// Whether the file contained an event or [`infer_missing_switches`](crate::infer_missing_switches) added it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Provenance {
    /// Read from the trace.
    Recorded,
    /// Added by us because later events prove that it happened; its time is the earliest possible.
    Inferred,
}

/// `sched_switch`: `cpu` goes from `prev` to `next`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchedSwitch {
    /// The task that leaves.
    pub prev: TaskRef,
    /// Why it leaves.
    pub prev_state: PrevState,
    /// The task that comes.
    pub next: TaskRef,
    /// Recorded, or added by us.
    pub provenance: Provenance,
}

/// `sched_waking`, `sched_wakeup`, `sched_wakeup_new`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchedWakeup {
    /// The task that is woken.
    pub task: TaskRef,
    /// For `sched_waking` the CPU on which it last ran, for the others the CPU chosen for it.
    pub target_cpu: Cpu,
}

/// `sched_migrate_task`, emitted before the task's CPU changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchedMigrateTask {
    /// The task that moves.
    pub task: TaskRef,
    /// Where it was.
    pub orig_cpu: Cpu,
    /// Where it goes.
    pub dest_cpu: Cpu,
}

/// `sched_process_fork`; the child may be a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchedProcessFork {
    /// Name of the parent.
    pub parent_comm: StrId,
    /// The parent.
    pub parent_pid: Pid,
    /// Name of the child, at this moment the parent's.
    pub child_comm: StrId,
    /// The child.
    pub child_pid: Pid,
}

/// `sched_process_exec`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchedProcessExec {
    /// Path of the program.
    pub filename: StrId,
    /// The task after the exec.
    pub pid: Pid,
    /// Its id before; differs when a thread that is not the leader calls exec.
    pub old_pid: Pid,
}

/// `sched_pi_setprio`: priority inheritance changes a task's effective priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchedPiSetprio {
    /// Name of the task.
    pub comm: StrId,
    /// The task.
    pub pid: Pid,
    /// Priority until now.
    pub oldprio: i32,
    /// Priority from now on.
    pub newprio: i32,
}

/// `sched_stat_runtime`: run-time accounting of the fair class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchedStatRuntime {
    /// Name of the task.
    pub comm: StrId,
    /// The task.
    pub pid: Pid,
    /// Run time since the last accounting, ns.
    pub runtime_ns: u64,
    /// Virtual run time; kernels since 6.7 do not give it.
    pub vruntime: Option<VirtualNanos>,
}

/// Virtual run time in ns. With it an `Option` takes no more room than a number, and an event 56 bytes in
/// place of 64; for that, the largest number of all is taken for the one below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VirtualNanos(
    /// The complement, which is never 0.
    NonZeroU64,
);

impl VirtualNanos {
    /// From ns.
    pub fn new(ns: u64) -> Self {
        VirtualNanos(NonZeroU64::new(!ns).unwrap_or(NonZeroU64::MIN))
    }

    /// In ns.
    pub fn get(self) -> u64 {
        !self.0.get()
    }
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// The CPU changes task.
    SchedSwitch(SchedSwitch),
    /// A wakeup begins, in the waker's context.
    SchedWaking(SchedWakeup),
    /// A woken task is on a run queue.
    SchedWakeup(SchedWakeup),
    /// A forked task is on a run queue for the first time.
    SchedWakeupNew(SchedWakeup),
    /// A task is given another CPU.
    SchedMigrateTask(SchedMigrateTask),
    /// A task or thread is created.
    SchedProcessFork(SchedProcessFork),
    /// A task runs another program.
    SchedProcessExec(SchedProcessExec),
    /// A task ends.
    SchedProcessExit(TaskRef),
    /// Inherited priority changes.
    SchedPiSetprio(SchedPiSetprio),
    /// Run time is accounted.
    SchedStatRuntime(SchedStatRuntime),
    /// Text that a program wrote into the trace (`trace_marker`, `ftrace_write`), without its final newline.
    Marker(StrId),
    /// What else the kernel did: nothing that schedules, but often the reason why somebody was woken.
    Activity(Activity),
}

impl EventKind {
    /// The task whose end the event tells: it exits, or it leaves its CPU dead. `perf sched record` has only
    /// the latter.
    pub fn ended(&self) -> Option<Pid> {
        match self {
            EventKind::SchedProcessExit(task) => Some(task.pid),
            EventKind::SchedSwitch(switch) if switch.prev_state.is_dead() => Some(switch.prev.pid),
            _ => None,
        }
    }

    /// Whether somebody is woken, or wakes up for the first time.
    pub fn is_wakeup(&self) -> bool {
        use EventKind::{SchedWakeup, SchedWakeupNew, SchedWaking};
        matches!(self, SchedWaking(_) | SchedWakeup(_) | SchedWakeupNew(_))
    }

    /// The tracepoint's name; markers have the name that kernel text uses, `tracing_mark_write`.
    pub fn name(&self) -> &'static str {
        match self {
            EventKind::SchedSwitch(_) => "sched_switch",
            EventKind::SchedWaking(_) => "sched_waking",
            EventKind::SchedWakeup(_) => "sched_wakeup",
            EventKind::SchedWakeupNew(_) => "sched_wakeup_new",
            EventKind::SchedMigrateTask(_) => "sched_migrate_task",
            EventKind::SchedProcessFork(_) => "sched_process_fork",
            EventKind::SchedProcessExec(_) => "sched_process_exec",
            EventKind::SchedProcessExit(_) => "sched_process_exit",
            EventKind::SchedPiSetprio(_) => "sched_pi_setprio",
            EventKind::SchedStatRuntime(_) => "sched_stat_runtime",
            EventKind::Marker(_) => "tracing_mark_write",
            EventKind::Activity(activity) => activity.name(),
        }
    }

    /// Whether it is [`Activity`]: figures of the scheduler leave it out.
    pub fn is_activity(&self) -> bool {
        matches!(self, EventKind::Activity(_))
    }
}

/// What the CPU was doing when an event was recorded. A wakeup from an interrupt is not the interrupted
/// task's doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Context {
    /// The file does not say, as text without the column of flags.
    #[default]
    Unknown,
    /// The task itself ran, in user or kernel mode.
    Task,
    /// A soft interrupt was served, on top of the task or in ksoftirqd.
    Softirq,
    /// An interrupt (or NMI) was served on top of the task.
    Hardirq,
}

impl Context {
    /// From the bits of `common_flags`.
    pub(crate) fn from_common_flags(flags: u64) -> Self {
        const HARDIRQ_OR_NMI: u64 = 0x08 | 0x40;
        const SOFTIRQ: u64 = 0x10;
        if flags & HARDIRQ_OR_NMI != 0 {
            Context::Hardirq
        } else if flags & SOFTIRQ != 0 {
            Context::Softirq
        } else {
            Context::Task
        }
    }
}

/// Whether the task that runs is to leave its CPU soon: the second column of ftrace's flags. A wakeup inside
/// the tick's interrupt whose task was to be preempted anyway shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NeedResched {
    /// The file does not say.
    #[default]
    Unknown,
    /// It goes on.
    No,
    /// It leaves at the next tick or on its return to user mode (`l`, `L`; PREEMPT_LAZY and PREEMPT_RT).
    Lazy,
    /// It leaves at the next preemption point (`n`, `N`, `b`, `B`).
    Yes,
}

impl NeedResched {
    /// From the bits of `common_flags`.
    pub(crate) fn from_common_flags(flags: u64) -> Self {
        if flags & Self::COMMON_FLAG != 0 {
            NeedResched::Yes
        } else if flags & Self::COMMON_FLAG_LAZY != 0 {
            NeedResched::Lazy
        } else {
            NeedResched::No
        }
    }

    pub(crate) const COMMON_FLAG: u64 = 0x04;
    /// Before 6.13 this bit was for architectures that cannot tell whether interrupts are off; none of
    /// today's is one.
    pub(crate) const COMMON_FLAG_LAZY: u64 = 0x02;
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Nanoseconds on the trace's clock; see [`Meta::resolution_ns`].
    pub time_ns: u64,
    /// The CPU on which it happened.
    pub cpu: Cpu,
    /// The task that ran there, interrupts included.
    pub pid: Pid,
    /// Whether that task did it, or an interrupt on top of it.
    pub context: Context,
    /// Whether that task was to leave the CPU soon.
    pub need_resched: NeedResched,
    /// What happened.
    pub kind: EventKind,
}

const _: () =
    assert!(size_of::<Event>() <= 56, "a million events must stay below 64 MB, with all that keeps them");

/// Where a trace came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// trace-cmd's `trace.dat`.
    TraceDat {
        /// File version, 6 or 7.
        version: u8,
    },
    /// perf's `perf.data`.
    PerfData,
    /// A Perfetto trace.
    Perfetto,
    /// The kernel's own text, tracefs `trace`.
    TracefsText,
    /// Text of `trace-cmd report`.
    TraceCmdReport,
    /// Text of `trace-cmd report -R`.
    TraceCmdReportRaw,
    /// Text of `perf script`.
    PerfScript,
    /// Made in memory with a [`TraceBuilder`](crate::TraceBuilder), e.g. by a simulator.
    Built,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Format::TraceDat { version } => write!(f, "trace.dat version {version}"),
            Format::Perfetto => f.write_str("Perfetto trace"),
            Format::PerfData => f.write_str("perf.data"),
            Format::TracefsText => f.write_str("ftrace text"),
            Format::TraceCmdReport => f.write_str("trace-cmd report text"),
            Format::TraceCmdReportRaw => f.write_str("trace-cmd report -R text"),
            Format::PerfScript => f.write_str("perf script text"),
            Format::Built => f.write_str("built in memory"),
        }
    }
}

/// Events that the recorder could not keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The CPU whose buffer overflowed.
    pub cpu: Cpu,
    /// Time of the first event after the gap, ns.
    pub before_ns: u64,
    /// How many are missing, where the recorder knows.
    pub events: Option<u64>,
}

/// What the file says about itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meta {
    /// Where the trace came from.
    pub format: Format,
    /// System name, release and machine of the recording kernel, as in `uname`.
    pub kernel: Option<String>,
    /// The trace clock's name, e.g. `mono` or `local`. Times of `local` clocks of different CPUs may differ
    /// by some µs.
    pub clock: Option<String>,
    /// The recording program and its version.
    pub tool: Option<String>,
    /// Times are multiples of this: 1 for `trace.dat`, 1000 for text with six decimals.
    pub resolution_ns: u64,
    /// Where events are missing, by time.
    pub gaps: Vec<Gap>,
}

/// What the file says about a thread outside of its events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its name when the recording ended, or the first name under which it occurs.
    pub comm: StrId,
    /// The process to which it belongs, where the file says so.
    pub tgid: Option<Pid>,
}

/// A scheduler trace.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Number of CPUs: more than every CPU number in `events`, and what the file gives as the machine's CPUs.
    pub cpus: u32,
    /// All events by time; those of one CPU and time are in their recorded order, then CPUs by number.
    pub events: Events,
    /// Texts of every [`StrId`] in `events` and `threads`.
    pub strings: Strings,
    /// Threads that the file names, also those without any event.
    pub threads: BTreeMap<Pid, Thread>,
    /// What a recorder of ours wrote down about tasks; empty for every other trace.
    pub facts: BTreeMap<Pid, TaskFacts>,
    /// What idle CPUs did, where a recorder of ours wrote it down.
    pub idle: Option<IdleKind>,
    /// The machine, the command and the groups, as a recorder of ours wrote them down.
    pub host: Host,
    /// Origin, clock, gaps.
    pub meta: Meta,
    /// What could not be used, and what to know before trusting the rest.
    pub notes: ImportNotes,
}

impl Trace {
    /// Time of the first event that is not [`Activity`], ns; 0 for an empty trace. What a trace says of tasks
    /// does not depend on which other tracepoints were on.
    pub fn start_ns(&self) -> u64 {
        self.events.iter().find(|event| !event.kind.is_activity()).map_or(0, |event| event.time_ns)
    }

    /// Time of the last such event, ns; 0 for an empty trace.
    pub fn end_ns(&self) -> u64 {
        self.events.iter().rev().find(|event| !event.kind.is_activity()).map_or(0, |event| event.time_ns)
    }
}
