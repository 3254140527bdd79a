//! What a trace says its tasks did, apart from what the scheduler made of it: one program per task.

use super::counts::Counts;
use super::groups::ReplayGroups;
use super::throttling::Throttling;
use machine::{Arrival, ChannelId, DeviceId, ForkKind, Objects, ToldStep, WakePaths};
use scheduler::dl::DlParams;
use scheduler::{CpuMask, MutexId, Nanos, Nice};
use std::fmt;
use trace::Pid;

/// Smaller kernel priorities are real-time ones.
pub(super) const FIRST_FAIR_PRIO: i32 = 100;

/// Index of a task in [`Recording::tasks`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TaskIndex(pub u32);

impl TaskIndex {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The programs of all tasks of a trace. Times count from the trace's first event; where the trace tells its
/// programs, from the beginning of the run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recording {
    /// Number of CPUs of the recorded machine.
    pub cpus: u32,
    /// To the last event, or to the end of the run.
    pub span: Nanos,
    /// Ticks a second of the recording kernel, if they show: the setting `hz`, which decides when slices end.
    pub hz: Option<u32>,
    /// By recorded CPU, the time of its first tick, if the ticks show; the others follow at whole periods.
    /// Empty if not.
    pub ticks_at: Vec<Nanos>,
    /// The process of the recorded command, where the recorder wrote it down, or gave it a name that shows
    /// it.
    pub command: Option<Pid>,
    /// Idle CPUs looked for work instead of halting; so do those of a replay.
    pub idle_polls: bool,
    /// Whether the first in line for a mutex with inheritance spins while the owner runs, if that shows.
    pub rtmutex_spins: Option<bool>,
    /// How the recording kernel throttled real-time tasks, as far as that shows.
    pub throttling: Throttling,
    /// How long the way from a wakeup to the woken task took on the recorded machine, as far as that shows.
    pub paths: WakePaths,
    /// Every task that an event names, in the order in which they appear; the idle task left out.
    pub tasks: Vec<RecordedTask>,
    /// What told steps share.
    pub objects: Objects,
    /// Messages from outside to told channels.
    pub messages: Vec<Message>,
    /// Task groups; none unless they were asked for, or stand in a workload file.
    pub groups: ReplayGroups,
    /// What was understood and what was not.
    pub counts: Counts,
}

impl Recording {
    /// Whether it is the program of a run, as its trace tells it.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.tasks.iter().any(|task| task.told.is_some())
    }
}

/// An interrupt brings a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// When.
    pub at: Nanos,
    /// Which interrupt it is.
    pub by: Arrival,
    /// To which CPU.
    pub cpu: u32,
    /// Where the message goes.
    pub channel: ChannelId,
}

/// Whether a task of this name is a stopper of the kernel.
pub(super) fn is_stopper(comm: &str) -> bool {
    comm.starts_with("migration/")
}

/// One task. A task id that was given out again makes a second one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedTask {
    /// Thread id.
    pub pid: Pid,
    /// 0 for the first task with this id, 1 for the next; as in [`trace::TaskSummary`].
    pub incarnation: u32,
    /// Its name at the start of its program.
    pub comm: Box<str>,
    /// How it comes into being.
    pub begin: Begin,
    /// Kernel priority at the start of its program, inheritance left out.
    pub prio: i32,
    /// Whether it was seen to take turns with its equals after whole SCHED_RR slices.
    pub round_robin: bool,
    /// Its policy as long as its priority is a fair one.
    pub fair: FairPolicy,
    /// Its parameters as long as its priority is that of a deadline task; `None`: nobody told them.
    pub deadline: Option<DlParams>,
    /// What it does, in order. Inferred runs never follow each other.
    pub steps: Vec<ReplayStep>,
    /// CPU time of all runs.
    pub cpu_time: Nanos,
    /// When it ended, since the first event; `None`: not before the recording did.
    pub exited: Option<Nanos>,
    /// How often it came onto a CPU; each time cost a context switch that its runs contain.
    pub arrivals: u64,
    /// Where it ran, and what that says about its affinity.
    pub placement: Placement,
    /// What the trace tells of it, if it tells its program: nothing in its steps is inferred then, and they
    /// contain nothing of what the machine does around them.
    pub told: Option<ToldTask>,
}

