//! The result of one run: everything needed to read it, to repeat it and to compare it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::why::LateBy;
use crate::{
    CpuResult, ExperimentText, FrequencyResult, GroupResult, IdleResult, LoadResult, PartitionResult,
    ReplayFidelity, RunSchema, TaskResult, Totals, json,
};

/// The result of one run, from `schedlab run --format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunResult {
    /// Always `"schedlab/1"`; anything else is refused on reading.
    pub schema: RunSchema,
    /// The command line that made this result, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What was asked for, so that it can be run again: `schedlab run RESULT.json`. Absent where that cannot
    /// be written down: a load or a machine of whoever programs against the library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<ExperimentText>,
    /// What ran, from which seed, for how long.
    pub engine: Engine,
    /// The simulated machine.
    pub machine: Machine,
    /// The scheduler's configuration.
    pub kernel: Kernel,
    /// The stretch of the run (`--from`, `--to`) to which tasks, CPUs, totals, decisions and the comparison
    /// with a recording are limited. Absent where they are those of all of it, as what the loads report
    /// always is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// Every task that the loads created, of a window those that lived in it, by pid.
    pub tasks: Vec<TaskResult>,
    /// Every CPU, by number.
    pub cpus: Vec<CpuResult>,
    /// Every task group, those above others before them, of the whole run; absent where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupResult>,
    /// The parts of a divided machine: each has a root domain of its own, and tasks do not go from one to
    /// another by themselves. Absent where it is in one piece.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<PartitionResult>,
    /// How fast CPUs ran that have several frequencies, and what that took, of the whole run; absent where
    /// none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<FrequencyResult>,
    /// How CPUs used the idle states of the machine, over the whole run; absent where its file has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleResult>,
    /// Sums over the whole machine.
    pub totals: Totals,
    /// What the loads themselves report, in the order in which they were given.
    pub loads: Vec<LoadResult>,
    /// For each replayed trace, how close the replay came to the recording. Absent when none was replayed on
    /// the machine and profile it was recorded on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay: Vec<ReplayFidelity>,
    /// How often the scheduler decided something for this reason, by the reason's name; `schedlab list
    /// decisions` says what each means.
    pub decisions: BTreeMap<String, u64>,
    /// What the latencies of tasks are due to (`--why`): by command name, the causes that take most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_by: Vec<LateBy>,
    /// Files as Linux shows them under /proc, of moments of the run (`--dump`), in the order asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dumps: Vec<Dump>,
    /// Why figures may mean something else than a reader expects, for the whole result, said before all of
    /// it: another kernel's fair class, SCHED_DEADLINE tasks, switches missing in a recording. One sentence
    /// each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What else a reader must know before trusting the figures. One sentence each.
    pub notes: Vec<String>,
}

impl RunResult {
    /// Leaves [`Engine::wall_ns`] out: the only field that may differ between two runs with the same inputs
    /// and seed. What remains must be equal byte for byte.
    pub fn forget_wall_clock(&mut self) {
        self.engine.wall_ns = None;
    }

    /// Reads a result from JSON.
    ///
    /// # Errors
    /// Text that is not JSON, another schema, an unknown or missing field, a value of the wrong type or
    /// range: the message says which, and at which line and column.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        serde_json::from_str(text).map_err(|source| ReadError { source })
    }

    /// The result as indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// Why a file is not a result of this schema.
#[derive(Debug, thiserror::Error)]
#[error(
    "not a result of schema {}: {source}{}", RunSchema::NAME,
    if source.is_eof() { "; the file was cut off, make it anew" } else { "; mend that, or make it anew" }
)]
pub struct ReadError {
    source: serde_json::Error,
}

impl ReadError {
    /// Line of the error, from 1; 0 if it has no place.
    #[must_use]
    pub fn line(&self) -> usize {
        self.source.line()
    }

    /// Column of the error, from 1; 0 if it has no place.
    #[must_use]
    pub fn column(&self) -> usize {
        self.source.column()
    }
}

