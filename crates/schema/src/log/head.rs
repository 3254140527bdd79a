//! What ran: the first line of a log.

use crate::{CpuId, Kernel, LogSchema, Machine, Nanos, Pid, Policy};
use serde::Serialize;

/// What ran, from which seed, for how long: all that its repetition needs. The first line of the log of a
/// run, from `schedlab run --trace OUT.jsonl`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogHead {
    /// Always `"schedlab-log/1"`.
    pub schema: LogSchema,
    /// Version of schedlab.
    pub version: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Simulated time at the end, nanoseconds.
    pub simulated_ns: u64,
    /// The simulated machine.
    pub machine: Machine,
    /// The scheduler's configuration.
    pub kernel: Kernel,
    /// The loads, as they were given.
    pub loads: Vec<String>,
    /// What the tasks shared, in the words of a workload file: steps name these by number.
    pub objects: Vec<String>,
    /// Every task and how it began, by pid.
    pub tasks: Vec<LogTask>,
    /// The idle states of its CPUs, where they have several: `cpu_idle` names them by number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle_states: Vec<String>,
    /// Every task group, and who was in it at the end, or when it was gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<LogGroup>,
}

/// A task group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogGroup {
    /// Its path, without a slash at the beginning.
    pub path: String,
    /// Its own tasks, by pid; those of the groups below it are theirs.
    pub tasks: Vec<Pid>,
}

/// How a task began.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogTask {
    /// Its pid.
    pub pid: Pid,
    /// When it is runnable for the first time, nanoseconds since the start of the run; absent if another task
    /// forks it.
    #[serde(rename = "start_ns", skip_serializing_if = "Option::is_none")]
    pub start: Option<Nanos>,
    /// The CPU on which it starts; absent where the kernel decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuId>,
    /// Its command name at the beginning.
    pub comm: String,
    /// Its policy then.
    pub policy: Policy,
    /// Its real-time priority then, 1..=99; 0 for fair policies.
    pub rt_priority: u32,
    /// Its nice value then, -20..=19.
    pub nice: i32,
    /// The CPUs that it may use, as a list; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// How much memory it touches again and again, bytes.
    pub working_set_bytes: u64,
    /// What it reads from memory in a microsecond in which it executes at full speed, bytes; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_bytes_per_us: Option<u32>,
    /// By how much its timers may be late, nanoseconds.
    pub timer_slack_ns: u64,
}
