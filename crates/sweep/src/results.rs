//! All results of a sweep in one file: a row for each run, in the order of the runs, whoever made them when.

use crate::archive::{Archive, Note, Stored};
use crate::driver::Index;
use crate::error::Error;
use crate::folder::Folder;
use crate::metrics::Metrics;
use crate::parquet::{Cells, Kind, Reader, Writer};
use crate::plan::Plan;
use ::parquet::errors::ParquetError;
use std::collections::BTreeMap;
use std::ops::Range;

/// Name of the file. Its columns are the axes, `seed`, `run`, `error`, `events`, `simulated_ns`, then all
/// figures in the order of their keys; a figure that a run has not got is absent there.
pub const RESULTS: &str = "results.parquet";

/// Rows that are in memory at a time.
const GROUP: usize = 16_384;

/// Writes the file anew.
pub fn write(plan: &Plan, archive: &Archive<'_>, folder: &dyn Folder, index: &Index) -> Result<(), Error> {
    let names = archive.names()?;
    let mut metrics = Metrics::default();
    for name in &names {
        let file = archive.read(name)?;
        if file.runs()?.iter().any(|hash| index.runs(*hash).next().is_some()) {
            file.metrics().iter().for_each(|metric| metrics.add(metric));
        }
    }
    let keys: Vec<&String> = metrics.keys().collect();
    let failed =
        |error: ParquetError| Error::Damaged { name: folder.shown(RESULTS), problem: error.to_string() };
    let mut writer = Writer::new(&columns(plan, &keys), &note(&metrics)).map_err(failed)?;
    for start in (0..plan.runs()).step_by(GROUP) {
        let mut group = Group::new(start..plan.runs().min(start + GROUP), keys.len());
        for name in &names {
            group.take(&archive.read(name)?, index, &keys)?;
        }
        writer.group(&group.cells(plan)).map_err(failed)?;
    }
    let bytes = writer.finish().map_err(failed)?;
    folder.write(RESULTS, &bytes).map_err(|source| Error::folder(&folder.shown(RESULTS), source))
}

/// The columns of such a file, in their order; `name` is for errors.
///
/// # Errors
/// Bytes that are no file of a sweep.
pub fn columns_of(name: &str, bytes: Vec<u8>) -> Result<Vec<(String, Cells)>, Error> {
    let damaged = |error: ParquetError| Error::Damaged { name: name.to_owned(), problem: error.to_string() };
    let reader = Reader::new(bytes).map_err(damaged)?;
    let column = |name: &str| Ok((name.to_owned(), reader.cells(name)?));
    reader.names().into_iter().map(column).collect::<Result<_, _>>().map_err(damaged)
}

fn columns(plan: &Plan, keys: &[&String]) -> Vec<(String, Kind)> {
    let of_axis = |numbers: bool| if numbers { Kind::Number } else { Kind::Text };
    let axes = plan.axes().iter().map(|axis| (axis.name.clone(), of_axis(axis.numbers().is_some())));
    let fixed = [
        ("seed", Kind::Number),
        ("run", Kind::Text),
        ("error", Kind::Text),
        ("events", Kind::Number),
        ("simulated_ns", Kind::Number),
    ];
    let fixed = fixed.iter().map(|(name, kind)| ((*name).to_owned(), *kind));
    axes.chain(fixed).chain(keys.iter().map(|key| ((*key).clone(), Kind::Number))).collect()
}

/// What the columns of figures hold.
fn note(metrics: &Metrics) -> String {
    Note::json(metrics.keys().filter_map(|key| metrics.get(key)).cloned().collect())
}

/// Some of the rows.
struct Group {
    runs: Range<usize>,
    errors: Vec<Option<String>>,
    events: Vec<Option<u64>>,
    simulated: Vec<Option<u64>>,
    figures: Vec<Vec<Option<u64>>>,
}

impl Group {
    fn new(runs: Range<usize>, figures: usize) -> Group {
        let empty = || vec![None; runs.len()];
        let errors = vec![None; runs.len()];
        Group { errors, events: empty(), simulated: empty(), figures: vec![empty(); figures], runs }
    }

    /// Takes what a file has of these runs.
    fn take(&mut self, file: &Stored, index: &Index, keys: &[&String]) -> Result<(), Error> {
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        for (row, hash) in file.runs()?.into_iter().enumerate() {
            let here = index.runs(hash).filter(|run| self.runs.contains(run));
            places.extend(here.map(|run| (run - self.runs.start, row)));
        }
        if places.is_empty() {
            return Ok(());
        }
        let errors = file.texts("error")?;
        places.iter().for_each(|(to, from)| self.errors[*to].clone_from(&errors[*from]));
        let has = |key: &str| file.metrics().iter().any(|metric| metric.key == key);
        let fixed = [("events", &mut self.events), ("simulated_ns", &mut self.simulated)];
        let figures = keys.iter().map(|key| key.as_str()).zip(&mut self.figures);
        let figures = figures.filter(|(key, _)| has(key));
        for (name, column) in fixed.into_iter().chain(figures) {
            let values = file.numbers(name)?;
            places.iter().for_each(|(to, from)| column[*to] = values[*from]);
        }
        Ok(())
    }

    fn cells(self, plan: &Plan) -> Vec<Cells> {
        let places: Vec<Vec<usize>> = self.runs.clone().map(|run| plan.places(plan.point_of(run))).collect();
        let mut cells: Vec<Cells> = Vec::new();
        for (number, axis) in plan.axes().iter().enumerate() {
            let of_runs = places.iter().map(|places| places[number]);
            cells.push(match axis.numbers() {
                Some(numbers) => Cells::Number(of_runs.map(|place| Some(numbers[place])).collect()),
                None => Cells::Text(of_runs.map(|place| Some(axis.values[place].clone())).collect()),
            });
        }
        cells.push(Cells::Number(self.runs.clone().map(|run| Some(plan.seed_of(run))).collect()));
        cells.push(Cells::Text(self.runs.clone().map(|run| Some(plan.name(run))).collect()));
        cells.push(Cells::Text(self.errors));
        cells.extend([self.events, self.simulated].map(Cells::Number));
        cells.extend(self.figures.into_iter().map(Cells::Number));
        cells
    }
}
