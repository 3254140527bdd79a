//! What an error of the library means on the command line: the option that is to blame, and the command or
//! option that helps. The library knows neither.

use crate::files;
use lab::Error;
use machine::RunError;
use std::io::ErrorKind;
use workload::load::LoadError;

/// The error as the program says it.
pub fn of(error: &Error) -> String {
    let with_option = |option: &str| format!("{option}: {error}");
    match error {
        Error::NoSuchTask(_) => format!("{error}; `schedlab inspect TRACE` lists those of a recording"),
        Error::NoTask { nearest: Some(_), .. } | Error::IdleTask => with_option("--task"),
        Error::NoTask { nearest: None, .. } => format!("--task: {error}; without --task all are meant"),
        Error::NobodyOnTheWay { .. } => with_option("--at"),
        Error::NobodyIn { .. } => with_option("--in"),
        Error::NoDeadlineTask { .. } => with_option("--deadline"),
        Error::NoMutexes => with_option("--locks inferred"),
        Error::EmptyWindow { .. } | Error::NoWakeupsThere => with_option("--from, --to"),
        Error::NoWakeups => {
            format!("{error}; --preempted explains waits of tasks that were preempted or throttled")
        }
        Error::BehindTrace { .. } | Error::BehindRun { .. } => with_option("--from"),
        Error::Setting(setting) if let Some(name) = setting.beside() => {
            format!("{}: it is an option of its own: --{name}", setting.problem)
        }
        Error::Dump { .. } => format!("--dump {error}"),
        Error::TraceEnding { .. } => format!("{error}, or give --trace-format"),
        Error::UnknownName { nearest: None, .. } => {
            format!("{error}; `schedlab list KIND` shows what there is, `schedlab list` the kinds")
        }
        Error::File { path, source } if source.kind() == ErrorKind::IsADirectory => {
            format!("{path} is a folder; give a file: `ls {path}` shows what is there")
        }
        Error::File { path, source } if source.kind() == ErrorKind::NotFound && is_load(path) => {
            format!("no file is called {path}; `schedlab run {path}` runs the load of this name")
        }
        Error::File { path, source } if source.kind() == ErrorKind::NotFound => {
            format!("{error}; {}", files::nearest(path))
        }
        Error::Load(LoadError::Unknown { name, nearest: None }) if name.contains('.') => {
            format!("{error}; no file has this name: {}", files::nearest(name))
        }
        // The specification has nothing on "lock".
        Error::Run(RunError::Invariant { invariant, .. }) if invariant.contains(' ') => {
            format!("{error}; `schedlab explain \"{invariant}\"` shows what has to hold")
        }
        Error::OfRecording { source, .. } | Error::OfRun { source, .. } | Error::OfResult { source, .. } => {
            // Their own words end with those of their source.
            let (whole, inner) = (error.to_string(), source.to_string());
            format!("{}{}", whole.strip_suffix(&inner).unwrap_or_default(), of(source))
        }
        _ => error.to_string(),
    }
}

/// The error of a sweep as the program says it.
pub fn of_sweep(error: &sweep::Error) -> String {
    match error {
        sweep::Error::Experiment(error) => of(error),
        sweep::Error::OfValue { axis, value, source } => {
            format!("axis `{axis}`, value `{value}`: {}", of_sweep(source))
        }
        sweep::Error::TooMany { .. }
        | sweep::Error::Axis { .. }
        | sweep::Error::UnknownAxis { .. }
        | sweep::Error::Unfilled { .. }
        | sweep::Error::UnknownMetric { .. }
        | sweep::Error::Folder { .. }
        | sweep::Error::Damaged { .. }
        | sweep::Error::Engine { .. }
        | sweep::Error::Stopped { .. } => error.to_string(),
    }
}

/// The error of a tuning as the program says it.
pub fn of_tune(error: &tune::Error) -> String {
    match error {
        tune::Error::Experiment(error) => of(error),
        tune::Error::Constraint { .. } => format!("--subject-to {error}"),
        tune::Error::Until { .. } => format!("--until {error}"),
        tune::Error::NoKnob | tune::Error::Knob { .. } => format!("--over: {error}"),
        tune::Error::Keeping(error) => of_sweep(error),
        tune::Error::Stopped { is_kept: false, .. } => {
            format!("{error}; with --folder FOLDER it would go on where it was")
        }
        tune::Error::Stopped { .. }
        | tune::Error::UnknownMetric { .. }
        | tune::Error::Missing { .. }
        | tune::Error::Unmet { .. } => error.to_string(),
    }
}

fn is_load(word: &str) -> bool {
    workload::load::entries().iter().any(|entry| entry.name == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::Nanos;
    use std::io;

    #[test]
    fn what_is_no_file_says_what_it_is() {
        let error = |path: &str, kind: ErrorKind| {
            of(&Error::File { path: path.to_owned(), source: io::Error::from(kind) })
        };
        assert_eq!(
            error("traces", ErrorKind::IsADirectory),
            "traces is a folder; give a file: `ls traces` shows what is there"
        );
        assert_eq!(
            error("hackbench", ErrorKind::NotFound),
            "no file is called hackbench; `schedlab run hackbench` runs the load of this name"
        );
    }

    #[test]
    fn the_option_to_blame_is_named_by_the_program_alone_and_at_any_depth() {
        let behind = || Error::BehindRun { from: Nanos::from_secs(2), end: Nanos::from_secs(1) };
        assert_eq!(behind().to_string(), "2s is behind the end of the run, which lasted 1s");
        assert_eq!(of(&behind()), "--from: 2s is behind the end of the run, which lasted 1s");
        let of_run = Error::OfRun { configuration: "base".into(), seed: 3, source: Box::new(behind()) };
        let of_result = Error::OfResult { path: "r.json".into(), source: Box::new(of_run) };
        assert_eq!(
            of(&of_result),
            "r.json cannot be run again: configuration `base`, seed 3: --from: 2s is behind the end of the run, which \
             lasted 1s"
        );
        assert_eq!(of(&Error::NoLoad), Error::NoLoad.to_string());
    }

    #[test]
    fn a_broken_invariant_can_be_looked_up() {
        let broken = |invariant| {
            of(&Error::Run(RunError::Invariant { invariant, at: Nanos::from_secs(1), what: "so".into() }))
        };
        assert_eq!(
            broken("eevdf-class E10"),
            "invariant eevdf-class E10 broken at 1.000000000 s: so; `schedlab explain \"eevdf-class E10\"` shows \
             what has to hold"
        );
        assert!(lab::explain("eevdf-class E10").is_ok());
        assert!(!broken("lock").contains("explain"));
    }
}
