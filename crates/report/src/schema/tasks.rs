//! Counters of one task.

use serde::{Deserialize, Serialize};

use super::LatencySummary;

/// Counters of one task, with the meaning that Linux gives them (rt-class 11.1, fair-class 11.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskResult {
    /// Task id; for a replayed trace the recorded one.
    pub pid: u32,
    /// Command name.
    pub comm: String,
    /// Scheduling policy at the end of the run.
    pub policy: Policy,
    /// User-visible real-time priority 1..=99; 0 for fair policies. Without inheritance.
    pub rt_priority: u32,
    /// Nice value -20..=19.
    pub nice: i32,
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
    /// From wakeup to first running, nanoseconds.
    pub wakeup_latency_ns: LatencySummary,
}

impl TaskResult {
    /// Voluntary and involuntary switches together (`nr_switches`).
    #[must_use]
    pub fn nr_switches(&self) -> u64 {
        self.nr_voluntary_switches + self.nr_involuntary_switches
    }
}

/// A scheduling policy, named as by `chrt` and sched(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
}

impl Policy {
    /// True for `SCHED_FIFO` and `SCHED_RR`.
    #[must_use]
    pub fn is_realtime(self) -> bool {
        matches!(self, Self::Fifo | Self::Rr)
    }

    /// The two letters that `ps -o cls` prints: TS, FF, RR, B, IDL.
    #[must_use]
    pub fn class_letters(self) -> &'static str {
        match self {
            Self::Other => "TS",
            Self::Fifo => "FF",
            Self::Rr => "RR",
            Self::Batch => "B",
            Self::Idle => "IDL",
        }
    }
}
