//! Everything that can be wrong with a sweep: what, where, and what to do.

use std::io;
use thiserror::Error;

/// Why a sweep does not go on. What is in its folder stays there.
#[derive(Debug, Error)]
pub enum Error {
    /// What is wrong with the experiment.
    #[error("{0}")]
    Experiment(Box<lab::Error>),
    /// An axis that cannot be.
    #[error("axis `{name}`: {problem}")]
    Axis {
        /// As it was given.
        name: String,
        /// What is wrong, and what to write.
        problem: String,
    },
    /// An axis that means nothing.
    #[error(
        "unknown axis `{name}`{}; there are kernel, cpus, machine, settings and seed, and whatever stands as \
         {{name}} in a load or the settings",
        nearest.as_ref().map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"))
    )]
    UnknownAxis {
        /// As it was given.
        name: String,
        /// The most similar one that would mean something.
        nearest: Option<String>,
    },
    /// A place for a value that no axis has.
    #[error("`{text}`: no axis is called {{{name}}}; give it values: an axis of this name")]
    Unfilled {
        /// The load or the settings.
        text: String,
        /// Between the braces.
        name: String,
    },
    /// More runs than anybody can wait for.
    #[error("these axes make {runs} runs, and a sweep has at most {most}; leave values out")]
    TooMany {
        /// As many would it be.
        runs: u128,
        /// As many can there be.
        most: u32,
    },
    /// A value of an axis with which nothing can be run.
    #[error("axis `{axis}`, value `{value}`: {source}")]
    OfValue {
        /// Name of the axis.
        axis: String,
        /// The value.
        value: String,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// A metric that no run has.
    #[error(
        "no run has a metric `{key}`{}",
        nearest.as_ref().map_or_else(
            || format!("; there are: {}", known.join(", ")),
            |nearest| format!("; did you mean `{nearest}`?")
        )
    )]
    UnknownMetric {
        /// As it was given.
        key: String,
        /// The most similar one that runs have.
        nearest: Option<String>,
        /// All that they have.
        known: Vec<String>,
    },
    /// A folder that does not take or give what it should.
    #[error("{name}: {source}; what has been finished is kept: mend that, and start it again")]
    Folder {
        /// The file, or the folder.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// A file of results that cannot be read.
    #[error("{name} is damaged ({problem}); remove it, and its runs are made again")]
    Damaged {
        /// Name of the file.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// What runs the chunks cannot go on.
    #[error("{engine}: {problem}")]
    Engine {
        /// Name of the engine.
        engine: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// Somebody stopped it.
    #[error("stopped after {done} of {runs} runs; started again, it goes on there")]
    Stopped {
        /// Runs that have their rows.
        done: u64,
        /// All.
        runs: u64,
    },
}

impl From<lab::Error> for Error {
    fn from(error: lab::Error) -> Error {
        Error::Experiment(Box::new(error))
    }
}

impl Error {
    /// That writing or reading failed.
    pub(crate) fn folder(name: &str, source: io::Error) -> Error {
        Error::Folder { name: name.to_owned(), source }
    }
}
