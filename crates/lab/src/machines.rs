//! From what the user names to a machine.

use crate::error::Error;
use crate::loads::LoadSpec;
use crate::sources::{self, SourceKind, Sources};
use machine::MachineSpec;
use std::path::PathBuf;
use std::sync::Arc;

/// The machine where none is named.
pub const DEFAULT_MACHINE: &str = "laptop";

/// A machine as the user asks for it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MachineChoice {
    /// Its name or file.
    pub name: Option<String>,
    /// Its number of CPUs.
    pub cpus: Option<usize>,
}

impl MachineChoice {
    /// This choice, and where it says nothing, the other.
    #[must_use]
    pub fn or(&self, other: &MachineChoice) -> MachineChoice {
        MachineChoice {
            name: self.name.clone().or_else(|| other.name.clone()),
            cpus: self.cpus.or(other.cpus),
        }
    }

    /// The machine. Where no name is given, it is the one that is described beside a recording among the
    /// loads. Where no number of CPUs is given either, it has as many as the largest of the recordings.
    ///
    /// # Errors
    /// As [`machine()`].
    pub fn resolve(&self, loads: &[LoadSpec], files: &dyn Sources) -> Result<MachineSpec, Error> {
        let recorded = || loads.iter().filter_map(LoadSpec::recorded_cpus).max();
        if self.name.is_none()
            && let Some(described) = loads.iter().find_map(LoadSpec::described_machine)
        {
            let spec = described.spec(files)?;
            return self.cpus.or_else(recorded).map_or(Ok(spec.clone()), |cpus| Ok(spec.with_cpus(cpus)?));
        }
        let cpus = if self.name.is_none() { self.cpus.or_else(recorded) } else { self.cpus };
        machine(self.name.as_deref().unwrap_or(DEFAULT_MACHINE), cpus, files)
    }

    /// The text of its file, which says nothing of another number of CPUs.
    ///
    /// # Errors
    /// As [`machine()`].
    pub fn text(&self, loads: &[LoadSpec], files: &dyn Sources) -> Result<String, Error> {
        match (&self.name, loads.iter().find_map(LoadSpec::described_machine)) {
            (None, Some(described)) => described.text(files),
            (name, _) => machine_text(name.as_deref().unwrap_or(DEFAULT_MACHINE), files),
        }
    }

    /// Its file, if it comes from one.
    #[must_use]
    pub fn file(&self, loads: &[LoadSpec], files: &dyn Sources) -> Option<PathBuf> {
        match &self.name {
            Some(name) => machine_file(name, files),
            None => loads.iter().find_map(LoadSpec::described_machine)?.file(),
        }
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

    fn spec(&self, files: &dyn Sources) -> Result<MachineSpec, Error> {
        match self {
            DescribedMachine::Beside(path) => of_file(&path.to_string_lossy(), files),
            DescribedMachine::Inside { workload, text } => of_text(workload, text.clone()),
        }
    }
}

/// A machine that comes with the program, or a machine file: what ends in `.toml`, holds a `/`, or is a file
/// and no machine's name. `cpus` gives it another number of CPUs.
///
/// # Errors
/// An unknown name, a file that cannot be read or describes an impossible machine, a number of CPUs out of
/// range.
pub fn machine(name_or_file: &str, cpus: Option<usize>, files: &dyn Sources) -> Result<MachineSpec, Error> {
    let spec = if is_file(name_or_file, files) {
        of_file(name_or_file, files)?
    } else {
        MachineSpec::builtin(name_or_file)?
    };
    match cpus {
        Some(cpus) => Ok(spec.with_cpus(cpus)?),
        None => Ok(spec),
    }
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

fn of_file(name: &str, files: &dyn Sources) -> Result<MachineSpec, Error> {
    of_text(name, sources::text(name, files)?.into())
}

fn of_text(file: &str, text: Arc<str>) -> Result<MachineSpec, Error> {
    MachineSpec::parse(&text, file).map_err(|error| Error::MachineFile { error, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Files;

    #[test]
    fn names_sizes_and_their_errors() {
        assert_eq!(machine("laptop", Some(3), &Files::new()).map(|m| m.cpus()).ok(), Some(3));
        let text = |name, cpus| {
            machine(name, cpus, &Files::new()).map_err(|e| e.to_string()).expect_err("impossible")
        };
        assert!(text("laptop", Some(0)).contains("0 CPUs"));
        assert!(text("leptop", None).contains("did you mean laptop?"));
        assert!(text("no/such.toml", None).starts_with("no/such.toml: "));
    }

    #[test]
    fn a_choice_is_filled_up_part_by_part() {
        let choice = |name: Option<&str>, cpus| MachineChoice { name: name.map(str::to_owned), cpus };
        let common = choice(Some("vm2"), Some(4));
        assert_eq!(choice(None, Some(8)).or(&common), choice(Some("vm2"), Some(8)));
        assert_eq!(choice(Some("laptop"), None).or(&common), choice(Some("laptop"), Some(4)));
    }
}
