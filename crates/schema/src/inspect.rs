//! Schema `schedlab-inspect/1`: what is in a recorded trace.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{GroupLimit, Histogram, InspectSchema, RtGroupLimit, json};

/// What is in a trace, from `schedlab inspect --format json`. Times are those of the recording, on its own
/// clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectResult {
    /// Always `"schedlab-inspect/1"`.
    pub schema: InspectSchema,
    /// The command line that made this result, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Version of schedlab.
    pub version: String,
    /// The file as it was given.
    pub trace: String,
    /// Its format in words.
    pub format: String,
    /// The recording program and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The kernel that recorded it, as in `uname`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Name of the trace clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// Times are multiples of this.
    pub resolution_ns: u64,
    /// Time of the first event that schedules, on the trace's clock; interrupts, timers and their like do not
    /// count.
    pub start_ns: u64,
    /// From that to the last such event.
    pub duration_ns: u64,
    /// Tasks that events mention, the idle task left out.
    pub tasks: u64,
    /// Tasks whose policy and affinity the recorder wrote down, also those without events.
    #[serde(default)]
    pub tasks_told: u64,
    /// Whether idle CPUs looked for work all the time, if the recorder wrote it down. Whether the others halt
    /// or wait with mwait is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_polls: Option<bool>,
    /// The command that the recorder ran, if it wrote it down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_command: Option<InspectCommand>,
    /// The machine and its kernel as they were set up (`hz`, `preempt`, `features`, `smt`, `governor`,
    /// sysctls, …), as far as the recorder wrote it down.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub host: BTreeMap<String, String>,
    /// Task groups, as far as the recorder, or the run, wrote them down; by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<InspectGroup>,
    /// Events by name.
    pub events: BTreeMap<String, u64>,
    /// Events that are neither about scheduling nor about what ends a wait, by name: counted, not read.
    pub left_out: BTreeMap<String, u64>,
    /// Where the recorder lost events.
    pub gaps: Vec<InspectGap>,
    /// Every CPU, by number.
    pub cpus: Vec<InspectCpu>,
    /// The table of `perf sched latency`.
    pub latency: InspectLatency,
    /// Distribution of the delays of that table.
    pub delays: InspectDurations,
    /// How long tasks stayed on a CPU between two switches.
    pub stays: InspectDurations,
    /// What could not be used, and what to know before trusting the rest, the gravest first.
    pub notes: Vec<InspectNote>,
}

impl InspectResult {
    /// The result as indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// A task group of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectGroup {
    /// Its path below the root; `autogroup-7` is a session.
    pub path: String,
    /// Processes that were in it, not in a group below.
    pub processes: u64,
    /// Its weight, as `cpu.weight` counts it, if it is not the usual 100; `null` also of a `cpu.idle` group.
    pub weight: Option<u64>,
    /// Whether it is a `cpu.idle` group.
    pub idle: bool,
    /// What its real-time tasks might use (`cpu.rt_runtime_us`, `cpu.rt_period_us`); absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rt: Option<RtGroupLimit>,
    /// Its limit (`cpu.max`, `cpu.max.burst`).
    pub max: Option<GroupLimit>,
}

/// A command that was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectCommand {
    /// Its process.
    pub tgid: u32,
    /// Its words, with blanks between.
    pub words: String,
}

/// Events that the recorder could not keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectGap {
    /// The CPU.
    pub cpu: u32,
    /// Time of the first event after the gap.
    pub before_ns: u64,
    /// How many are missing, where the recorder knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
}

/// One CPU of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectCpu {
    /// The CPU.
    pub cpu: u32,
    /// Switches on it.
    pub switches: u64,
    /// Time in the idle task.
    pub idle_ns: u64,
    /// Time in other tasks.
    pub busy_ns: u64,
    /// The rest: nothing was recorded that tells who ran.
    pub unknown_ns: u64,
}

/// The table of `perf sched latency -p`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectLatency {
    /// Which wakeups begin a delay: `wakeup`, as perf 6.1 does, or `waking`.
    pub delays_from: &'static str,
    /// Events from which run times were taken: `sched_stat_runtime`, as perf does, or `sched_switch` in a
    /// trace without that event.
    pub runtime_from: &'static str,
    /// Run time of all tasks.
    pub runtime_ns: u64,
    /// Switches of all tasks.
    pub switches: u64,
    /// Wakeups that began a delay.
    pub wakeups: u64,
    /// How often a CPU switched away from a task that had not come to it.
    pub context_switch_bugs: u64,
    /// The tasks that waited at least once, in perf's order: the longest mean delay first.
    pub rows: Vec<InspectTask>,
}

/// A row of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectTask {
    /// Thread id.
    pub pid: u32,
    /// Name; empty if nothing names it.
    pub comm: String,
    /// Whether it is the command that was recorded or one of its descendants, where the trace shows it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_command: bool,
    /// Time on a CPU.
    pub runtime_ns: u64,
    /// How often it came to run after a delay.
    pub switches: u64,
    /// Mean delay, rounded down.
    pub delay_mean_ns: u64,
    /// Longest delay.
    pub delay_max_ns: u64,
    /// When the longest began, on the trace's clock; 0 if no delay was longer than 0.
    pub delay_max_start_ns: u64,
    /// When it ended.
    pub delay_max_end_ns: u64,
}

/// How durations are distributed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectDurations {
    /// How many there are.
    pub count: u64,
    /// Arithmetic mean; 0 without durations.
    pub mean_ns: u64,
    /// The longest; 0 without durations.
    pub max_ns: u64,
    /// By powers of two, the shortest first, empty ones in between included.
    pub buckets: Vec<InspectBucket>,
}

impl InspectDurations {
    /// What a histogram tells of them.
    #[must_use]
    pub fn of(histogram: &Histogram) -> Self {
        Self {
            count: histogram.count(),
            mean_ns: histogram.mean_ns(),
            max_ns: histogram.max_ns(),
            buckets: histogram.powers_of_two(),
        }
    }
}

/// Durations from one power of two up to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectBucket {
    /// The shortest that can be in it.
    pub from_ns: u64,
    /// The shortest that is too long for it.
    pub to_ns: u64,
    /// How many there are.
    pub count: u64,
}

/// A kind of trouble.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InspectNote {
    /// Its stable name.
    pub name: &'static str,
    /// `info`, `data loss` or `error`.
    pub severity: String,
    /// How often.
    pub count: u64,
    /// What it means, where it was first, and its particulars there.
    pub text: String,
}
