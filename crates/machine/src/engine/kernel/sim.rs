//! One simulated machine: the scheduler, the tasks' programs, and what they share.

use super::kthreads::KthreadWakes;
use crate::behaviour::{Behaviour, TaskCounters};
use crate::engine::hardware::cpu::CpuHw;
use crate::engine::hardware::hw::Hw;
use crate::engine::observe::snapshots::Snapshots;
use crate::engine::observe::windows::Measurement;
use crate::engine::userland::world::World;
use crate::outcome::{RunError, TaskOrigin, TaskOutcome, TimeUnder};
use crate::rng::{Rng, TaskStream};
use crate::setup::{MutexSpec, Outside};
use scheduler::{CpuId, MutexId, Nanos, Pid, Scheduler, TaskId};
use std::cell::{Cell, RefCell};

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Sim {
    pub k: Scheduler<Hw>,
    pub seed: u64,
    /// By task id; slots are reused like the scheduler's.
    pub tasks: RefCell<Vec<TaskCtx>>,
    pub world: RefCell<World>,
    /// Tasks that have not exited.
    pub live: Cell<usize>,
    pub next_pid: Cell<i32>,
    /// Where each task of the setup wants to start.
    pub spawn_cpus: Vec<Option<CpuId>>,
    pub mutexes: Vec<MutexSpec>,
    /// Idle CPUs stay in their shallowest state: leaving it costs nothing.
    pub idle_polls: bool,
    pub outside: Vec<Outside>,
    /// A tick of each CPU, where the setup says one.
    pub ticks_at: Vec<Option<Nanos>>,
    /// Times at which the run may be over.
    pub looks: Vec<Nanos>,
    /// Messages from outside that found their channel full.
    pub outside_lost: Cell<u64>,
    /// Times a task lost its CPU, runnable, while it held a mutex or a user spinlock.
    pub lock_holder_preemptions: Cell<u64>,
    /// CPU time that tasks spent on refilling the caches.
    pub cache_refill: Cell<Nanos>,
    pub finished: RefCell<Vec<TaskOutcome>>,
    /// Command names in the order in which pids took them.
    pub comms: RefCell<Vec<CommOf>>,
    pub error: RefCell<Option<RunError>>,
    /// Which kernel threads wake by what happens on a CPU.
    pub kthread_wakes: KthreadWakes,
    /// Changes of the settings that are still to come, by index.
    pub settings: Vec<String>,
    pub snapshots: Snapshots,
    pub measurement: Measurement,
}

/// A pid's command name from some time on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommOf {
    /// Whose.
    pub pid: Pid,
    /// Since when: its creation or an exec.
    pub since: Nanos,
    /// The name.
    pub comm: Box<str>,
}

/// Where a task stands in its program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Progress {
    /// Its behaviour is to be asked.
    #[default]
    Ready,
    /// Executing in user mode.
    Compute { left: Nanos },
    /// Executing in the kernel, with something to do at the end.
    Kernel { left: Nanos, then: Then },
    /// Spinning until a time.
    SpinUntil(Nanos),
    /// Trying for a user spinlock.
    Spinning(crate::engine::userland::world::SpinAttempt),
    /// Spinning in the kernel while the owner of a PI mutex runs.
    SpinOnOwner(MutexId),
    /// Executing with critical sections on the way.
    Sections,
    /// Blocked inside a system call, or about to go on with one.
    Resume(Then),
}

/// What a system call goes on with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    /// Return to user mode.
    Return,
    /// Try for the mutex again.
    Lock(MutexId),
    /// Put the message into the channel.
    Send(crate::objects::ChannelId),
    /// Take a message.
    Receive(crate::objects::ChannelId),
    /// Try for the user spinlock again, after so many rounds of spinning and sleeping.
    SpinLock(crate::engine::userland::world::SpinAttempt),
    /// The child has been copied.
    Forked { child: TaskId, vfork: bool },
    /// The old image is gone: a parent in vfork may go on.
    Execed,
    /// Look for a dead child again.
    WaitChild,
    /// Everything is given back.
    Exit,
}

