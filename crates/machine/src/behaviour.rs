//! What the machine asks of a task: its next [`Step`].
//!
//! The machine executes steps and charges their costs; the *choice* of steps (programs, standard loads,
//! replay) lives in the workload crate, behind the [`Behaviour`] trait.

use crate::objects::{BarrierId, ChannelId, DeviceId, FutexId, SpinlockId};
use crate::rng::Rng;
use crate::sections::Sections;
use scheduler::{CpuId, CpuMask, MutexId, Nanos, Nice, Pid, Policy, TaskId};

/// One thing a task does. Durations are nominal: a cold cache, interrupts and preemption stretch them.
#[derive(Debug)]
pub enum Step {
    /// Execute in user mode for this long (CPU time of the task, warm cache).
    Compute(Nanos),
    /// Execute in user mode until the clock shows this time: a busy-wait on the wall clock, so time spent
    /// preempted counts (seed 000's `busy_loop`).
    SpinUntil(Nanos),
    /// Execute inside the kernel for this long: interrupts are served, but without full preemption the task
    /// keeps the CPU until the end (voluntary preemption).
    KernelCompute(Nanos),
    /// clock_nanosleep to an absolute time. A time in the past returns at once, without blocking.
    SleepUntil(Nanos),
    /// nanosleep for a span.
    SleepFor(Nanos),
    /// pthread_mutex_lock; PI or plain is a property of the mutex. Unlocking a mutex that the task does not
    /// own, or locking one twice, stops the run with an error that names both.
    Lock(MutexId),
    /// pthread_mutex_unlock.
    Unlock(MutexId),
    /// Take a user-space spinlock with back-off (fair-class 12.4).
    SpinLock(SpinlockId),
    /// Release it.
    SpinUnlock(SpinlockId),
    /// Execute with short critical sections under user-space spinlocks on the way.
    Sections(Sections),
    /// Write one message; blocks while the channel is full. Wakes a reader (with the channel's sync hint).
    Send(ChannelId),
    /// Write one message without blocking (O_NONBLOCK): a full channel loses it. Wakes a reader, without the
    /// hint.
    TrySend(ChannelId),
    /// One such message to each of these, in one system call: the readers are woken one after the other, and
    /// who preempts the task meanwhile runs when all are.
    TrySendAll(Box<[ChannelId]>),
    /// Take another policy and write a message to each of these channels without blocking, in one system
    /// call: so a mutex with inheritance is unlocked, by a task that gives back the priority that it was lent
    /// and wakes who lent it.
    GiveBack {
        /// The policy that is left to it.
        policy: Policy,
        /// Whom it wakes.
        wakes: Box<[ChannelId]>,
    },
    /// Read one message; blocks while the channel is empty. Wakes a blocked writer.
    Receive(ChannelId),
    /// Hand a request to a device and go on at once. When the device has served it, its interrupt sends a
    /// message, which a full channel loses.
    Submit {
        /// Who serves it.
        device: DeviceId,
        /// How long that takes once the device begins with it.
        service: Nanos,
        /// Where the message goes.
        done: ChannelId,
    },
    /// FUTEX_WAIT: sleep until woken. Tokens posted by [`Step::FutexWake`] while nobody waits are lost.
    FutexWait(FutexId),
    /// FUTEX_WAKE: wake up to `count` waiters in the order of rt-class 7.6.
    FutexWake {
        /// What they wait on.
        futex: FutexId,
        /// At most this many.
        count: u32,
    },
    /// pthread_barrier_wait.
    BarrierWait(BarrierId),
    /// Create a task; the parent learns its id from [`Env::last_child`].
    Fork {
        /// The new task.
        child: Box<TaskSpec>,
        /// How.
        kind: ForkKind,
    },
    /// execve: charges its cost, may move the task (SD_BALANCE_EXEC), completes a vfork.
    Exec {
        /// New command name.
        comm: Box<str>,
    },
    /// wait(2) for any child; returns at once when there is none.
    WaitChild,
    /// Leave. Every behaviour ends with this.
    Exit,
    /// sched_yield.
    Yield,
    /// sched_setscheduler on a task (itself with `None`).
    SetPolicy {
        /// Whom; `None`: the caller.
        target: Option<TaskId>,
        /// New policy.
        policy: Policy,
    },
    /// setpriority on a task (itself with `None`).
    SetNice {
        /// Whom; `None`: the caller.
        target: Option<TaskId>,
        /// New nice value.
        nice: Nice,
    },
    /// sched_setaffinity on a task (itself with `None`).
    SetAffinity {
        /// Whom; `None`: the caller.
        target: Option<TaskId>,
        /// New set of allowed CPUs; intersected with the machine's. Empty is an error that ends the run.
        cpus: CpuMask,
    },
    /// Text into the trace, as ftrace_write does. Costs a system call.
    Marker(Box<str>),
}

