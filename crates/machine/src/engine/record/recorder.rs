//! What a run writes down: wakeup latencies, idle time, the error that ends it, and, if asked, every event
//! for a trace.

use crate::outcome::RunError;
use crate::step::ToldStep;
use crate::told::{TaskStart, ToldMessage};
use scheduler::platform::Platform;
use scheduler::{Class, CpuId, Event, Nanos, Pid, Prio, Reason, SwitchState, TaskId, ThisCpu};
use schema::{Histogram, Precision};
use std::cell::{Cell, RefCell};

/// What a run writes down of its events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tracing {
    /// Nothing.
    #[default]
    Off,
    /// Who runs where, and who wakes, makes and moves whom: what figures of tasks are made of.
    Scheduling,
    /// That, and what programs do, why the scheduler decided so, accounting, and waits for run-queue locks.
    Everything,
}

/// One line of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// When.
    pub time: Nanos,
    /// On which CPU.
    pub cpu: CpuId,
    /// Which task ran there; 0: idle.
    pub pid: Pid,
    /// Whether an interrupt on top of that task did it.
    pub in_interrupt: bool,
    /// What.
    pub kind: RecordKind,
}

/// A task and the priority it had at that moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Who {
    /// Its pid; 0: the idle task.
    pub pid: Pid,
    /// Its effective priority.
    pub prio: Prio,
}

/// What happened; names and fields are those of the tracepoints (rt-class 11.2).
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The tracepoints' own field names.
pub enum RecordKind {
    /// sched_switch.
    Switch { prev: Who, prev_state: SwitchState, next: Who },
    /// sched_waking.
    Waking { task: Who, target: CpuId },
    /// sched_wakeup.
    Wakeup { task: Who, target: CpuId },
    /// sched_wakeup_new.
    WakeupNew { task: Who, target: CpuId },
    /// sched_migrate_task.
    Migrate { task: Who, orig: CpuId, dest: CpuId },
    /// sched_pi_setprio.
    PiSetprio { pid: Pid, old: Prio, new: Prio },
    /// sched_stat_runtime.
    StatRuntime { pid: Pid, runtime: Nanos, vruntime: u64 },
    /// sched_process_fork.
    Fork { parent: Pid, child: Pid },
    /// sched_process_exec.
    Exec { pid: Pid },
    /// sched_process_exit.
    Exit { task: Who },
    /// Text that a task wrote (ftrace_write).
    Marker { text: Box<str> },
    /// The task that runs takes a step of its program.
    Step { step: ToldStep },
    /// An interrupt brings a message.
    Message { message: ToldMessage },
    /// A scheduling decision and its reason.
    Decision { pid: Pid, reason: Reason },
}

impl RecordKind {
    /// How a trace tells an event of the scheduler.
    pub(crate) fn of<P: Platform>(me: ThisCpu<'_, P>, event: Event) -> RecordKind {
        let pid = |id: TaskId| me.task(id).pid.get();
        let who = |id: TaskId| Who { pid: pid(id), prio: me.task(id).prio.get() };
        match event {
            Event::Switch { prev, prev_state, next } => {
                RecordKind::Switch { prev: who(prev), prev_state, next: who(next) }
            }
            Event::Waking { task, target } => RecordKind::Waking { task: who(task), target },
            Event::Wakeup { task, target } => RecordKind::Wakeup { task: who(task), target },
            Event::WakeupNew { task, target } => RecordKind::WakeupNew { task: who(task), target },
            Event::Migrate { task, orig, dest } => RecordKind::Migrate { task: who(task), orig, dest },
            Event::PiSetprio { task, old, new } => RecordKind::PiSetprio { pid: pid(task), old, new },
            Event::StatRuntime { task, runtime, vruntime } => {
                RecordKind::StatRuntime { pid: pid(task), runtime, vruntime }
            }
            Event::Decision { task, reason } => RecordKind::Decision { pid: pid(task), reason },
        }
    }

    /// Whether [`Tracing::Scheduling`] keeps it.
    fn is_scheduling(&self) -> bool {
        use RecordKind::{Decision, Marker, Message, StatRuntime, Step};
        !matches!(self, StatRuntime { .. } | Marker { .. } | Step { .. } | Message { .. } | Decision { .. })
    }
}

/// A wait for a run-queue lock, which no tracepoint shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockWait {
    /// The CPU that spun.
    pub cpu: CpuId,
    /// Whose run queue it wanted.
    pub of: CpuId,
    /// From when on.
    pub since: Nanos,
    /// When it had the lock.
    pub until: Nanos,
}

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Recorder {
    cpus: Vec<OfCpu>,
    latencies: RefCell<Vec<Option<Box<Histogram>>>>,
    tracing: Tracing,
    trace: RefCell<Vec<Record>>,
    /// Kept with [`Tracing::Everything`].
    lock_waits: RefCell<Vec<LockWait>>,
    /// Kept with [`Tracing::Everything`].
    starts: RefCell<Vec<TaskStart>>,
    error: RefCell<Option<RunError>>,
}

/// Of one CPU.
#[derive(Debug, Default)]
struct OfCpu {
    /// Context switches on it.
    switches: Cell<u64>,
    idle: IdleClock,
}

