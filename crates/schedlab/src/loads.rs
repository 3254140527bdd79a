//! From what the user gives as a load to a load: a command line, an rt-app file, a recorded trace.

use crate::error::Error;
use machine::Setup;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};
use workload::load::{self, BuiltLoad, Length, Load, LoadError};
use workload::rtapp::{self, Dialect};

/// Endings by which a word is taken for a file even if no such file exists.
const FILE_ENDINGS: [&str; 7] = [".json", ".dat", ".data", ".txt", ".trace", ".ftrace", ".gz"];

/// What a word means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadSource {
    /// A command line such as `cyclictest -t8 -p90`.
    CommandLine,
    /// A file.
    File,
}

impl LoadSource {
    /// A word names a file if there is a file of this name or it ends as such files do. The bare name of a standard
    /// load is always that load; a file of that name is written `./hackbench`.
    #[must_use]
    pub fn of(text: &str) -> LoadSource {
        let ends_like_a_file = FILE_ENDINGS.iter().any(|ending| text.ends_with(ending));
        let is_load = load::entries().iter().any(|entry| entry.name == text);
        if !is_load && (ends_like_a_file || Path::new(text).is_file()) {
            LoadSource::File
        } else {
            LoadSource::CommandLine
        }
    }
}

/// A load of an experiment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LoadSpec {
    text: String,
    load: Arc<dyn Load>,
    /// Content of the rt-app file.
    source: Option<Arc<str>>,
}

impl LoadSpec {
    /// Opens what the user gave.
    ///
    /// # Errors
    /// A command line that is not understood, a file that cannot be read, an rt-app file or a trace that is damaged.
    pub fn open(text: &str) -> Result<LoadSpec, Error> {
        LoadSpec::open_in(text, Dialect::default())
    }

    /// As [`LoadSpec::open`], for rt-app files of a certain dialect.
    ///
    /// # Errors
    /// As [`LoadSpec::open`].
    pub fn open_in(text: &str, dialect: Dialect) -> Result<LoadSpec, Error> {
        match LoadSource::of(text) {
            LoadSource::CommandLine => {
                Ok(LoadSpec { text: text.to_owned(), load: load::parse(text)?.into(), source: None })
            }
            LoadSource::File => {
                let bytes = fs::read(text).map_err(|source| Error::File { path: text.to_owned(), source })?;
                if is_rt_app(text, &bytes) { rt_app(text, bytes, dialect) } else { replay(text, &bytes) }
            }
        }
    }

    /// A load made by other means, under the name that results show.
    pub fn new(text: impl Into<String>, load: impl Load + 'static) -> LoadSpec {
        LoadSpec { text: text.into(), load: Arc::new(load), source: None }
    }

    /// As it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of CPUs of the machine on which it was recorded, if it is a recording.
    #[must_use]
    pub fn recorded_cpus(&self) -> Option<usize> {
        None
    }

    pub(crate) fn length(&self) -> Length {
        self.load.length()
    }

    /// Whether it comes to an end by itself.
    pub(crate) fn ends(&self) -> bool {
        self.length() != Length::Endless
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.load.notes()
    }

    pub(crate) fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, Error> {
        self.load.build(setup).map_err(|error| match (error, &self.source) {
            (LoadError::RtApp(error), Some(text)) => Error::RtApp { error, text: text.clone() },
            (error, _) => Error::Load(error),
        })
    }
}

/// Traces are told apart by content; what is neither JSON by name nor by its first letter is one.
fn is_rt_app(name: &str, bytes: &[u8]) -> bool {
    name.ends_with(".json") || bytes.trim_ascii_start().starts_with(b"{")
}

fn rt_app(name: &str, bytes: Vec<u8>, dialect: Dialect) -> Result<LoadSpec, Error> {
    let text: Arc<str> = match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => {
            let source =
                io::Error::new(io::ErrorKind::InvalidData, format!("not text: {}", error.utf8_error()));
            return Err(Error::File { path: name.to_owned(), source });
        }
    };
    match rtapp::parse(&text, name, dialect) {
        Ok(app) => Ok(LoadSpec { text: name.to_owned(), load: Arc::new(app), source: Some(text) }),
        Err(error) => Err(Error::RtApp { error, text }),
    }
}

fn replay(name: &str, bytes: &[u8]) -> Result<LoadSpec, Error> {
    let trace = trace::read(bytes).map_err(|source| Error::Trace { path: name.to_owned(), source })?;
    Err(Error::Settings {
        word: name.to_owned(),
        problem: format!("traces of {} CPUs cannot be replayed yet", trace.cpus),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_command_lines() {
        let file = |text| LoadSource::of(text) == LoadSource::File;
        assert!(file("Cargo.toml"), "there is such a file in the folder of this package");
        assert!(file("no-such.json") && file("some/where/trace.dat") && file("x.ftrace"));
        assert!(!file("cyclictest -t8") && !file("hackbench") && !file("/usr/bin/hackbench -g 4"));
    }

    #[test]
    fn rt_app_files_are_known_by_name_or_content() {
        assert!(is_rt_app("a.json", b"/* comment */ {}") && is_rt_app("a", b"\n {"));
        assert!(!is_rt_app("a.txt", b"# tracer: nop"));
    }
}
