//! Task groups: as they can be written down, and what became of them (deadline-groups B).

use serde::{Deserialize, Serialize};

use crate::figures::figures;
use crate::{Better, Field, Figure, Fold};

/// Whether a path is that of a group or of one below it.
#[must_use]
pub fn is_in_group(path: &str, group: &str) -> bool {
    path.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A task group of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupText {
    /// Its path below the root: `web`, `system.slice/db`. Groups above it that nobody describes are as the
    /// kernel makes them.
    pub name: String,
    /// What is written into the files of its cgroup, one after the other, microseconds as there:
    /// `cpu.max:200000/100000`, `cpu.max.burst:50000`, `cpu.weight:300`, `cpu.weight.nice:-5`,
    /// `cpu.shares:2048`, `cpu.idle:1`; `cpu.rt_runtime_us:100000`, `cpu.rt_period_us:1000000`;
    /// `cpuset.cpus:2-3`, `cpuset.cpus.partition:isolated`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// Tasks that are in a group, with all that they fork and no other member names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MemberText {
    /// Path of the group.
    pub group: String,
    /// A name, a pattern of names or a pid; the name is that with which a task begins, in a recording any of
    /// its names.
    pub task: String,
}

/// A part of a divided machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PartitionResult {
    /// Its CPUs: `0-1,4`.
    pub cpus: String,
    /// Path of the group whose partition it is (`cpuset.cpus.partition`); absent of what those leave, and of
    /// `isolcpus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Whether its CPUs are in no sched domain: nothing balances them.
    pub isolated: bool,
}

/// What a task group came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupResult {
    /// Its path below the root.
    pub name: String,
    /// `cpu.weight`, 1 to 10000; absent of a group with `cpu.idle`, which weighs next to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u64>,
    /// `cpu.max`; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<GroupLimit>,
    /// What its real-time tasks may use of each CPU; absent where the kernel has no groups of these
    /// (RT_GROUP_SCHED), and of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rt: Option<RtGroupLimit>,
    /// `cpuset.cpus`: `2-3`; absent of a group that may use those of the one above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// `cpu.uclamp.min` and `cpu.uclamp.max`; absent of a group that clamps nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clamps: Option<GroupClamps>,
    /// What it used, and what its limit did.
    pub stat: GroupStat,
}

/// Clamps of the utilisation of a group's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupClamps {
    /// `cpu.uclamp.min`, 0 to 1024.
    pub min: u16,
    /// `cpu.uclamp.max`, 0 to 1024.
    pub max: u16,
}

/// A limit of real-time tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RtGroupLimit {
    /// `cpu.rt_runtime_us`: CPU time of each CPU in each period, nanoseconds; absent: all of it (-1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_ns: Option<u64>,
    /// `cpu.rt_period_us`: how often it is given; nanoseconds.
    pub period_ns: u64,
}

/// A limit of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupLimit {
    /// CPU time in each period, of all CPUs together, nanoseconds.
    pub quota_ns: u64,
    /// How often it is refilled, nanoseconds.
    pub period_ns: u64,
    /// How much of what was not used may be used later (`cpu.max.burst`), nanoseconds.
    pub burst_ns: u64,
}

figures! {
    /// `cpu.stat` of a group, of the whole run, with the names that it has there; times in nanoseconds. What
    /// a limit does is 0 without one.
    GroupStat:

    /// CPU time of its tasks and of the groups below it, whatever their class is (`usage_usec`).
    sum usage_ns: u64, Neutral "CPU time", metric 0;

    /// Its part of what the group above it used, of a group at the top, of what all tasks of the loads used;
    /// in thousandths.
    max share_permille: u64, Neutral "share, in thousandths", metric 1 headline;

    /// Periods of its limit that passed while anybody in it ran or waited.
    sum nr_periods: u64, Neutral "periods", metric 2;

    /// Periods in which it was throttled.
    sum nr_throttled: u64, Lower "throttled periods", metric 3 headline;

    /// How long its queues were throttled, summed over CPUs (`throttled_usec`).
    sum throttled_ns: u64, Lower "throttled time", metric 4;

    /// Periods in which it used more than its quota.
    sum nr_bursts: u64, Neutral "bursts", metric 5;

    /// CPU time above the quota in these periods (`burst_usec`).
    sum burst_ns: u64, Neutral "CPU time in bursts", metric 6;

    /// How often its real-time tasks had used up their time on a CPU (no kernel counts it).
    sum nr_rt_throttled: u64, Lower "times its real-time tasks were throttled", metric 7;

    /// How long they were throttled, summed over CPUs.
    sum rt_throttled_ns: u64, Lower "throttled time of its real-time tasks", metric 8;
}
