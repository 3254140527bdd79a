//! Everything that can be wrong with an experiment: what, where, and what to do.

use crate::kernel::KernelError;
use machine::{RunError, SpecError};
use report::compare::CompareError;
use report::numbers::{exact_duration, exact_moment, moment};
use scheduler::Nanos;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use suggest::listed;
use thiserror::Error;
use trace::ReadError;
use workload::load::LoadError;
use workload::replay::{TaskSelector, WorkloadError};
use workload::rtapp::RtAppError;

/// How many names an error lists.
const LISTED: usize = 8;

/// Why there is no result.
#[derive(Debug, Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// As it was given.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// An experiment without a load.
    #[error("no load; give a command line such as 'cyclictest -t8 -p90', an rt-app file or a trace")]
    NoLoad,
    /// Several loads that are all read from standard input.
    #[error("standard input (`-`) can be one load only; write the others into files")]
    StdinTwice,
    /// Mutexes are to be inferred where nothing is inferred.
    #[error(
        "none of the loads is a recording of Linux in which mutexes show: in tasks that lend each other priorities \
         (sched_pi_setprio), or of which anybody wakes anybody, by turns"
    )]
    NoMutexes,
    /// A file that is not what it was when an experiment was written down.
    #[error(
        "{path} has changed: its content has the hash {found} (xxh128), and had {expected} when it ran; run it anew, or put \
         the file of then in its place"
    )]
    Changed {
        /// As it was given.
        path: String,
        /// Hash of the content that ran.
        expected: String,
        /// Hash of the content that is there.
        found: String,
    },
    /// A file that has the name of a result and is none.
    #[error("{path}: {source}")]
    Result {
        /// As it was given.
        path: String,
        /// What is wrong, and where.
        source: schema::ReadError,
    },
    /// A document of another kind in place of the result of a run.
    #[error(
        "{path} is of schema {schema}: what can be run again is the result of one run, of schema schedlab/1, or one \
         `experiment` of this file in a file of its own"
    )]
    OtherResult {
        /// As it was given.
        path: String,
        /// Its schema.
        schema: String,
    },
    /// A file that begins as an experiment's text and is none.
    #[error("{path}: not an experiment: {}", suggest::in_words(&.source.to_string()))]
    Experiment {
        /// As it was given.
        path: String,
        /// What is wrong, and where.
        source: schema::ExperimentError,
    },
    /// A result that does not say what ran.
    #[error(
        "{path} does not say what ran (`experiment`): it is of a version that did not write that, or of a program with a \
         load of its own{}",
        .command.as_ref().map_or(String::new(), |command| format!("; its command was {command}"))
    )]
    ResultWithoutText {
        /// As it was given.
        path: String,
        /// The command line that made it, where it says so.
        command: Option<String>,
    },
    /// A result beside other loads, or through a pipe.
    #[error("{path} is a result or an experiment, no load: it is run again alone, and from a file")]
    ResultAmongLoads {
        /// As it was given.
        path: String,
    },
    /// What a result says cannot be run.
    #[error("{path} cannot be run again: {source}")]
    OfResult {
        /// Name of the result.
        path: String,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// Two recordings that are both read from standard input.
    #[error("standard input (`-`) can be one of the two recordings only; write the other into a file")]
    BothFromStdin,
    /// A load that is not understood, or that the machine cannot run.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An rt-app file.
    #[error("{error}")]
    RtApp {
        /// What is wrong, and where.
        error: RtAppError,
        /// Content of the file.
        text: Arc<str>,
    },
    /// A file that is no trace, or not one that can be replayed.
    #[error("{path}: {source}")]
    Trace {
        /// As it was given.
        path: String,
        /// Why.
        source: ReadError,
    },
    /// A workload file.
    #[error("{path}: {error}")]
    Workload {
        /// As it was given.
        path: String,
        /// What is wrong, and where.
        error: WorkloadError,
        /// Content of the file.
        text: Arc<str>,
    },
    /// A change of a task that no recording has.
    #[error(
        "no recording among the loads has a task {0} (standard loads and rt-app files say themselves what \
         their tasks are like)"
    )]
    NoSuchTask(TaskSelector),
    /// A task that is asked for, and that is not in the run or the recording.
    #[error("there is no task {whom}{}", like(.whom, .nearest.as_deref()))]
    NoTask {
        /// Who was asked for.
        whom: TaskSelector,
        /// A name or a pid that is there, and alike.
        nearest: Option<String>,
    },
    /// The idle task was asked for.
    #[error("task 0 is the idle task of every CPU, which waits for nothing: ask for a task that a CPU runs")]
    IdleTask,
    /// Nothing to explain in a recording.
    #[error(
        "there is no wakeup that could be explained: none of these tasks is woken and then switched to; the events \
         sched_waking, sched_wakeup and sched_switch tell (trace-cmd record -e sched has them)"
    )]
    NoRecordedWakeups,
    /// Nothing to explain.
    #[error("nobody wakes up: there is no wakeup that could be explained")]
    NoWakeups,
    /// Nothing to explain, although waits of tasks that wanted to go on are meant, too.
    #[error("nobody waits for a CPU: no wakeup and no preemption could be explained")]
    NoWaits,
    /// A stretch of a run in which there is nothing to explain.
    #[error("nobody's wakeup ends there: there is no wakeup that could be explained")]
    NoWakeupsThere,
    /// A time at which there is nothing to explain.
    #[error(
        "no wakeup is on its way at {}; the nearest is due at {}",
        exact_moment(.at.0),
        exact_moment(.nearest.0)
    )]
    NobodyOnTheWay {
        /// The time.
        at: Nanos,
        /// When the nearest one is due.
        nearest: Nanos,
    },
    /// A task group that the kernel would not make, or has not got.
    #[error("group {group}: {problem}")]
    Group {
        /// Its path.
        group: String,
        /// What is wrong, and what to write.
        problem: String,
    },
    /// Tasks that are to be in a group, of which there were none.
    #[error(
        "group {group}: no task {whom} began in the run; write a name that a task has from its beginning, or a \
         pattern of names; there were {}",
        listed(.tasks, LISTED)
    )]
    NobodyIn {
        /// Path of the group.
        group: String,
        /// Who was to be in it.
        whom: TaskSelector,
        /// Names of the tasks that there were.
        tasks: Vec<String>,
    },
    /// Tasks that are to be deadline tasks, of which there were none.
    #[error(
        "no task {whom} began in the run; write a name that a task has from its beginning, or a pattern of \
         names; there were {}",
        listed(.tasks, LISTED)
    )]
    NoDeadlineTask {
        /// Who was to be one.
        whom: TaskSelector,
        /// Names of the tasks that there were.
        tasks: Vec<String>,
    },
    /// Times between which a trace has no event.
    #[error("the trace has no events there; it is {} long", moment(.length.0))]
    EmptyWindow {
        /// From its first event to its last.
        length: Nanos,
    },
    /// A stretch that ends before it has begun.
    #[error(
        "the stretch from {} to {}: there is nothing in between; its end has to be later",
        exact_duration(.from.0),
        exact_duration(.to.0)
    )]
    NothingBetween {
        /// Where it was to begin.
        from: Nanos,
        /// And to end.
        to: Nanos,
    },
    /// A stretch behind the end of a trace.
    #[error(
        "{} is behind the end of the trace, which is {} long",
        exact_duration(.from.0),
        moment(.length.0)
    )]
    BehindTrace {
        /// Where the stretch was to begin.
        from: Nanos,
        /// From the trace's first event to its last.
        length: Nanos,
    },
    /// A stretch of a run that ended before.
    #[error(
        "{} is behind the end of the run, which lasted {}",
        exact_duration(.from.0),
        moment(.end.0)
    )]
    BehindRun {
        /// Where the stretch was to begin.
        from: Nanos,
        /// The end of the run.
        end: Nanos,
    },
    /// One of two recordings.
    #[error("{path}: {source}")]
    OfRecording {
        /// As it was given.
        path: String,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// A machine that does not exist, or a number of CPUs that it cannot have.
    #[error(transparent)]
    Machine(#[from] SpecError),
    /// A machine file.
    #[error("{error}")]
    MachineFile {
        /// What is wrong, and where.
        error: SpecError,
        /// Content of the file.
        text: Arc<str>,
    },
    /// An unknown kernel, feature, rule or tunable, or a value that it cannot have.
    #[error(transparent)]
    Setting(#[from] KernelError),
    /// A setting whose time is none.
    #[error("setting `{text}`: {problem}; write TIME:SETTING, such as 2s:NO_RT_PUSH_IPI")]
    SettingTime {
        /// As it was given.
        text: String,
        /// What is wrong with the time.
        problem: String,
    },
    /// A file of a moment of a run that cannot be shown.
    #[error("{text}: {problem}; {advice}")]
    Dump {
        /// As it was given.
        text: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        advice: String,
    },
    /// A word of a configuration.
    #[error("`{word}`: {problem}")]
    Settings {
        /// The word.
        word: String,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    /// A run that cannot go on.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Somebody stopped it.
    #[error("the run was stopped before its end")]
    Stopped,
    /// One of the runs of a comparison.
    #[error("configuration `{configuration}`, seed {seed}: {source}")]
    OfRun {
        /// Name of the configuration.
        configuration: String,
        /// Seed of the run.
        seed: u64,
        /// What went wrong in it.
        source: Box<Error>,
    },
    /// Runs that cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// An experiment file that is not readable.
    #[error("{}: {}", .0.file, .0.problem)]
    ExperimentFile(Excerpt),
    /// An experiment file that asks for something impossible.
    #[error("{path}: {problem}")]
    ExperimentFault {
        /// Name of the file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// No published experiment has this name.
    #[error("no experiment is called `{name}`; there are: all, {}", known.join(", "))]
    UnknownExperiment {
        /// As it was given.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A path of which nothing says that an experiment lies there.
    #[error(
        "{path} is no experiment: a file's name ends in .toml (experiments/README.md); else leave the / out"
    )]
    ExperimentEnding {
        /// As it was given.
        path: String,
    },
    /// A file of a validation that is not readable.
    #[error("{}: {}", .0.file, .0.problem)]
    ReferenceFile(Excerpt),
    /// A file of a validation that asks for something impossible, or that has not got what is asked for.
    #[error("{path}: {problem}")]
    ReferenceFault {
        /// Name of the file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// A trace is to be written in a format that its file name does not tell.
    #[error(
        "cannot tell the format of the trace from the name {path}; end it in .dat for KernelShark and trace-cmd, \
         .pftrace or .perfetto-trace for Perfetto, .txt, .trace or .ftrace for ftrace text, .json for Chrome's viewer, \
         .jsonl for the log"
    )]
    TraceEnding {
        /// As it was given.
        path: String,
    },
    /// Nothing has this name.
    #[error("nothing is called `{name}`{}", nearest.as_ref().map_or(String::new(), |nearest| {
        format!("; did you mean `{nearest}`?")
    }))]
    UnknownName {
        /// As it was given.
        name: String,
        /// The most similar name, if any is similar.
        nearest: Option<String>,
    },
}

