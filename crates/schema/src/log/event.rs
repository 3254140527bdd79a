//! What happens in a run.

use super::interrupt::{LogHeldOff, LogInterrupt, LogIpi};
use super::lock::LogLock;
use super::step::LogStep;
use crate::{CpuId, Nanos, Pid, Prio};
use serde::Serialize;

/// What happened. JSON tells the kinds apart by the field `kind`. What Linux has a tracepoint for is named
/// after that, and has its figures (rt-class 11.2): a task is one field here, with its pid and priority,
/// where Linux has `prev_pid` and `prev_prio`; its command name is told by [`LogEvent::Comm`]. A trace of the
/// run as text has the tracepoints with Linux's own fields.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LogEvent {
    /// A task has a command name from now on: at its beginning, and after an exec.
    Comm {
        /// Which task.
        of: Pid,
        /// The name.
        comm: Box<str>,
    },
    /// A CPU switches to another task (sched_switch).
    SchedSwitch {
        /// Who leaves.
        prev: LogTaskRef,
        /// In which state.
        prev_state: LogPrevState,
        /// Who comes.
        next: LogTaskRef,
    },
    /// A wakeup begins (sched_waking).
    SchedWaking {
        /// Who is woken.
        task: LogTaskRef,
        /// Its last CPU.
        target_cpu: CpuId,
    },
    /// A task has been woken: it is in its queue (sched_wakeup).
    SchedWakeup {
        /// Who was woken.
        task: LogTaskRef,
        /// The CPU chosen for it.
        target_cpu: CpuId,
    },
    /// A new task is in its queue (sched_wakeup_new).
    SchedWakeupNew {
        /// The new task.
        task: LogTaskRef,
        /// The CPU chosen for it.
        target_cpu: CpuId,
    },
    /// A task gets another CPU (sched_migrate_task).
    SchedMigrateTask {
        /// Who moves.
        task: LogTaskRef,
        /// Where it was.
        orig_cpu: CpuId,
        /// Where it goes.
        dest_cpu: CpuId,
    },
    /// Inheritance changes an effective priority (sched_pi_setprio).
    SchedPiSetprio {
        /// Whose.
        of: Pid,
        /// Before.
        oldprio: Prio,
        /// After.
        newprio: Prio,
    },
    /// CPU time is accounted (sched_stat_runtime).
    SchedStatRuntime {
        /// Whose.
        of: Pid,
        /// How much, nanoseconds.
        #[serde(rename = "runtime_ns")]
        runtime: Nanos,
        /// The task's virtual runtime afterwards, nanoseconds of a task of nice 0. A queue begins a little
        /// below zero; Linux's tracepoint shows such a number as one of nearly 2^64.
        vruntime_ns: i64,
    },
    /// A task forks (sched_process_fork).
    SchedProcessFork {
        /// Who.
        parent: Pid,
        /// The new task.
        child: Pid,
    },
    /// A task becomes another program (sched_process_exec).
    SchedProcessExec {
        /// Which task.
        of: Pid,
    },
    /// A task exits (sched_process_exit).
    SchedProcessExit {
        /// Which task.
        task: LogTaskRef,
    },
    /// A task writes a text into the trace.
    Marker {
        /// The text.
        text: Box<str>,
    },
    /// The task that runs takes a step of its program.
    Step {
        /// The step: its word (`compute`, `sleep-until`, `send`) and operands, times in nanoseconds, objects
        /// by number. `schedlab workload` says at the head of what it writes what such steps are.
        step: LogStep,
    },
    /// An interrupt brings a message to a channel.
    Message {
        /// The channel's number.
        channel: u32,
        /// Which interrupt brings it.
        by: LogArrival,
        /// When it came, nanoseconds since the start of the run; it may have had to wait.
        #[serde(rename = "at_ns")]
        at: Nanos,
    },
    /// A CPU runs at another frequency from now on (cpu_frequency).
    CpuFrequency {
        /// Which CPU.
        of_cpu: CpuId,
        /// In kHz.
        khz: u32,
    },
    /// A CPU enters an idle state of its machine, or leaves it (power:cpu_idle).
    CpuIdle {
        /// Which CPU.
        of_cpu: CpuId,
        /// The state's number; 4294967295 as it leaves.
        state: u32,
    },
    /// The scheduler decides something.
    Decision {
        /// About which task.
        of: Pid,
        /// Why so: `schedlab list decisions` says what each reason means.
        reason: &'static str,
    },
    /// Tasks of a CPU have used up their time there, and may not run.
    ThrottleBegins {
        /// The CPU.
        of_cpu: CpuId,
        /// Whose time.
        budget: LogBudget,
    },
    /// They have got more.
    ThrottleEnds {
        /// The CPU.
        of_cpu: CpuId,
        /// Whose time.
        budget: LogBudget,
    },
    /// A CPU has spun for a lock of the kernel, and has it now. (For that of a pipe a task has spun, with
    /// interrupts on, and this is the CPU on which it has it.)
    LockWait {
        /// Which lock.
        lock: LogLock,
        /// Since when it spun, nanoseconds since the start of the run.
        #[serde(rename = "since_ns")]
        since: Nanos,
        /// Which CPU held it when the wait began.
        holder: CpuId,
        /// How many CPUs waited for it then already.
        waiters: u16,
    },
    /// An interrupt arrives at a CPU, which serves its interrupts in the order in which they arrive.
    IrqRaise {
        /// Which interrupt.
        irq: LogInterrupt,
        /// Why the CPU does not take it at once; absent if it does.
        #[serde(skip_serializing_if = "Option::is_none")]
        held_off: Option<LogHeldOff>,
    },
    /// A CPU begins to serve an interrupt.
    IrqHandlerEntry {
        /// Which interrupt.
        irq: LogInterrupt,
    },
    /// It is through with it.
    IrqHandlerExit {},
    /// A CPU begins to work on what interrupts have left for their way out (irq:softirq_entry).
    SoftirqEntry {},
    /// It ends, whether that is done or waits for the next interrupt (irq:softirq_exit).
    SoftirqExit {},
    /// A CPU asks another one, or itself, for something.
    IpiSend {
        /// Whom.
        target_cpu: CpuId,
        /// For what.
        ipi: LogIpi,
        /// When it arrives there, nanoseconds since the start of the run.
        #[serde(rename = "arrives_ns")]
        arrives: Nanos,
    },
    /// A CPU asks another one for something that idles and watches its flag: there is no interrupt
    /// (sched_wake_idle_without_ipi).
    SchedWakeIdleWithoutIpi {
        /// Whom.
        target_cpu: CpuId,
        /// For what.
        ipi: LogIpi,
        /// When it notices, nanoseconds since the start of the run.
        #[serde(rename = "noticed_ns")]
        noticed: Nanos,
    },
    /// A CPU begins to choose whom it executes, which may end with a switch (`schedule()`).
    Schedule {},
    /// A CPU takes the interrupts that had to wait, or that wake it up.
    IrqEnter {
        /// How long it takes to wake up from idle first, nanoseconds; absent if it was not asleep.
        #[serde(rename = "idle_exit_ns", skip_serializing_if = "Option::is_none")]
        idle_exit: Option<Nanos>,
    },
    /// Behind a path of the kernel that this log tells of, a CPU executes its task, or idles.
    Executes {},
    /// The task that is about to execute finds a part of its working set outside the caches.
    CacheRefill {
        /// Where it executed before; absent if nowhere.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<CpuId>,
        /// How much longer it executes until everything is back, nanoseconds.
        #[serde(rename = "cost_ns")]
        cost: Nanos,
    },
    /// A task may use these CPUs and no others from now on; without such a record it may use all.
    CpusAllowed {
        /// Which task.
        of: Pid,
        /// The CPUs.
        cpus: Box<[CpuId]>,
    },
    /// The task has executed for a while beside a busy hardware thread of its core, and is not as far as it
    /// would be without that.
    SlowedBySibling {
        /// Since when, nanoseconds since the start of the run; until the time of this record.
        #[serde(rename = "since_ns")]
        since: Nanos,
        /// So much less of this time would have been enough, nanoseconds.
        #[serde(rename = "lost_ns")]
        lost: Nanos,
        /// The CPU that is the busy hardware thread; the first one, if there are several.
        sibling: CpuId,
    },
    /// A setting of the scheduler changes, or somebody outside changes a task.
    Setting {
        /// What changes, as `--set` takes it; of a task: `policy of PID: fifo:50`, `cpus of PID: 0-3`; of a
        /// task group, by its place among them: `limit of group 1: 20000000 ns, burst 0 ns`,
        /// `real-time of group 1: 20000000 ns`.
        setting: Box<str>,
    },
}

