//! What the machine asks of a task: its next [`Step`].
//!
//! The machine executes steps and charges their costs; the *choice* of steps (programs, standard loads,
//! replay) lives in the workload crate, behind the [`Behaviour`] trait.

use crate::rng::Rng;
use crate::step::Step;
use scheduler::{CpuId, CpuMask, GroupId, Nanos, Nice, Pid, Policy, TaskId};

/// How a task is created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ForkKind {
    /// fork(2): a process with its own address space; the parent goes on.
    #[default]
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
    /// It binds itself to one CPU before it does anything else, as threads of rt-tests do: of those that
    /// `cpus` and its cpuset allow the one with this number, from 0, starting over at the last one.
    pub nth_cpu: Option<u32>,
    /// Working set that has to be refilled after the task lost its cache, in bytes (fair-class 12.1).
    pub working_set_bytes: u64,
    /// What it reads from memory in a microsecond in which it executes at full speed, in bytes: more than
    /// caches hold, so that tasks which read wait for each other, where the machine says what memory gives
    /// (machine.md 6.4).
    pub reads_bytes_per_us: u32,
    /// Timer slack of its sleeps (Linux: 50 µs for fair tasks, none for RT).
    pub timer_slack: Nanos,
    /// Its CPU work was recorded on a real machine: what ways from wakeups to others took while it ran
    /// ([`crate::Setup::take_paths`]) is part of that work, and not on top of it.
    pub recorded_work: bool,
    /// It is a thread of the kernel. One that is bound to a CPU keeps those near whom it wakes.
    pub kernel_thread: bool,
    /// The task group that it is in; `None`: that of who forks it, the root for a task of the setup.
    pub group: Option<GroupId>,
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
            nth_cpu: None,
            working_set_bytes: 0,
            reads_bytes_per_us: 0,
            timer_slack: Nanos::ZERO,
            recorded_work: false,
            kernel_thread: false,
            group: None,
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
