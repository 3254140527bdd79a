//! The files that a process ended by a signal would leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

static FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

type Files = MutexGuard<'static, BTreeSet<PathBuf>>;

fn files() -> Files {
    // A set of names is whole between any two steps.
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An unfinished file, until this is dropped.
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Makes the file `path`. Its name may depend on what its folder says of it.
    pub fn make<F, E>(path: PathBuf, make: impl FnOnce() -> Result<F, E>) -> Result<(F, Unfinished), E> {
        let mut files = files();
        let file = make()?;
        files.insert(path.clone());
        Ok((file, Unfinished { path }))
    }

    /// Gives the file its own name, or lets a signal that comes first take it away.
    pub fn finish<T>(self, rename: impl FnOnce() -> T) -> T {
        let files = files();
        let renamed = rename();
        drop(files);
        renamed
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        files().remove(&self.path);
    }
}

/// Keeps files from being begun and finished.
#[derive(Debug)]
pub struct Standstill {
    _files: Files,
}

/// Removes what is unfinished, for a process that is about to end. Until what is returned is dropped, no
/// other thread begins or finishes a file.
#[must_use]
pub fn remove_unfinished() -> Standstill {
    let files = files();
    for path in files.iter() {
        // Where it cannot be removed, there is nobody to tell: the process ends.
        let _ = fs::remove_file(path);
    }
    Standstill { _files: files }
}

/// What [`remove_unfinished`] would remove.
#[cfg(test)]
pub fn names() -> Vec<PathBuf> {
    files().iter().cloned().collect()
}
