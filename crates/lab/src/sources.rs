//! Where named files come from. The library opens none itself: on a computer they lie on its disk, in a
//! browser or a test in memory.

use crate::error::Error;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Cursor, Read, Seek};
use trace::{ReadError, Trace};
use xxhash_rust::xxh3::Xxh3Default;

/// The name by which standard input and standard output go.
pub const STANDARD_STREAM: &str = "-";

/// Where the files come from that loads, machines and experiments name.
pub trait Sources {
    /// What goes by this name; `None` where nothing does.
    fn kind(&self, name: &str) -> Option<SourceKind>;

    /// Opens what goes by this name; [`STANDARD_STREAM`] is standard input.
    ///
    /// # Errors
    /// What the system says: nothing goes by this name, or it must not be read.
    fn open(&self, name: &str) -> io::Result<Opened<'_>>;
}

/// What goes by a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceKind {
    /// A file.
    File,
    /// A folder, a pipe, a device.
    Other,
}

/// Something open, at its beginning.
pub enum Opened<'a> {
    /// It can be read again from its beginning on, at any place.
    Seekable(Box<dyn ReadSeek + 'a>),
    /// It can be read once, as a pipe.
    Stream(Box<dyn Read + 'a>),
}

impl fmt::Debug for Opened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Opened::Seekable(_) => "Seekable",
            Opened::Stream(_) => "Stream",
        })
    }
}

/// What can be read at any place.
pub trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// Files in memory, by name; empty: there are none.
pub type Files = BTreeMap<String, Vec<u8>>;

impl Sources for Files {
    fn kind(&self, name: &str) -> Option<SourceKind> {
        self.contains_key(name).then_some(SourceKind::File)
    }

    fn open(&self, name: &str) -> io::Result<Opened<'_>> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no such file");
        let bytes = self.get(name).ok_or_else(missing)?;
        Ok(Opened::Seekable(Box::new(Cursor::new(bytes.as_slice()))))
    }
}

/// A file, open, and as much of its beginning as was looked at.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    /// As it was given.
    name: &'a str,
    opened: Opened<'a>,
    bytes: Vec<u8>,
}

impl<'a> Input<'a> {
    pub fn open(name: &'a str, files: &'a dyn Sources) -> Result<Input<'a>, Error> {
        let opened = files.open(name).map_err(|source| failed(name, source))?;
        Ok(Input { name, opened, bytes: Vec::new() })
    }

    /// Whether it can be read again from its beginning on.
    pub fn is_seekable(&self) -> bool {
        matches!(self.opened, Opened::Seekable(_))
    }

    /// XXH3 of all that is in it, 128 bits in hexadecimal digits, to be asked for before anything is read;
    /// `None` of a pipe, which nobody finds again.
    pub fn content_hash(&mut self) -> Result<Option<String>, Error> {
        let Opened::Seekable(file) = &mut self.opened else { return Ok(None) };
        let hash = hash(file).and_then(|hash| file.rewind().map(|()| hash));
        hash.map(Some).map_err(|source| failed(self.name, source))
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

    /// A trace. One that can be read at any place is never in memory as a whole; of anything else the
    /// beginning must look like one.
    pub fn into_trace(self) -> Result<Trace, Error> {
        let name = self.name;
        let trace = match self.opened {
            Opened::Seekable(file) => trace::read_seekable(file),
            Opened::Stream(stream) => trace::read_stream(Cursor::new(self.bytes).chain(stream)),
        };
        trace.map_err(|error| match error {
            ReadError::Io { source } => failed(name, source),
            source => Error::Trace { path: shown(name), source },
        })
    }

    fn read_on(&mut self, len: u64) -> Result<(), Error> {
        let reader: &mut dyn Read = match &mut self.opened {
            Opened::Seekable(file) => file,
            Opened::Stream(stream) => stream,
        };
        reader.take(len).read_to_end(&mut self.bytes).map(drop).map_err(|source| failed(self.name, source))
    }
}

/// Bytes that are hashed at once.
const CHUNK: usize = 1 << 16;

