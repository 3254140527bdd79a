//! How true the simulator is: recorded runs, simulated again, figure by figure beside what was recorded.
//!
//! A reference (`file`) says what was recorded and what is wanted. Programs that are known run as loads
//! (`forward`), traces are replayed on what recorded them (`replay`) and on something else of which
//! there is a recording, too (`transfer`). What is wanted of many figures together says `bounds.toml`
//! (`report::validate`). `validation/README.md` explains the files.

mod band;
mod distribution;
mod durations;
mod experiment;
mod fault;
mod figure;
mod file;
mod forward;
mod log;
mod measure;
mod recorded;
mod recordings;
mod reference;
mod references;
mod replay;
mod seeds;
mod shipped;
mod transfer;

pub use reference::Reference;
pub use references::References;
pub use shipped::{SHIPPED, shipped};

use crate::error::Error;
use crate::sources::{self, Sources};
use fault::Fault;
use schema::validation::Validation;

/// Name of the file that says what a folder holds.
pub const REFERENCE_FILE: &str = "reference.toml";
/// Name of the file with what is wanted of many figures together, at the top of a folder of references.
pub const BOUNDS_NAME: &str = "bounds.toml";
/// Name of the file that says how recordings without a reference are replayed, there, too.
pub const RECORDINGS_NAME: &str = "recordings.toml";

/// What a validation asks of the computer on which it runs.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// Where the files lie.
    pub files: &'a (dyn Sources + Sync),
    /// Told after each run, from any thread.
    pub finished: &'a (dyn Fn() + Sync),
}

/// Reads what a validation came to from the file in which it is stored.
///
/// # Errors
/// A file that cannot be read, or is none.
pub fn stored(path: &str, files: &dyn Sources) -> Result<Validation, Error> {
    let text = sources::text(path, files)?;
    Validation::from_json(&text)
        .map_err(|error| Fault { path, problem: format!("no stored validation: {error}") }.into())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
