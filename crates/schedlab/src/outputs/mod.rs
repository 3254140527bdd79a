//! Files that commands write. A file is written beside its place and moved there when it is complete, so that
//! whatever goes wrong on the way (an error, a signal, a full disk) leaves the file that was there as it was.

mod error;
mod partial;
mod unfinished;

pub use error::OutputError;
use flate2::Compression;
use flate2::write::GzEncoder;
use lab::{STANDARD_STREAM, is_packed};
use partial::Partial;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
pub use unfinished::remove_unfinished;

/// An output under way. Dropped before [`Output::commit`], it leaves nothing behind, but for what a device, a
/// pipe or standard output has taken already.
#[derive(Debug)]
pub struct Output {
    /// As it was given.
    path: PathBuf,
    to: Form,
}

/// In which form bytes come to their place.
#[derive(Debug)]
enum Form {
    Plain(BufWriter<Destination>),
    /// Packed, as the name says.
    Gzip(GzEncoder<BufWriter<Destination>>),
}

#[derive(Debug)]
enum Destination {
    /// A file, which is not in its place yet.
    Partial(Partial),
    /// What is written to as it is: a device or a pipe with a name.
    Device(File),
    Stdout(io::Stdout),
}

impl Output {
    /// Begins to write `path`; `-` is standard output. Files stay as they are until [`Output::commit`]. What
    /// is written under a name that ends in `.gz` is packed with gzip.
    ///
    /// Waits for a reader where `path` is a pipe without one.
    ///
    /// # Errors
    /// A path that cannot be written, is one of the `inputs`, or is written by another process of this
    /// program now.
    pub fn open(path: &Path, inputs: &[PathBuf]) -> Result<Output, OutputError> {
        let place = BufWriter::new(place(path, inputs)?);
        let to = if is_packed(path) {
            Form::Gzip(GzEncoder::new(place, Compression::default()))
        } else {
            Form::Plain(place)
        };
        Ok(Output { path: path.to_owned(), to })
    }

    /// Whether a file comes of it, as opposed to bytes for a device, a pipe or standard output.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(self.to.place(), Destination::Partial(_))
    }

    /// Whether it is standard output, which is then no place for anything else.
    #[must_use]
    pub fn is_stdout(&self) -> bool {
        matches!(self.to.place(), Destination::Stdout(_))
    }

    /// As it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error of writing to it, with its name.
    pub fn failed(&self, source: io::Error) -> OutputError {
        OutputError::Write { path: self.path.clone(), source }
    }

    /// Ends it: a file is brought to the disk and moved to its place.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn commit(self) -> Result<(), OutputError> {
        let Output { path, to } = self;
        let plain = match to {
            Form::Plain(plain) => Ok(plain),
            Form::Gzip(packed) => packed.finish(),
        };
        let place = plain.and_then(|plain| plain.into_inner().map_err(io::IntoInnerError::into_error));
        let done = place.and_then(|place| match place {
            Destination::Partial(partial) => partial.commit(),
            Destination::Device(mut file) => file.flush(),
            Destination::Stdout(mut stdout) => stdout.flush(),
        });
        done.map_err(|source| OutputError::Write { path, source })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Form::Plain(plain) => plain.write(bytes),
            Form::Gzip(packed) => packed.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Form::Plain(plain) => plain.flush(),
            Form::Gzip(packed) => packed.flush(),
        }
    }
}

impl Form {
    fn place(&self) -> &Destination {
        match self {
            Form::Plain(plain) => plain.get_ref(),
            Form::Gzip(packed) => packed.get_ref().get_ref(),
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Destination::Partial(partial) => partial.file().write(bytes),
            Destination::Device(file) => file.write(bytes),
            Destination::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Destination::Partial(partial) => partial.file().flush(),
            Destination::Device(file) => file.flush(),
            Destination::Stdout(stdout) => stdout.flush(),
        }
    }
}

fn place(path: &Path, inputs: &[PathBuf]) -> Result<Destination, OutputError> {
    if path == Path::new(STANDARD_STREAM) {
        return Ok(Destination::Stdout(io::stdout()));
    }
    let failed = |source| OutputError::Write { path: path.to_owned(), source };
    let there = match fs::metadata(path) {
        Ok(there) => Some(there),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    match there {
        // A name of it, such as /dev/stdout.
        Some(there) if is_stdout(&there) => return Ok(Destination::Stdout(io::stdout())),
        Some(there) if there.is_file() => {
            if let Some(input) = inputs.iter().find(|input| is_input(&there, input)) {
                return Err(OutputError::IsInput { path: path.to_owned(), input: input.clone() });
            }
            // Whoever may not write a file may not replace it either.
            OpenOptions::new().write(true).open(path).map_err(failed)?;
            Partial::beside(&behind_links(path), Some(&there))
        }
        Some(there) if !there.is_dir() => {
            return OpenOptions::new().write(true).open(path).map(Destination::Device).map_err(failed);
        }
        None if !path.as_os_str().as_bytes().ends_with(b"/") => Partial::beside(&behind_links(path), None),
        _ => return Err(failed(ErrorKind::IsADirectory.into())),
    }
    .map(Destination::Partial)
    .map_err(|refused| refused.of(path))
}

/// The file that a link names, so that the link stays one. A link to nothing names the file to be made.
fn behind_links(path: &Path) -> PathBuf {
    /// As many as Linux follows.
    const MOST_LINKS: u32 = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

fn is_input(there: &Metadata, input: &Path) -> bool {
    let input = if input == Path::new(STANDARD_STREAM) {
        identity_of(io::stdin())
    } else {
        fs::metadata(input).ok().map(|input| identity(&input))
    };
    input == Some(identity(there))
}

/// Whether two paths name one file that exists.
#[must_use]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let of = |path| fs::metadata(path).ok().map(|file| identity(&file));
    of(one).is_some_and(|one| of(other) == Some(one))
}

fn is_stdout(there: &Metadata) -> bool {
    identity_of(io::stdout()) == Some(identity(there))
}

/// What makes a file the same, whatever its names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Identity {
    device: u64,
    inode: u64,
}

fn identity(file: &Metadata) -> Identity {
    Identity { device: file.dev(), inode: file.ino() }
}

fn identity_of(stream: impl AsFd) -> Option<Identity> {
    let stream = File::from(stream.as_fd().try_clone_to_owned().ok()?);
    stream.metadata().ok().map(|stream| identity(&stream))
}

/// A folder into which files will be written after a long time.
///
/// # Errors
/// A path that is no folder, or one that takes no new files.
pub fn check_folder(path: &Path) -> Result<(), OutputError> {
    let failed = |source| OutputError::Write { path: path.to_owned(), source };
    let there = fs::metadata(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => OutputError::NoFolder { path: path.to_owned(), folder: path.to_owned() },
        _ => failed(source),
    });
    if !there?.is_dir() {
        return Err(failed(ErrorKind::NotADirectory.into()));
    }
    tempfile::tempfile_in(path).map(drop).map_err(failed)
}

/// Locks a file for as long as it is open, on behalf of what is written to `path`. Whether no other process
/// has it.
///
/// # Errors
/// A file system that cannot lock.
pub fn lock(file: &File, path: &Path) -> Result<bool, OutputError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(OutputError::Write { path: path.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests;