/// What no event shows of a task, and a trace may tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToldTask {
    /// Its nice value, which its priority does not show under a real-time policy.
    pub nice: Nice,
    /// As in [`machine::TaskSpec`].
    pub working_set_bytes: u64,
    /// As in [`machine::TaskSpec`].
    pub reads_bytes_per_us: u32,
    /// As in [`machine::TaskSpec`].
    pub timer_slack: Nanos,
    /// As in [`machine::TaskSpec`].
    pub recorded_work: bool,
    /// As in [`machine::TaskSpec`].
    pub kernel_thread: bool,
}

impl RecordedTask {
    /// Whether its last priority is a real-time one.
    pub(super) fn ends_real_time(&self) -> bool {
        let last = |step: &ReplayStep| if let ReplayStep::SetPrio(prio) = step { Some(*prio) } else { None };
        self.steps.iter().rev().find_map(last).unwrap_or(self.prio) < FIRST_FAIR_PRIO
    }

    /// Makes one run of those that nothing separates.
    pub(super) fn merge_runs(&mut self) {
        self.steps.retain(|step| *step != ReplayStep::Run(Nanos::ZERO));
        self.steps.dedup_by(|run, before| match (before, run) {
            (ReplayStep::Run(before), ReplayStep::Run(more)) => {
                *before = before.saturating_add(*more);
                true
            }
            _ => false,
        });
    }

    /// Its name at the end of its program.
    pub(super) fn last_comm(&self) -> &str {
        let mut execs = self.steps.iter().rev().filter_map(|step| match step {
            ReplayStep::Exec(comm) => Some(&**comm),
            _ => None,
        });
        execs.next().unwrap_or(&self.comm)
    }

    /// Whether its program ends in an exit.
    pub(super) fn exits(&self) -> bool {
        self.steps.last() == Some(&ReplayStep::Exit)
    }

    /// The kernel's stoppers (`migration/N`) do nothing but move tasks for the scheduler. The simulated
    /// scheduler moves them itself, so they are not replayed.
    pub fn is_stopper(&self) -> bool {
        is_stopper(&self.comm)
    }
}

/// The first of these tasks by name and pid, and how many more there are.
pub(super) fn listed(tasks: &[&RecordedTask]) -> String {
    const NAMED: usize = 3;
    let names: Vec<String> =
        tasks.iter().map(|task| format!("{} ({})", task.last_comm(), task.pid)).collect();
    suggest::listed(&names, NAMED)
}

/// A policy of the fair class. Its priority does not tell it; a recorder may.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FairPolicy {
    /// SCHED_OTHER.
    #[default]
    Normal,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
}

/// How a task of a trace comes into being.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// It sleeps when the trace begins: its program begins with a sleep.
    Asleep,
    /// It runs when the trace begins, or waits for a CPU.
    Runnable {
        /// On or for which CPU.
        cpu: u32,
    },
    /// Events name it, but it was never seen to run or to be woken: it is not replayed.
    Never,
    /// A step of another task's program makes it.
    Forked,
    /// It is there from this time on, runnable, and the trace does not say where it came from.
    Appears {
        /// When.
        at: Nanos,
        /// On which CPU it first runs; `None`: where the kernel puts it.
        cpu: Option<u32>,
    },
}

