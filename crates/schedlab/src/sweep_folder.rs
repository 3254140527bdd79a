//! The folder of a sweep, or of a tuning, on the disk: each file is there as a whole or not at all, and one
//! process at a time writes into it.

use crate::Error;
use crate::outputs::{Output, OutputError, check_folder, lock};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use sweep::Folder;

/// A file that is locked while a process writes into the folder.
const LOCK: &str = ".lock";

/// A folder, ours while this lives.
#[derive(Debug)]
pub struct SweepFolder {
    path: PathBuf,
    _lock: File,
}

impl SweepFolder {
    /// The folder of this name, which is made if it is not there (the one that it is in has to be).
    ///
    /// # Errors
    /// A path that is no folder, one that takes no files, one into which another process writes.
    pub fn open(path: &Path) -> Result<SweepFolder, Error> {
        let failed = |source: io::Error| OutputError::Write { path: path.to_owned(), source };
        match fs::create_dir(path) {
            // One such as /proc is there, and takes nothing.
            Err(error) if error.kind() == ErrorKind::NotFound && !above(path).is_dir() => {
                let folder = above(path).to_owned();
                return Err(OutputError::NoFolder { path: path.to_owned(), folder }.into());
            }
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error).into()),
            Ok(()) | Err(_) => {}
        }
        check_folder(path)?;
        let file = File::create(path.join(LOCK)).map_err(failed)?;
        if !lock(&file, path)? {
            return Err(Error::SweepBusy { path: path.to_owned() });
        }
        Ok(SweepFolder { path: path.to_owned(), _lock: file })
    }
}

/// The folder that a folder is in.
fn above(path: &Path) -> &Path {
    path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Folder for SweepFolder {
    fn shown(&self, file: &str) -> String {
        // Not joined where there is no file: that would end in a slash.
        let path = if file.is_empty() { self.path.clone() } else { self.path.join(file) };
        path.display().to_string()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path.join(file))
    }

    fn write(&self, file: &str, content: &[u8]) -> io::Result<()> {
        let mut output = Output::open(&self.path.join(file), &[]).map_err(cause)?;
        output.write_all(content)?;
        output.commit().map_err(cause)
    }

    fn remove(&self, file: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(file))
    }
}

/// What the system says, of an error whose file is named already.
fn cause(error: OutputError) -> io::Error {
    match error {
        OutputError::Write { source, .. } | OutputError::Beside { source, .. } => source,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_is_ours_alone_and_keeps_whole_files() {
        let above = tempfile::tempdir().expect("a temporary folder");
        let path = above.path().join("a.sweep");
        let folder = SweepFolder::open(&path).expect("made");
        let busy = SweepFolder::open(&path).expect_err("taken").to_string();
        assert!(busy.starts_with("another sweep or tuning is writing into "), "{busy}");
        folder.write("x.parquet", b"12").expect("written");
        folder.write("x.parquet", b"1").expect("replaced");
        assert_eq!(folder.read("x.parquet").expect("there"), b"1");
        folder.remove("x.parquet").expect("removed");
        assert_eq!(folder.read("x.parquet").expect_err("gone").kind(), ErrorKind::NotFound);
        drop(folder);
        assert_eq!(SweepFolder::open(&path).expect("free").list().expect("a list"), [LOCK]);
    }

    #[test]
    fn what_is_no_folder_is_told() {
        let above = tempfile::tempdir().expect("a temporary folder");
        let file = above.path().join("file");
        fs::write(&file, "x").expect("written");
        let error = |path: &Path| SweepFolder::open(path).expect_err("no folder").to_string();
        assert!(
            error(&file).contains("not a directory") || error(&file).contains("Not a directory"),
            "{}",
            error(&file)
        );
        assert!(error(&above.path().join("no/such")).contains("there is no folder "));
    }
}
