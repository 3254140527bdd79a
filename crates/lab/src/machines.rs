//! From what the user names to a machine.

use crate::error::Error;
use crate::loads::LoadSpec;
use crate::sources::{self, SourceKind, Sources};
use machine::MachineSpec;
use schema::MachineText;
use std::path::PathBuf;
use std::sync::Arc;

/// The machine where none is named.
pub const DEFAULT_MACHINE: &str = "laptop";

/// A machine, with the words that make it once more.
#[derive(Clone, Debug)]
pub struct NamedMachine {
    spec: MachineSpec,
    /// Its name, and the content of its file if it comes from one; `None` for one made by other means.
    text: Option<MachineText>,
}

/// A machine made by other means: it runs like any other, but nobody can write down what it is.
impl From<MachineSpec> for NamedMachine {
    fn from(spec: MachineSpec) -> NamedMachine {
        NamedMachine { spec, text: None }
    }
}

impl NamedMachine {
    /// The machine. Where no name is given, it is the one that is described beside a recording among the
    /// loads. Where no number of CPUs is given either, it has as many as the largest of the recordings.
    ///
    /// # Errors
    /// As [`machine()`].
    pub fn open(asked: &MachineText, loads: &[LoadSpec], files: &dyn Sources) -> Result<NamedMachine, Error> {
        let cpus = asked.cpus.map(|cpus| cpus as usize);
        let recorded = || loads.iter().filter_map(LoadSpec::recorded_cpus).max();
        match (&asked.name, &asked.content) {
            (Some(name), Some(content)) => NamedMachine::of_file(name, content.as_str().into(), cpus),
            (Some(name), None) => machine(name, cpus, files),
            (None, _) => match loads.iter().find_map(LoadSpec::described_machine) {
                Some(described) => described.open(cpus.or_else(recorded), files),
                None => machine(DEFAULT_MACHINE, cpus.or_else(recorded), files),
            },
        }
    }

    /// What it is.
    #[must_use]
    pub fn spec(&self) -> &MachineSpec {
        &self.spec
    }

    /// Its name, and the content of its file if it comes from one. `None` for a machine made by other means.
    #[must_use]
    pub fn text(&self) -> Option<&MachineText> {
        self.text.as_ref()
    }

    /// The content of the file that describes it, which says nothing of another number of CPUs. `None` for a
    /// machine made by other means.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        let text = self.text.as_ref()?;
        let builtin = || machine::BUILTIN.iter().find(|b| Some(b.name) == text.name.as_deref());
        text.content.as_deref().or_else(|| Some(builtin()?.text))
    }

    /// The file that describes it, if it comes from one: a machine file, or a workload file with one in it.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        let text = self.text.as_ref().filter(|text| text.content.is_some())?;
        text.name.as_ref().map(PathBuf::from)
    }

    fn of_file(name: &str, content: Arc<str>, cpus: Option<usize>) -> Result<NamedMachine, Error> {
        let spec = MachineSpec::parse(&content, name)
            .map_err(|error| Error::MachineFile { error, text: content.clone() })?;
        // What stands at its place in another file has empty lines before it.
        let content = content.trim_start_matches('\n').to_owned();
        let text = MachineText { name: Some(name.to_owned()), content: Some(content), cpus: None };
        NamedMachine::sized(spec, text, cpus)
    }

    fn builtin(name: &str, cpus: Option<usize>) -> Result<NamedMachine, Error> {
        let text = MachineText { name: Some(name.to_owned()), ..MachineText::default() };
        NamedMachine::sized(MachineSpec::builtin(name)?, text, cpus)
    }

    fn sized(spec: MachineSpec, text: MachineText, cpus: Option<usize>) -> Result<NamedMachine, Error> {
        let spec = match cpus {
            Some(cpus) => spec.with_cpus(cpus)?,
            None => spec,
        };
        let cpus = u32::try_from(spec.cpus()).ok();
        Ok(NamedMachine { spec, text: Some(MachineText { cpus, ..text }) })
    }
}

/// The description of the machine on which a load was recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DescribedMachine {
    /// A file beside the recording.
    Beside(PathBuf),
    /// Lines of a workload file.
    Inside {
        /// The workload file, for messages.
        workload: String,
        /// What it says, every line at its place in that file.
        text: Arc<str>,
    },
}

