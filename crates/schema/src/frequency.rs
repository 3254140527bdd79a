//! How fast CPUs ran that have several frequencies, and what that took.

use serde::{Deserialize, Serialize};

/// How fast CPUs ran, and what energy that took, of the whole run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FrequencyResult {
    /// Every CPU that has several frequencies, by number.
    pub cpus: Vec<CpuFrequency>,
    /// Energy of all of them, microjoules, by the model of the machine file: a CPU takes what the file says
    /// of its frequency while it is busy, and nothing while it idles. Absent where the file does not say
    /// that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_uj: Option<u64>,
    /// Where the machine file has its frequencies, and what they take, from: `published: ...` or
    /// `assumed: ...`, each once.
    pub origins: Vec<String>,
}

/// How fast a CPU ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CpuFrequency {
    /// CPU number.
    pub cpu: u32,
    /// Time that it was not idle, nanoseconds.
    pub busy_ns: u64,
    /// Its mean frequency over that time, kHz; of one that was never busy, its last.
    pub mean_khz: u64,
    /// What it took, microjoules; absent where the machine file does not say what it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_uj: Option<u64>,
}
