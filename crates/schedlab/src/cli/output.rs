//! Everything that leaves the program.

use super::signals::Signal;
use super::{diagnostic, exit, signals, terminal};
use schedlab::Error;
use schedlab::outputs::{Output, OutputError};
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Why a command ends without having done what it was asked to.
#[derive(Debug)]
pub enum Failure {
    /// There is something to tell the user.
    Error(Error),
    /// A reproduction does not agree, in these figures.
    Disagreement(Vec<String>),
    /// A validation misses these bounds.
    Missed(Vec<String>),
    /// These figures of a machine file's check are further off than wanted.
    OffFromHere(Vec<String>),
    /// Standard output does not take the result.
    Output(io::Error),
    /// A signal ended it; what is to be said of that, if anything.
    Signal(Signal, Option<Error>),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

impl From<lab::Error> for Failure {
    fn from(error: lab::Error) -> Failure {
        Failure::Error(error.into())
    }
}

impl From<sweep::Error> for Failure {
    fn from(error: sweep::Error) -> Failure {
        Failure::Error(error.into())
    }
}

impl From<tune::Error> for Failure {
    fn from(error: tune::Error) -> Failure {
        Failure::Error(error.into())
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Failure {
        Failure::Error(error.into())
    }
}

impl Failure {
    /// Tells the user, if there is anything to tell, and gives the exit code.
    pub fn report(&self) -> u8 {
        let text = match self {
            Failure::Error(error) => diagnostic::text(error),
            Failure::Disagreement(figures) => listed("should agree with the document and do not", figures),
            Failure::Missed(bounds) => listed("bounds are missed, and nobody has said why", bounds),
            Failure::OffFromHere(figures) => listed("are further from this computer than wanted", figures),
            Failure::Output(error) => format!("error: cannot write the result: {error}\n"),
            Failure::Signal(signal, said) => {
                if let Some(error) = said {
                    let _ = io::stderr().lock().write_all(diagnostic::text(error).as_bytes());
                }
                signal.end()
            }
        };
        if self.code() != exit::OK {
            // Where standard error is gone, the exit code must do.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
        self.code()
    }

    fn code(&self) -> u8 {
        match self {
            // Whoever closes the pipe has read enough.
            Failure::Output(error) if error.kind() == ErrorKind::BrokenPipe => exit::OK,
            Failure::Error(Error::Output(error)) if error.is_reader_gone() => exit::OK,
            Failure::Disagreement(_) | Failure::Missed(_) | Failure::OffFromHere(_) => exit::CHECK_FAILED,
            Failure::Error(Error::Experiment(error)) if error.is_failed_check() => exit::CHECK_FAILED,
            Failure::Output(_) | Failure::Error(_) | Failure::Signal(..) => exit::BAD_INPUT,
        }
    }
}

/// `error: these ...:`, and a line for each.
fn listed(what: &str, all: &[String]) -> String {
    let lines: String = all.iter().map(|one| format!("  {one}\n")).collect();
    terminal::escape(&format!("error: these {what}:\n{lines}")).into_owned()
}

/// Where results go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error, where standard output has another use.
    Error,
}

impl Stream {
    /// Beside this output.
    pub fn beside(output: Option<&Output>) -> Stream {
        if output.is_some_and(Output::is_stdout) { Stream::Error } else { Stream::Output }
    }

    /// Writes a result for people.
    pub fn text(self, text: &str) -> Result<(), Failure> {
        self.exact(&terminal::escape(text))
    }

    /// Writes a result for programs, byte by byte.
    pub fn exact(self, text: &str) -> Result<(), Failure> {
        let (mut output, mut error);
        let out: &mut dyn Write = match self {
            Stream::Output => {
                output = io::stdout().lock();
                &mut output
            }
            Stream::Error => {
                error = io::stderr().lock();
                &mut error
            }
        };
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Output)
    }
}

/// Writes a result for people to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    Stream::Output.text(text)
}

/// Begins to write a file; from here on, a signal removes what is unfinished.
pub fn open(path: &Path, inputs: &[PathBuf]) -> Result<Output, Failure> {
    signals::clean_up().map_err(Failure::Output)?;
    Ok(Output::open(path, inputs)?)
}

/// Writes a whole file.
pub fn write(path: &Path, inputs: &[PathBuf], content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut output = open(path, inputs)?;
    output.write_all(content.as_ref()).map_err(|source| output.failed(source))?;
    Ok(output.commit()?)
}

/// Says something beside the result. Where standard error is gone, there is nobody to tell.
pub fn say(text: &str) {
    let _ = io::stderr().lock().write_all(terminal::escape(text).as_bytes());
}

/// The command line, the name of the program first.
pub static TYPED: OnceLock<Vec<OsString>> = OnceLock::new();

/// Its words.
pub fn typed() -> impl Iterator<Item = &'static OsString> {
    TYPED.get().into_iter().flatten()
}

/// Whether nothing that was typed would steer the terminal to which an error shows it.
pub fn is_command_line_plain() -> bool {
    typed().all(|word| matches!(terminal::escape(&word.to_string_lossy()), Cow::Borrowed(_)))
}

/// The command line as it was typed, quoted for a shell.
pub fn command_line() -> String {
    let words: Vec<String> = typed().skip(1).map(|w| w.to_string_lossy().into_owned()).collect();
    let words = std::iter::once("schedlab").chain(words.iter().map(String::as_str));
    // A command line cannot hold the one character that cannot be quoted.
    shlex::try_join(words).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::RunError;
    use scheduler::Nanos;

    #[test]
    fn exit_codes_tell_failed_checks_bad_input_and_readers_that_went_away_apart() {
        let broken = RunError::Invariant { invariant: "rt-class P1", at: Nanos(5), what: "…".into() };
        assert_eq!(Failure::from(lab::Error::Run(broken)).code(), exit::CHECK_FAILED);
        assert_eq!(Failure::Disagreement(vec!["T7 migrated is 9".into()]).code(), exit::CHECK_FAILED);
        assert_eq!(Failure::from(lab::Error::NoLoad).code(), exit::BAD_INPUT);
        assert_eq!(Failure::Output(ErrorKind::BrokenPipe.into()).code(), exit::OK);
        assert_eq!(Failure::Output(ErrorKind::StorageFull.into()).code(), exit::BAD_INPUT);
    }
}
