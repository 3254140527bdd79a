//! Everything that can be wrong with a tuning: what, where, and what to do.

use thiserror::Error;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum Error {
    /// What is wrong with the experiment, or a run of the base that fails.
    #[error("{0}")]
    Experiment(Box<lab::Error>),
    /// A figure that the load has not got.
    #[error(
        "no run has a metric `{text}`{}",
        nearest.as_ref().map_or_else(
            || format!("; there are: {}", known.join(", ")),
            |nearest| format!("; did you mean `{nearest}`?")
        )
    )]
    UnknownMetric {
        /// As it was given.
        text: String,
        /// The most similar name of one that runs have.
        nearest: Option<String>,
        /// The main figures that they have.
        known: Vec<String>,
    },
    /// A condition that is none.
    #[error("`{text}`: {problem}")]
    Constraint {
        /// As it was given.
        text: String,
        /// What is wrong, and what to write.
        problem: String,
    },
    /// A value at which a search is to end, and which is none.
    #[error("`{text}`: {problem}")]
    Until {
        /// As it was given.
        text: String,
        /// What is wrong, and what to write.
        problem: String,
    },
    /// A knob that cannot be.
    #[error("knob `{name}`: {problem}")]
    Knob {
        /// Its name.
        name: String,
        /// What is wrong, and what to write.
        problem: String,
    },
    /// Nothing to set.
    #[error("there is no knob: this kernel has nothing that can be set; describe some in a file of knobs")]
    NoKnob,
    /// A figure that is missing under some seeds, so that no pairs can be made.
    #[error("the base has no `{key}` under seed {seed}; give every run the same length, long enough for it")]
    Missing {
        /// Key of the metric.
        key: String,
        /// The first seed without it.
        seed: u64,
    },
    /// A condition that neither the base meets nor anything that was tried.
    #[error(
        "nothing that was tried meets `{text}`, and the base does not either: {base} there, {nearest} with {with}; \
         loosen it, or give other knobs"
    )]
    Unmet {
        /// The condition as it was given.
        text: String,
        /// The figure of the base.
        base: String,
        /// The nearest that was reached.
        nearest: String,
        /// With what.
        with: String,
    },
    /// A folder that does not take or give runs.
    #[error("{0}")]
    Keeping(Box<sweep::Error>),
    /// Somebody stopped it.
    #[error(
        "stopped after {made} of the {known} runs that it was known to need; {}",
        if *is_kept { "they are kept: started again, it goes on there" } else { "none is kept" }
    )]
    Stopped {
        /// Runs that have ended.
        made: u64,
        /// Those, and the ones that were still to be made of the step at which it was.
        known: u64,
        /// Whether they are kept.
        is_kept: bool,
    },
}

impl From<lab::Error> for Error {
    fn from(error: lab::Error) -> Error {
        Error::Experiment(Box::new(error))
    }
}

impl From<sweep::Error> for Error {
    fn from(error: sweep::Error) -> Error {
        Error::Keeping(Box::new(error))
    }
}
