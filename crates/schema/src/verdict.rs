//! How far a replay may be trusted: one grade for each question that it may be asked.

use serde::{Deserialize, Serialize};

/// How far an answer may be trusted. The better comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The replay does what was recorded.
    Good,
    /// Changes that are much larger than the distance may be trusted.
    Fair,
    /// It does not do what was recorded.
    Poor,
    /// Too little was recorded to tell.
    Unknown,
}

impl Grade {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
            Self::Unknown => "unknown",
        }
    }
}

/// What a replay may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// How much CPU time does a task use?
    CpuTime,
    /// How often is it switched away from?
    Switches,
    /// Which task follows which?
    Order,
    /// How long does a woken task wait?
    Latency,
    /// When is what was recorded done?
    FinishingTime,
}

impl Question {
    /// All, in the order of a verdict.
    pub const ALL: [Self; 5] =
        [Self::CpuTime, Self::Switches, Self::Order, Self::Latency, Self::FinishingTime];

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuTime => "CPU time",
            Self::Switches => "switches",
            Self::Order => "order",
            Self::Latency => "latency",
            Self::FinishingTime => "finishing time",
        }
    }
}

/// A grade, and the figures that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// How far it may be trusted.
    pub grade: Grade,
    /// Distance of the replay from the recording, in thousandths of the recorded figure.
    pub off_permille: u64,
    /// How much the recording has of it: microseconds of CPU time, switches, wakeups, microseconds until all
    /// was done.
    pub counted: u64,
    /// By how much the recorded figure itself may be wrong, in thousandths: of `cpu_time` only. Absent where
    /// that is less than what a good answer may be off; else the grade is `fair` at best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertain_permille: Option<u64>,
}

/// How far a replay may be trusted. The limits of the grades stand in one file,
/// `validation/bounds.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayVerdict {
    /// The worst grade of those that are known.
    pub overall: Grade,
    /// The verdict in one sentence.
    pub sentence: String,
    /// CPU time, task by task.
    pub cpu_time: Answer,
    /// Context switches, task by task.
    pub switches: Answer,
    /// Which task follows which on a CPU.
    pub order: Answer,
    /// Wakeup latency: its mean task by task, or its 99th percentile over all wakeups if that is further off.
    pub latency: Answer,
    /// When what was recorded is done; what had not finished when the run ended is off by all of it.
    pub finishing_time: Answer,
}

impl ReplayVerdict {
    /// The grade of one question.
    #[must_use]
    pub fn grade(&self, question: Question) -> Grade {
        let answer = match question {
            Question::CpuTime => self.cpu_time,
            Question::Switches => self.switches,
            Question::Order => self.order,
            Question::Latency => self.latency,
            Question::FinishingTime => self.finishing_time,
        };
        answer.grade
    }
}
