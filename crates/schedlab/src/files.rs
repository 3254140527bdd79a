//! Files that are read: by name from the disk, or standard input under the name `-`.

use lab::{Opened, STANDARD_STREAM, SourceKind, Sources};
use std::fs::{self, File};
use std::io::{self, Seek};
use std::os::fd::AsFd;
use std::path::Path;
use suggest::suggest;

/// The files of this computer.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Sources for Disk {
    fn kind(&self, name: &str) -> Option<SourceKind> {
        let metadata = fs::metadata(name).ok()?;
        Some(if metadata.is_file() { SourceKind::File } else { SourceKind::Other })
    }

    fn open(&self, name: &str) -> io::Result<Opened<'_>> {
        let mut file = if name == STANDARD_STREAM {
            File::from(io::stdin().as_fd().try_clone_to_owned()?)
        } else {
            File::open(name)?
        };
        let metadata = file.metadata()?;
        // Files of tracefs and /proc say that they are empty, and cannot be read at any place.
        let is_file = metadata.is_file() && metadata.len() > 0;
        // Of standard input others may have read the beginning.
        let is_whole = is_file && file.stream_position().is_ok_and(|at| at == 0);
        Ok(if is_whole { Opened::Seekable(Box::new(file)) } else { Opened::Stream(Box::new(file)) })
    }
}

/// What may be meant by the path of a file that is not there.
pub(crate) fn nearest(path: &str) -> String {
    let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
    let shown = folder.unwrap_or(Path::new("."));
    let Ok(entries) = fs::read_dir(shown) else {
        return format!("there is no folder {} either", shown.display());
    };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // The order of a folder is that of its file system.
    names.sort();
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    match suggest(&name, names) {
        Some(near) => {
            format!("did you mean `{}`?", folder.unwrap_or(Path::new("")).join(near).display())
        }
        None => format!("`ls {}` shows what is there", shown.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::{Error, Inspection, LoadSource, inspect};
    use trace::ReadError;

    fn error(name: &str) -> Error {
        inspect(name, &Inspection::default(), &Disk).expect_err("no trace")
    }

    #[test]
    fn what_cannot_be_read_is_told_by_name() {
        for name in ["/", "/no/such/file"] {
            let error = error(name);
            assert!(matches!(&error, Error::File { path, .. } if path == name), "{error}");
        }
        assert!(matches!(error("/dev/zero"), Error::Trace { source: ReadError::NotATrace { .. }, .. }));
    }

    #[test]
    fn a_file_that_is_not_there_gets_the_nearest_of_its_folder() {
        assert_eq!(nearest("Cargo.tml"), "did you mean `Cargo.toml`?");
        assert_eq!(nearest("src/mian.rs"), "did you mean `src/main.rs`?");
        assert_eq!(nearest("src/quicksilver"), "`ls src` shows what is there");
        assert_eq!(nearest("no/such/file"), "there is no folder no/such either");
    }

    /// A file of /proc is a regular one of no length that has a text.
    #[test]
    fn a_file_that_says_it_is_empty_is_read() {
        let error = error("/proc/self/status");
        assert!(
            matches!(
                error,
                Error::Trace { source: ReadError::NotATrace { .. } | ReadError::NoSchedSwitch { .. }, .. }
            ),
            "{error}"
        );
    }

    #[test]
    fn whatever_is_there_is_taken_for_a_file() {
        let file = |text| LoadSource::of(text, &Disk) == LoadSource::File;
        assert!(file("Cargo.toml"), "there is such a file in the folder of this package");
        assert!(file("/dev/null") && file("src") && !file("no-such-file"));
        assert_eq!(Disk.kind("src"), Some(SourceKind::Other));
    }
}
