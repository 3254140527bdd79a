//! One reference: its files, and its runs.

use super::file::{ForwardFile, ReferenceFile, ReplayFile};
use super::recordings::{Known, Rules};
use super::{Host, REFERENCE_FILE, file_name, forward, replay, transfer};
use crate::error::Error;
use crate::inspect::{Inspection, inspect};
use crate::loads::machine_beside;
use crate::sources::{self, Sources};
use schema::validation::ValidatedReference;
use serde::Deserialize;
use std::collections::BTreeSet;

/// A recorded run, or several of one machine and kernel, with what is wanted.
#[derive(Clone, PartialEq, Debug)]
pub struct Reference {
    /// Its folder, without what all have in common; of a recording alone, its file.
    pub name: String,
    /// The file that describes it, for errors.
    pub(super) path: String,
    /// Where the files lie that it names; empty, or with the slash at its end.
    pub(super) folder: String,
    /// All files that are there.
    pub(super) listing: BTreeSet<String>,
    pub(super) file: ReferenceFile,
}

/// Of a `meta.json`, what the recorder wrote down beside a recording.
#[derive(Deserialize)]
struct Meta {
    kernel: Option<String>,
}

impl Reference {
    pub(super) fn open(
        root: &str,
        path: &str,
        listing: &BTreeSet<String>,
        files: &dyn Sources,
    ) -> Result<Reference, Error> {
        let file = ReferenceFile::parse(path, &sources::text(path, files)?)?;
        let folder = path.strip_suffix(REFERENCE_FILE).unwrap_or_default().to_owned();
        let name = folder.strip_prefix(root).unwrap_or(&folder).trim_end_matches('/');
        let name = if name.is_empty() { file_name(root.trim_end_matches('/')) } else { name };
        Ok(Reference { name: name.to_owned(), path: path.to_owned(), folder, listing: listing.clone(), file })
    }

    /// A recording of which nothing is said: how it is replayed is told by rules.
    pub(super) fn of_recording(
        root: &str,
        path: &str,
        rules: &Rules,
        listing: &BTreeSet<String>,
        files: &dyn Sources,
    ) -> Result<Reference, Error> {
        let folder = &path[..path.len() - file_name(path).len()];
        let inspected = inspect(path, &Inspection::default(), files)?;
        let meta = format!("{folder}meta.json");
        let meta: Option<Meta> = match listing.contains(&meta) {
            true => serde_json::from_str(&sources::text(&meta, files)?).ok(),
            false => None,
        };
        let told = meta.and_then(|meta| meta.kernel).filter(|_| inspected.kernel.is_none());
        let cpus = inspected.cpus.len() as u64;
        let (mut replay, class) = rules.of(&Known {
            path,
            cpus,
            has_machine: listing.contains(&*machine_beside(path).to_string_lossy()),
            has_kernel: told.is_some() || inspected.kernel.is_some(),
        });
        file_name(path).clone_into(&mut replay.recording);
        if let Some(kernel) = told {
            replay.settings = format!("kernel={kernel} {}", replay.settings);
        }
        let file = ReferenceFile { class, cpus, replay: vec![replay], ..ReferenceFile::default() };
        let name = path.strip_prefix(root).unwrap_or(path).to_owned();
        let (path, folder, listing) = (path.to_owned(), folder.to_owned(), listing.clone());
        Ok(Reference { name, path, folder, listing, file })
    }

    /// Paths of the recordings that it names.
    pub(super) fn recordings(&self) -> Vec<String> {
        let of_replay = |replay: &ReplayFile| {
            let there = replay.transfer.iter().filter_map(|transfer| transfer.to.as_ref());
            there.chain([&replay.recording]).map(|name| self.beside(name)).collect::<Vec<_>>()
        };
        self.file.replay.iter().flat_map(of_replay).collect()
    }

    /// The path of a file that it names; `../` is the folder above.
    pub(super) fn beside(&self, name: &str) -> String {
        let (mut folder, mut name) = (self.folder.as_str(), name);
        while let Some(rest) = name.strip_prefix("../") {
            let above = folder.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
            (folder, name) = (&folder[..above], rest);
        }
        format!("{folder}{name}")
    }

    /// A load as it runs with a seed: a file beside the reference, or a command line.
    pub(super) fn load(&self, load: &str, forward: &ForwardFile, seed: u64) -> String {
        let load = forward.each_seed.fill(load, seed);
        let path = self.beside(&load);
        if self.listing.contains(&path) { path } else { load }
    }

    /// Settings, in which the machine may be a file beside the reference.
    pub(super) fn settings(&self, words: &str) -> String {
        let word = |word: &str| match word.strip_prefix("machine=").map(|name| self.beside(name)) {
            Some(path) if self.listing.contains(&path) => format!("machine={path}"),
            _ => word.to_owned(),
        };
        words.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn runs(&self) -> u64 {
        let forward: u64 = self.file.forward.iter().map(ForwardFile::runs).sum();
        let replays = self.file.replay.iter().map(|replay| 1 + replay.transfer.len() as u64);
        forward + replays.sum::<u64>()
    }

    /// Runs it.
    ///
    /// # Errors
    /// It cannot be run, or its figures are not there.
    pub fn run(&self, host: Host<'_>) -> Result<ValidatedReference, Error> {
        let mut runs = Vec::new();
        for forward in &self.file.forward {
            runs.push(forward::run(self, forward, host)?);
        }
        for replay in &self.file.replay {
            let of_replay = |error| forward::within(&self.path, &replay.recording, error);
            runs.push(replay::run(self, replay, host).map_err(of_replay)?);
            for transfer in &replay.transfer {
                runs.push(transfer::run(self, replay, transfer, host).map_err(of_replay)?);
            }
        }
        let about = Some(self.file.about.clone()).filter(|about| !about.is_empty());
        Ok(ValidatedReference { name: self.name.clone(), about, runs })
    }
}