/// How a task is created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForkKind {
    /// fork(2): a process with its own address space; the parent goes on.
    Fork,
    /// vfork(2): the parent sleeps uninterruptibly until the child execs or exits.
    Vfork,
    /// pthread_create: shares the parent's address space.
    Thread,
}

/// A task to be created.
#[derive(Debug)]
pub struct TaskSpec {
    /// Command name, at most 15 bytes are shown.
    pub comm: String,
    /// Scheduling policy. A fork inherits nothing: say it here.
    pub policy: Policy,
    /// Nice value (kept, without effect, under an RT policy).
    pub nice: Nice,
    /// Allowed CPUs; `None`: all.
    pub cpus: Option<CpuMask>,
    /// Working set that has to be refilled after the task lost its cache, in bytes (fair-class 12.1).
    pub working_set_bytes: u64,
    /// Timer slack of its sleeps (Linux: 50 µs for fair tasks, none for RT).
    pub timer_slack: Nanos,
    /// Its CPU work was recorded on a real machine: what ways from wakeups to others took while it ran
    /// ([`crate::Setup::take_paths`]) is part of that work, and not on top of it.
    pub recorded_work: bool,
    /// What it does.
    pub behaviour: Box<dyn Behaviour>,
}

impl TaskSpec {
    /// A normal task, nice 0, on any CPU, without a working set and without timer slack.
    pub fn new(comm: impl Into<String>, behaviour: impl Behaviour + 'static) -> TaskSpec {
        TaskSpec {
            comm: comm.into(),
            policy: Policy::Normal,
            nice: Nice::default(),
            cpus: None,
            working_set_bytes: 0,
            timer_slack: Nanos::ZERO,
            recorded_work: false,
            behaviour: Box::new(behaviour),
        }
    }
}

/// Decides what a task does next. Called each time the previous step has completed, in the task's context.
pub trait Behaviour: std::fmt::Debug {
    /// The next step. Must not return an unbounded sequence of steps that take no time: the machine stops a
    /// run after a million such steps of one task and names the task.
    fn next(&mut self, env: &mut Env<'_>) -> Step;
}

/// What a task can see of its world when it decides on its next step.
#[derive(Debug)]
pub struct Env<'a> {
    /// The clock (CLOCK_MONOTONIC) as the task reads it now.
    pub now: Nanos,
    /// The CPU it runs on.
    pub cpu: CpuId,
    /// Itself.
    pub task: TaskId,
    /// Its pid.
    pub pid: Pid,
    /// The child that the latest [`Step::Fork`] created.
    pub last_child: Option<TaskId>,
    /// The task's own stream of random numbers: a changed feature does not reshuffle it.
    pub rng: &'a mut Rng,
    /// Passes of its main loop (the `iterations` column); the behaviour increments it.
    pub iterations: &'a mut u64,
    /// Whether the run keeps a trace; without one nobody reads the text of a [`Step::Marker`].
    pub traced: bool,
    /// Its own counters, as /proc/PID/sched shows them at this moment.
    pub counters: TaskCounters,
}

/// Counters of a task with Linux's names and meaning (rt-class 11.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TaskCounters {
    /// Switches away while blocking.
    pub nr_voluntary_switches: u64,
    /// Switches away while runnable.
    pub nr_involuntary_switches: u64,
    /// Times the task was assigned another CPU.
    pub nr_migrations: u64,
    /// CPU time used.
    pub sum_exec_runtime: Nanos,
}
