//! Why a file is not written.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use thiserror::Error;

/// Why a file is not written. The file that was there is as it was.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The system refuses.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// As it was given.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder in which the file is to be does not take the one that is to replace it.
    #[error(
        "cannot write {} by way of {}, which replaces it once it is complete: {source}",
        path.display(), partial.display()
    )]
    Beside {
        /// As it was given.
        path: PathBuf,
        /// The file beside it.
        partial: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder in which the file is to be is not there.
    #[error("cannot write {}: there is no folder {}; make it first", path.display(), folder.display())]
    NoFolder {
        /// As it was given.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// What is to be written is read, too.
    #[error(
        "{} is the same file as the input {}; give the output another name", path.display(), input.display()
    )]
    IsInput {
        /// As it was given.
        path: PathBuf,
        /// The input.
        input: PathBuf,
    },
    /// The same file is being written.
    #[error(
        "{} is being written already, by another schedlab or by this one; give another name", path.display()
    )]
    Busy {
        /// As it was given.
        path: PathBuf,
    },
}

impl OutputError {
    /// Whether there is only nobody who reads it any more.
    #[must_use]
    pub fn is_reader_gone(&self) -> bool {
        matches!(self, OutputError::Write { source, .. } if source.kind() == ErrorKind::BrokenPipe)
    }
}
