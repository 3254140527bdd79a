//! The rows of a sweep in its folder: files of Parquet, each with the runs of a chunk, named by the hash of
//! their names. Columns are the figures that any of its runs has.

use crate::error::Error;
use crate::folder::Folder;
use crate::metrics::Metrics;
use crate::parquet::{Cells, Kind, Reader, Writer};
use crate::row::{Outcome, Row};
use ::parquet::errors::Result as ParquetResult;
use schema::{Measurement, Metric};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use xxhash_rust::xxh3::Xxh3Default;

/// Beginning and end of the names of its files.
const NAME: (&str, &str) = ("runs-", ".parquet");
/// A file with fewer rows is a small one.
const SMALL: usize = 256;
/// So many small files become one.
const MERGED: usize = 64;
/// Columns before the figures.
const FIXED: [(&str, Kind); 5] = [
    ("run", Kind::Text),
    ("experiment", Kind::Text),
    ("error", Kind::Text),
    ("events", Kind::Number),
    ("simulated_ns", Kind::Number),
];

/// What a file says of its columns.
#[derive(Serialize, Deserialize)]
pub struct Note {
    version: String,
    metrics: Vec<Metric>,
}

impl Note {
    /// The JSON of it, for columns of these metrics.
    pub fn json(metrics: Vec<Metric>) -> String {
        let note = Note { version: env!("CARGO_PKG_VERSION").to_owned(), metrics };
        // Plain data with names for keys.
        serde_json::to_string(&note).unwrap_or_default()
    }
}

/// The files with rows in a folder.
pub struct Archive<'f> {
    folder: &'f dyn Folder,
    small: Vec<String>,
}

impl<'f> Archive<'f> {
    /// Looks into each file once: `file` is called for each.
    pub fn open(
        folder: &'f dyn Folder,
        mut file: impl FnMut(&Stored) -> Result<(), Error>,
    ) -> Result<Archive<'f>, Error> {
        let mut archive = Archive { folder, small: Vec::new() };
        for name in archive.names()? {
            let stored = archive.read(&name)?;
            file(&stored)?;
            if stored.reader.rows() < SMALL {
                archive.small.push(name);
            }
        }
        Ok(archive)
    }

    /// Keeps rows. Of many small files one is made; the same row may be in two files while that lasts.
    pub fn put(&mut self, rows: &[Row]) -> Result<(), Error> {
        let name = self.write(rows)?;
        if rows.len() < SMALL && !self.small.contains(&name) {
            self.small.push(name);
        }
        if self.small.len() < MERGED {
            return Ok(());
        }
        let mut together: BTreeMap<String, Row> = BTreeMap::new();
        let merged = std::mem::take(&mut self.small);
        for name in &merged {
            together.extend(self.read(name)?.rows()?.into_iter().map(|row| (row.run.clone(), row)));
        }
        let rows: Vec<Row> = together.into_values().collect();
        let name = self.write(&rows)?;
        for old in merged.iter().filter(|old| **old != name) {
            self.folder.remove(old).map_err(|source| Error::folder(&self.folder.shown(old), source))?;
        }
        if rows.len() < SMALL {
            self.small.push(name);
        }
        Ok(())
    }

    /// The files, in the order of their names.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let list = self.folder.list();
        let mut names = list.map_err(|source| Error::folder(&self.folder.shown(""), source))?;
        names.retain(|name| name.starts_with(NAME.0) && name.ends_with(NAME.1));
        names.sort();
        Ok(names)
    }

    /// A file.
    pub fn read(&self, name: &str) -> Result<Stored, Error> {
        let shown = self.folder.shown(name);
        let bytes = self.folder.read(name).map_err(|source| Error::folder(&shown, source))?;
        Stored::new(shown, bytes)
    }

    fn write(&self, rows: &[Row]) -> Result<String, Error> {
        let mut hash = Xxh3Default::new();
        rows.iter().for_each(|row| hash.update(row.run.as_bytes()));
        let name = format!("{}{:032x}{}", NAME.0, hash.digest128(), NAME.1);
        let written = self.folder.write(&name, &bytes_of(rows)?);
        written.map_err(|source| Error::folder(&self.folder.shown(&name), source))?;
        Ok(name)
    }
}

/// A file with rows.
pub struct Stored {
    shown: String,
    reader: Reader,
    metrics: Vec<Metric>,
}

impl Stored {
    fn new(shown: String, bytes: Vec<u8>) -> Result<Stored, Error> {
        let damaged = |problem: String| Error::Damaged { name: shown.clone(), problem };
        let reader = Reader::new(bytes).map_err(|error| damaged(error.to_string()))?;
        let note = reader.note().ok_or_else(|| damaged("it is not of a sweep".to_owned()))?;
        let note: Note = serde_json::from_str(note).map_err(|error| damaged(error.to_string()))?;
        Ok(Stored { shown, reader, metrics: note.metrics })
    }