fn hash(file: &mut dyn ReadSeek) -> io::Result<String> {
    let (mut hash, mut chunk) = (Xxh3Default::new(), vec![0; CHUNK]);
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(format!("{:032x}", hash.digest128())),
            Ok(length) => hash.update(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// XXH3 of the content of a file, 128 bits in hexadecimal digits, as `xxh128sum` prints it; `None` of a pipe,
/// which nobody finds again.
///
/// # Errors
/// It cannot be read.
pub fn content_hash(name: &str, files: &dyn Sources) -> Result<Option<String>, Error> {
    Input::open(name, files)?.content_hash()
}

/// The text of a file.
///
/// # Errors
/// It cannot be read, or is no text.
pub fn file_text(name: &str, files: &dyn Sources) -> Result<String, Error> {
    text(name, files)
}

/// The text of a file.
pub(crate) fn text(name: &str, files: &dyn Sources) -> Result<String, Error> {
    text_of(name, Input::open(name, files)?.into_bytes()?)
}

/// A file's bytes as text.
pub(crate) fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|error| {
        let problem = format!("not text: {}", error.utf8_error());
        failed(name, io::Error::new(io::ErrorKind::InvalidData, problem))
    })
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
    use crate::{LoadSpec, NamedMachine, machine, machine_text};
    use schema::MachineText;

    const DEMO: &[u8] = include_bytes!("../../../demo/mix-rtover.dat");

    /// One pipe, by any name.
    struct Pipe(&'static [u8]);

    impl Sources for Pipe {
        fn kind(&self, _: &str) -> Option<SourceKind> {
            Some(SourceKind::Other)
        }

        fn open(&self, _: &str) -> io::Result<Opened<'_>> {
            Ok(Opened::Stream(Box::new(self.0)))
        }
    }

    /// The head that tells what a file is has been taken from the pipe by then.
    #[test]
    fn a_trace_is_the_same_from_a_file_and_from_a_pipe() {
        let files = Files::from([("demo".to_owned(), DEMO.to_vec())]);
        let tasks = |files: &dyn Sources| {
            let mut input = Input::open("demo", files).expect("it is there");
            assert_eq!(input.head(64).map(<[u8]>::len).ok(), Some(64));
            trace::summarise(&input.into_trace().expect("a trace")).tasks.len()
        };
        assert!(tasks(&files) > 3);
        assert_eq!(tasks(&Pipe(DEMO)), tasks(&files));
    }

    /// As `xxh128sum` prints it.
    #[test]
    fn a_content_has_a_hash_and_is_read_from_its_beginning_all_the_same() {
        let files = Files::from([("empty".to_owned(), Vec::new()), ("demo".to_owned(), DEMO.to_vec())]);
        let hash = |name| Input::open(name, &files).and_then(|mut input| input.content_hash()).ok().flatten();
        assert_eq!(hash("empty").as_deref(), Some("99aa06d3014798d86001c324468d497f"));
        let mut input = Input::open("demo", &files).expect("it is there");
        assert_eq!(input.content_hash().expect("readable"), hash("demo"));
        assert_eq!(input.into_bytes().expect("readable"), DEMO);
        let pipe = Input::open("pipe", &Pipe(DEMO)).and_then(|mut input| input.content_hash());
        assert_eq!(pipe.expect("nothing was read"), None);
    }

    /// In memory as on a disk: beside the recording, under its name.
    #[test]
    fn a_recording_finds_the_machine_that_is_described_beside_it() {
        let laptop = machine_text("laptop", &Files::new()).expect("a machine of the program");
        let mut files = Files::from([("demo.dat".to_owned(), DEMO.to_vec())]);
        let described =
            |files: &Files| LoadSpec::open("demo.dat", files).expect("a trace").described_machine().is_some();
        assert!(!described(&files));
        files.insert(
            "demo.dat.machine.toml".to_owned(),
            laptop.replace("\"laptop\"", "\"mine\"").into_bytes(),
        );
        assert!(described(&files));
        let loads = [LoadSpec::open("demo.dat", &files).expect("a trace")];
        let found = NamedMachine::open(&MachineText::default(), &loads, &files).expect("a machine");
        assert_eq!(found.spec().name, "mine");
    }

    #[test]
    fn what_is_missing_or_no_text_is_told_by_name() {
        let files = Files::from([("bytes.toml".to_owned(), vec![0xff])]);
        let error = |name| machine(name, None, &files).expect_err("no machine").to_string();
        assert_eq!(error("no/such.toml"), "no/such.toml: no such file");
        assert!(error("bytes.toml").starts_with("bytes.toml: not text: "), "{}", error("bytes.toml"));
    }
}
