//! How far a replay may be from its recording and still be trusted, for each question that it may answer. The
//! file is that of the bounds by which the whole simulator is judged.

use std::sync::LazyLock;

use schema::Question;
use serde::Deserialize;

/// The limits of one question. A distance is relative to the recorded figure, in thousandths, and adds up
/// task by task: two tasks that are off in opposite directions do not cancel out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Up to this distance the answer is good.
    pub good_permille: u64,
    /// Up to this one it is fair, else poor.
    pub fair_permille: u64,
    /// With fewer of what is counted in the recording, no answer is given.
    pub least: u64,
}

/// The limits of every question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    cpu_time: Limits,
    switches: Limits,
    order: Limits,
    latency: Limits,
    finishing_time: Limits,
}

/// The part of the file that is about replays.
#[derive(Debug, Deserialize)]
struct OfReplays {
    thresholds: Thresholds,
}

/// Text of the bounds that come with the program.
pub const BOUNDS_FILE: &str = include_str!("../../../../validation/bounds.toml");

/// A test reads it, so that no user meets a file that cannot be read.
static THRESHOLDS: LazyLock<Thresholds> = LazyLock::new(|| {
    let file: OfReplays = toml::from_str(BOUNDS_FILE).expect("bounds.toml comes with the program");
    file.thresholds
});

/// The limits of a question.
#[must_use]
pub fn limits(question: Question) -> Limits {
    let thresholds = &*THRESHOLDS;
    match question {
        Question::CpuTime => thresholds.cpu_time,
        Question::Switches => thresholds.switches,
        Question::Order => thresholds.order,
        Question::Latency => thresholds.latency,
        Question::FinishingTime => thresholds.finishing_time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_in_order() {
        for question in Question::ALL {
            let Limits { good_permille, fair_permille, least } = limits(question);
            assert!(0 < good_permille && good_permille < fair_permille && least > 0, "{question:?}");
        }
    }
}
