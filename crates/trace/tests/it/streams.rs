//! What can be read only once, and what is packed with gzip.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use flate2::{Compression, write::GzEncoder};
use trace::{NoteKind, ReadError, Trace};

use crate::common::{assert_same, fixture, lines};

const FILES: [&str; 6] = [
    "mix-rr.dat",
    "mix-rr.v6.dat.gz",
    "hackbench-pipe.perf.data.gz",
    "mix-rr.dat.pftrace",
    "mix-rr.report.txt.gz",
    "rtlab-plain.trace.txt.gz",
];

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Gives a few bytes at a time, as a pipe may.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = out.len().min(777);
        self.0.read(&mut out[..len])
    }
}

fn assert_equal(name: &str, one: &Trace, other: &Trace) {
    assert_same(name, &lines(one), &lines(other));
    assert_eq!(one.notes, other.notes, "{name}");
    assert_eq!((&one.meta, &one.threads), (&other.meta, &other.threads), "{name}");
}

#[test]
fn a_stream_and_a_packed_file_say_the_same() {
    for name in FILES {
        let file = fixture(name);
        let trace = trace::read(&file).expect("a trace");
        assert_equal(name, &trace, &trace::read_stream(Trickle(&file)).expect("a trace"));
        let packed = packed(&file);
        assert_equal(name, &trace, &trace::read(&packed).expect("a trace"));
        assert_equal(name, &trace, &trace::read_stream(Trickle(&packed)).expect("a trace"));
    }
}

#[test]
fn what_can_be_read_at_any_place_is_read_from_its_beginning() {
    for name in FILES {
        let mut file = Cursor::new(fixture(name));
        file.set_position(5);
        let trace = trace::read_seekable(&mut file).expect("a trace");
        assert_equal(name, &trace::read(file.get_ref()).expect("a trace"), &trace);
    }
}

/// Promises bytes and has none.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is gone"))
    }
}

impl Seek for Broken {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(100)
    }
}

#[test]
fn an_error_of_the_reader_is_told() {
    for result in [trace::read_seekable(Broken), trace::read_stream(Broken)] {
        let error = result.expect_err("no byte can be had");
        assert!(matches!(error, ReadError::Io { .. }), "{error}");
        assert_eq!(error.to_string(), "reading fails: the disk is gone");
    }
}

/// Something without end, of which at most a megabyte may be asked for.
struct Endless<F> {
    byte: F,
    given: usize,
}

impl<F: FnMut() -> u8> Read for Endless<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.given += out.len();
        assert!(self.given < 1 << 20, "it has no end");
        out.fill_with(&mut self.byte);
        Ok(out.len())
    }
}

#[test]
fn what_has_no_end_and_is_no_trace_is_refused_at_once() {
    let refused = |name: &str, byte: &mut dyn FnMut() -> u8| {
        let error = trace::read_stream(Endless { byte, given: 0 }).expect_err(name);
        assert!(matches!(error, ReadError::NotATrace { .. }), "{name}: {error}");
    };
    refused("zeros", &mut || 0);
    let mut state = 1u32;
    refused("noise", &mut || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let mut text = b"yes\n".iter().cycle();
    refused("text", &mut || *text.next().expect("it goes on"));
}

#[test]
fn packed_files_that_are_cut_damaged_or_packed_twice() {
    let text = fixture("rtlab-plain.trace.txt.gz");
    let packed_text = packed(&text);
    let all = trace::read(&text).expect("a trace").events.len();
    let cut = trace::read(&packed_text[..packed_text.len() / 2]).expect("half a trace");
    assert!(
        cut.notes.count(NoteKind::Truncated) > 0 && cut.events.len() < all && cut.events.len() > all / 10
    );
    let mut damaged = packed_text.clone();
    let checksum = damaged.len() - 6;
    damaged[checksum] ^= 1;
    let damaged = trace::read(&damaged).expect("a trace");
    assert_eq!((damaged.notes.count(NoteKind::Decompression), damaged.events.len()), (1, all));
    let twice = trace::read(&packed(&packed_text)).expect_err("twice").to_string();
    assert_eq!(
        twice,
        "this is not a trace that can be read: a gzip file in a gzip file; unpack it with gunzip first"
    );
    let error = trace::read(&packed(b"")).expect_err("nothing");
    assert!(matches!(error, ReadError::Empty), "{error}");
}

/// A small file that would fill the memory: it is looked at before it is unpacked, and unpacked to a limit.
#[test]
fn bombs() {
    let zeros = packed(&vec![0; 1 << 26]);
    assert!(matches!(trace::read(&zeros), Err(ReadError::NotATrace { .. })));
    let mut text = fixture("rtlab-plain.trace.txt.gz");
    let all = trace::read(&text).expect("a trace").events.len();
    text.resize(text.len() + (100 << 20), b' ');
    let trace = trace::read(&packed(&text)).expect("a trace");
    assert_eq!((trace.notes.count(NoteKind::DecompressionLimit), trace.events.len()), (1, all));
}
