//! What can be wrong with a load.

use super::elsewhere::Nearest;
use crate::dist::DistError;
use crate::program::ProgramError;
use crate::rtapp::RtAppError;

/// A load that was not understood, or that this machine cannot run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LoadError {
    /// Nothing between the quotes.
    #[error("empty load: give a command line such as 'cyclictest -t8 -p90'")]
    Empty,
    /// Not splittable into words.
    #[error("load `{command}`: a quote is not closed, or a backslash stands at the end")]
    Quotes {
        /// The text.
        command: String,
    },
    /// No load of this name.
    #[error("unknown load '{name}'{}; `schedlab list loads` shows all", did_you_mean(.nearest))]
    Unknown {
        /// The first word.
        name: String,
        /// The nearest known name.
        nearest: Option<String>,
    },
    /// A program that is not among the loads, but something like it is.
    #[error(
        "{name} is not among the loads; nearest comes `{}`: {}; `schedlab list loads` shows all",
        .nearest.command, .nearest.why
    )]
    Elsewhere {
        /// Name of the program.
        name: String,
        /// What is.
        nearest: &'static Nearest,
    },
    /// An option that the load does not have.
    #[error(
        "{load}: unknown option '{option}'{}; `schedlab list loads --explain {load}` shows its options",
        did_you_mean(.nearest)
    )]
    UnknownOption {
        /// Name of the load.
        load: String,
        /// The option as written.
        option: String,
        /// The nearest known option.
        nearest: Option<String>,
    },
    /// An option with a value that does not do, or options that exclude each other.
    #[error("{load}: {message}")]
    Usage {
        /// Name of the load.
        load: String,
        /// What is wrong and what to write instead.
        message: String,
    },
    /// A distribution of the load is impossible.
    #[error("{load}: {source}")]
    Dist {
        /// Name of the load.
        load: String,
        /// Why.
        source: DistError,
    },
    /// A program of the load is impossible.
    #[error("{load}: {source}")]
    Program {
        /// Name of the load.
        load: String,
        /// Why.
        source: ProgramError,
    },
    /// An rt-app file that this machine cannot run.
    #[error(transparent)]
    RtApp(#[from] RtAppError),
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |n| format!("; did you mean '{n}'?"))
}
