//! Everything for which the program stops: what, where, and what to do.

use crate::calibration::{CalibrationError, CheckError};
use crate::fitted_machine::FittedMachineError;
use crate::outputs::OutputError;
use crate::recording::RecordError;
use crate::wording;
use report::numbers::exact_duration;
use scheduler::Nanos;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a command does not do what it was asked to.
#[derive(Debug, Error)]
pub enum Error {
    /// An experiment that is not possible, or that failed a check.
    #[error("{}", wording::of(.0))]
    Experiment(#[from] lab::Error),
    /// A sweep that is not possible, or does not go on.
    #[error("{}", wording::of_sweep(.0))]
    Sweep(Box<sweep::Error>),
    /// A tuning that is not possible.
    #[error("{}", wording::of_tune(.0))]
    Tune(Box<tune::Error>),
    /// Results without a place.
    #[error("--folder: a sweep from standard input has no name of which one could be made; give a folder")]
    SweepWithoutFolder,
    /// A cluster's address, and nothing that would go there.
    #[error("--address is that of a Ray cluster; add --engine ray, or leave it out")]
    AddressWithoutRay,
    /// Ray is Python's.
    #[error(
        "--engine ray runs in Python, and `{python}` has not got the packages schedlab and ray; install them: pip \
         install 'schedlab[ray]'"
    )]
    RayWithoutPython {
        /// Name of the interpreter.
        python: String,
    },
    /// The folder of a sweep that another process writes into.
    #[error(
        "another sweep or tuning is writing into {} now; wait for it, or give another folder",
        path.display()
    )]
    SweepBusy {
        /// As it was given.
        path: PathBuf,
    },
    /// Two processes that keep runs in one file.
    #[error("another process keeps its runs in {}; wait for it, or give another file", path.display())]
    RunsBusy {
        /// As it was given.
        path: PathBuf,
    },
    /// Runs of a program that is not this one.
    #[error(
        "the runs in {} were made by another build of schedlab, which may simulate otherwise; remove it, or give another \
         file",
        path.display()
    )]
    RunsOfAnother {
        /// As it was given.
        path: PathBuf,
    },
    /// A file that has the name of one of runs.
    #[error("{}, line {line}: no kept run: {problem}; remove it, or give another file", path.display())]
    RunsDamaged {
        /// As it was given.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A file that cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Nobody has said which experiments.
    #[error(
        "say which experiments: {names}; `all` makes {runs} runs, which take hours, and with --quick {quick_runs} \
         shorter ones, in about two minutes"
    )]
    NoExperimentNamed {
        /// Those that come with the program.
        names: String,
        /// Runs that all of them take.
        runs: u64,
        /// The same with fewer seeds.
        quick_runs: u64,
    },
    /// Experiments of which pictures were wanted, but none varies anything.
    #[error("nothing to plot: no experiment of `{0}` has a sweep; leave --plot out")]
    NothingToPlot(String),
    /// A fit for which nothing was asked that has one.
    #[error(
        "--fit: {0} has no table [fit], so nothing was fitted; leave it out \
         (experiments/README.md describes the table)"
    )]
    NothingFitted(String),
    /// Several fits, or one that chooses nothing of a machine, and a file for one machine.
    #[error("--fit-output: {0} fits no machine; name one experiment whose [fit] has figures of a `machine`")]
    NoFittedMachine(String),
    /// A machine's file that cannot be written anew.
    #[error("--fit-output: {0}")]
    FittedMachine(#[from] FittedMachineError),
    /// Pictures of distributions, of which there are none.
    #[error(
        "--plot: nothing that was run has a distribution; say of which runs you have one (validation/README.md), or \
         leave it out"
    )]
    NoDistribution,
    /// A picture of latencies, of which there are none.
    #[error("--plot: no task is late at all, so there is nothing to draw; leave it out")]
    NobodyLate,
    /// A picture of how long woken tasks waited, of which there are none.
    #[error("--plot: no task is woken at all, so there is nothing to draw; leave it out")]
    NobodyWoken,
    /// A picture of a time in which nothing happens.
    #[error(
        "--plot: nothing happens there: no CPU goes to another task, and no task is woken; take a longer stretch \
         (--from, --to)"
    )]
    NothingHappens,
    /// Neither a folder of references nor a name of one that comes with the program.
    #[error(
        "no references are called `{name}`: give a folder, a trace, or the beginning of one of these: {}",
        known.join(", ")
    )]
    UnknownReference {
        /// As it was given.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A folder without anything that could be validated.
    #[error(
        "{folder} has no references: no reference.toml, and no file that is called as a trace (NAME.dat, \
         NAME.perf.data, NAME.trace.txt, also with .gz)"
    )]
    NoReferences {
        /// As it was given.
        folder: String,
    },
    /// A load that is no trace, where only a trace will do.
    #[error("{path} is no trace; give a trace.dat or another file that `run` replays")]
    NotATrace {
        /// As it was given.
        path: String,
    },
    /// A stretch of no length.
    #[error(
        "--from, --to: {} is not after {}: there is nothing in between",
        exact_duration(.to.0),
        exact_duration(.from.0)
    )]
    NoStretch {
        /// Its beginning.
        from: Nanos,
        /// Its end.
        to: Nanos,
    },
    /// Options of a run beside a result that is run again.
    #[error(
        "{}: {result} is a result and says itself what to run; leave that out, or give its loads in place of the \
         result",
        options.join(", ")
    )]
    OptionsBesideResult {
        /// As it was given.
        result: String,
        /// What was typed.
        options: Vec<String>,
    },
    /// Options that say how to replay a recording, beside one that says not to.
    #[error("{}: with --tries 0 nothing is replayed; leave one of them out", options.join(", "))]
    NothingReplayed {
        /// What was typed.
        options: Vec<String>,
    },
    /// Attempts at what would have helped in a recording that can be read only once.
    #[error(
        "--tries: what would have helped is tried in a replay, and standard input can be read only once; store \
         it in a file and give that"
    )]
    TriesOfStream,
    /// An option that only recordings have, where there is no recording alone.
    #[error("{0} is for a recording alone, such as `schedlab why trace.dat`; leave it out")]
    NoRecording(&'static str),
    /// A result that is to be stored on standard output.
    #[error(
        "--save -: standard output has the result without it; give a file, or --format json in its place"
    )]
    SaveToStandardOutput,
    /// A page on standard output.
    #[error("--report -: standard output has the result; give a file for the page, such as report.html")]
    ReportToStandardOutput,
    /// A page whose name says that it is something else.
    #[error("--report {}: a page is HTML; give a name that ends in .html", .0.display())]
    ReportEnding(
        /// As it was given.
        PathBuf,
    ),
    /// A picture in another format.
    #[error("{}: pictures are SVG or PNG; give a name that ends in .svg or .png", .0.display())]
    PictureEnding(
        /// As it was given.
        PathBuf,
    ),
    /// A picture that cannot be drawn.
    #[error("{0}; give a name that ends in .svg")]
    Picture(report::plot::PngError),
    /// A page of a sweep on a Ray cluster.
    #[error(
        "--report is not for --engine ray; sweep there first, then with --report and without --engine: all runs are there \
         already, and the page is made of them"
    )]
    ReportByRay,
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
    /// Programs on this machine and in the simulation.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// No command has this name.
    #[error("no command is called `{name}`; there are: {}", known.join(", "))]
    UnknownCommand {
        /// As it was given.
        name: String,
        /// The commands that there are.
        known: Vec<String>,
    },
}

impl From<tune::Error> for Error {
    fn from(error: tune::Error) -> Error {
        match error {
            tune::Error::Experiment(error) => Error::Experiment(*error),
            other => Error::Tune(Box::new(other)),
        }
    }
}

impl From<sweep::Error> for Error {
    fn from(error: sweep::Error) -> Error {
        Error::Sweep(Box::new(error))
    }
}
