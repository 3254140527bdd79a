//! Runs of a tuning that are kept in a folder, so that one that was stopped or killed goes on where it was.

use crate::error::Error;
use crate::trials::Sample;
use lab::{ExperimentText, Sources};
use schema::Measurement;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use sweep::{Folder, Outcome, Row, Store, Work};
use xxhash_rust::xxh3::Xxh3Default;

/// A folder with runs, and what is asked of those that were there.
pub(crate) struct Keeping<'k> {
    store: Mutex<Store<'k>>,
    there: BTreeMap<String, Sample>,
    /// Rows that nobody has written yet.
    waiting: Mutex<Vec<Row>>,
}

impl<'k> Keeping<'k> {
    /// Of the runs that are there the figures of these keys. A run that failed is made again: why it failed
    /// is told in the words of whoever makes it.
    pub fn open(folder: &'k dyn Folder, keys: &[String]) -> Result<Keeping<'k>, Error> {
        let mut there = BTreeMap::new();
        let store = Store::open(folder, &mut |row| {
            if let Outcome::Ran { figures, .. } = &row.outcome {
                there.insert(row.run, sample(keys, figures));
            }
        })?;
        Ok(Keeping { store: Mutex::new(store), there, waiting: Mutex::default() })
    }

    /// The run of an experiment; `None`: it cannot be told from others.
    pub fn work(&self, text: Option<ExperimentText>, files: &dyn Sources) -> Result<Option<Work>, Error> {
        Ok(text.map(|text| lock(&self.store).work(text, files)).transpose()?.flatten())
    }

    /// What a run had that was there before.
    pub fn get(&self, work: &Work) -> Option<&Sample> {
        self.there.get(&work.run)
    }

    /// Keeps a run, from any thread. While somebody writes, others leave theirs to whoever writes next.
    pub fn keep(&self, row: Row) -> Result<(), Error> {
        lock(&self.waiting).push(row);
        match self.store.try_lock() {
            Ok(store) => self.write(store),
            Err(_) => Ok(()),
        }
    }

    /// Writes what waits.
    pub fn finish(&self) -> Result<(), Error> {
        self.write(lock(&self.store))
    }

    fn write(&self, mut store: MutexGuard<'_, Store<'k>>) -> Result<(), Error> {
        loop {
            let rows = std::mem::take(&mut *lock(&self.waiting));
            if rows.is_empty() {
                return Ok(());
            }
            store.put(&rows)?;
        }
    }
}

/// Whoever panicked, what he left is whole: rows are put and taken in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The figures of these keys, and what tells the run from others.
pub(crate) fn sample(keys: &[String], figures: &[Measurement]) -> Sample {
    let value = |key: &String| figures.iter().find(|figure| figure.metric.key == *key).map(|f| f.value);
    Sample { figures: keys.iter().map(value).collect(), fingerprint: fingerprint(figures) }
}

/// Of all figures, in whatever order they come.
fn fingerprint(figures: &[Measurement]) -> u128 {
    let mut sorted: Vec<(&str, u64)> =
        figures.iter().map(|figure| (figure.metric.key.as_str(), figure.value)).collect();
    sorted.sort_unstable();
    let mut hash = Xxh3Default::new();
    for (key, value) in sorted {
        hash.update(key.as_bytes());
        hash.update(&value.to_le_bytes());
    }
    hash.digest128()
}
