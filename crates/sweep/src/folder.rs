//! Where results are kept. The library opens no file itself: on a computer they lie on its disk, in a test in
//! memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, PoisonError};

/// Files by name, without folders in it.
pub trait Folder: Sync {
    /// What to call it, or one of its files, in messages.
    fn shown(&self, file: &str) -> String;

    /// The names of all files, in any order.
    ///
    /// # Errors
    /// What the system says.
    fn list(&self) -> io::Result<Vec<String>>;

    /// The content of a file.
    ///
    /// # Errors
    /// What the system says: there is none of this name, or it must not be read.
    fn read(&self, file: &str) -> io::Result<Vec<u8>>;

    /// Makes a file, or replaces it: as a whole or not at all, whatever happens meanwhile.
    ///
    /// # Errors
    /// What the system says: no space, no right.
    fn write(&self, file: &str, content: &[u8]) -> io::Result<()>;

    /// Takes a file away.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&self, file: &str) -> io::Result<()>;
}

/// A folder in memory.
#[derive(Debug, Default)]
pub struct MemoryFolder(Mutex<BTreeMap<String, Vec<u8>>>);

impl MemoryFolder {
    fn files<T>(&self, use_them: impl FnOnce(&mut BTreeMap<String, Vec<u8>>) -> T) -> T {
        // A map is whole between two calls, whoever panicked.
        use_them(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Folder for MemoryFolder {
    fn shown(&self, file: &str) -> String {
        file.to_owned()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.files(|files| files.keys().cloned().collect()))
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        self.files(|files| files.get(file).cloned()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn write(&self, file: &str, content: &[u8]) -> io::Result<()> {
        self.files(|files| files.insert(file.to_owned(), content.to_owned()));
        Ok(())
    }

    fn remove(&self, file: &str) -> io::Result<()> {
        self.files(|files| files.remove(file)).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
