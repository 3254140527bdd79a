//! What a run writes down: wakeup latencies, idle time, the error that ends it, and, if asked, the log of
//! what happens.

use super::by_class::{ByClass, Change};
use super::words;
use crate::outcome::{LatencyByClass, RunError, put_in_order};
use crate::told::TaskStart;
use scheduler::platform::Platform;
use scheduler::{Class, CpuId, Nanos, Pid, TaskId, ThisCpu};
use schema::{Histogram, LogEvent, LogRecord, Precision};
use std::cell::{Cell, RefCell};

/// What a run writes down of its events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tracing {
    /// Nothing.
    #[default]
    Off,
    /// Who runs where and how long, and who wakes, makes and moves whom: what figures of tasks are made of.
    Scheduling,
    /// That, and what programs do, why the scheduler decided so, and what the hardware does.
    Everything,
}

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Recorder {
    cpus: Vec<OfCpu>,
    latencies: RefCell<Vec<Option<Box<Histogram>>>>,
    by_class: ByClass,
    tracing: Tracing,
    log: RefCell<Vec<LogRecord>>,
    /// By task; kept with [`Tracing::Everything`].
    pids: RefCell<Vec<schema::Pid>>,
    /// Kept with [`Tracing::Everything`].
    starts: RefCell<Vec<TaskStart>>,
    error: RefCell<Option<RunError>>,
}

/// Of one CPU.
#[derive(Debug, Default)]
struct OfCpu {
    /// Context switches on it.
    switches: Cell<u64>,
    /// Who runs on it, as far as the log knows.
    running: Cell<schema::Pid>,
    /// Behind what the log has told of it last, it is to be told when its task goes on.
    is_away: Cell<bool>,
    /// An interrupt waits, as the log has told.
    is_held_off: Cell<bool>,
    idle: IdleClock,
}

#[derive(Debug, Default)]
struct IdleClock {
    /// Since when the CPU is idle, if it is.
    since: Cell<Option<Nanos>>,
    total: Cell<Nanos>,
}

impl Recorder {
    /// With room for so many tasks.
    pub fn new(cpus: usize, tasks: usize, tracing: Tracing) -> Recorder {
        let idle = || IdleClock { since: Cell::new(Some(Nanos::ZERO)), total: Cell::default() };
        let cpu = || OfCpu { idle: idle(), ..OfCpu::default() };
        Recorder {
            cpus: (0..cpus).map(|_| cpu()).collect(),
            latencies: RefCell::new(Vec::with_capacity(tasks)),
            by_class: ByClass::default(),
            tracing,
            log: RefCell::default(),
            pids: RefCell::default(),
            starts: RefCell::default(),
            error: RefCell::default(),
        }
    }

    /// Whether a log is kept.
    pub fn is_traced(&self) -> bool {
        self.tracing != Tracing::Off
    }

    /// Whether a log with everything in it is kept.
    pub fn tells_everything(&self) -> bool {
        self.tracing == Tracing::Everything
    }

    /// What a switch leaves behind even without a trace.
    pub fn switched<P: Platform>(&self, me: ThisCpu<'_, P>, now: Nanos, prev: TaskId, next: TaskId) {
        let OfCpu { switches, idle: clock, .. } = &self.cpus[me.id.index()];
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
        add_latency(&mut latencies[task.index()], latency);
        self.by_class.latency(task, latency);
    }

    /// The task has become real-time, or has stopped being so.
    pub fn changes_class(&self, task: TaskId, change: Change) {
        self.by_class.changes(task, change, || {
            let latencies = self.latencies.borrow();
            let so_far = latencies.get(task.index()).and_then(Option::as_deref);
            so_far.map_or(LatencyByClass::default(), |so_far| LatencyByClass::of(!change.is_realtime, so_far))
        });
    }

    /// Latencies of a task that was both real-time and fair. `open`: of a wait that is under way.
    pub fn latency_by_class(&self, task: TaskId, open: Option<Nanos>) -> Option<LatencyByClass> {
        self.by_class.of(task, open)
    }

    /// The task gives its slot back.
    pub fn slot_is_free(&self, task: TaskId) {
        self.by_class.forget(task);
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
        self.by_class.forget_latencies();
    }

    /// Writes a record of the log.
    pub fn record(&self, cpu: CpuId, time: Nanos, in_interrupt: bool, event: LogEvent) {
        let of_cpu = &self.cpus[cpu.index()];
        let pid = of_cpu.running.get();
        match &event {
            LogEvent::SchedSwitch { next, .. } => {
                of_cpu.running.set(next.pid);
                of_cpu.is_away.set(true);
            }
            LogEvent::Schedule {} | LogEvent::IrqHandlerEntry { .. } | LogEvent::SoftirqEntry {} => {
                of_cpu.is_away.set(true);
            }
            LogEvent::IrqRaise { held_off: Some(_), .. } => of_cpu.is_held_off.set(true),
            _ => {}
        }
        let (time, cpu) = (words::time(time), words::cpu(cpu));
        self.log.borrow_mut().push(LogRecord { time, cpu, pid, in_interrupt, event });
    }

    /// Whether a CPU that executes its task now has to be told of: it has not done so since something else
    /// was told. It is taken to be told.
    pub fn comes_back(&self, cpu: CpuId) -> bool {
        self.cpus[cpu.index()].is_away.replace(false)
    }

    /// Whether an interrupt that the CPU takes now had to wait.
    pub fn was_held_off(&self, cpu: CpuId) -> bool {
        self.cpus[cpu.index()].is_held_off.replace(false)
    }

    /// A task has this pid from now on.
    pub fn has_pid(&self, task: TaskId, pid: Pid) {
        if self.tells_everything() {
            let mut pids = self.pids.borrow_mut();
            if task.index() >= pids.len() {
                pids.resize(task.index() + 1, schema::Pid::UNKNOWN);
            }
            pids[task.index()] = words::pid(pid);
        }
    }

    /// The pid of a task that is there.
    pub fn pid(&self, task: TaskId) -> schema::Pid {
        self.pids.borrow()[task.index()]
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

    /// Notes how a task begins, if the log has everything.
    pub fn start(&self, start: impl FnOnce() -> TaskStart) {
        if self.tells_everything() {
            self.starts.borrow_mut().push(start());
        }
    }

    /// The beginnings so far, in the order of the pids.
    pub fn take_starts(&self) -> Vec<TaskStart> {
        self.starts.take()
    }

    /// The log so far, or since it was last taken, in the order of time.
    pub fn take_log(&self) -> Option<Vec<LogRecord>> {
        if !self.is_traced() {
            return None;
        }
        let mut records = self.log.take();
        put_in_order(&mut records);
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

/// Adds a latency to those of a task, which may have none yet.
pub(crate) fn add_latency(latencies: &mut Option<Box<Histogram>>, latency: Nanos) {
    latencies.get_or_insert_with(|| Box::new(Histogram::new(Precision::TwoDigits))).record(latency.0);
}
