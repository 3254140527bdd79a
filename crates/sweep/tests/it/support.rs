//! A small sweep, and folders that go wrong.

use lab::{Files, Sources};
use schema::SweepResult;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use sweep::{
    Axis, Chunk, Engine, Error, Finished, Folder, Local, MemoryFolder, Plan, Progress, Row, Sweep, Template,
    from_parquet,
};

pub fn axis(name: &str, values: &[&str]) -> Axis {
    Axis::new(name, values.iter().map(|value| (*value).to_owned()).collect()).expect("an axis")
}

/// Two kernels, two sizes, two numbers of threads, three seeds: 24 runs of a millisecond.
pub fn small() -> Plan {
    let template = Template::of_words(&["cyclictest -t{t} -p80 -i200 -n -D 2ms"], "machine=vm2", None);
    let axes = vec![
        axis("kernel", &["2.6.36", "6.1"]),
        axis("cpus", &["1", "2"]),
        axis("t", &["1", "3"]),
        Axis::seeds(3),
    ];
    Plan::new(template, axes, &Files::new()).expect("a plan")
}

/// As many values as there are pilots at most, each a chunk of its own, and merged.
pub fn many_chunks() -> Plan {
    let intervals: Vec<String> = (0..64).map(|n| (200 + n).to_string()).collect();
    let template = Template::of_words(&["cyclictest -t1 -p80 -i{i} -n -D 1ms"], "machine=vm2", None);
    let axes = vec![Axis::new("i", intervals).expect("an axis"), Axis::seeds(2)];
    Plan::new(template, axes, &Files::new()).expect("a plan")
}

/// Runs a sweep, and counts the rows that were made.
pub fn run(
    plan: &Plan,
    folder: &dyn Folder,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> (Result<SweepResult, Error>, usize) {
    let files = Files::new();
    let engine = Counting { local: Local::new(&files).with_workers(2), rows: AtomicUsize::new(0) };
    let result = Sweep { plan, folder, engine: &engine, clock: None }.run(progress);
    (result, engine.rows.into_inner())
}

pub fn to_its_end(plan: &Plan, folder: &dyn Folder) -> (SweepResult, usize) {
    let (result, rows) = run(plan, folder, &mut |_| ControlFlow::Continue(()));
    (result.expect("it runs"), rows)
}

/// The cores of this computer, with a count of what they hand over.
struct Counting<'f> {
    local: Local<'f>,
    rows: AtomicUsize,
}

impl Engine for Counting<'_> {
    fn map(
        &self,
        plan: &Plan,
        chunks: &[Chunk],
        finished: &mut dyn FnMut(Option<Finished>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        self.local.map(plan, chunks, &mut |done| {
            let rows = done.as_ref().map_or(0, |done| done.rows.len());
            self.rows.fetch_add(rows, Ordering::Relaxed);
            finished(done)
        })
    }

    fn workers(&self) -> usize {
        self.local.workers()
    }

    fn files(&self) -> &dyn Sources {
        self.local.files()
    }
}

/// All rows in the files of chunks, those that are there twice, twice.
pub fn rows(folder: &dyn Folder) -> Vec<Row> {
    let names = folder.list().expect("a list").into_iter().filter(|name| name.starts_with("runs-"));
    let read = |name: String| from_parquet(&name, folder.read(&name).expect("there")).expect("rows");
    names.flat_map(read).collect()
}

/// A folder with so many writes, and so many removals, before the disk is full or broken.
pub struct Failing<'f> {
    pub inner: &'f MemoryFolder,
    pub writes: AtomicUsize,
    pub removals: AtomicUsize,
}

fn one_less(left: &AtomicUsize) -> io::Result<()> {
    let less = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    less.map(drop).map_err(|_| io::ErrorKind::StorageFull.into())
}

impl Folder for Failing<'_> {
    fn shown(&self, file: &str) -> String {
        format!("disk/{file}")
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        self.inner.read(file)
    }

    fn write(&self, file: &str, content: &[u8]) -> io::Result<()> {
        one_less(&self.writes)?;
        self.inner.write(file, content)
    }

    fn remove(&self, file: &str) -> io::Result<()> {
        one_less(&self.removals)?;
        self.inner.remove(file)
    }
}