    /// What its columns hold.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// The hash of each row's run.
    pub fn runs(&self) -> Result<Vec<u128>, Error> {
        let texts = self.texts("run")?;
        let hash = |text: Option<String>| u128::from_str_radix(text.as_deref().unwrap_or(""), 16);
        let hashes: Result<_, _> = texts.into_iter().map(hash).collect();
        hashes.map_err(|error| self.damaged(&error.to_string()))
    }

    /// A column of texts.
    pub fn texts(&self, name: &str) -> Result<Vec<Option<String>>, Error> {
        self.reader.texts(name).map_err(|error| self.damaged(&error.to_string()))
    }

    /// A column of numbers; one that it has not got is empty in each row.
    pub fn numbers(&self, name: &str) -> Result<Vec<Option<u64>>, Error> {
        if !self.reader.has(name) {
            return Ok(vec![None; self.reader.rows()]);
        }
        self.reader.numbers(name).map_err(|error| self.damaged(&error.to_string()))
    }

    /// All rows as they were kept.
    pub fn rows(&self) -> Result<Vec<Row>, Error> {
        let [runs, experiments, errors] = ["run", "experiment", "error"].map(|name| self.texts(name));
        let (events, simulated) = (self.numbers("events")?, self.numbers("simulated_ns")?);
        let mut figures: Vec<Vec<Measurement>> = vec![Vec::new(); self.reader.rows()];
        for metric in &self.metrics {
            for (row, value) in figures.iter_mut().zip(self.numbers(&metric.key)?) {
                row.extend(value.map(|value| Measurement { metric: metric.clone(), value }));
            }
        }
        let texts = runs?.into_iter().zip(experiments?).zip(errors?);
        let rows = texts.zip(events.into_iter().zip(simulated).zip(figures));
        let row = |(((run, experiment), error), ((events, simulated_ns), figures))| Row {
            run: Option::unwrap_or_default(run),
            experiment: Option::unwrap_or_default(experiment),
            outcome: match error {
                Some(error) => Outcome::Failed(error),
                None => Outcome::Ran {
                    events: Option::unwrap_or_default(events),
                    simulated_ns: Option::unwrap_or_default(simulated_ns),
                    figures,
                },
            },
        };
        Ok(rows.map(row).collect())
    }

    fn damaged(&self, problem: &str) -> Error {
        Error::Damaged { name: self.shown.clone(), problem: problem.to_owned() }
    }
}

/// Rows of the bytes that [`crate::to_parquet`] made, in whatever process; `name` is for errors.
///
/// # Errors
/// Bytes that are something else.
pub fn from_parquet(name: &str, bytes: Vec<u8>) -> Result<Vec<Row>, Error> {
    Stored::new(name.to_owned(), bytes)?.rows()
}

/// Rows as a file.
pub fn bytes_of(rows: &[Row]) -> Result<Vec<u8>, Error> {
    // Into memory, and with columns of our own making: if this fails, it is by a fault of the library.
    table(rows).map_err(|error| Error::Damaged { name: "a chunk".to_owned(), problem: error.to_string() })
}

fn table(rows: &[Row]) -> ParquetResult<Vec<u8>> {
    let mut metrics = Metrics::default();
    let figures = |row: &Row| match &row.outcome {
        Outcome::Ran { figures, .. } => figures.clone(),
        Outcome::Failed(_) => Vec::new(),
    };
    let mut columns: Vec<Vec<Option<u64>>> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        for Measurement { metric, value } in figures(row) {
            let at = metrics.place(&metric);
            columns.resize_with(metrics.list().len(), || vec![None; rows.len()]);
            columns[at][number] = Some(value);
        }
    }
    let simulated = |row: &Row| match &row.outcome {
        Outcome::Ran { simulated_ns, .. } => Some(*simulated_ns),
        Outcome::Failed(_) => None,
    };
    let ran = |row: &Row| row.error().is_none().then_some(row.events());
    let mut cells = vec![
        Cells::Text(rows.iter().map(|row| Some(row.run.clone())).collect()),
        Cells::Text(rows.iter().map(|row| Some(row.experiment.clone())).collect()),
        Cells::Text(rows.iter().map(|row| row.error().map(str::to_owned)).collect()),
        Cells::Number(rows.iter().map(ran).collect()),
        Cells::Number(rows.iter().map(simulated).collect()),
    ];
    cells.extend(columns.into_iter().map(Cells::Number));
    let fixed = FIXED.iter().map(|(name, kind)| ((*name).to_owned(), *kind));
    let of_figures = metrics.list().iter().map(|metric| (metric.key.clone(), Kind::Number));
    let columns: Vec<(String, Kind)> = fixed.chain(of_figures).collect();
    let mut writer = Writer::new(&columns, &Note::json(metrics.list().to_vec()))?;
    writer.group(&cells)?;
    writer.finish()
}