/// A step of a recorded task: a [`machine::Step`] and how it hangs together with the steps of others. Who
/// waits for whom, what ended a wait and whether a lock was contended decides what a replay changes, so it
/// stays until the task is played. A step without such ties is [`ReplayStep::Told`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplayStep {
    /// CPU time, preemptions left out: those are the scheduler's doing.
    Run(Nanos),
    /// Computes until this time since the first event, however much CPU time it gets by then.
    RunUntil(Nanos),
    /// Wakes another task.
    Wake {
        /// Whom.
        task: TaskIndex,
        /// Whether the waker had to interrupt another CPU, which costs it time.
        interrupts: bool,
        /// The piece of work that it gives to it, or lets go on, if that is a worker ([`Waking::Work`],
        /// [`Waking::Rest`]).
        work: Option<u32>,
        /// In one system call with the step before it, as `FUTEX_WAKE` of many, or with what it gives back:
        /// nobody preempts the waker in between.
        same_call: bool,
    },
    /// Makes another task.
    Fork {
        /// Which.
        child: TaskIndex,
        /// How. What the trace does not tell is a thread.
        kind: ForkKind,
    },
    /// Asks a device for something and goes on; when that is done, its interrupt wakes a task.
    Submit {
        /// Which task: itself, or one that finishes the work on its behalf.
        task: TaskIndex,
        /// Which device, a number in [`Recording::objects`].
        device: DeviceId,
        /// From here to that wakeup, if the device serves it at once; where the trace shows when the device
        /// was done, to then.
        service: Nanos,
        /// The piece of work that this is for the task, or lets go on, if that is a worker ([`Waking::Work`],
        /// [`Waking::Rest`]).
        work: Option<u32>,
    },
    /// Sleeps until woken.
    Sleep(Waking),
    /// Another step that the trace tells.
    Told(ToldStep),
    /// Locks an inferred mutex, a number in [`Recording::objects`].
    Lock {
        /// Which.
        mutex: MutexId,
        /// It had to wait when recorded.
        waited: bool,
    },
    /// Unlocks it.
    Unlock {
        /// Which.
        mutex: MutexId,
        /// Somebody was waiting when recorded.
        wakes: bool,
    },
    /// Offers the CPU to its equals.
    Yield,
    /// Changes its own priority to this kernel number.
    SetPrio(i32),
    /// Lends its priority to a task that has a mutex for which it waits: that one has this kernel priority
    /// now. Too late once that task has unlocked: once it has given back more often than `round` says.
    Lend {
        /// Whom.
        to: TaskIndex,
        /// Kernel priority.
        prio: i32,
        /// How often the borrower had given back before.
        round: u32,
    },
    /// Gives back what it was lent; this kernel priority is left to it.
    GiveBack(i32),
    /// Is moved to its last CPU; if [`Placement::pinned`] says so, it may use no other one from here on.
    Pin,
    /// Binds itself to this CPU (`sched_setaffinity`), as far as can be told: the stopper moved it there for
    /// its sake.
    Bind(u32),
    /// May use again what it might before [`ReplayStep::Bind`]: it ran elsewhere, and no stopper moved it.
    Unbind,
    /// Becomes another program of this name.
    Exec(Box<str>),
    /// Writes a text into the trace.
    Marker(Box<str>),
    /// An interrupt on top of it wakes some task; its time is part of the runs around it.
    Interrupted {
        /// It is a timer's.
        by_timer: bool,
    },
    /// Ends.
    Exit,
}

impl ReplayStep {
    /// CPU time of a run; other steps have none that is known.
    pub(super) fn cpu_time(&self) -> Nanos {
        if let ReplayStep::Run(length) = self { *length } else { Nanos::ZERO }
    }

    /// The task that the step makes, if it makes one.
    pub(super) fn child(&self) -> Option<TaskIndex> {
        if let ReplayStep::Fork { child, .. } = self { Some(*child) } else { None }
    }
}

