//! Runs of reproductions in a file, so that one which was killed goes on where it was.
//!
//! A line says which program made the runs; each further one is a run with its figures. What is written is
//! whole or has no end of line, and then the run is made again.

use crate::error::Error;
use crate::outputs::{OutputError, lock};
use lab::{KeptRuns, RunFigures, RunHash};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_128;

const SCHEMA: &str = "schedlab-runs/1";

/// The first line.
#[derive(PartialEq, Debug, Serialize, Deserialize)]
struct Head {
    schema: String,
    /// Hash (xxh128) of the program: another one may run the same experiment otherwise.
    program: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    run: String,
    #[serde(flatten)]
    told: RunFigures,
}

/// A file of runs, ours while this lives.
#[derive(Debug)]
pub struct RunsFile {
    path: PathBuf,
    file: Mutex<File>,
    known: BTreeMap<String, RunFigures>,
}

impl RunsFile {
    /// Opens the file of this name, or makes it.
    ///
    /// # Errors
    /// What cannot be written, a file that is none of runs, one that another program has made or that
    /// another process writes.
    pub fn open(path: &Path) -> Result<RunsFile, Error> {
        let failed = |source| OutputError::Write { path: path.to_owned(), source };
        let head = Head { schema: SCHEMA.to_owned(), program: program().map_err(failed)? };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(failed)?;
        if !lock(&file, path)? {
            return Err(Error::RunsBusy { path: path.to_owned() });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let known = if whole == 0 && begins_as_ours(&bytes) {
            file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
            append(&mut file, &head).map_err(failed)?;
            BTreeMap::new()
        } else {
            let known = read(&bytes[..whole], &head, path)?;
            file.set_len(whole as u64).map_err(failed)?;
            file.seek(SeekFrom::End(0)).map_err(failed)?;
            known
        };
        Ok(RunsFile { path: path.to_owned(), file: Mutex::new(file), known })
    }

    /// How many it had when it was opened.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.known.len()
    }
}

/// Whether this may be what a killed process has left of the first line, or nothing.
fn begins_as_ours(bytes: &[u8]) -> bool {
    let begins = format!("{{\"schema\":\"{SCHEMA}\"");
    bytes.iter().zip(begins.as_bytes()).all(|(there, ours)| there == ours)
}

fn read(bytes: &[u8], ours: &Head, path: &Path) -> Result<BTreeMap<String, RunFigures>, Error> {
    let damaged =
        |line: usize, problem: String| Error::RunsDamaged { path: path.to_owned(), line: line + 1, problem };
    let text = std::str::from_utf8(bytes).map_err(|error| damaged(0, error.to_string()))?;
    let mut lines = text.lines().enumerate();
    let (_, first) = lines.next().unwrap_or_default();
    let head: Head = serde_json::from_str(first).map_err(|error| damaged(0, error.to_string()))?;
    if head.schema != ours.schema {
        return Err(damaged(0, format!("{} where {} is read", head.schema, ours.schema)));
    }
    if head != *ours {
        return Err(Error::RunsOfAnother { path: path.to_owned() });
    }
    lines
        .map(|(n, line)| {
            let Line { run, told } = serde_json::from_str(line).map_err(|e| damaged(n, e.to_string()))?;
            Ok((run, told))
        })
        .collect()
}

/// One write, so that what a killed process leaves lacks its end at most.
fn append(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    file.write_all(text.as_bytes())
}

fn program() -> io::Result<String> {
    Ok(format!("{:032x}", xxh3_128(&fs::read(std::env::current_exe()?)?)))
}

fn name(run: RunHash) -> String {
    format!("{:032x}", run.0)
}

impl KeptRuns for RunsFile {
    fn find(&self, run: RunHash) -> Option<RunFigures> {
        self.known.get(&name(run)).cloned()
    }

    fn keep(&self, run: RunHash, told: &RunFigures) -> Result<(), lab::Error> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        append(&mut file, &Line { run: name(run), told: told.clone() })
            .map_err(|source| lab::Error::File { path: self.path.display().to_string(), source })
    }
}

#[cfg(test)]
mod tests;