impl DescribedMachine {
    /// The file, if it is one.
    #[must_use]
    pub fn file(self) -> Option<PathBuf> {
        match self {
            DescribedMachine::Beside(path) => Some(path),
            DescribedMachine::Inside { .. } => None,
        }
    }

    /// The description, as it stands in a machine file.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn text(&self, files: &dyn Sources) -> Result<String, Error> {
        match self {
            DescribedMachine::Beside(path) => sources::text(&path.to_string_lossy(), files),
            DescribedMachine::Inside { text, .. } => Ok(text.trim_start_matches('\n').to_owned()),
        }
    }

    fn open(&self, cpus: Option<usize>, files: &dyn Sources) -> Result<NamedMachine, Error> {
        match self {
            DescribedMachine::Beside(path) => open_file(&path.to_string_lossy(), cpus, files),
            DescribedMachine::Inside { workload, text } => {
                NamedMachine::of_file(workload, text.clone(), cpus)
            }
        }
    }
}

/// A machine that comes with the program, or a machine file: what ends in `.toml`, holds a `/`, or is a file
/// and no machine's name. `cpus` gives it another number of CPUs.
///
/// # Errors
/// An unknown name, a file that cannot be read or describes an impossible machine, a number of CPUs out of
/// range.
pub fn machine(name_or_file: &str, cpus: Option<usize>, files: &dyn Sources) -> Result<NamedMachine, Error> {
    if is_file(name_or_file, files) {
        open_file(name_or_file, cpus, files)
    } else {
        NamedMachine::builtin(name_or_file, cpus)
    }
}

fn open_file(name: &str, cpus: Option<usize>, files: &dyn Sources) -> Result<NamedMachine, Error> {
    NamedMachine::of_file(name, sources::text(name, files)?.into(), cpus)
}

/// The text of the file that describes a machine.
///
/// # Errors
/// A file that cannot be read; an unknown name is taken for one.
pub fn machine_text(name_or_file: &str, files: &dyn Sources) -> Result<String, Error> {
    match machine::BUILTIN.iter().find(|b| b.name == name_or_file) {
        Some(builtin) if !is_file(name_or_file, files) => Ok(builtin.text.to_owned()),
        _ => sources::text(name_or_file, files),
    }
}

/// The file that this names, if it is no machine that comes with the program.
#[must_use]
pub fn machine_file(name_or_file: &str, files: &dyn Sources) -> Option<PathBuf> {
    is_file(name_or_file, files).then(|| name_or_file.into())
}

fn is_file(name: &str, files: &dyn Sources) -> bool {
    let known = machine::BUILTIN.iter().any(|b| b.name == name);
    name.ends_with(".toml") || name.contains('/') || !known && files.kind(name) == Some(SourceKind::File)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Files;

    #[test]
    fn names_sizes_and_their_errors() {
        assert_eq!(machine("laptop", Some(3), &Files::new()).map(|m| m.spec().cpus()).ok(), Some(3));
        let text = |name, cpus| {
            machine(name, cpus, &Files::new()).map_err(|e| e.to_string()).expect_err("impossible")
        };
        assert!(text("laptop", Some(0)).contains("0 CPUs"));
        assert!(text("leptop", None).contains("did you mean laptop?"));
        assert!(text("no/such.toml", None).starts_with("no/such.toml: "));
    }

    /// What it says of itself is what it is.
    #[test]
    fn a_machine_tells_how_to_make_it_once_more() {
        let laptop = machine::BUILTIN[0].text;
        let files = Files::from([("my.toml".to_owned(), laptop.replace("\"laptop\"", "\"mine\"").into())]);
        let builtin = machine::BUILTIN.iter().map(|builtin| (builtin.name, None));
        let others = [("laptop", Some(3)), ("my.toml", None), ("my.toml", Some(70))];
        for (name, cpus) in builtin.chain(others) {
            let before = machine(name, cpus, &files).expect("a machine");
            let text = before.text().expect("a name").clone();
            assert_eq!(text.content.is_some(), name == "my.toml");
            let again = NamedMachine::open(&text, &[], &Files::new()).expect("no file is needed");
            assert_eq!(again.spec(), before.spec());
            assert_eq!((again.text(), again.content()), (before.text(), before.content()));
        }
        let changed = NamedMachine::from(machine("vm2", None, &files).expect("a machine").spec().clone());
        assert_eq!((changed.text(), changed.content()), (None, None));
    }
}
