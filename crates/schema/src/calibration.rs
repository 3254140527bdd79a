//! Schema `schedlab-calibrate/1`: where every entry of a machine file that was measured comes from.

use serde::{Deserialize, Serialize};

use crate::{CalibrateSchema, json};

/// This computer as a machine file, from `schedlab calibrate --format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Always `"schedlab-calibrate/1"`.
    pub schema: CalibrateSchema,
    /// Version of the program.
    pub version: String,
    /// The command line that measures again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Name of the machine.
    pub machine: String,
    /// How many CPUs it has.
    pub cpus: u32,
    /// How long it took in real time, ms.
    pub took_ms: u64,
    /// Why its figures may be wrong, if they may.
    pub warnings: Vec<String>,
    /// Every entry that a machine file may have, in the order of the file.
    pub entries: Vec<CalibratedEntry>,
    /// What was seen, or looked for, that no entry of a machine file says.
    pub observations: Vec<Observed>,
    /// How late timers were, by whose they were and what the CPU did meanwhile.
    pub timers: Vec<CalibratedTimer>,
    /// The timer slack of a fair task, as the kernel tells it; absent where it does not. Real-time tasks have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack_told_ns: Option<u64>,
    /// By how much later a fair task's timers were with that slack than without, by what a tenth of them was
    /// late at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack_seen_ns: Option<u64>,
    /// The text of the machine file.
    pub file: String,
}

/// An entry that a machine file may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CalibratedEntry {
    /// Its place in the file: `costs.line.own`. Of several at one place each has a number:
    /// `noise.irq_off[0]`.
    pub entry: String,
    /// What the file says, with its unit; absent where the file has no such entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where that comes from.
    pub from: EntryOrigin,
    /// What measured it; absent where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// How many samples of that there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// How exactly it was measured, with the spread of the samples and what was taken off; else why it was
    /// not, and what it is taken from.
    pub how: String,
}

/// Something that was looked for, and that no entry of a machine file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Observed {
    /// Of what: `stalls of the host`, `softirq RCU`.
    pub what: String,
    /// What was seen, in words; absent where nothing could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// How it was seen and what it changes; else why nothing could be seen.
    pub how: String,
}

/// Where an entry of a machine file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EntryOrigin {
    /// Measured on this computer.
    Measured,
    /// Printed somewhere, of another machine.
    Published,
    /// A guess.
    Assumed,
    /// The file does not have it.
    LeftOut,
}

impl EntryOrigin {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            EntryOrigin::Measured => "measured",
            EntryOrigin::Published => "published",
            EntryOrigin::Assumed => "assumed",
            EntryOrigin::LeftOut => "left out",
        }
    }
}

/// By how much sleeps until absolute times ended late.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CalibratedTimer {
    /// Policy of the sleeping thread, and whether it is without timer slack: `fifo`, `other`,
    /// `other, no slack`.
    pub policy: String,
    /// What the CPU does until the timer expires: `busy` with a fair task that spins, `idle`, or
    /// `idle, latency 0` while /dev/cpu_dma_latency is held, as by cyclictest.
    pub meanwhile: String,
    /// From one expiry to the next.
    pub interval_ns: u64,
    /// Number of sleeps.
    pub samples: u64,
    /// None was less late.
    pub floor_ns: u64,
    /// A tenth was not as late.
    pub p10_ns: u64,
    /// Half were not.
    pub p50_ns: u64,
    /// Nine of ten were not.
    pub p90_ns: u64,
    /// All but one of a hundred were not.
    pub p99_ns: u64,
    /// None was later.
    pub max_ns: u64,
}

impl Calibration {
    /// As indented JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// Reads what [`Calibration::to_json`] wrote.
    ///
    /// # Errors
    /// Text that is not JSON of this schema.
    pub fn from_json(text: &str) -> Result<Calibration, serde_json::Error> {
        serde_json::from_str(text)
    }
}