#[derive(Debug, Default)]
struct IdleClock {
    /// Since when the CPU is idle, if it is.
    since: Cell<Option<Nanos>>,
    total: Cell<Nanos>,
}

impl Recorder {
    pub fn new(cpus: usize, tracing: Tracing) -> Recorder {
        let idle = || IdleClock { since: Cell::new(Some(Nanos::ZERO)), total: Cell::default() };
        let cpu = || OfCpu { switches: Cell::new(0), idle: idle() };
        Recorder {
            cpus: (0..cpus).map(|_| cpu()).collect(),
            latencies: RefCell::default(),
            tracing,
            trace: RefCell::default(),
            lock_waits: RefCell::default(),
            starts: RefCell::default(),
            error: RefCell::default(),
        }
    }

    /// Whether a trace is kept.
    pub fn is_traced(&self) -> bool {
        self.tracing != Tracing::Off
    }

    /// Whether a trace with everything in it is kept.
    pub fn tells_everything(&self) -> bool {
        self.tracing == Tracing::Everything
    }

    /// What a switch leaves behind even without a trace.
    pub fn switched<P: Platform>(&self, me: ThisCpu<'_, P>, now: Nanos, prev: TaskId, next: TaskId) {
        let OfCpu { switches, idle: clock } = &self.cpus[me.id.index()];
        switches.set(switches.get() + 1);
        if me.task(prev).class.get() == Class::Idle
            && let Some(since) = clock.since.take()
        {
            clock.total.set(clock.total.get() + now.saturating_sub(since));
        }
        let task = me.task(next);
        if task.class.get() == Class::Idle {
            clock.since.set(Some(now));
        } else if let Some(woken_at) = task.stats.take_woken_at() {
            self.latency(next, now.saturating_sub(woken_at));
        }
    }

    fn latency(&self, task: TaskId, latency: Nanos) {
        let mut latencies = self.latencies.borrow_mut();
        if task.index() >= latencies.len() {
            latencies.resize_with(task.index() + 1, || None);
        }
        let histogram =
            latencies[task.index()].get_or_insert_with(|| Box::new(Histogram::new(Precision::TwoDigits)));
        histogram.record(latency.0);
    }

    /// Hands out what was recorded about a task and starts anew for the next user of its slot.
    pub fn take_latency(&self, task: TaskId) -> Option<Box<Histogram>> {
        self.latencies.borrow_mut().get_mut(task.index())?.take()
    }

    /// What has been recorded about a task.
    pub fn latency_so_far(&self, task: TaskId) -> Option<Box<Histogram>> {
        self.latencies.borrow().get(task.index())?.clone()
    }

    /// Latencies count anew from now on.
    pub fn forget_latencies(&self) {
        self.latencies.borrow_mut().clear();
    }

    /// Writes a line of the trace, if it is to have such a line.
    pub fn record(&self, record: Record) {
        if self.tells_everything() || record.kind.is_scheduling() {
            self.trace.borrow_mut().push(record);
        }
    }

    /// Stops the run with an error; the first one counts.
    pub fn fail(&self, error: RunError) {
        self.error.borrow_mut().get_or_insert(error);
    }

    /// Whether the run has failed.
    pub fn has_failed(&self) -> bool {
        self.error.borrow().is_some()
    }

    /// The error that stopped the run.
    pub fn take_error(&self) -> Option<RunError> {
        self.error.take()
    }

    /// Notes a wait, if the trace has everything.
    pub fn lock_wait(&self, wait: LockWait) {
        if self.tells_everything() {
            self.lock_waits.borrow_mut().push(wait);
        }
    }

    /// The waits so far, in the order of their ends.
    pub fn take_lock_waits(&self) -> Vec<LockWait> {
        self.lock_waits.take()
    }

    /// Notes how a task begins, if the trace has everything.
    pub fn start(&self, start: impl FnOnce() -> TaskStart) {
        if self.tells_everything() {
            self.starts.borrow_mut().push(start());
        }
    }

    /// The beginnings so far, in the order of the pids.
    pub fn take_starts(&self) -> Vec<TaskStart> {
        self.starts.take()
    }

    /// The trace so far, in the order of time; records of one time keep their order.
    pub fn take_trace(&self) -> Option<Vec<Record>> {
        if !self.is_traced() {
            return None;
        }
        let mut records = self.trace.take();
        records.sort_by_key(|r| r.time);
        Some(records)
    }

    /// Idle time of a CPU up to `end`.
    pub fn idle_time(&self, cpu: CpuId, end: Nanos) -> Nanos {
        let clock = &self.cpus[cpu.index()].idle;
        let running = clock.since.get().map_or(Nanos::ZERO, |since| end.saturating_sub(since));
        clock.total.get() + running
    }

    /// Context switches so far, those to and from idle included.
    pub fn switches(&self) -> u64 {
        self.cpus.iter().map(|cpu| cpu.switches.get()).sum()
    }

    /// Those on one CPU.
    pub fn switches_on(&self, cpu: CpuId) -> u64 {
        self.cpus[cpu.index()].switches.get()
    }
}
