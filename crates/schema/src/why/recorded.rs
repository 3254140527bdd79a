//! What a recording tells of a wakeup beside its stretches: the figures of `perf sched timehist`, and who
//! woke the waker.

use super::{Handler, WhyTask};
use crate::Nanos;
use serde::Serialize;

/// What a recording tells of a wait beside its stretches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhyRecorded {
    /// When the task left a CPU before, and how; absent where it was not seen to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<WhyLeft>,
    /// From then to its switch in, nanoseconds: the *wait time* of perf sched timehist.
    #[serde(rename = "wait_ns", skip_serializing_if = "Option::is_none")]
    pub wait: Option<Nanos>,
    /// From its wakeup to its switch in, nanoseconds: the *sch delay* of perf sched timehist, which is 0 for
    /// a task that was preempted.
    #[serde(rename = "delay_ns")]
    pub delay: Nanos,
    /// Who woke it; behind each waker, who had woken that one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wakers: Vec<WhyWaker>,
    /// What began it all.
    pub origin: WhyOrigin,
}

/// How a task left its CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhyLeft {
    /// When, nanoseconds.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// In which state, as `sched_switch` writes it: `S` and `D` sleep, `R` and `R+` do not.
    pub state: &'static str,
}

/// A task that woke another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhyWaker {
    /// The waker.
    pub task: WhyTask,
    /// When it woke the other one, nanoseconds.
    #[serde(rename = "woke_ns")]
    pub woke: Nanos,
    /// When it was woken itself, nanoseconds; absent where that was not recorded.
    #[serde(rename = "woken_ns", skip_serializing_if = "Option::is_none")]
    pub woken: Option<Nanos>,
    /// For how long it waited for a CPU between the two, nanoseconds.
    #[serde(rename = "waited_ns")]
    pub waited: Nanos,
    /// When it left a CPU before that, and how; absent where it was not seen to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<WhyLeft>,
}

/// Where a chain of wakeups begins. JSON tells the kinds apart by the field `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WhyOrigin {
    /// With an interrupt.
    Handler {
        /// Which; absent where the recording does not tell.
        #[serde(skip_serializing_if = "Option::is_none")]
        handler: Option<Handler>,
    },
    /// Nowhere: tasks wake each other in a circle.
    Cycle {
        /// The first one that occurs for the second time.
        task: WhyTask,
    },
    /// With a task that was not woken: it was preempted, and is to go on.
    Preempted {},
    /// The chain is longer than is told here.
    Longer {},
    /// The recording does not tell.
    NotRecorded {},
}
