//! The step language: what a task can do next. Behaviours return steps and the engine takes them; traces tell
//! them, and programs are made of them.
//!
//! A step is declared once, in the table below: with its word in traces and workload files, its operands, and
//! what it means. What reads, writes or renumbers steps goes through their [`Operand`]s, and need not know a
//! new step; what takes it is a row of the engine's table (`engine/kernel/steps.rs`).
//!
//! Other languages contain this one and add what it cannot say: programs, what is drawn or looked up when a
//! task gets there; recorded steps, who ended which wait and how that is known; an rt-app thread, what it
//! writes down between two steps.

use crate::behaviour::{ForkKind, TaskSpec};
use crate::objects::{BarrierId, ChannelId, DeviceId, FutexId, SpinlockId};
use crate::sections::Sections;
use scheduler::{ClampRequest, CpuMask, MutexId, Nanos, Nice, Pid, Policy, TaskId};
use std::convert::Infallible;

/// A step as a trace tells it: who is forked, sched_process_fork says; other tasks go by their pids.
pub type ToldStep = Step<(), Pid>;

/// A step that concerns no other task: it can be written into a program.
pub type LoneStep = Step<Infallible, Infallible>;

/// Something that a step names.
#[derive(PartialEq, Eq, Debug)]
#[allow(missing_docs)] // Their types say what they are.
pub enum Operand<'s> {
    Time(&'s mut Nanos),
    Count(&'s mut u32),
    Mutex(&'s mut MutexId),
    Spinlock(&'s mut SpinlockId),
    Channel(&'s mut ChannelId),
    Device(&'s mut DeviceId),
    Futex(&'s mut FutexId),
    Barrier(&'s mut BarrierId),
    Channels(&'s mut Box<[ChannelId]>),
    Sections(&'s mut Sections),
    Policy(&'s mut Policy),
    Nice(&'s mut Nice),
    Clamps(&'s mut ClampRequest),
    Cpus(&'s mut CpuMask),
    ForkKind(&'s mut ForkKind),
    /// The last of its step.
    Text(&'s mut Box<str>),
    /// The first of its step: whom it concerns; `None`: the caller.
    Target(&'s mut Option<Pid>),
}

macro_rules! operands {
    ($($kind:ident: $type:ty),* $(,)?) => {
        $(impl<'s> From<&'s mut $type> for Operand<'s> {
            fn from(operand: &'s mut $type) -> Operand<'s> {
                Operand::$kind(operand)
            }
        })*
    };
}

operands! {
    Time: Nanos,
    Count: u32,
    Mutex: MutexId,
    Spinlock: SpinlockId,
    Channel: ChannelId,
    Device: DeviceId,
    Futex: FutexId,
    Barrier: BarrierId,
    Channels: Box<[ChannelId]>,
    Sections: Sections,
    Policy: Policy,
    Nice: Nice,
    Clamps: ClampRequest,
    ForkKind: ForkKind,
    Text: Box<str>,
    Target: Option<Pid>,
}

impl<'s> From<&'s mut Box<CpuMask>> for Operand<'s> {
    fn from(cpus: &'s mut Box<CpuMask>) -> Operand<'s> {
        Operand::Cpus(cpus)
    }
}

/// Each row: what the step means, its word, its name, its operands. Rows below `of other tasks` differ
/// between the engine's steps and those that are told.
macro_rules! steps {
    (
        $($(#[$doc:meta])* $word:literal $name:ident $(($one:ident: $type:ty))? $({
            $($(#[$field_doc:meta])* $field:ident: $field_type:ty,)*
        })?,)*
        of other tasks:
        $($(#[$other_doc:meta])* $other_word:literal $other:ident {
            $(#[$whom_doc:meta])* $whom:ident: $whom_type:ty,
            $(#[$what_doc:meta])* $what:ident: $what_type:ty,
        },)*
    ) => {
        /// One thing a task does. Durations are nominal: a cold cache, interrupts and preemption stretch
        /// them.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Step<Child = Box<TaskSpec>, Task = TaskId> {
            $($(#[$doc])* $name $(($type))? $({ $($(#[$field_doc])* $field: $field_type,)* })?,)*
            /// Create a task; the parent learns its id from [`crate::Env::last_child`].
            Fork {
                /// The new task.
                child: Child,
                /// How.
                kind: ForkKind,
            },
            $($(#[$other_doc])* $other {
                $(#[$whom_doc])* $whom: Option<$whom_type>,
                $(#[$what_doc])* $what: $what_type,
            },)*
        }

        impl<Child, Task> Step<Child, Task> {
            /// The same step where children and tasks are named in another way.
            ///
            /// # Errors
            /// That of the name which cannot be.
            #[inline]
            pub fn renamed<C, T, E>(
                &self,
                rename_child: impl FnOnce(&Child) -> Result<C, E>,
                rename_task: impl FnOnce(&Task) -> Result<T, E>,
            ) -> Result<Step<C, T>, E> {
                Ok(match self {
                    $(Step::$name $(($one))? $({ $($field),* })? => {
                        Step::$name $(($one.clone()))? $({ $($field: $field.clone()),* })?
                    })*
                    Step::Fork { child, kind } => Step::Fork { child: rename_child(child)?, kind: *kind },
                    $(Step::$other { $whom, $what } => Step::$other {
                        $whom: $whom.as_ref().map(rename_task).transpose()?,
                        $what: $what.clone(),
                    },)*
                })
            }
        }

        impl ToldStep {
            /// Its word; `-of` follows if it concerns another task.
            pub fn word(&self) -> &'static &'static str {
                match self {
                    $(Step::$name { .. } => &$word,)*
                    Step::Fork { .. } => &FORK,
                    $(Step::$other { .. } => &$other_word,)*
                }
            }

            /// The step with this word, all its operands zero, empty or the first of their kind.
            pub fn blank(word: &str) -> Option<ToldStep> {
                Some(match word {
                    $($word => Step::$name
                        $((<$type>::default()))?
                        $({ $($field: Default::default()),* })?,)*
                    FORK => Step::Fork { child: (), kind: ForkKind::default() },
                    $($other_word => Step::$other { $whom: None, $what: Default::default() },)*
                    _ => return None,
                })
            }

            /// Shows its operands in the order in which they are written.
            pub fn operands(&mut self, mut show: impl FnMut(Operand<'_>)) {
                match self {
                    $(Step::$name $(($one))? $({ $($field),* })? => {
                        $(show($one.into());)?
                        $($(show($field.into());)*)?
                    })*
                    Step::Fork { child: (), kind } => show(kind.into()),
                    $(Step::$other { $whom, $what } => {
                        show($whom.into());
                        show($what.into());
                    })*
                }
            }

            /// One of each.
            pub fn all() -> impl Iterator<Item = ToldStep> {
                let words = [$($word,)* FORK, $($other_word,)*];
                words.into_iter().filter_map(ToldStep::blank)
            }
        }
    };
}

const FORK: &str = "fork";

steps! {
    /// Execute in user mode for this long (CPU time of the task, warm cache).
    "compute" Compute(length: Nanos),
    /// Execute in user mode until the task's CPU clock has advanced by this, and read that all the time
    /// (CLOCK_THREAD_CPUTIME_ID): what interrupts take counts, and each reading charges the task (rule
    /// `clock_read`).
    "compute-by-clock" ComputeByClock(length: Nanos),
    /// Execute in user mode until the clock shows this time: a busy-wait on the wall clock, so time spent
    /// preempted counts (seed 000's `busy_loop`).
    "spin-until" SpinUntil(time: Nanos),
    /// Execute inside the kernel for this long: interrupts are served, but without full preemption the task
    /// keeps the CPU until the end (voluntary preemption).
    "kernel" KernelCompute(length: Nanos),
    /// clock_nanosleep to an absolute time. A time in the past returns at once, without blocking.
    "sleep-until" SleepUntil(time: Nanos),
    /// nanosleep for a span.
    "sleep-for" SleepFor(span: Nanos),
    /// pthread_mutex_lock; PI or plain is a property of the mutex. Unlocking a mutex that the task does not
    /// own, or locking one twice, stops the run with an error that names both.
    "lock" Lock(mutex: MutexId),
    /// pthread_mutex_unlock.
    "unlock" Unlock(mutex: MutexId),
    /// Take a user-space spinlock with back-off (fair-class 12.4).
    "spin-lock" SpinLock(lock: SpinlockId),
    /// Release it.
    "spin-unlock" SpinUnlock(lock: SpinlockId),
    /// Execute with short critical sections under user-space spinlocks on the way.
    "sections" Sections(work: Sections),
    /// Write one message; blocks while the channel is full. Wakes a reader (with the channel's sync hint).
    "send" Send(channel: ChannelId),
    /// Write one message without blocking (O_NONBLOCK): a full channel loses it. Wakes a reader, without the
    /// hint.
    "try-send" TrySend(channel: ChannelId),
    /// One such message to each of these, in one system call: the readers are woken one after the other, and
    /// who preempts the task meanwhile runs when all are.
    "try-send-all" TrySendAll(channels: Box<[ChannelId]>),
    /// Take another policy and write a message to each of these channels without blocking, in one system
    /// call: so a mutex with inheritance is unlocked, by a task that gives back the priority that it was lent
    /// and wakes who lent it.
    "give-back" GiveBack {
        /// The policy that is left to it.
        policy: Policy,
        /// Whom it wakes.
        wakes: Box<[ChannelId]>,
    },
    /// Read one message; blocks while the channel is empty. Wakes a blocked writer.
    "receive" Receive(channel: ChannelId),
    /// Hand a request to a device and go on at once. When the device has served it, its interrupt sends a
    /// message, which a full channel loses.
    "submit" Submit {
        /// Who serves it.
        device: DeviceId,
        /// How long that takes once the device begins with it.
        service: Nanos,
        /// Where the message goes.
        done: ChannelId,
    },
    /// FUTEX_WAIT: sleep until woken. Tokens posted by [`Step::FutexWake`] while nobody waits are lost.
    "futex-wait" FutexWait(futex: FutexId),
    /// FUTEX_WAKE: wake up to `count` waiters in the order of rt-class 7.6.
    "futex-wake" FutexWake {
        /// What they wait on.
        futex: FutexId,
        /// At most this many.
        count: u32,
    },
    /// pthread_barrier_wait.
    "barrier" BarrierWait(barrier: BarrierId),
    /// execve, to a program of this name: charges its cost, may move the task (SD_BALANCE_EXEC), completes a
    /// vfork.
    "exec" Exec(comm: Box<str>),
    /// wait(2) for any child; returns at once when there is none.
    "wait-child" WaitChild,
    /// Leave. Every behaviour ends with this.
    "exit" Exit,
    /// sched_yield.
    "yield" Yield,
    /// sched_setattr on itself: requests of this length under EEVDF, from 0.1 to 100 ms; zero: as long as
    /// everybody's (eevdf-class 0.6).
    "set-slice" SetSlice(runtime: Nanos),
    /// sched_setattr on itself: clamps of utilisation (deadline-groups B11). What a kernel without them, or
    /// any kernel, refuses ends the run.
    "set-clamps" SetClamps(request: ClampRequest),
    /// Text into the trace, as ftrace_write does. Costs a system call.
    "marker" Marker(text: Box<str>),
    of other tasks:
    /// sched_setscheduler on a task (itself with `None`).
    "set-policy" SetPolicy {
        /// Whom; `None`: the caller.
        target: Task,
        /// New policy.
        policy: Policy,
    },
    /// setpriority on a task (itself with `None`).
    "set-nice" SetNice {
        /// Whom; `None`: the caller.
        target: Task,
        /// New nice value.
        nice: Nice,
    },
    /// sched_setaffinity on a task (itself with `None`).
    "set-cpus" SetAffinity {
        /// Whom; `None`: the caller.
        target: Task,
        /// New set of allowed CPUs; intersected with the machine's. Empty is an error that ends the run.
        /// Apart, because every step is as large as the largest.
        cpus: Box<CpuMask>,
    },
}

impl Step {
    /// How a trace tells it, where tasks have these pids.
    pub fn told(&self, pid: impl Fn(TaskId) -> Pid) -> ToldStep {
        let Ok(told) = self.renamed(|_| Ok::<(), Infallible>(()), |task| Ok(pid(*task)));
        told
    }
}

/// A told step that concerns another task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAlone;

impl ToldStep {
    /// The step to be taken again.
    ///
    /// # Errors
    /// It concerns another task, which has to be found first.
    pub fn again(&self) -> Result<Step, NotAlone> {
        self.renamed(|()| Err(NotAlone), |_| Err(NotAlone))
    }
}

impl LoneStep {
    /// The step to be taken.
    #[inline]
    pub fn step(&self) -> Step {
        let Ok(step) =
            self.renamed(|none| -> Result<_, Infallible> { match *none {} }, |none| match *none {});
        step
    }
}
