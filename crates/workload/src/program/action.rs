//! What a task does in one go, beyond steps that are the same each time ([`super::Op::Step`]): steps that are
//! drawn, looked up or made when the task gets to them, and what happens between two steps.

use super::template::Child;
use super::text::Text;
use crate::dist::Dist;
use crate::flag::Flag;
use crate::latency::LatencyRecorder;
use machine::{Env, ForkKind};
use scheduler::{CpuMask, Nanos, Nice, Policy, TaskId};
use std::fmt::Debug;
use std::rc::Rc;

/// A variable of a program that holds a point in time. All start at the time of the task's first instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TimeVar(pub u8);

/// One thing that a task does, other than a [`machine::LoneStep`].
#[derive(Clone, Debug)]
pub enum Action {
    /// Use this much CPU time in user mode.
    Run(Dist),
    /// Use this much CPU time inside the kernel.
    Kernel(Dist),
    /// Busy-wait for this long by the clock: time spent preempted counts (seed 000's `busy_loop`).
    Spin(Dist),
    /// Relative sleep.
    Sleep(Dist),
    /// Absolute sleep until the variable's time; returns at once when it has passed.
    SleepUntil(TimeVar),
    /// Create a task.
    Fork {
        /// Makes it.
        child: Child,
        /// How.
        kind: ForkKind,
    },
    /// Change a policy.
    SetPolicy {
        /// Whose.
        target: Target,
        /// New policy.
        policy: Policy,
    },
    /// Change a nice value.
    SetNice {
        /// Whose.
        target: Target,
        /// New nice value.
        nice: Nice,
    },
    /// Change an affinity.
    SetAffinity {
        /// Whose.
        target: Target,
        /// Allowed CPUs; apart, because every action is as large as the largest.
        cpus: Rc<CpuMask>,
    },
    /// Write text into the trace.
    Marker(Text),
    /// Set the variable to the current time.
    Mark(TimeVar),
    /// Set the variable to a time of the run.
    SetTime {
        /// Which.
        var: TimeVar,
        /// To when.
        to: Nanos,
    },
    /// Move the variable on by a period.
    Advance {
        /// Which.
        var: TimeVar,
        /// By how much.
        by: Dist,
        /// What happens if the result has passed already.
        overrun: Overrun,
    },
    /// Record now minus the variable's time (zero if that lies ahead): the latency of a wakeup, a response
    /// time.
    Probe {
        /// Since when.
        since: TimeVar,
        /// Where to.
        recorder: LatencyRecorder,
    },
    /// Count one pass of the main loop.
    Iteration,
    /// Turn a flag on.
    Raise(Flag),
    /// Let somebody look at the task.
    Observe(Rc<dyn Observer>),
}

impl Action {
    /// Whether this is a step of the machine. The other actions happen between two steps and take no time.
    pub fn takes_a_step(&self) -> bool {
        !matches!(
            self,
            Action::Mark(_)
                | Action::SetTime { .. }
                | Action::Advance { .. }
                | Action::Probe { .. }
                | Action::Iteration
                | Action::Raise(_)
                | Action::Observe(_)
        )
    }

    /// The variable that it uses.
    pub(super) fn time_var(&self) -> Option<TimeVar> {
        match self {
            Action::SleepUntil(var)
            | Action::Mark(var)
            | Action::SetTime { var, .. }
            | Action::Advance { var, .. }
            | Action::Probe { since: var, .. } => Some(*var),
            _ => None,
        }
    }
}

/// What [`Action::Advance`] does when the advanced time lies in the past already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overrun {
    /// Leave it there: the next cycles follow without a pause until the task has caught up.
    CatchUp,
    /// Go on by whole periods until the time lies in the future or is now (cyclictest).
    Skip,
    /// Start over from now: the period counts from here (rt-app's relative timers).
    Restart,
}

/// Whom a change of scheduling parameters concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The task itself.
    Caller,
    /// The child that it created last; itself while it has none.
    LastChild,
    /// A task known from the setup.
    Task(TaskId),
}

impl Target {
    pub(super) fn resolve(self, env: &Env<'_>) -> Option<TaskId> {
        match self {
            Target::Caller => None,
            Target::LastChild => env.last_child,
            Target::Task(task) => Some(task),
        }
    }
}

/// Looks at a task from within, between two of its steps.
pub trait Observer: Debug {
    /// `times` are the program's variables, by number.
    fn observe(&self, env: &Env<'_>, times: &[Nanos]);
}
