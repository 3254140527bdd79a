//! Everything for which the program stops: what, where, and what to do.

use crate::calibration::CalibrationError;
use crate::outputs::OutputError;
use crate::recording::RecordError;
use machine::Window;
use report::text::exact_duration;
use std::io;
use thiserror::Error;

/// Why a command does not do what it was asked to.
#[derive(Debug, Error)]
pub enum Error {
    /// An experiment that is not possible, or that failed a check.
    #[error(transparent)]
    Experiment(#[from] lab::Error),
    /// A file that cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Experiments of which pictures were wanted, but none varies anything.
    #[error("nothing to plot: no experiment of `{0}` has a sweep; leave --plot out")]
    NothingToPlot(String),
    /// Several loads that are all read from standard input.
    #[error("standard input (`-`) can be one load only; write the others into files")]
    StdinTwice,
    /// A load that is no trace, where only a trace will do.
    #[error("{path} is no trace; give a trace.dat or another file that `run` replays")]
    NotATrace {
        /// As it was given.
        path: String,
    },
    /// Mutexes are to be inferred where nothing is inferred.
    #[error(
        "--locks inferred: none of the loads is a recording of Linux in which mutexes show: in tasks that lend \
         each other priorities (sched_pi_setprio), or of which anybody wakes anybody, by turns"
    )]
    NoMutexes,
    /// A stretch of no length.
    #[error(
        "--from, --to: {} is not after {}: there is nothing in between",
        exact_duration(.0.to.0),
        exact_duration(.0.from.0)
    )]
    NoStretch(Window),
    /// A command without a name.
    #[error(
        "the command to record is empty; write a program after `--`, such as schedlab record -- make -j4"
    )]
    EmptyCommand,
    /// A command that does not start.
    #[error("cannot run {program}: {source}")]
    Command {
        /// As it was given.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// A command is to run for a user who does not exist.
    #[error("no user is called `{name}`; `getent passwd` lists those that there are")]
    UnknownUser {
        /// As it was given.
        name: String,
    },
    /// A recording of this machine.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Measurements of this machine.
    #[error(transparent)]
    Calibrate(#[from] CalibrationError),
    /// No command has this name.
    #[error("no command is called `{name}`; there are: {}", known.join(", "))]
    UnknownCommand {
        /// As it was given.
        name: String,
        /// The commands that there are.
        known: Vec<String>,
    },
}
