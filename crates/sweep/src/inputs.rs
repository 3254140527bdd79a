//! What files say that decide a run: their content is part of its hash, so another content is another run.

use crate::error::Error;
use lab::{ExperimentText, SourceKind, Sources, content_hash, machine_beside, machine_file, machine_text};
use schema::SweepSchema;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::Xxh3Default;

/// The files that experiments name, each read once.
#[derive(Default)]
pub struct Inputs {
    hashes: BTreeMap<String, Option<String>>,
    machines: BTreeMap<String, Option<String>>,
}

impl Inputs {
    /// Writes the content of its files, or hashes of them, into an experiment's text, and gives what there is
    /// besides: the hash of the machine that is described beside a recording.
    pub fn settle(&mut self, text: &mut ExperimentText, files: &dyn Sources) -> Result<String, Error> {
        let mut beside = String::new();
        for load in &mut text.loads {
            let Some(file) = &mut load.file else { continue };
            let hash = self.hash(&load.load, files)?;
            file.xxh128 = file.xxh128.take().or(hash);
            let described = machine_beside(&load.load).to_string_lossy().into_owned();
            if files.kind(&described) == Some(SourceKind::File) {
                beside += self.hash(&described, files)?.as_deref().unwrap_or_default();
            }
        }
        if let (Some(name), None) = (&text.machine.name, &text.machine.content) {
            text.machine.content = self.machine(name, files)?;
        }
        Ok(beside)
    }

    /// `None`: a pipe, which cannot be told by its content before it is read, or nothing.
    fn hash(&mut self, name: &str, files: &dyn Sources) -> Result<Option<String>, Error> {
        if let Some(known) = self.hashes.get(name) {
            return Ok(known.clone());
        }
        // What is not there is told by each run of it.
        let hash = if files.kind(name).is_some() { content_hash(name, files)? } else { None };
        self.hashes.insert(name.to_owned(), hash.clone());
        Ok(hash)
    }

    /// `None`: a machine that comes with the program, or a file that is not there.
    fn machine(&mut self, name: &str, files: &dyn Sources) -> Result<Option<String>, Error> {
        if let Some(known) = self.machines.get(name) {
            return Ok(known.clone());
        }
        let is_there = machine_file(name, files).is_some() && files.kind(name).is_some();
        let content = if is_there { Some(machine_text(name, files)?) } else { None };
        self.machines.insert(name.to_owned(), content.clone());
        Ok(content)
    }
}

/// Of all that decides a run: the experiment, its files, and who runs it.
pub fn hash(text: &ExperimentText, beside: &str) -> u128 {
    let text = serde_json::to_string(text).unwrap_or_default();
    let mut hash = Xxh3Default::new();
    for part in [SweepSchema::NAME, env!("CARGO_PKG_VERSION"), &text, beside] {
        hash.update(part.as_bytes());
        hash.update(b"\n");
    }
    hash.digest128()
}
