//! A file on its way: under another name in the same folder until it is complete.
//!
//! The name is made of that of the file, and a lock keeps others from writing the same file at the same time.
//! A killed process leaves such a file without its lock; the next that writes there takes it away.

use super::unfinished::Unfinished;
use super::{OutputError, identity};
use rustix::fs::{Gid, OFlags, Uid, fchown};
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Of a new file, before the umask.
const NEW_FILE: u32 = 0o666;
/// How often somebody else may take the file away between two steps of ours.
const ATTEMPTS: u32 = 100;

/// See the module's head.
#[derive(Debug)]
pub struct Partial {
    // Dropped in this order: a file is unfinished until it is gone.
    file: NamedTempFile,
    unfinished: Unfinished,
    /// Its place.
    target: PathBuf,
}

/// Why there is none.
#[derive(Debug)]
pub enum Refused {
    /// Somebody else writes the same file.
    Busy,
    /// The system refuses.
    Io { partial: PathBuf, source: io::Error },
}

impl Refused {
    /// The error for a user who called the file so.
    pub fn of(self, path: &Path) -> OutputError {
        let path = path.to_owned();
        match self {
            Refused::Busy => OutputError::Busy { path },
            // A folder that is not there is no matter of the way to write. (One such as /proc is there.)
            Refused::Io { partial, source } if source.kind() == ErrorKind::NotFound => {
                let folder = partial.parent().map(Path::to_owned).unwrap_or_default();
                if folder.is_dir() {
                    OutputError::Write { path, source: io::Error::other("its folder takes no new files") }
                } else {
                    OutputError::NoFolder { path, folder }
                }
            }
            Refused::Io { partial, source } => OutputError::Beside { path, partial, source },
        }
    }
}

impl Partial {
    /// Beside `target`, which is no link. It gets the owner and the permissions of the file that is `there`.
    pub fn beside(target: &Path, there: Option<&Metadata>) -> Result<Partial, Refused> {
        let name = partial_name(target);
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let path = folder.join(&name);
        let failed = |source| Refused::Io { partial: path.clone(), source };
        let mode = there.map_or(NEW_FILE, |there| there.mode() & NEW_FILE);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&name).rand_bytes(0).permissions(Permissions::from_mode(mode));
        for _ in 0..ATTEMPTS {
            match Unfinished::make(path.clone(), || builder.tempfile_in(folder)) {
                Ok((file, unfinished)) => {
                    if !is_ours(file.as_file(), &path).map_err(failed)? {
                        // The name is that of somebody else's file by now.
                        let _ = file.keep();
                        return Err(Refused::Busy);
                    }
                    if let Some(there) = there {
                        keep_permissions(file.as_file(), there).map_err(failed)?;
                    }
                    return Ok(Partial { file, unfinished, target: target.to_owned() });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if !remove_left_over(&path).map_err(failed)? {
                        return Err(Refused::Busy);
                    }
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Err(Refused::Busy)
    }

    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Brings it to the disk, and then to its place.
    pub fn commit(self) -> io::Result<()> {
        let Partial { file, unfinished, target } = self;
        file.as_file().sync_all()?;
        let folder = file.path().parent().map(File::open);
        unfinished.finish(|| file.persist(&target))?;
        // The file is in its place; some file systems cannot promise that a power failure leaves it there.
        if let Some(Ok(folder)) = folder {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

fn partial_name(target: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".schedlab-partial");
    name
}

/// Locks the file, and says whether it is the one of this name and nobody else has it.
fn is_ours(file: &File, path: &Path) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    match fs::symlink_metadata(path) {
        Ok(there) => Ok(identity(&there) == identity(&file.metadata()?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes what a killed process left behind; false if the file is in use.
fn remove_left_over(path: &Path) -> io::Result<bool> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
    match OpenOptions::new().read(true).write(true).custom_flags(flags).open(path) {
        Ok(file) => Ok(is_ours(&file, path)? && fs::remove_file(path).is_ok()),
        // Its owner finished it meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// As far as this user may.
fn keep_permissions(file: &File, there: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    let (user, group) = (Uid::from_raw(there.uid()), Gid::from_raw(there.gid()));
    if own.uid() != there.uid() && fchown(file, Some(user), Some(group)).is_err() || own.gid() != there.gid()
    {
        // Only root gives files away; the group may be one of the user's.
        let _ = fchown(file, None, Some(group));
    }
    file.set_permissions(Permissions::from_mode(there.mode()))
}