/// The machine's side of a task.
#[derive(Debug)]
pub(crate) struct TaskCtx {
    pub pid: Pid,
    pub comm: Box<str>,
    pub behaviour: Box<dyn Behaviour>,
    pub progress: Progress,
    /// Set while it works with critical sections on the way.
    pub sections: Option<crate::engine::userland::sections::InSections>,
    /// What it has done already of the CPU time that its next step asks for; `None` if it asks for pure work.
    pub done_ahead: Option<Nanos>,
    pub rng: Rng,
    pub stream: TaskStream,
    /// How many tasks it has forked.
    pub forks: u64,
    pub iterations: u64,
    /// CPU time under former policies and nice values.
    pub time_under: Vec<TimeUnder>,
    /// When it called exit, if it has.
    pub exited: Option<Nanos>,
    pub last_child: Option<TaskId>,
    pub timer: crate::engine::hardware::queue::Slot,
    pub timer_slack: Nanos,
    pub working_set_bytes: u64,
    pub warmth: crate::engine::userland::warmth::Warmth,
    pub family: Family,
    /// Mutexes and user spinlocks that it holds.
    pub locks_held: u32,
    /// When it was last asked for a step, and how many it has taken at that time.
    pub stepped_at: Nanos,
    pub idle_steps: u32,
    /// Where it comes from.
    pub origin: TaskOrigin,
    /// Pid of the first thread of its process.
    pub process: Pid,
}

/// Who waits for whom.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Family {
    /// Its parent, if it is to be told of the exit. The pid tells whether the slot has a new user.
    pub parent: Option<Parent>,
    /// Living children that will report their exit.
    pub children: u32,
    /// Dead ones not yet waited for.
    pub zombies: u32,
    /// It sleeps in wait(2).
    pub waiting: bool,
    /// It shares its parent's address space, so that its exit gives less back.
    pub thread: bool,
    /// The parent sleeps in vfork until this task execs or exits.
    pub vfork_parent: Option<Parent>,
    /// It sleeps in vfork itself.
    pub in_vfork: bool,
}

/// A task and its pid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parent {
    pub task: TaskId,
    pub pid: Pid,
}

impl Sim {
    pub fn hw(&self) -> &Hw {
        &self.k.platform
    }

    /// A CPU's hardware.
    #[inline]
    pub fn cpu(&self, cpu: CpuId) -> &CpuHw {
        &self.hw().cpus[cpu.index()]
    }

    pub fn counters(&self, p: TaskId) -> TaskCounters {
        let stats = &self.k.task(p).stats;
        TaskCounters {
            nr_voluntary_switches: stats.nr_voluntary_switches.get(),
            nr_involuntary_switches: stats.nr_involuntary_switches.get(),
            nr_migrations: stats.nr_migrations.get(),
            sum_exec_runtime: stats.sum_exec_runtime.get(),
        }
    }

    /// Looks at or changes a task's context.
    #[inline]
    pub fn with<T>(&self, p: TaskId, f: impl FnOnce(&mut TaskCtx) -> T) -> T {
        f(&mut self.tasks.borrow_mut()[p.index()])
    }

    /// Says what `p` does when it runs next.
    #[inline]
    pub fn set_progress(&self, p: TaskId, progress: Progress) {
        self.with(p, |t| t.progress = progress);
    }

    /// Stops the run with an error; the first one counts.
    pub fn fail(&self, error: RunError) {
        self.error.borrow_mut().get_or_insert(error);
    }

    /// Whether `parent` is still the task it was.
    pub fn still_there(&self, parent: Parent) -> bool {
        self.k.task(parent.task).pid.get() == parent.pid
            && !matches!(
                self.k.task(parent.task).state.get(),
                scheduler::TaskState::Dead | scheduler::TaskState::Free
            )
    }
}
