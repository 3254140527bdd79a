//! Schema `schedlab-inspect-compare/1`: two recordings side by side.

use serde::Serialize;

use crate::comparison::{Interval, Method, Verdict};
use crate::{InspectCompareSchema, json};

/// Two recordings side by side, from `schedlab inspect TRACE OTHER --format json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordingsComparison {
    /// Always `"schedlab-inspect-compare/1"`.
    pub schema: InspectCompareSchema,
    /// The command line that made this, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Version of schedlab.
    pub version: String,
    /// The first recording.
    pub first: RecordingHead,
    /// The second.
    pub second: RecordingHead,
    /// Into how many equal windows each was cut; their rates are the samples of a rate.
    pub windows: u64,
    /// How intervals and verdicts were found.
    pub method: Method,
    /// Command names that both have: those of the recorded command first, then the most CPU time first.
    pub commands: Vec<CommandOfBoth>,
    /// Figures that both have: those that changed first, the largest relative change first; then untested
    /// ones likewise; then the rest.
    pub figures: Vec<FigureDifference>,
    /// Command names of the first recording only.
    pub only_in_first: Vec<String>,
    /// Command names of the second recording only.
    pub only_in_second: Vec<String>,
    /// What to know before trusting the rest.
    pub notes: Vec<String>,
}

impl RecordingsComparison {
    /// The result as indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// How many figures have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.figures.iter().filter(|figure| figure.verdict == verdict).count()
    }
}

/// What a recording is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordingHead {
    /// Version of schedlab.
    #[serde(skip)]
    pub version: String,
    /// The file as it was given.
    pub trace: String,
    /// Its format in words.
    pub format: String,
    /// The kernel that recorded it, as in `uname`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// From the first event to the last.
    pub duration_ns: u64,
    /// CPUs of the machine.
    #[serde(rename = "n_cpus")]
    pub cpus: u32,
    /// Tasks that events mention, the idle task left out.
    pub tasks: u64,
    /// The longest wakeup latency, from the wakeup of a task to its next run; 0 without any.
    pub latency_max_ns: u64,
    /// Events that the recorder lost, as far as it knows.
    pub lost: u64,
}

/// Tasks of one name in both recordings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommandOfBoth {
    /// The name.
    pub comm: String,
    /// Whether the recorded command, or one of its descendants, has it in one of the two.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_command: bool,
    /// In the first recording.
    pub first: CommandTotals,
    /// In the second.
    pub second: CommandTotals,
}

/// What needs no statistics of the tasks of one name in one recording.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommandTotals {
    /// How many tasks have the name.
    pub tasks: u64,
    /// Their time on a CPU.
    pub cpu_time_ns: u64,
    /// The same per nanosecond of recording.
    pub cpu_share: f64,
    /// How many wakeup latencies were recorded.
    pub latencies: u64,
    /// The longest; 0 without any.
    pub latency_max_ns: u64,
}

/// A figure that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Time on a CPU, as a share of one CPU.
    CpuTime,
    /// Time in tasks, as a share of all CPUs.
    CpuUse,
    /// Time in the idle task, as a share of all CPUs.
    Idle,
    /// Switches per second, on all CPUs.
    Switches,
    /// Switches per second that ended in sleep.
    VoluntarySwitches,
    /// Switches per second away from a runnable task.
    InvoluntarySwitches,
    /// Moves to another CPU per second.
    Migrations,
    /// Wakeups per second.
    Wakeups,
    /// Mean time from wakeup to run, ns.
    LatencyMean,
    /// Its median, ns.
    LatencyP50,
    /// The time that 99 % of the latencies do not exceed, ns.
    LatencyP99,
}

/// The unit of a [`Figure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureUnit {
    /// 1 is one CPU, or all CPUs.
    Share,
    /// Events per second.
    PerSecond,
    /// Nanoseconds.
    Nanoseconds,
}

impl Figure {
    /// Its unit.
    #[must_use]
    pub fn unit(self) -> FigureUnit {
        match self {
            Figure::CpuTime | Figure::CpuUse | Figure::Idle => FigureUnit::Share,
            Figure::LatencyMean | Figure::LatencyP50 | Figure::LatencyP99 => FigureUnit::Nanoseconds,
            _ => FigureUnit::PerSecond,
        }
    }
}

/// One figure in both recordings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FigureDifference {
    /// Whose it is; absent for the whole machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comm: Option<String>,
    /// Which figure.
    pub figure: Figure,
    /// In the first recording.
    #[serde(rename = "first_value")]
    pub first: f64,
    /// In the second.
    #[serde(rename = "second_value")]
    pub second: f64,
    /// The second less the first.
    pub difference: f64,
    /// 95 % interval of the difference; absent where there are too few latencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// How often chance alone would give such a difference; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// Whether it changed.
    pub verdict: Verdict,
    /// The smallest step that both recordings can show.
    #[serde(skip)]
    pub step: f64,
}
