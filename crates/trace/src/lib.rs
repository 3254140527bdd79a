//! Scheduler traces in and out.
//!
//! - **In**: [`read`], [`read_seekable`] and [`read_stream`] turn a recording into a [`Trace`]: events with
//!   the kernel's tracepoint names and fields, in order of time, and beside them [`ImportNotes`], which count
//!   everything that could not be used. Formats are told apart by content: trace.dat of trace-cmd (versions 6
//!   and 7, plain, zlib, zstd), perf.data (plain, zstd), Perfetto (with ftrace events, single or compact),
//!   the kernel's `trace` file, `trace-cmd report` with and without `-R`; any of them also packed with gzip.
//!   What else the kernel did ([`Activity`]: interrupts, timers, block requests, system calls) is among the
//!   events where it was recorded; figures leave it out.
//! - **Made**: a simulator fills a [`TraceBuilder`] and gets the same [`Trace`].
//! - **Figures**: [`sched_latency`] gives the table of `perf sched latency`; [`summarise`] gives CPU time,
//!   switches, migrations and wakeup latencies per task and idle time per CPU, [`summarise_in_windows`] also
//!   how they vary, [`summarise_within`] those of a stretch;
//!   [`Occupancy`] follows who runs where, event by event. Real recordings have holes;
//!   [`infer_missing_switches`] fills those that later events prove.
//! - **Why**: [`RecordedWaits`] explains each wait for a CPU: who ran in the task's place, which interrupts,
//!   who woke it, and who woke that one.
//! - **Out**: [`write_trace_dat`], [`write_ftrace_text`], [`write_chrome_json`] and [`write_perfetto`], or
//!   [`TextWriter`] and [`PerfettoWriter`] event by event;
//!   [`Annotations`] add what events cannot say: decisions and their reasons, waits, queue lengths.
//!
//! This crate knows no simulator and no scheduler, and nothing here prints.

mod activity;
mod builder;
mod clock;
mod dat;
mod error;
mod events;
mod facts;
mod host;
mod input;
mod model;
mod notes;
mod occupancy;
mod perf;
mod perfetto;
mod pidmap;
mod read;
mod records;
mod repair;
mod sched_latency;
mod seen_cpus;
mod state;
mod stretch;
mod strings;
mod summary;
mod text;
mod why;
mod windows;
mod write;

pub use activity::{
    Activity, BlockDevice, BlockOperation, BlockRq, CpuIdle, HrtimerExpireEntry, HrtimerMode,
    IrqHandlerEntry, IrqHandlerExit, IrqVector, IrqVectorKind, KernelAddress, Packet, SchedStatDelay,
    SoftirqVec, SysEnter, SysExit, Syscall, TimerExpireEntry, WorkqueueExecute,
};
pub use builder::TraceBuilder;
pub use error::ReadError;
pub use events::Events;
pub use facts::{IdleKind, TaskFacts, TaskNote, TaskPolicy};
pub use host::{
    CgroupCpu, CpuQuota, CpuRtRuntime, Cpuset, Host, HostNote, RecordedCommand, TaskGroup, UtilClamps,
};
pub use model::{
    Context, Cpu, Event, EventKind, Format, Gap, MAX_CPUS, Meta, NeedResched, Pid, Provenance,
    SchedMigrateTask, SchedPiSetprio, SchedProcessExec, SchedProcessFork, SchedStatRuntime, SchedSwitch,
    SchedWakeup, TaskRef, Thread, Trace, VirtualNanos,
};
pub use notes::{ImportNotes, Note, NoteKind, Position, Severity};
pub use occupancy::{Observed, Occupancy, Since, Stay};
pub use read::{read, read_seekable, read_stream};
pub use repair::{Repair, infer_missing_switches};
pub use sched_latency::{DelaysFrom, RuntimeSource, SchedLatency, TaskDelays, sched_latency};
pub use seen_cpus::SeenCpus;
pub use state::PrevState;
pub use stretch::Stretch;
pub use strings::{StrId, Strings};
pub use summary::{
    CpuSummary, Summary, TaskSummary, WakeLatency, WakeupEvent, summarise, summarise_from,
    summarise_in_windows, summarise_within,
};
pub use why::{RecordedLacks, RecordedWaits, SuspectedLimit, WaitsMeant};
pub use windows::{MachineWindow, TaskWindow, WindowedSummary};
pub use write::{
    Annotations, CounterId, DatHeader, DatPages, DatReport, DatSystem, PerfettoReport, PerfettoWriter,
    TextOptions, TextWriter, TimePrecision, TrackId, write_chrome_json, write_dat_container,
    write_ftrace_text, write_perfetto, write_trace_dat,
};
