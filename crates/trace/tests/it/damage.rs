//! Damaged files: whatever is done to them, reading returns a sound trace or one clear error.

use trace::{Annotations, NoteKind, ReadError, TextOptions};

use crate::common::{assert_sound, fixture};

const FILES: [&str; 13] = [
    "mix-rr.dat.pftrace",
    "mix-rr.dat.compact.pftrace",
    "hackbench-pipe.perf.data.gz",
    "hackbench-pipe.zstd.perf.data.gz",
    "mix-rr.dat",
    "mix-rr.zlib.dat",
    "mix-rr.v6.dat.gz",
    "mix-rr.v7-none.dat.gz",
    "guest-6.1-mix-rr-smp2.dat",
    "mix-rr.report.txt.gz",
    "mix-rr.report-R.txt.gz",
    "mix-rtover.report.txt.gz",
    "rtlab-plain.trace.txt.gz",
];

/// SplitMix64: the numbers of a test are the same everywhere and for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Recordings of seconds, in which up to twenty places were damaged, each of which can make two days of
/// silence.
const MOST_NS: u64 = 40 * 24 * 3600 * 1_000_000_000;

/// Reads, and uses everything that a user would do with the result. Returns whether there was one.
fn use_all(bytes: &[u8]) -> Result<u64, ReadError> {
    let mut trace = trace::read(bytes)?;
    assert_sound(&trace);
    assert!(trace.end_ns() - trace.start_ns() <= MOST_NS, "nobody simulates centuries");
    let _ = trace.notes.to_string();
    trace::infer_missing_switches(&mut trace);
    assert_sound(&trace);
    trace::write_ftrace_text(&trace, TextOptions::default(), std::io::sink())
        .expect("a sink takes everything");
    trace::write_perfetto(&trace, &Annotations::new(), std::io::sink()).expect("a sink takes everything");
    Ok(trace.events.len() as u64)
}

#[test]
fn cut_at_every_hundredth() {
    for name in FILES {
        let whole = fixture(name);
        let all = use_all(&whole).expect("the whole file is sound");
        let mut most = 0;
        for percent in 0..100 {
            let cut = &whole[..whole.len() * percent / 100];
            match use_all(cut) {
                Ok(events) => {
                    assert!(
                        // Behind perf.data's events there is more that can be cut.
                        events >= most && (events < all || name.contains(".perf.data") && events == all),
                        "{name} cut at {percent} %: {events} of {all} events"
                    );
                    most = events;
                    let notes = trace::read(cut).expect("as before").notes;
                    if cut.ends_with(b"\n") {
                        // Text that ends with a line cannot be told from a shorter recording.
                        continue;
                    }
                    let said = [
                        NoteKind::Truncated,
                        NoteKind::OpenLastLine,
                        NoteKind::BadEventText,
                        NoteKind::DamagedOption,
                    ];
                    assert!(
                        said.iter().any(|kind| notes.count(*kind) > 0),
                        "{name} cut at {percent} %: {notes}"
                    );
                }
                Err(error) => assert_eq!(most, 0, "{name} cut at {percent} %, but less was enough: {error}"),
            }
        }
        // In version 7 the table of CPU buffers stands at the end; of every other file a part is enough.
        assert_eq!(
            most > 0,
            !name.ends_with("7-none.dat.gz")
                && !matches!(name, "mix-rr.dat" | "mix-rr.zlib.dat")
                && !name.starts_with("guest"),
            "{name}"
        );
    }
}

#[test]
fn every_length_of_a_header() {
    for name in ["mix-rr.dat", "mix-rr.v6.dat.gz", "rtmigrate.perf.data.gz"] {
        let whole = fixture(name);
        for len in 0..1000 {
            let error = use_all(&whole[..len]).expect_err("nothing useful is there yet").to_string();
            assert!(!error.is_empty());
        }
    }
}

#[test]
fn flipped_bytes() {
    for (n, name) in FILES.into_iter().enumerate() {
        let whole = fixture(name);
        let mut random = Random(n as u64);
        let mut readable = 0;
        for _ in 0..60 {
            let mut damaged = whole.clone();
            for _ in 0..1 + random.below(8) {
                let at = random.below(damaged.len());
                damaged[at] = random.next() as u8;
            }
            readable += u64::from(use_all(&damaged).is_ok());
        }
        assert!(readable > 0, "{name}: some damage must be survivable");
    }
}

#[test]
fn flipped_bits() {
    for (n, name) in FILES.into_iter().enumerate() {
        let whole = fixture(name);
        let mut random = Random(300 + n as u64);
        for _ in 0..60 {
            let mut damaged = whole.clone();
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
            let _ = use_all(&damaged);
        }
    }
}

/// Lengths, counts and offsets are the numbers that could make a reader allocate, loop or overflow.
#[test]
fn extreme_numbers_in_the_metadata() {
    const EXTREMES: [u64; 8] = [0, 1, 0x7f, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX / 2, u64::MAX];
    for (n, name) in FILES.into_iter().take(9).enumerate() {
        let whole = fixture(name);
        let mut random = Random(100 + n as u64);
        for _ in 0..120 {
            let mut damaged = whole.clone();
            // The first kilobyte, the last two, or anywhere.
            let at = match random.below(3) {
                0 => random.below(1000),
                1 => damaged.len() - 2000 + random.below(1990),
                _ => random.below(damaged.len() - 8),
            };
            let extreme = EXTREMES[random.below(EXTREMES.len())].to_le_bytes();
            let size = [2, 4, 8][random.below(3)];
            damaged[at..at + size].copy_from_slice(&extreme[..size]);
            let _ = use_all(&damaged);
        }
    }
}

#[test]
fn lines_cut_joined_doubled_and_swapped() {
    for (n, name) in FILES.into_iter().skip(9).enumerate() {
        let whole = fixture(name);
        let mut random = Random(200 + n as u64);
        for _ in 0..20 {
            let mut lines: Vec<Vec<u8>> = whole.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            for _ in 0..20 {
                let (a, b) = (random.below(lines.len()), random.below(lines.len()));
                match random.below(5) {
                    0 => lines.swap(a, b),
                    1 => lines[a] = lines[b].clone(),
                    2 => {
                        let len = random.below(lines[a].len() + 1);
                        lines[a].truncate(len);
                    }
                    3 => {
                        let more = lines[b].clone();
                        lines[a].extend(more);
                    }
                    _ => {
                        let len = random.below(lines[a].len() + 1);
                        lines[a].drain(..len);
                    }
                }
            }
            use_all(&lines.join(&b'\n')).expect("most lines are whole");
        }
    }
}
