//! Files that are read: by name, or standard input under the name `-`.

use crate::error::Error;
use crate::outputs::STANDARD_STREAM;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::os::fd::AsFd;
use trace::{ReadError, Trace};

/// A file, open, and as much of its beginning as was looked at.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    /// As it was given.
    name: &'a str,
    file: File,
    /// It can be read again from its beginning on, at any place: it is no pipe and no device.
    is_file: bool,
    bytes: Vec<u8>,
}

impl<'a> Input<'a> {
    pub fn open(name: &'a str) -> Result<Input<'a>, Error> {
        let file = if name == STANDARD_STREAM {
            io::stdin().as_fd().try_clone_to_owned().map(File::from)
        } else {
            File::open(name)
        };
        let mut file = file.map_err(|source| failed(name, source))?;
        let metadata = file.metadata().map_err(|source| failed(name, source))?;
        // Files of tracefs and /proc say that they are empty, and cannot be read at any place.
        let is_file = metadata.is_file() && metadata.len() > 0;
        // Of standard input others may have read the beginning.
        let is_whole = is_file && file.stream_position().is_ok_and(|at| at == 0);
        Ok(Input { name, file, is_file: is_whole, bytes: Vec::new() })
    }

    /// The first bytes: `len` of them, or as many as there are.
    pub fn head(&mut self, len: u64) -> Result<&[u8], Error> {
        self.read_on(len)?;
        Ok(&self.bytes)
    }

    /// All bytes.
    pub fn into_bytes(mut self) -> Result<Vec<u8>, Error> {
        self.read_on(u64::MAX)?;
        Ok(self.bytes)
    }

    /// A trace. One in a file is never in memory as a whole; of anything else the beginning must look like
    /// one.
    pub fn into_trace(self) -> Result<Trace, Error> {
        let name = self.name;
        let trace = if self.is_file {
            trace::read_seekable(self.file)
        } else {
            trace::read_stream(Cursor::new(self.bytes).chain(self.file))
        };
        trace.map_err(|error| match error {
            ReadError::Io { source } => failed(name, source),
            source => Error::Trace { path: shown(name), source },
        })
    }

    fn read_on(&mut self, len: u64) -> Result<(), Error> {
        let read = (&self.file).take(len).read_to_end(&mut self.bytes);
        read.map(drop).map_err(|source| failed(self.name, source))
    }
}

/// What errors call it.
pub(crate) fn shown(name: &str) -> String {
    if name == STANDARD_STREAM { "standard input".to_owned() } else { name.to_owned() }
}

fn failed(name: &str, source: io::Error) -> Error {
    Error::File { path: shown(name), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> Error {
        Input::open(name).and_then(Input::into_trace).expect_err("no trace")
    }

    #[test]
    fn what_cannot_be_read_is_told_by_name() {
        for name in ["/", "/no/such/file"] {
            let error = error(name);
            assert!(matches!(&error, Error::File { path, .. } if path == name), "{error}");
        }
        assert!(matches!(error("/dev/zero"), Error::Trace { source: ReadError::NotATrace { .. }, .. }));
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
}