/// What ends a sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waking {
    /// A step [`ReplayStep::Wake`] of some task.
    Task,
    /// An interrupt of unknown cause, or something that the trace does not show.
    Outside {
        /// When.
        at: Nanos,
        /// On which CPU, if that is not the one on which the sleeper last ran.
        cpu: Option<u32>,
        /// How long the sleep had lasted then, where the trace shows it.
        slept: Option<Nanos>,
    },
    /// A soft timer of the kernel, which expires in the interrupt of the tick at this time.
    Tick {
        /// When.
        at: Nanos,
        /// On which CPU, if that is not the one on which the sleeper last ran.
        cpu: Option<u32>,
    },
    /// A device's interrupt, once it has served what a step [`ReplayStep::Submit`] of some task asked for.
    Served {
        /// When it was recorded.
        at: Nanos,
        /// On which CPU, if that is not the one on which the sleeper last ran.
        cpu: Option<u32>,
    },
    /// A piece of work. The steps up to the next such sleep are that piece; a worker takes the piece that
    /// comes first, whichever came first in the recording.
    Work {
        /// Its number among those of this task.
        number: u32,
        /// What brings it.
        by: Brought,
    },
    /// The rest of a piece of work, which has to wait for something, as for a disk. The worker does what else
    /// comes meanwhile, as the kernel has another worker do it.
    Rest {
        /// Its number among the pieces of this task.
        number: u32,
        /// What lets it go on.
        by: Brought,
    },
    /// A timer that was set to an absolute time.
    At(Nanos),
    /// A timer that was set to a span from the start of the sleep.
    After(Nanos),
    /// It sleeps until the end of the trace.
    Never,
}

/// What brings a piece of work, or lets it go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Brought {
    /// A step [`ReplayStep::Wake`] of some task.
    Task,
    /// As [`Waking::Outside`].
    Outside(Interrupt),
    /// As [`Waking::Tick`].
    Tick(Interrupt),
    /// As [`Waking::Served`].
    Served(Interrupt),
}

/// An interrupt at a recorded time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interrupt {
    /// When.
    pub at: Nanos,
    /// On which CPU, if that is not the one on which the sleeper last ran.
    pub cpu: Option<u32>,
}

/// Where a task ran and waited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Placement {
    /// The CPUs on which it ran; those above the largest number that a simulated machine can have are left
    /// out.
    pub ran_on: CpuMask,
    /// Time for which it was kept waiting for its last CPU, since it came there, while another one was idle.
    pub passed_idle_cpus: Nanos,
    /// The CPUs that it may use, where the trace says so.
    pub allowed: Option<CpuMask>,
    /// The only CPU that it may use, as far as can be told, from the start on or from [`ReplayStep::Pin`] on.
    pub pinned: Option<Pinned>,
}

/// An affinity to one CPU that the trace does not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pinned {
    /// Which.
    pub cpu: u32,
    /// Why it is believed.
    pub evidence: Evidence,
}

/// Why a task is taken to be pinned to one CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// A kernel thread whose name says so, and which ran there only.
    Name,
    /// It waited there for so long in all while another CPU was idle.
    Waited(Nanos),
    /// It was woken there so often where a pinned real-time task ran, which sends it elsewhere if it may go,
    /// while another CPU was idle.
    Stayed(u64),
    /// Interrupts woke it there so often, under a fair policy, where another fair task ran, while another CPU
    /// was idle.
    Woken(u64),
    /// It waited there so often, under real-time priority, behind a task at least as important, while another
    /// CPU ran one that it would have preempted if it might go there.
    Behind(u64),
    /// It and its siblings of the same name, none of which leaves its CPU, did so, so often in all.
    BehindAll(u64),
    /// Its parent is pinned there, and it ran nowhere else.
    Parent,
    /// So is one of its children by [`Evidence::Waited`], and neither it nor any other child has run
    /// elsewhere since.
    Children,
    /// The workload file says so.
    File,
}

/// Not for [`Evidence::File`]: the file itself is that.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evidence::Name => f.write_str("its name says so"),
            Evidence::Waited(time) => write!(f, "it waited there for {time} s while another CPU was idle"),
            Evidence::Stayed(times) => {
                write!(f, "it was woken there {times} times beside a pinned one while another CPU was idle")
            }
            Evidence::Woken(times) => {
                write!(
                    f,
                    "it was woken there {times} times on top of another task while another CPU was idle"
                )
            }
            Evidence::Behind(times) => {
                write!(f, "it waited there {times} times while another CPU ran something less important")
            }
            Evidence::BehindAll(times) => {
                write!(
                    f,
                    "it and others waited on theirs {times} times while one ran something less important"
                )
            }
            Evidence::Parent => f.write_str("its parent is, and it ran nowhere else"),
            Evidence::Children => f.write_str("one of its children is, and none ran elsewhere"),
            Evidence::File => f.write_str("the file says so"),
        }
    }
}