/// A task and the priority that it had at that moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogTaskRef {
    /// Its pid; 0: the idle task.
    pub pid: Pid,
    /// Its effective priority, as the kernel counts: 0 to 98 real-time (99 minus the user's), 100 to 139
    /// nice -20 to 19, 140 idle.
    pub prio: Prio,
}

/// A budget of CPU time, which tasks of a CPU share, or that one task has. JSON tells the kinds apart by
/// the field `kind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LogBudget {
    /// That of the real-time tasks.
    RealTime {},
    /// That of a task group (cpu.max).
    Group {
        /// Its place in `groups` of the head, from 0.
        group: u32,
    },
    /// That of the real-time tasks of a task group (cpu.rt_runtime_us).
    RtGroup {
        /// Its place in `groups` of the head, from 0.
        group: u32,
    },
    /// That of a deadline task, which may be on another CPU when it is over.
    Deadline {
        /// The task.
        pid: Pid,
    },
}

/// The state in which a task leaves a CPU, as sched_switch shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum LogPrevState {
    /// Runnable, and not preempted: it yielded.
    #[serde(rename = "R")]
    Runnable,
    /// Preempted.
    #[serde(rename = "R+")]
    Preempted,
    /// Interruptible sleep.
    #[serde(rename = "S")]
    Interruptible,
    /// Uninterruptible sleep.
    #[serde(rename = "D")]
    Uninterruptible,
    /// Gone.
    #[serde(rename = "X")]
    Dead,
}

/// How a message from outside arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogArrival {
    /// In an interrupt of its own.
    Own,
    /// In a tick.
    Tick,
}

impl LogEvent {
    /// Whether it tells what a program does, or what comes to it from outside.
    #[must_use]
    pub fn is_of_program(&self) -> bool {
        matches!(self, LogEvent::Step { .. } | LogEvent::Message { .. })
    }
}
