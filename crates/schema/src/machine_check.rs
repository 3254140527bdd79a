//! Schema `schedlab-check/1`: small programs on this computer beside the same on a machine file.

use serde::{Deserialize, Serialize};

use crate::{CheckSchema, KernelChange, json};

/// How far a machine file holds on this computer, from `schedlab calibrate --check FILE --format json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MachineCheck {
    /// Always `"schedlab-check/1"`.
    pub schema: CheckSchema,
    /// Version of the program.
    pub version: String,
    /// The command line that checks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Name of the machine in the file.
    pub machine: String,
    /// How many CPUs it has.
    pub cpus: u32,
    /// The kernel of this computer, as `uname -r` tells it; absent where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// The profile under which the programs were simulated.
    pub kernel: String,
    /// What was set on top of the profile.
    pub settings: Vec<KernelChange>,
    /// How often that kernel ticks a second; absent where it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks_a_second: Option<u64>,
    /// How often each program ran on this computer.
    pub repetitions: u32,
    /// The seeds with which it was simulated.
    pub seeds: Vec<u64>,
    /// How long it took in real time, ms.
    pub took_ms: u64,
    /// Why the figures may mean less than they seem to, if they may.
    pub warnings: Vec<String>,
    /// The programs, in the order in which they ran.
    pub programs: Vec<CheckedProgram>,
}

/// A program that runs on this computer and in the simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CheckedProgram {
    /// Its name: `timers, idle CPU`.
    pub name: String,
    /// What it does, and what its figures are of.
    pub about: String,
    /// What the simulated one was told of the real one, in nanoseconds of CPU time: that of its own work,
    /// which is no figure of a machine; absent where that is next to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_ns: Option<u64>,
    /// Why it did not run; absent where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// Its figures; none where it did not run.
    pub figures: Vec<CheckedFigure>,
}

/// A figure of a program, measured and simulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CheckedFigure {
    /// Which: `p50`, `longest`, `lost`.
    pub what: String,
    /// What it counts.
    pub unit: CheckedUnit,
    /// On this computer: one for each repetition, in ascending order.
    pub here: Vec<u64>,
    /// In the simulation: the median over the seeds.
    pub simulated: u64,
    /// Where it was to be, at the least: below the least of the repetitions by the tolerance of such figures.
    pub at_least: u64,
    /// Where it was to be, at the most, likewise.
    pub at_most: u64,
}

/// What a figure of a program counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckedUnit {
    /// Nanoseconds.
    Ns,
    /// So many a second.
    PerSecond,
    /// Millionths of the time.
    Ppm,
}

impl CheckedFigure {
    /// The median of the repetitions; 0 without any.
    #[must_use]
    pub fn median(&self) -> u64 {
        self.here.get(self.here.len() / 2).copied().unwrap_or(0)
    }

    /// Whether the simulated one is where it was to be.
    #[must_use]
    pub fn is_within(&self) -> bool {
        (self.at_least..=self.at_most).contains(&self.simulated)
    }
}

impl MachineCheck {
    /// As indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// Reads what [`MachineCheck::to_json`] wrote.
    ///
    /// # Errors
    /// Text that is not JSON of this schema.
    pub fn from_json(text: &str) -> Result<MachineCheck, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The figures that are not where they were to be, as `timers, idle CPU: p99`.
    #[must_use]
    pub fn missed(&self) -> Vec<String> {
        let of = |program: &CheckedProgram| -> Vec<String> {
            let missed = program.figures.iter().filter(|figure| !figure.is_within());
            missed.map(|figure| format!("{}: {}", program.name, figure.what)).collect()
        };
        self.programs.iter().flat_map(of).collect()
    }

    /// How many figures there are.
    #[must_use]
    pub fn figures(&self) -> usize {
        self.programs.iter().map(|program| program.figures.len()).sum()
    }
}
