//! Counters of one task.

use serde::{Deserialize, Serialize};

use crate::{DeadlineResult, LatencySummary};

/// Counters of one task, with the meaning that Linux gives them (rt-class 11.1, fair-class 11.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TaskResult {
    /// Task id; for a replayed trace the recorded one.
    pub pid: u32,
    /// Command name.
    pub comm: String,
    /// Scheduling policy under which it used most of its CPU time; without CPU time, the last one.
    pub policy: Policy,
    /// User-visible real-time priority 1..=99 that goes with it; 0 for fair policies. Without inheritance.
    pub rt_priority: u32,
    /// Nice value -20..=19 that goes with it.
    pub nice: i32,
    /// CPU time under every policy and priority that it had, in the order in which it first had them; empty
    /// if it never changed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time_under: Vec<TimeUnder>,
    /// Whether it is the command that was recorded or one of its descendants, in the replay of a trace that
    /// shows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_command: bool,
    /// When it exited, nanoseconds from the start of the run, of a replayed task from the start of the
    /// recording; absent if it lived at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exited_ns: Option<u64>,
    /// Switches away because the task blocked or ended.
    pub nr_voluntary_switches: u64,
    /// Switches away while runnable: preempted, slice used up, yielded.
    pub nr_involuntary_switches: u64,
    /// Times the task was assigned a CPU other than its previous one (`se.nr_migrations`).
    pub nr_migrations: u64,
    /// Passes through the outermost loop of the task's program that were completed.
    pub iterations: u64,
    /// CPU time used, nanoseconds (`se.sum_exec_runtime`).
    pub sum_exec_runtime_ns: u64,
    /// Time runnable but not running, nanoseconds (`wait_sum`).
    pub wait_sum_ns: u64,
    /// From wakeup to first running, nanoseconds. In a replay it counts from the event from which the
    /// recording's latencies do (`from` of a [`RecordedPath`](crate::RecordedPath)).
    pub wakeup_latency_ns: LatencySummary,
    /// The same apart, of a task that was both real-time and fair and woke as both; absent of others, whose
    /// latencies all belong to `policy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_by_class: Option<LatencyByClass>,
    /// What became of its jobs and budgets, if it was a deadline task, with what it asked for last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<DeadlineResult>,
}

impl TaskResult {
    /// Voluntary and involuntary switches together (`nr_switches`).
    #[must_use]
    pub fn nr_switches(&self) -> u64 {
        self.nr_voluntary_switches + self.nr_involuntary_switches
    }
}

/// Wakeup latencies by the policy that the task had when the wait began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyByClass {
    /// With a real-time policy, or `SCHED_DEADLINE`.
    pub realtime: ClassLatency,
    /// With a policy of the fair class.
    pub fair: ClassLatency,
}

/// Number, sum and largest of latencies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClassLatency {
    /// Number of wakeups.
    pub count: u64,
    /// All latencies together, nanoseconds.
    pub sum_ns: u64,
    /// Largest, nanoseconds.
    pub max_ns: u64,
}

/// CPU time of a task under one policy and priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimeUnder {
    /// The policy.
    pub policy: Policy,
    /// Real-time priority 1..=99; 0 for fair policies.
    pub rt_priority: u32,
    /// Nice value -20..=19.
    pub nice: i32,
    /// CPU time, nanoseconds.
    pub cpu_time_ns: u64,
}

/// A scheduling policy, named as by `chrt` and sched(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Policy {
    /// Fair class, `SCHED_NORMAL` in the kernel's source.
    #[serde(rename = "SCHED_OTHER")]
    Other,
    /// Real-time, first in first out.
    #[serde(rename = "SCHED_FIFO")]
    Fifo,
    /// Real-time, round robin.
    #[serde(rename = "SCHED_RR")]
    Rr,
    /// Fair class, never preempts on wakeup.
    #[serde(rename = "SCHED_BATCH")]
    Batch,
    /// Fair class with the smallest weight.
    #[serde(rename = "SCHED_IDLE")]
    Idle,
    /// Run time in each period, before all others.
    #[serde(rename = "SCHED_DEADLINE")]
    Deadline,
}

impl Policy {
    /// True for `SCHED_FIFO`, `SCHED_RR` and `SCHED_DEADLINE`.
    #[must_use]
    pub fn is_realtime(self) -> bool {
        matches!(self, Self::Fifo | Self::Rr | Self::Deadline)
    }

    /// The letters that `ps -o cls` prints: TS, FF, RR, B, IDL, DLN.
    #[must_use]
    pub fn class_letters(self) -> &'static str {
        match self {
            Self::Other => "TS",
            Self::Fifo => "FF",
            Self::Rr => "RR",
            Self::Batch => "B",
            Self::Idle => "IDL",
            Self::Deadline => "DLN",
        }
    }
}