impl Error {
    /// Whether the experiment ran and failed a check, as opposed to not being possible.
    #[must_use]
    pub fn is_failed_check(&self) -> bool {
        match self {
            Error::OfRun { source, .. } => source.is_failed_check(),
            Error::Run(error) => matches!(error, RunError::Invariant { .. }),
            _ => false,
        }
    }

    /// The place in a text file that the error is about.
    #[must_use]
    pub fn excerpt(&self) -> Option<Excerpt> {
        match self {
            Error::OfRun { source, .. } | Error::OfResult { source, .. } => source.excerpt(),
            Error::ExperimentFile(excerpt) | Error::ReferenceFile(excerpt) => Some(excerpt.clone()),
            Error::RtApp { error, text } => Some(Excerpt {
                file: error.file().to_owned(),
                text: text.clone(),
                span: error.place().span.clone(),
                problem: error.fault().to_string(),
                advice: error.advice(),
            }),
            Error::Workload { path, error, text } => Some(Excerpt {
                file: path.clone(),
                text: text.clone(),
                span: span_of_line(text, error.line),
                problem: error.problem.clone(),
                advice: String::new(),
            }),
            Error::MachineFile { error: SpecError::Syntax { file, span, message, .. }, text } => {
                Some(Excerpt {
                    file: file.clone(),
                    text: text.clone(),
                    span: span.clone(),
                    problem: format!("not readable as TOML: {message}"),
                    advice: String::new(),
                })
            }
            Error::MachineFile { error: SpecError::Field { file, line, field, problem, advice }, text } => {
                Some(Excerpt {
                    file: file.clone(),
                    text: text.clone(),
                    span: span_of_line(text, *line),
                    problem: format!("{field}: {problem}"),
                    advice: advice.clone(),
                })
            }
            _ => None,
        }
    }
}

