//! The file of a reference, `reference.toml`, as written.

use super::distribution::DistributionFile;
use super::fault::{Fault, excerpt};
use super::figure::FigureFile;
use super::seeds::EachSeed;
use crate::error::Error;
use serde::Deserialize;

/// What was recorded, and what is to come out. `validation/README.md` explains every field.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferenceFile {
    pub about: String,
    /// The kind of machine.
    pub class: String,
    /// CPUs of the recorded machine.
    pub cpus: u64,
    /// Of all forward runs: kernel, machine and whatever else.
    #[serde(default)]
    pub settings: String,
    /// Where recorded figures come from, if not said otherwise.
    pub source: Option<String>,
    #[serde(default)]
    pub forward: Vec<ForwardFile>,
    #[serde(default)]
    pub replay: Vec<ReplayFile>,
}

/// A program that was recorded, as a load.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForwardFile {
    pub name: String,
    pub loads: Vec<String>,
    /// On top of those of the reference.
    #[serde(default)]
    pub settings: String,
    /// Settings in place of these, with which each seed runs once more: the figures are then by how many per
    /// cent they are higher than there.
    pub against: Option<String>,
    #[serde(rename = "for")]
    pub duration: Option<String>,
    /// What of the run was taken from the recording with which it is compared, or chosen with its figures in
    /// view: these are then inferences.
    pub inferred: Option<String>,
    #[serde(default = "five")]
    pub seeds: u32,
    /// What stands for `{name}` in loads, for one seed after the other.
    #[serde(default)]
    pub each_seed: EachSeed,
    pub figure: Vec<FigureFile>,
    /// To look at.
    #[serde(default)]
    pub distribution: Vec<DistributionFile>,
}

const fn five() -> u32 {
    5
}

/// A trace.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayFile {
    /// Its file.
    pub recording: String,
    /// On what it is replayed, where the trace and its machine file do not say it.
    #[serde(default)]
    pub settings: String,
    /// Replays of it on something else.
    #[serde(default)]
    pub transfer: Vec<TransferFile>,
}

/// A replay on something else, of which there are figures, too.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TransferFile {
    pub name: String,
    /// What is different.
    pub settings: String,
    /// Figures of it that somebody measured or calculated.
    #[serde(default)]
    pub figure: Vec<FigureFile>,
    /// Another recording, in which the same was recorded on that.
    pub to: Option<String>,
    /// Tasks whose figures in the two recordings are compared.
    #[serde(default)]
    pub tasks: Vec<String>,
    /// With which others these changes count; `change` without it.
    pub family: Option<String>,
    /// Settings of the recording's own replay, with which this one is compared.
    #[serde(default)]
    pub from: String,
}

impl ReferenceFile {
    /// Reads a file; `path` is for errors.
    pub fn parse(path: &str, text: &str) -> Result<ReferenceFile, Error> {
        let file: ReferenceFile =
            toml::from_str(text).map_err(|error| excerpt(path, text, error.span(), error.message()))?;
        let fault = |problem: String| Err(Fault { path, problem }.into());
        if file.forward.is_empty() && file.replay.is_empty() {
            return fault("there is neither a [[forward]] nor a [[replay]]".to_owned());
        }
        for forward in &file.forward {
            let place = |problem| format!("forward \"{}\": {problem}", forward.name);
            if let Err(problem) = forward.check() {
                return fault(place(problem));
            }
        }
        let transfers = file.replay.iter().flat_map(|replay| &replay.transfer);
        for transfer in transfers {
            if let Err(problem) = transfer.check() {
                return fault(format!("transfer \"{}\": {problem}", transfer.name));
            }
        }
        Ok(file)
    }
}

impl ForwardFile {
    /// How many simulations there are.
    pub fn runs(&self) -> u64 {
        u64::from(self.seeds) * if self.against.is_some() { 2 } else { 1 }
    }

    fn check(&self) -> Result<(), String> {
        if self.seeds == 0 {
            return Err("`seeds` must be at least 1".to_owned());
        }
        if self.figure.is_empty() {
            return Err("it has no [[forward.figure]], and nothing would be measured".to_owned());
        }
        if self.against.as_ref() == Some(&self.settings) {
            return Err("`against` has the same settings".to_owned());
        }
        if self.against.is_some() && !self.distribution.is_empty() {
            return Err("there is no distribution of a change".to_owned());
        }
        self.each_seed.check(self.seeds, &self.loads)?;
        self.figure.iter().try_for_each(FigureFile::check)?;
        self.distribution.iter().try_for_each(DistributionFile::check)
    }
}

impl TransferFile {
    fn check(&self) -> Result<(), String> {
        match &self.to {
            Some(_) if self.tasks.is_empty() => Err("`tasks` says whose figures are compared".to_owned()),
            None if self.figure.is_empty() => {
                Err("give the recording of that (`to`), or a figure of it".to_owned())
            }
            _ => self.figure.iter().try_for_each(FigureFile::check),
        }
    }
}
