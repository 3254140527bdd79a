//! Runs that are kept: a tuning that was stopped, or whose disk was full, goes on where it was, and its
//! answer is that of one that was not.

use lab::{Experiment, ExperimentText, Files, Reading, Settings};
use schema::{LoadText, TuneDirection, TuneResult, TuneVerdict};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use sweep::{Folder, MemoryFolder, from_parquet};
use tune::{Error, Goal, KnobsFile, Request, Told, Words, tune};

const KNOBS: &str = "
[[knob]]
feature = 'HRTICK'
[[knob]]
tunable = 'base_slice_ns'
values = [350000, 700000]
[[knob]]
name = 'priority'
load = 'cyclictest -t2 -i1000 -n'
instead = ['cyclictest -t2 -p50 -i1000 -n', 'cyclictest -t2 -p60 -i1000 -n']
";

/// Tunes two timers beside four loops; stops as soon as so many runs have ended.
fn ask(folder: Option<&dyn Folder>, stop_after: u64) -> (Result<TuneResult, Error>, Told) {
    let files = Files::new();
    let load = |load: &str| LoadText { load: load.to_owned(), file: None };
    let text = ExperimentText {
        loads: ["cyclictest -t2 -i1000 -n", "hog -n 4"].map(load).into(),
        duration_ns: Some(100_000_000),
        ..ExperimentText::default()
    };
    let text = Settings::parse("machine=laptop cpus=2 kernel=6.18.y").expect("settings").over(&text);
    let stop = Arc::new(AtomicBool::new(false));
    let mut experiment = Experiment::open(&text, &files).expect("an experiment");
    experiment.stop = Some(stop.clone());
    let request = Request {
        words: Words { text, experiment, reading: &Reading::default(), recorded_on: None, base: "" },
        goal: Goal { text: "mean(cyclictest)".to_owned(), direction: TuneDirection::Minimize },
        subject_to: &["hog cycles > 0.5 x base".to_owned()],
        knobs: Some(&KnobsFile::parse("knobs.toml", KNOBS).expect("knobs")),
        seeds: 6,
        folder,
    };
    let (done, known, reused) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let most = |so_far: &AtomicUsize, now: u64| so_far.fetch_max(now as usize, Ordering::Relaxed);
    let found = tune(&request, &files, &|told| {
        most(&done, told.done);
        most(&known, told.known);
        most(&reused, told.reused);
        if told.done >= stop_after {
            stop.store(true, Ordering::Relaxed);
        }
    });
    let [done, known, reused] = [done, known, reused].map(|count| count.into_inner() as u64);
    (found, Told { done, known, reused })
}

/// All rows, and the runs that they are of.
fn rows(folder: &dyn Folder) -> (usize, usize) {
    let names = folder.list().expect("a list");
    let read = |name: &String| from_parquet(name, folder.read(name).expect("there")).expect("rows");
    let all: Vec<String> = names.iter().flat_map(read).map(|row| row.run).collect();
    (all.len(), all.iter().collect::<BTreeSet<_>>().len())
}

#[test]
fn a_stopped_tuning_goes_on_where_it_was() {
    let (whole, told) = ask(None, u64::MAX);
    let whole = whole.expect("an answer");
    assert_eq!((whole.verdict, told.reused), (TuneVerdict::Found, 0), "a way with all its steps");
    let folder = MemoryFolder::default();
    let mut before = 0;
    for stop_after in [4, 30, 70] {
        let (stopped, told) = ask(Some(&folder), stop_after);
        let Err(Error::Stopped { made, known, is_kept: true }) = stopped else { panic!("{stopped:?}") };
        assert!(made >= stop_after && made <= known, "{made} of {known}, stopped after {stop_after}");
        assert_eq!(told.reused, before, "what is there is not run again");
        let (all, distinct) = rows(&folder);
        assert_eq!((all, distinct as u64), (distinct, made), "what has ended is there, once");
        before = made;
    }
    let (result, told) = ask(Some(&folder), u64::MAX);
    assert_eq!((result.expect("an answer"), told.reused), (whole.clone(), before));
    // All of it is there now, but for the confirmation, of which more is wanted than is kept.
    let (again, told) = ask(Some(&folder), u64::MAX);
    let fresh = 2 * whole.confirmed.as_ref().expect("it was").seeds.len() as u64;
    assert_eq!((told.done, told.reused), (whole.runs, whole.runs - fresh));
    assert_eq!(again.expect("an answer"), whole);
}

#[test]
fn without_a_folder_a_stopped_tuning_says_that_nothing_is_kept() {
    let error = ask(None, 3).0.expect_err("stopped").to_string();
    assert!(
        error.starts_with("stopped after ")
            && error.ends_with(" runs that it was known to need; none is kept"),
        "{error}"
    );
}

/// A folder whose disk is full after so many files.
struct Full<'f>(&'f MemoryFolder, AtomicUsize);

impl Folder for Full<'_> {
    fn shown(&self, file: &str) -> String {
        format!("disk/{file}")
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.0.list()
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        self.0.read(file)
    }

    fn write(&self, file: &str, content: &[u8]) -> io::Result<()> {
        let less = self.1.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        less.map_err(|_| io::Error::from(io::ErrorKind::StorageFull))?;
        self.0.write(file, content)
    }

    fn remove(&self, file: &str) -> io::Result<()> {
        self.0.remove(file)
    }
}

#[test]
fn a_full_disk_loses_nothing_that_was_finished() {
    let disk = MemoryFolder::default();
    for files in [1, 3] {
        let (there, _) = rows(&disk);
        let error =
            ask(Some(&Full(&disk, AtomicUsize::new(files))), u64::MAX).0.expect_err("it is full").to_string();
        assert!(
            error.starts_with("disk/runs-") && error.contains("what has been finished is kept"),
            "{error}"
        );
        assert!(rows(&disk).0 >= there + files, "each file that was written is there");
    }
    let (there, _) = rows(&disk);
    let (result, told) = ask(Some(&disk), u64::MAX);
    assert_eq!(
        (result.expect("an answer"), told.reused),
        (ask(None, u64::MAX).0.expect("an answer"), there as u64)
    );
}
