//! What is kept of a run.

use schema::Measurement;

/// A run that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Hash of all that decided it, 32 hexadecimal digits.
    pub run: String,
    /// Its experiment as JSON, which `schedlab run` runs again.
    pub experiment: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It ran.
    Ran {
        /// Events that the engine processed.
        events: u64,
        /// Simulated time, nanoseconds.
        simulated_ns: u64,
        /// All its figures, each in the unit of its metric.
        figures: Vec<Measurement>,
    },
    /// It could not be run, or not to its end: why.
    Failed(String),
}

impl Row {
    /// Why it failed, if it did.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Ran { .. } => None,
            Outcome::Failed(error) => Some(error),
        }
    }

    /// Events that the engine processed; 0 of a run that failed.
    #[must_use]
    pub fn events(&self) -> u64 {
        match &self.outcome {
            Outcome::Ran { events, .. } => *events,
            Outcome::Failed(_) => 0,
        }
    }
}