/// A file as Linux shows it, of one moment of the run (fair-class 11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dump {
    /// As it was asked for: `sched_debug@2s`.
    pub file: String,
    /// The moment, nanoseconds of simulated time.
    pub at_ns: u64,
    /// Content of the file.
    pub text: String,
}

/// A stretch of a run, in simulated time; of a replay, since the first event of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Where it begins, nanoseconds.
    pub from_ns: u64,
    /// Where it ends, nanoseconds.
    pub to_ns: u64,
}

impl Window {
    /// How long it is, nanoseconds.
    #[must_use]
    pub fn length_ns(self) -> u64 {
        self.to_ns - self.from_ns
    }
}

/// What ran, from which seed, for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Version of schedlab.
    pub version: String,
    /// The seed of every random stream of the run.
    pub seed: u64,
    /// Events that the engine processed.
    pub events: u64,
    /// Simulated time, nanoseconds.
    pub simulated_ns: u64,
    /// Real time that the simulation took, nanoseconds; absent where there was no clock. The one field that
    /// differs between identical runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<u64>,
}

/// The simulated machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Name of the machine description.
    pub name: String,
    /// Number of CPUs.
    pub cpus: u32,
    /// How long it took from wakeups to the woken tasks on the recorded machine, by kind; the machine of the
    /// run takes as long where its own costs come to less. Empty where those alone decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded_paths: Vec<RecordedPath>,
}

/// How long it took from wakeups of one kind to the switches to the woken tasks, where nothing came between
/// the two. Kinds that the recording has ten times at least.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RecordedPath {
    /// Who woke, and what had to go: `interrupt-idle`, … `interrupt` or `task`: on the CPU of the woken task;
    /// `elsewhere`: another CPU, which queued the task; `handed-over`: another CPU, which left that to the
    /// task's (TTWU_QUEUE). `-idle`: the CPU was idle; `-lower`: it ran a task of lower rank than the woken
    /// real-time task.
    pub kind: String,
    /// The event from which it counts: `sched_wakeup`, or `sched_waking` where the recording has only that.
    pub from: String,
    /// How many the recording has.
    pub count: u64,
    /// The median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
}

/// The scheduler's configuration when the run began, complete: a profile's name alone would not repeat a run
/// after the profile is corrected. Names are those of `schedlab list features`, `list rules` and `list
/// tunables`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Name of the kernel profile.
    pub profile: String,
    /// What was asked for where that is no profile's name: a release, a distribution, the kernel of a
    /// recording. What is known to differ is in the notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Features by their kernel name (without `NO_`): on or off.
    pub features: BTreeMap<String, bool>,
    /// Historical behaviours by name: the one chosen.
    pub rules: BTreeMap<String, String>,
    /// Tunables by their sysctl name, in the unit of that name; may be negative.
    pub tunables: BTreeMap<String, i64>,
    /// What differs from the profile or changed during the run, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<KernelChange>,
}

impl RunResult {
    /// The stretches of the run between the times at which settings changed, in order: one without such
    /// changes.
    #[must_use]
    pub fn phases(&self) -> Vec<Phase> {
        let end = self.engine.simulated_ns;
        let mut starts: Vec<u64> = self.kernel.changes.iter().map(|change| change.at_ns).collect();
        starts.push(0);
        starts.retain(|start| *start < end);
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().copied().skip(1).chain([end]);
        starts.iter().zip(ends).map(|(&from_ns, to_ns)| Phase { from_ns, to_ns }).collect()
    }
}

/// A stretch of a run during which no setting changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// Where it begins, nanoseconds of simulated time.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
}

/// One setting that was asked for on top of the profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KernelChange {
    /// Simulated time at which it took effect, nanoseconds; 0 = before the run.
    pub at_ns: u64,
    /// The setting in Linux's syntax: `NO_RT_PUSH_IPI`, `sched_latency_ns=6000000`.
    pub setting: String,
}
