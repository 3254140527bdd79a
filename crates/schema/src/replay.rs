//! How close the replay of a trace came to the trace itself: how far a what-if on it may be trusted.

use serde::{Deserialize, Serialize};

use crate::{Machine, Question, ReplayVerdict};

/// One figure, as recorded and as simulated, in the unit of the field that holds it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fidelity {
    /// Read from the trace.
    pub recorded: u64,
    /// From the replay.
    pub simulated: u64,
}

impl Fidelity {
    /// The distance between the two.
    #[must_use]
    pub fn abs_error(self) -> u64 {
        self.recorded.abs_diff(self.simulated)
    }

    /// Adds another one to both sides.
    pub fn add(&mut self, other: Self) {
        self.recorded += other.recorded;
        self.simulated += other.simulated;
    }
}

/// A replay beside its recording, on the machine and profile it came from: how far a what-if on the trace may
/// be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayFidelity {
    /// The trace's file name.
    pub trace: String,
    /// What the replay ran on: the machine and the kernel of the recording, as far as they are known.
    pub reference: Reference,
    /// The tasks of the trace.
    pub tasks: Vec<ReplayTask>,
    /// All tasks together.
    pub summary: ReplaySummary,
    /// When what was recorded is done, nanoseconds from the start of the recording, as in
    /// [`super::ReplayFinish`]; absent if that is not known of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_ns: Option<Fidelity>,
    /// How far a replay may be trusted.
    pub verdict: ReplayVerdict,
}

/// On what a replay is compared with its recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The machine.
    pub machine: Machine,
    /// Name of the kernel profile.
    pub profile: String,
}

/// Context switches by the names of the two tasks: who follows whom on a CPU, the idle task included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayOrder {
    /// In the recording.
    pub recorded: u64,
    /// In the replay.
    pub simulated: u64,
    /// Those of either for which the other has one between the same two names.
    pub common: u64,
}

/// One task of a replayed trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayTask {
    /// Recorded task id.
    pub pid: u32,
    /// Recorded command name, the last one.
    pub comm: String,
    /// Whether it is the command that was recorded or one of its descendants, where the trace shows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_command: bool,
    /// CPU time, nanoseconds: on both sides what the kernel accounted (`sched_stat_runtime`), where the
    /// recording tells that, else the time between switches.
    pub cpu_time_ns: Fidelity,
    /// Context switches away from the task.
    pub nr_switches: Fidelity,
    /// Those to sleep.
    pub nr_voluntary_switches: Fidelity,
    /// Those while runnable.
    pub nr_involuntary_switches: Fidelity,
    /// Changes of CPU.
    pub nr_migrations: Fidelity,
    /// Wakeups of the task while it was off its CPU that made it run.
    pub wakeups: Fidelity,
    /// Those of them of which the switch to the task was recorded: the samples of the latencies.
    pub wakeup_latencies: Fidelity,
    /// Mean wakeup latency, nanoseconds.
    pub wakeup_latency_mean_ns: Fidelity,
    /// 99th percentile of the wakeup latency, nanoseconds.
    pub wakeup_latency_p99_ns: Fidelity,
    /// The longest, nanoseconds.
    pub wakeup_latency_max_ns: Fidelity,
    /// When it exited, nanoseconds from the start of the recording; absent if it did not on both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exited_ns: Option<Fidelity>,
    /// The questions for which the task's own figures are poor: `cpu_time`, `switches`, `latency`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub poor: Vec<Question>,
}

impl ReplayTask {
    /// Whether on this side the ends of half of its wakeups are known at least: the longer ones may be just
    /// those that are, because idle CPUs of virtual machines do not trace all their switches.
    pub fn tells_latency(&self, side: impl Fn(Fidelity) -> u64) -> bool {
        let samples = side(self.wakeup_latencies);
        samples > 0 && samples * 2 >= side(self.wakeups)
    }
}

/// All tasks of a replayed trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplaySummary {
    /// Number of tasks.
    pub tasks: u32,
    /// CPU time of all tasks, nanoseconds.
    pub cpu_time_ns: Fidelity,
    /// Sum of each task's distance in CPU time, nanoseconds: errors of two tasks do not cancel out here.
    pub cpu_time_abs_error_ns: u64,
    /// By how much the recorded CPU times may be wrong in all, because switches were not recorded and the
    /// kernel does not tell them either, nanoseconds.
    #[serde(default)]
    pub cpu_time_uncertain_ns: u64,
    /// Context switches of all tasks.
    pub nr_switches: Fidelity,
    /// Sum of each task's distance in switches.
    pub nr_switches_abs_error: u64,
    /// Those to sleep, of all tasks.
    #[serde(default)]
    pub nr_voluntary_switches: Fidelity,
    /// Wakeups of all tasks.
    pub wakeups: Fidelity,
    /// Those of which the switch to the task was recorded: the samples of the latencies.
    pub wakeup_latencies: Fidelity,
    /// Mean wakeup latency over all wakeups, nanoseconds.
    pub wakeup_latency_mean_ns: Fidelity,
    /// Mean of each task's distance in its mean latency, as often as the recording has it, nanoseconds; 0 if
    /// it has none.
    #[serde(default)]
    pub wakeup_latency_mean_abs_error_ns: u64,
    /// 99th percentile over all wakeups, nanoseconds.
    pub wakeup_latency_p99_ns: Fidelity,
    /// The longest wakeup latency, nanoseconds.
    pub wakeup_latency_max_ns: Fidelity,
    /// Who follows whom.
    pub order: ReplayOrder,
}