/// A place in a file, to be shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// Name of the file.
    pub file: String,
    /// Its content.
    pub text: Arc<str>,
    /// Bytes that the error is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub problem: String,
    /// What to do; may be empty.
    pub advice: String,
}

/// What is said of the task or name that is like one that is not there.
fn like(whom: &TaskSelector, nearest: Option<&str>) -> String {
    match (whom, nearest) {
        (_, None) => String::new(),
        (TaskSelector::Pid(_), Some(pid)) => format!("; the nearest pid is {pid}"),
        (_, Some(comm)) => format!("; did you mean '{comm}'?"),
    }
}

/// Bytes of a line, from 1, without the blanks around it.
fn span_of_line(text: &str, number: usize) -> Range<usize> {
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if index + 1 == number {
            let begin = start + line.len() - line.trim_start().len();
            return begin..(start + line.trim_end().len()).max(begin);
        }
        start += line.len();
    }
    text.len()..text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::Nanos;

    #[test]
    fn a_broken_invariant_is_a_failed_check_and_nothing_else_is() {
        let broken =
            || Error::Run(RunError::Invariant { invariant: "rt-class P1", at: Nanos(5), what: "…".into() });
        let of_run =
            |source| Error::OfRun { configuration: "base".into(), seed: 1, source: Box::new(source) };
        assert!(broken().is_failed_check() && of_run(broken()).is_failed_check());
        let impossible = || Error::Run(RunError::NoDuration);
        assert!(!impossible().is_failed_check() && !of_run(impossible()).is_failed_check());
    }

    #[test]
    fn the_span_of_a_line_leaves_out_the_blanks_around_it() {
        let text = "a\n  b c \n\nd";
        let line = |n| &text[span_of_line(text, n)];
        assert_eq!([line(1), line(2), line(3), line(4), line(5)], ["a", "b c", "", "d", ""]);
    }
}
